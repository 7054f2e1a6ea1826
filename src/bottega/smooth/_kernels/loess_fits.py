"""Kernels of loess: local least squares in given windows.

Symbols
-------
x, X     rows of the inputs on the scale of the distances, ascending in their first column
w        weight of each row (sample weight, times robustness weight)
variance  of each row's y over sigma^2: one over its sample weight
at       points where a local polynomial is fitted
h        radius of the window of each point: rows nearer than h count
u        (x - at) / h, of length at most one
b(u)     terms of the polynomial (`local_terms`), k of them
G        sum of t b b', with t = w (1 - |u|^3)^3
C        one row per functional of the local polynomial (value, then slopes or derivatives): row f
         is G^-1 e_f, so that row j of the data enters functional f with t_j b_j' C_f
level    a response of the window, subtracted before the sums and added to the value after: what is
         common to all responses then costs no digits
"""

import numpy as np

from bottega._jit import kernel
from bottega.smooth._kernels.line_sums import fill_roots, power_sums, squared_length
from bottega.smooth._kernels.local_terms import count_terms, fill_terms
from bottega.smooth._kernels.loess_solve import invert, pseudo_invert
from bottega.smooth._kernels.weight_functions import tricube


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
            v = (xs[j] - point) * inverse
            u[j] = v
            t[j] = ws[j] * tricube(abs(v))
            z[j] = ys[j] - level
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
def _find_window(X, w, start, stop, point, radius, rows, t):
    """List the rows within the radius of a point, with their weights; return how many."""
    inverse = 1.0 / radius
    q = 0
    for j in range(start, stop):
        total = 0.0
        for c in range(point.size):
            gap = (X[j, c] - point[c]) * inverse
            total += gap * gap
        if total < 1.0 and w[j] > 0:
            rows[q] = j
            t[q] = w[j] * tricube(np.sqrt(total))
            q += 1
    return q


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
    rows, t_all = np.empty(n, dtype=np.int64), np.empty(n)
    terms, weighted = np.empty(n * (k + 1)), np.empty(n * k)
    for i in range(m):
        start = np.searchsorted(first, at[i, 0] - h[i], side="right")
        stop = np.searchsorted(first, at[i, 0] + h[i], side="left")
        q = _find_window(X, w, start, stop, at[i], h[i], rows, t_all)
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


@kernel
def _rows_of_line(x, w, point, inverse, C, found):
    count, k = C.shape
    for f in range(count):
        c0 = C[f, 0]
        c1 = C[f, 1] if k > 1 else 0.0
        c2 = C[f, 2] if k > 2 else 0.0
        row = found[f]
        for j in range(x.size):
            u = (x[j] - point) * inverse
            row[j] = w[j] * tricube(min(abs(u), 1.0)) * ((c2 * u + c1) * u + c0)


@kernel
def rows_of(X, w, at, h, degree, C):
    """Return how each row of the data enters each functional of each point: (points, count, rows).

    Entry (i, f, j) is ``t_j b_j' C_f`` for point i.
    """
    m, count, k = C.shape
    n, p = X.shape
    found = np.zeros((m, count, n))
    first = np.ascontiguousarray(X[:, 0])
    rows, t = np.empty(n, dtype=np.int64), np.empty(n)
    terms = np.empty(n * k)
    for i in range(m):
        if p == 1:
            _rows_of_line(first, w, at[i, 0], 1.0 / h[i], C[i], found[i])
            continue
        q = _find_window(X, w, 0, n, at[i], h[i], rows, t)
        B = terms[: q * k].reshape(k, q)
        fill_terms(X, rows, q, at[i], 1.0 / h[i], degree, B)
        entries = np.dot(C[i], B)
        for f in range(count):
            for r in range(q):
                found[i, f, rows[r]] = t[r] * entries[f, r]
    return found
