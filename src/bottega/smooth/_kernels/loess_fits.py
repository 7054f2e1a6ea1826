"""Kernel of loess for several inputs: local least squares in given windows.

Symbols are those of `local_line` and `local_space`; h is the radius of the window of each point,
the weight function is the tricube, and `variance` (of each row's y over sigma^2) is one over its
sample weight, while w has its robustness weight too.

G        sum of t b b'; row f of C is G^-1 e_f
"""

import numpy as np

from bottega._jit import kernel
from bottega.smooth._kernels.local_space import find_window
from bottega.smooth._kernels.local_terms import count_terms, fill_terms
from bottega.smooth._kernels.loess_solve import invert, pseudo_invert
from bottega.smooth._kernels.weight_functions import TRICUBE


@kernel
def fit_space(X, y, w, variance, at, h, degree, count):
    """Fit the local polynomials of several inputs.

    Returns the first `count` functionals at each point (value, then slopes without their factor
    1/h), their C, and the squared length of the value's row of the smoother, its entries times the
    roots of `variance`.
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
        if q == 0:  # no row is near enough in floating point
            found[i] = norm[i] = np.nan
            continue
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
