"""Kernels of local regression: polynomials fitted in windows with any of four weight functions.

Symbols
-------
x, X     distinct places of the inputs, ascending in their first column
y, w     mean response and total weight at each place
spread   variance of each place's y over sigma^2
at       points where a local polynomial is fitted
h        bandwidth at each point; `spare` the one to use where the window holds too few places
u        (x - at) / h
t        w times the weight function at u, which is one at zero (its constant cancels)
b(u)     1, u, and with degree 2 all u_i u_j, i <= j: k terms
C        one row a functional of the polynomial at u = 0 (value, then slopes or derivatives): row f
         is that of the inverse of sum t b b', so that place j enters functional f with t_j b_j' C_f
level    a response of the window, subtracted before the sums and added to the value after: what is
         common to all responses then costs no digits
code     weight function: 0 normal, 1 biquadratic, 2 tricube, 3 Epanechnikov
reach    bandwidths from the point to where the weight function ends
"""

import numpy as np

from bottega._jit import kernel

__all__ = ["fit_line", "fit_space", "rows_of"]

# Where less than this share of a term is left after the ones before it, sums of powers have lost
# four digits: the terms are then made orthogonal row by row.
_LOST = 1e-4
# A term of which less than this (in length) is left is a combination of the ones before: left out.
_DEPENDENT = 1e-9


@kernel
def _fill_weights(u, w, code, t):
    """Write w times the weight function at each u, |u| within its reach.

    The exponential is that of a 64th of its argument by its series, squared six times: to
    5e-15 of the peak, 2e-11 relative at the reach, and several rows at a time, as calls are not.
    """
    if code == 0:
        for j in range(u.size):
            z = u[j] * u[j] * (-0.5 / 64.0)
            e = 1.0 + (z * (1.0 / 12.0))
            e = 1.0 + e * (z * (1.0 / 11.0))
            e = 1.0 + e * (z * (1.0 / 10.0))
            e = 1.0 + e * (z * (1.0 / 9.0))
            e = 1.0 + e * (z * (1.0 / 8.0))
            e = 1.0 + e * (z * (1.0 / 7.0))
            e = 1.0 + e * (z * (1.0 / 6.0))
            e = 1.0 + e * (z * (1.0 / 5.0))
            e = 1.0 + e * (z * (1.0 / 4.0))
            e = 1.0 + e * (z * (1.0 / 3.0))
            e = 1.0 + e * (z * (1.0 / 2.0))
            e = 1.0 + e * z
            e = e * e
            e = e * e
            e = e * e
            e = e * e
            e = e * e
            t[j] = w[j] * (e * e)
    elif code == 1:
        for j in range(u.size):
            left = max(1.0 - u[j] * u[j], 0.0)
            t[j] = w[j] * left * left
    elif code == 2:
        for j in range(u.size):
            left = max(1.0 - abs(u[j] * u[j] * u[j]), 0.0)
            t[j] = w[j] * left * left * left
    else:
        for j in range(u.size):
            t[j] = w[j] * max(1.0 - u[j] * u[j], 0.0)


@kernel
def _orthogonalize(B, z, P, c):
    """Make the rows of B orthonormal, one after the other (modified Gram-Schmidt).

    P becomes the triangle that does it: new row i = sum of P[i, j] times old row j; rows that
    depend on those before become zero. c gets the coefficients of z, which is left as residuals.
    """
    k = B.shape[0]
    P[:] = 0.0
    c[:] = 0.0
    for i in range(k):
        P[i, i] = 1.0
        before = np.sqrt(np.dot(B[i], B[i]))
        for j in range(i):
            along = np.dot(B[i], B[j])
            B[i] -= along * B[j]
            P[i] -= along * P[j]
        left = np.sqrt(np.dot(B[i], B[i]))
        if not left > _DEPENDENT * before:
            B[i] = 0.0
            P[i] = 0.0
            continue
        B[i] /= left
        P[i] /= left
        c[i] = np.dot(B[i], z)
        z -= c[i] * B[i]


@kernel
def _finish(B, z, t, spread, level, P, c, C, found, norm):
    """Fill the functionals of one point from root-weighted terms B and responses z."""
    count, k = C.shape
    _orthogonalize(B, z, P, c)
    for f in range(count):
        total = 0.0
        for i in range(k):
            total += P[i, f] * c[i]
        found[f] = total + level if f == 0 else total
        for j in range(k):
            total = 0.0
            for i in range(k):
                total += P[i, f] * P[i, j]
            C[f, j] = total
        total = 0.0
        for r in range(t.size):
            entry = 0.0
            for i in range(k):
                entry += P[i, f] * B[i, r]
            total += t[r] * entry * entry * spread[r]
        norm[f] = total


