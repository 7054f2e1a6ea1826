"""Kernels of loess: local least squares in given windows.

Symbols are those of `local_line` and `local_space`; h is the radius of the window of each point,
the weight function is the tricube, and `variance` (of each row's y over sigma^2) is one over its
sample weight, while w has its robustness weight too.

G        sum of t b b'; row f of C is G^-1 e_f
"""

import numpy as np

from bottega._jit import kernel
from bottega.smooth._kernels.local_space import find_window
from bottega.smooth._kernels.local_terms import (
    count_terms,
    fill_roots,
    fill_terms,
    power_sums,
    squared_length,
)
from bottega.smooth._kernels.loess_solve import invert, pseudo_invert
from bottega.smooth._kernels.weight_functions import TRICUBE, fill_weights


@kernel
def _horner(c, u, k):
    total = c[k - 1]
    for i in range(k - 2, -1, -1):
        total = total * u + c[i]
    return total


@kernel
def fit_line(x, y, w, variance, at, h, degree, count):
    """Fit the local polynomials of one input.

    Returns the first `count` functionals at each point (value, first, second derivative, without
    their factors 1/h and 2/h^2), their C, and the squared length of the value's row of the
    smoother, its entries times the roots of `variance`.
    """
    m, k = at.size, degree + 1
    found = np.empty((m, count))
    C = np.zeros((m, count, k))
    norm = np.empty(m)
    G, L, S, Y = np.empty((3, 3)), np.empty((3, 3)), np.empty(5), np.empty(3)
    u_all, t_all, z_all = np.empty(x.size), np.empty(x.size), np.empty(x.size)
    for i in range(m):
        start = np.searchsorted(x, at[i] - h[i], side="right")
        stop = np.searchsorted(x, at[i] + h[i], side="left")
        q = stop - start
        # Slices, not offsets: the compiler then sees loops it can do several rows at a time.
        xs, ys, ws = x[start:stop], y[start:stop], w[start:stop]
        u, t, z, spread = u_all[:q], t_all[:q], z_all[:q], variance[start:stop]
        point, inverse = at[i], 1.0 / h[i]
        level = ys[q // 2]
        for j in range(q):
            u[j] = (xs[j] - point) * inverse
            z[j] = ys[j] - level
        fill_weights(u, ws, TRICUBE, t)
        power_sums(u, t, z, degree, S, Y)
        G[0, 0] = S[0]
        G[1, 0] = S[1]
        G[1, 1] = G[2, 0] = S[2]
        G[2, 1], G[2, 2] = S[3], S[4]
        if invert(G, k, count, C[i], L):
            for f in range(count):
                total = 0.0
                for r in range(k):
                    total += C[i, f, r] * Y[r]
                found[i, f] = total + level if f == 0 else total
        else:
            A = np.empty((k, q))
            fill_roots(u, t, A)
            pseudo_invert(A, count, C[i])
            for f in range(count):
                total = 0.0
                for j in range(q):
                    total += t[j] * ys[j] * _horner(C[i, f], u[j], k)
                found[i, f] = total
        norm[i] = squared_length(u, t, spread, C[i, 0])
    return found, C, norm


@kernel
def fit_space(X, y, w, variance, at, h, degree, count):
    """Fit the local polynomials of several inputs; returns what `fit_line` does.

    The first ``1 + p`` functionals are the value and the slopes (without their factor 1/h).
    """
    n, p = X.shape
    m = at.shape[0]
    k = count_terms(p, degree)
    first = np.ascontiguousarray(X[:, 0])
    found = np.empty((m, count))
    C = np.zeros((m, count, k))
    norm = np.empty(m)
    L = np.empty((k, k))
    rows, t_all, u = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    terms, weighted = np.empty(n * (k + 1)), np.empty(n * k)
    for i in range(m):
        start = np.searchsorted(first, at[i, 0] - h[i], side="right")
        stop = np.searchsorted(first, at[i, 0] + h[i], side="left")
        q = find_window(X, w, start, stop, at[i], h[i], TRICUBE, 1.0, False, rows, t_all, u)
        t = t_all[:q]
        # The terms, and the responses as a last row: one product gives G and the sums of t b y.
        B = terms[: q * (k + 1)].reshape(k + 1, q)
        fill_terms(X, rows, q, at[i], 1.0 / h[i], degree, B)
        level = y[rows[q // 2]]
        for r in range(q):
            B[k, r] = y[rows[r]] - level
        TB = weighted[: q * k].reshape(k, q)
        for c in range(k):
            for r in range(q):
                TB[c, r] = t[r] * B[c, r]
        G = np.dot(TB, B.T)
        if invert(G, k, count, C[i], L):
            for f in range(count):
                total = 0.0
                for c in range(k):
                    total += C[i, f, c] * G[c, k]
                found[i, f] = total + level if f == 0 else total
            entries = np.dot(C[i], TB)
        else:
            pseudo_invert(B[:k] * np.sqrt(t), count, C[i])
            entries = np.dot(C[i], TB)
            for f in range(count):
                found[i, f] = np.sum(entries[f] * (B[k] + level))
        total = 0.0
        for r in range(q):
            total += entries[0, r] * entries[0, r] * variance[rows[r]]
        norm[i] = total
    return found, C, norm
