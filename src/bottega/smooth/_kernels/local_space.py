"""Local polynomials of several inputs, with any of four weight functions.

Symbols are those of `local_line`; X has the places in ascending order of their first column, and
b(u) are the terms of `local_terms`: place j enters functional f with t_j b_j' C_f.
"""

import numpy as np

from bottega._jit import kernel
from bottega.smooth._kernels.gram_schmidt import solve_window
from bottega.smooth._kernels.local_terms import count_terms, fill_terms
from bottega.smooth._kernels.weight_functions import fill_weights


@kernel
def _window_space(X, w, start, stop, point, h, code, reach, product, rows, t, u, one):
    """List the places in the window of a point with their weights; return how many.

    A product has one weight per coordinate; otherwise the weight is that of the distance.
    """
    p = point.size
    inverse = 1.0 / h
    q = 0
    for j in range(start, stop):
        if not product:
            total = 0.0
            for c in range(p):
                gap = (X[j, c] - point[c]) * inverse
                total += gap * gap
            if total >= reach * reach:
                continue
            u[0] = np.sqrt(total)
            one[0] = w[j]
            fill_weights(u, one, code, t[q : q + 1])
        else:
            one[0] = w[j]
            inside = True
            for c in range(p):
                u[0] = (X[j, c] - point[c]) * inverse
                if abs(u[0]) >= reach:
                    inside = False
                    break
                fill_weights(u, one, code, t[q : q + 1])
                one[0] = t[q]
            if not inside:
                continue
        if t[q] > 0:
            rows[q] = j
            q += 1
    return q


@kernel
def fit_space(X, y, w, spread, at, h, spare, degree, code, reach, product, count):
    """Fit the local polynomials of several inputs; returns what `fit_line` does."""
    n, p = X.shape
    m = at.shape[0]
    k = count_terms(p, degree)
    first = np.ascontiguousarray(X[:, 0])
    found = np.empty((m, count))
    C = np.zeros((m, count, k))
    norm = np.empty((m, count))
    used = h.copy()
    P, c = np.empty((k, k)), np.empty(k)
    rows, t_all, v_all = np.empty(n, dtype=np.int64), np.empty(n + 1), np.empty(n)
    terms, z_all = np.empty(n * k), np.empty(n)
    u, one = np.empty(1), np.empty(1)
    for i in range(m):
        start = np.searchsorted(first, at[i, 0] - reach * h[i], side="right")
        stop = np.searchsorted(first, at[i, 0] + reach * h[i], side="left")
        q = _window_space(X, w, start, stop, at[i], h[i], code, reach, product, rows, t_all, u, one)
        if q < k:
            used[i] = spare[i]
            q = _window_space(
                X, w, 0, n, at[i], spare[i], code, reach, product, rows, t_all, u, one
            )
        t, z, v = t_all[:q], z_all[:q], v_all[:q]
        B = terms[: q * k].reshape(k, q)
        fill_terms(X, rows, q, at[i], 1.0 / used[i], degree, B)
        level = y[rows[q // 2]]
        for r in range(q):
            root = np.sqrt(t[r])
            z[r] = root * (y[rows[r]] - level)
            v[r] = spread[rows[r]]
            for d in range(k):
                B[d, r] *= root
        solve_window(B, z, t, v, level, P, c, C[i], found[i], norm[i])
    return found, C, norm, used


@kernel
def rows_of(X, w, at, h, degree, code, reach, product, C):
    """Return how each place enters each functional of each point: (points, count, places)."""
    m, count, k = C.shape
    n = X.shape[0]
    found = np.zeros((m, count, n))
    rows, t = np.empty(n, dtype=np.int64), np.empty(n + 1)
    terms = np.empty(n * k)
    u, one = np.empty(1), np.empty(1)
    for i in range(m):
        q = _window_space(X, w, 0, n, at[i], h[i], code, reach, product, rows, t, u, one)
        B = terms[: q * k].reshape(k, q)
        fill_terms(X, rows, q, at[i], 1.0 / h[i], degree, B)
        for f in range(count):
            for r in range(q):
                total = 0.0
                for d in range(k):
                    total += C[i, f, d] * B[d, r]
                found[i, f, rows[r]] = t[r] * total
    return found