@kernel
def _line_from_sums(S, Y, k, C, found):
    """Fill C and the functionals of one input from sums of powers; False: digits would be lost.

    The terms are made orthogonal: p1 = u - a, p2 = u^2 - b1 p1 - b0, of squared lengths v1, v2.
    """
    count = C.shape[0]
    C[:] = 0.0
    C[0, 0] = 1.0 / S[0]
    found[:] = 0.0
    found[0] = Y[0] / S[0]
    if k == 1:
        return True
    a = S[1] / S[0]
    v1 = S[2] - a * S[1]
    if not v1 > _LOST * S[2]:
        return False
    c1 = (Y[1] - a * Y[0]) / v1
    C[0, 0] += a * a / v1
    C[0, 1] = -a / v1
    found[0] -= a * c1
    if count > 1:
        C[1, 0] = -a / v1
        C[1, 1] = 1.0 / v1
        found[1] = c1
    if k == 2:
        return True
    b0 = S[2] / S[0]
    b1 = (S[3] - a * S[2]) / v1
    v2 = S[4] - b1 * (S[3] - a * S[2]) - b0 * S[2]
    if not v2 > _LOST * S[4]:
        return False
    c2 = (Y[2] - b1 * (Y[1] - a * Y[0]) - b0 * Y[0]) / v2
    p = (b1 * a - b0, -b1, 1.0)  # p2 in powers of u
    for f in range(count):
        for j in range(3):
            C[f, j] += p[f] * p[j] / v2
        found[f] += p[f] * c2
    return True


@kernel
def _norms_from_sums(Q, C, norm):
    """Fill the squared lengths from sums of squared entries' powers: (c0 + c1 u + c2 u^2)^2."""
    k = C.shape[1]
    for f in range(C.shape[0]):
        c0 = C[f, 0]
        c1 = C[f, 1] if k > 1 else 0.0
        c2 = C[f, 2] if k > 2 else 0.0
        norm[f] = c0 * c0 * Q[0] + 2.0 * c0 * c1 * Q[1] + (c1 * c1 + 2.0 * c0 * c2) * Q[2]
        if k > 2:
            norm[f] += 2.0 * c1 * c2 * Q[3] + c2 * c2 * Q[4]


