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
def find_window(X, w, start, stop, point, h, code, reach, product, rows, t, u):
    """List the places in the window of a point with their weights; return how many.

    A product has one weight per coordinate; otherwise the weight is that of the distance.
    """
    inverse = 1.0 / h
    limit = reach if product else reach * reach
    q = 0
    for j in range(start, stop):
        far = 0.0
        for c in range(point.size):
            gap = (X[j, c] - point[c]) * inverse
            far = max(far, abs(gap)) if product else far + gap * gap
        if far < limit and w[j] > 0:
            rows[q], t[q], u[q] = j, w[j], np.sqrt(far)
            q += 1
    if not product:
        fill_weights(u[:q], t[:q], code, t[:q])
        return q
    for c in range(point.size):
        for r in range(q):
            u[r] = (X[rows[r], c] - point[c]) * inverse
        fill_weights(u[:q], t[:q], code, t[:q])
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
    rows, t_all, v_all, u = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.empty(n)
    terms, z_all = np.empty(n * k), np.empty(n)
    for i in range(m):
        start = np.searchsorted(first, at[i, 0] - reach * h[i], side="right")
        stop = np.searchsorted(first, at[i, 0] + reach * h[i], side="left")
        q = find_window(X, w, start, stop, at[i], h[i], code, reach, product, rows, t_all, u)
        if q < k:
            used[i] = spare[i]
            q = find_window(X, w, 0, n, at[i], spare[i], code, reach, product, rows, t_all, u)
        if q == 0:  # no row is near enough in floating point
            found[i] = norm[i] = np.nan
            continue
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
def _rows_of_line(x, w, point, h, code, C, u, t, found):
    for j in range(x.size):
        u[j] = (x[j] - point) / h
    fill_weights(u, w, code, t)
    count, k = C.shape
    for f in range(count):
        c0, c1, c2 = C[f, 0], C[f, 1] if k > 1 else 0.0, C[f, 2] if k > 2 else 0.0
        row = found[f]
        for j in range(x.size):
            row[j] = t[j] * ((c2 * u[j] + c1) * u[j] + c0)


@kernel
def rows_of(X, w, at, h, degree, code, reach, product, C):
    """Return how each place enters each functional of each point: (points, count, places).

    Entry (i, f, j) is ``t_j b_j' C_f`` for point i.
    """
    m, count, k = C.shape
    n, p = X.shape
    found = np.zeros((m, count, n))
    first = np.ascontiguousarray(X[:, 0])
    rows, t, u, terms = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.empty(n * k)
    for i in range(m):
        start = np.searchsorted(first, at[i, 0] - reach * h[i], side="right")
        stop = np.searchsorted(first, at[i, 0] + reach * h[i], side="left")
        if p == 1:
            x, q, part = first[start:stop], stop - start, found[i, :, start:stop]
            _rows_of_line(x, w[start:stop], at[i, 0], h[i], code, C[i], u[:q], t[:q], part)
            continue
        q = find_window(X, w, start, stop, at[i], h[i], code, reach, product, rows, t, u)
        B = terms[: q * k].reshape(k, q)
        fill_terms(X, rows, q, at[i], 1.0 / h[i], degree, B)
        entries = np.dot(C[i], B)
        for f in range(count):
            for r in range(q):
                found[i, f, rows[r]] = t[r] * entries[f, r]
    return found
