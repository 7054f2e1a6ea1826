"""Local polynomials of one input, with any of four weight functions.

Symbols
-------
x        distinct places of the input, ascending
y, w     mean response and total weight at each place
spread   variance of each place's y over sigma^2
at       points where a local polynomial is fitted
h        bandwidth at each point; `spare` the one to use where the window holds too few places
u        (x - at) / h
t        w times the weight function at u, which is one at zero (its constant cancels)
C        one row per functional of the polynomial at u = 0 (value, slope, half the second
         derivative): place j enters functional f with t_j (C_f0 + C_f1 u_j + C_f2 u_j^2)
level    a response of the window, subtracted before the sums and added to the value after: what is
         common to all responses then costs no digits
code     weight function (`weight_functions`)
reach    bandwidths from the point to where the weight function ends
"""

import numpy as np

from bottega._jit import kernel
from bottega.smooth._kernels.gram_schmidt import solve_window
from bottega.smooth._kernels.local_terms import fill_roots, power_sums, squared_length
from bottega.smooth._kernels.loess_solve import pseudo_invert
from bottega.smooth._kernels.weight_functions import fill_weights

# Where less than this share of a term is left after the ones before it, sums of powers have lost
# four digits: the terms are then made orthogonal row by row.
_LOST = 1e-4


@kernel
def _line_from_sums(S, Y, k, C, found):
    """Fill C and the functionals of one input from sums of powers; False: digits would be lost.

    The terms are made orthogonal: p1 = u - a, p2 = u^2 - b1 p1 - b0, of squared lengths v1, v2.
    """
    count = C.shape[0]
    C[:] = 0.0
    if not S[0] > 0:
        return False
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
def _solve_shortest(B, u, t, y, spread, C, found, norm):
    """Fill the functionals of one point by singular values."""
    count, k = C.shape
    pseudo_invert(B, count, C)
    for f in range(count):
        norm[f] = squared_length(u, t, spread, C[f])
        found[f] = 0.0
        for j in range(u.size):
            total = C[f, k - 1]
            for i in range(k - 2, -1, -1):
                total = total * u[j] + C[f, i]
            found[f] += t[j] * y[j] * total


@kernel
def fit_line(x, y, w, spread, at, h, spare, degree, code, reach, count, with_norm, boxed, shortest):
    """Fit the local polynomials of one input.

    `boxed` has sums of t u^r and t u^r (y - level0), those of t^2 spread u^r, for which points both
    are known, so that their rows need not be visited, and level0. Where the polynomial is not
    unique the terms that depend on lower ones are left out, or the `shortest` coefficients taken.

    Returns the first `count` functionals at each point (value, slope, half the second derivative,
    without their factors 1/h), their C, the squared lengths of their rows of the smoother (entries
    times the roots of `spread`; nan without `with_norm`), and the bandwidths used.
    """
    sums, squares, known, level0 = boxed
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
        if q == 0:  # no row is near enough in floating point
            found[i] = np.nan
            continue
        # Slices, not offsets: the compiler then sees loops it can do several rows at a time.
        xs, ys, ws, vs = x[start:stop], y[start:stop], w[start:stop], spread[start:stop]
        u, t, z = u_all[:q], t_all[:q], z_all[:q]
        point, inverse, level = at[i], 1.0 / used[i], ys[q // 2]
        for j in range(q):
            u[j] = (xs[j] - point) * inverse
            z[j] = ys[j] - level
        fill_weights(u, ws, code, t)
        power_sums(u, t, z, degree, S, Y)
        if not _line_from_sums(S, Y, k, C[i], found[i]):
            B = np.empty((k, q))
            fill_roots(u, t, B)
            if shortest:
                _solve_shortest(B, u, t, ys, vs, C[i], found[i], norm[i])
                continue
            z *= B[0]
            solve_window(B, z, t, vs, level, P, c, C[i], found[i], norm[i])
            continue
        found[i, 0] += level
        if with_norm:
            for f in range(count):
                norm[i, f] = squared_length(u, t, vs, C[i, f])
    return found, C, norm, used