@kernel
def fit_line(
    x,
    y,
    w,
    spread,
    at,
    h,
    spare,
    degree,
    code,
    reach,
    count,
    with_norm,
    sums,
    squares,
    known,
    level0,
):
    """Fit the local polynomials of one input.

    Points that are `known` come with their sums of t u^r and t u^r (y - level0) and, `with_norm`,
    those of t^2 spread u^r: their rows need not be visited.

    Returns the first `count` functionals at each point (value, slope, half the second derivative,
    without their factors 1/h), their C, the squared lengths of their rows of the smoother (entries
    times the roots of `spread`; nan without `with_norm`), and the bandwidths used.
    """
    n, m, k = x.size, at.size, degree + 1
    found = np.empty((m, count))
    C = np.zeros((m, count, k))
    norm = np.full((m, count), np.nan)
    used = h.copy()
    S, Y = np.zeros(5), np.zeros(3)
    P, c = np.empty((k, k)), np.empty(k)
    u_all, t_all, z_all = np.empty(n), np.empty(n), np.empty(n)
    for i in range(m):
        start = np.searchsorted(x, at[i] - reach * h[i], side="right")
        stop = np.searchsorted(x, at[i] + reach * h[i], side="left")
        enough = stop - start >= k
        if enough and known[i] and _line_from_sums(sums[i, :5], sums[i, 5:], k, C[i], found[i]):
            found[i, 0] += level0
            if with_norm:
                _norms_from_sums(squares[i], C[i], norm[i])
            continue
        if not enough:
            used[i] = spare[i]
            start = np.searchsorted(x, at[i] - reach * spare[i], side="right")
            stop = np.searchsorted(x, at[i] + reach * spare[i], side="left")
        q = stop - start
        # Slices, not offsets: the compiler then sees loops it can do several rows at a time.
        xs, ys, ws, vs = x[start:stop], y[start:stop], w[start:stop], spread[start:stop]
        u, t, z = u_all[:q], t_all[:q], z_all[:q]
        point, inverse, level = at[i], 1.0 / used[i], ys[q // 2]
        for j in range(q):
            u[j] = (xs[j] - point) * inverse
            z[j] = ys[j] - level
        _fill_weights(u, ws, code, t)
        s0 = s1 = s2 = s3 = s4 = y0 = y1 = y2 = 0.0
        if degree < 2:
            for j in range(q):
                tu = t[j] * u[j]
                s0 += t[j]
                s1 += tu
                s2 += tu * u[j]
                y0 += t[j] * z[j]
                y1 += tu * z[j]
        else:
            for j in range(q):
                tu = t[j] * u[j]
                tuu = tu * u[j]
                s0 += t[j]
                s1 += tu
                s2 += tuu
                s3 += tuu * u[j]
                s4 += tuu * u[j] * u[j]
                y0 += t[j] * z[j]
                y1 += tu * z[j]
                y2 += tuu * z[j]
        S[0], S[1], S[2], S[3], S[4] = s0, s1, s2, s3, s4
        Y[0], Y[1], Y[2] = y0, y1, y2
        if not _line_from_sums(S, Y, k, C[i], found[i]):
            B = np.empty((k, q))
            for j in range(q):
                B[0, j] = np.sqrt(t[j])
                for d in range(1, k):
                    B[d, j] = B[d - 1, j] * u[j]
                z[j] *= B[0, j]
            _finish(B, z, t, vs, level, P, c, C[i], found[i], norm[i])
            continue
        found[i, 0] += level
        if with_norm:
            for f in range(count):
                c0 = C[i, f, 0]
                c1 = C[i, f, 1] if k > 1 else 0.0
                c2 = C[i, f, 2] if k > 2 else 0.0
                total = 0.0
                for j in range(q):
                    entry = t[j] * ((c2 * u[j] + c1) * u[j] + c0)
                    total += entry * entry * vs[j]
                norm[i, f] = total
    return found, C, norm, used


@kernel
def _window_space(X, w, start, stop, point, h, code, reach, product, rows, t, u, one):
    """List the places in the window of a point with their weights; return how many.

    A product has one weight a coordinate; otherwise the weight is that of the distance.
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
            _fill_weights(u, one, code, t[q : q + 1])
        else:
            one[0] = w[j]
            inside = True
            for c in range(p):
                u[0] = (X[j, c] - point[c]) * inverse
                if abs(u[0]) >= reach:
                    inside = False
                    break
                _fill_weights(u, one, code, t[q : q + 1])
                one[0] = t[q]
            if not inside:
                continue
        if t[q] > 0:
            rows[q] = j
            q += 1
    return q


@kernel
def _fill_basis(X, rows, q, point, inverse, degree, B):
    """Write b(u) of q places about a point, one row of B a term."""
    p = point.size
    B[0] = 1.0
    if degree > 0:
        for c in range(p):
            for r in range(q):
                B[c + 1, r] = (X[rows[r], c] - point[c]) * inverse
    if degree == 2:
        term = p + 1
        for c in range(p):
            for d in range(c + 1):
                for r in range(q):
                    B[term, r] = B[c + 1, r] * B[d + 1, r]
                term += 1


@kernel
def fit_space(X, y, w, spread, at, h, spare, degree, code, reach, product, count):
    """Fit the local polynomials of several inputs; returns what `fit_line` does."""
    n, p = X.shape
    m = at.shape[0]
    k = 1
    if degree > 0:
        k += p
    if degree == 2:
        k += p * (p + 1) // 2
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
        _fill_basis(X, rows, q, at[i], 1.0 / used[i], degree, B)
        level = y[rows[q // 2]]
        for r in range(q):
            root = np.sqrt(t[r])
            z[r] = root * (y[rows[r]] - level)
            v[r] = spread[rows[r]]
            for d in range(k):
                B[d, r] *= root
        _finish(B, z, t, v, level, P, c, C[i], found[i], norm[i])
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
        _fill_basis(X, rows, q, at[i], 1.0 / h[i], degree, B)
        for f in range(count):
            for r in range(q):
                total = 0.0
                for d in range(k):
                    total += C[i, f, d] * B[d, r]
                found[i, f, rows[r]] = t[r] * total
    return found
