"""Kernels of local regression: sums over wide windows, by boxes of rows instead of row by row.

The weight function is smooth but for its ends (and the tricube's centre). In a box of rows about
c, with D = (c - at) / h and d = (x - c) / h, it is its Taylor series about D,

    w0(D + d) = a_0 + a_1 d + a_2 d^2 + ...,

so that the sums over the box follow from the box's own sums of d^j, which serve all points. Boxes
are narrow enough for the series to reach the last digit; those where it does not hold (at an end
or the centre) are summed row by row.

Symbols
-------
x, y, w  rows ascending in x; responses (less a level); weights
poly     weight function as a polynomial in |u|, ending at one; empty: exp(-rate u^2 / 2)
J        terms of the series
S, Y     sums of t u^r (r = 0..4) and of t u^r y (r = 0..2), t = w times the weight function
M, N     sums over a box of w d^j and of w d^j y
"""

import numpy as np

from bottega._jit import kernel

__all__ = ["box_sums"]

_TERMS = 18  # of the series, beyond a_0
_HALF_NORMAL, _HALF_POLY = 0.25, 1.0 / 32.0  # half the width of a box, in bandwidths
# Where less than this share of the weight in reach is left, rounding would show.
_FAINT = 1e-4


@kernel
def _series(D, poly, rate, J, a):
    """Write the Taylor coefficients of the weight function about D, not zero for a polynomial."""
    if poly.size == 0:
        # From w0' = -rate u w0.
        a[0] = np.exp(-0.5 * rate * D * D)
        a[1] = -rate * D * a[0]
        for j in range(1, J):
            a[j + 1] = -rate * (D * a[j] + a[j - 1]) / (j + 1)
        return
    # Shift the polynomial to |D|: repeated synthetic division, as far as terms are wanted.
    size = poly.size
    b = a[:size]
    b[:] = poly
    base = abs(D)
    for j in range(min(size - 1, J + 1)):
        for k in range(size - 2, j - 1, -1):
            b[k] += base * b[k + 1]
    if D < 0:
        for j in range(1, size, 2):
            b[j] = -b[j]


@kernel
def _weight(u, poly, rate):
    if poly.size == 0:
        return np.exp(-0.5 * rate * u * u)
    v = abs(u)
    total = 0.0
    if v < 1.0:
        for j in range(poly.size - 1, -1, -1):
            total = total * v + poly[j]
    return total


@kernel
def box_sums(x, y, w, at, h, poly, rate, reach, powers):
    """Return S (columns 0-4) and Y (5-7) at each point, and where they can be trusted.

    `powers` is the highest power of u wanted (at least 2); Y goes to half of it.
    """
    n, m = x.size, at.size
    J = _TERMS if poly.size == 0 else min(poly.size - 1, _TERMS)
    half = _HALF_NORMAL / np.sqrt(rate) if poly.size == 0 else _HALF_POLY
    width = 2.0 * half * h
    boxes = int((x[n - 1] - x[0]) / width) + 1
    start = np.searchsorted(x, x[0] + width * np.arange(boxes + 1))
    start[0], start[boxes] = 0, n
    R, Q = powers, powers // 2
    M, N = np.zeros((boxes, J + R + 1)), np.zeros((boxes, J + Q + 1))
    for b in range(boxes):
        center = x[0] + (b + 0.5) * width
        for i in range(start[b], start[b + 1]):
            d = (x[i] - center) / h
            t = w[i]
            for j in range(J + R + 1):
                M[b, j] += t
                if j <= J + Q:
                    N[b, j] += t * y[i]
                t *= d
    found = np.zeros((m, 8))
    trusted = np.empty(m, dtype=np.bool_)
    a = np.zeros(max(J + 1, poly.size))
    c, e = np.empty(5), np.empty(3)
    for i in range(m):
        first = max(int(np.floor((at[i] - reach * h - x[0]) / width)), 0)
        last = min(int(np.floor((at[i] + reach * h - x[0]) / width)), boxes - 1)
        mass = 0.0
        for b in range(first, last + 1):
            if start[b] == start[b + 1]:
                continue
            D = (x[0] + (b + 0.5) * width - at[i]) / h
            mass += M[b, 0]
            if poly.size > 0 and (abs(D) < 1.01 * half or abs(D) > 0.999 - half):
                for r in range(start[b], start[b + 1]):
                    u = (x[r] - at[i]) / h
                    t = w[r] * _weight(u, poly, rate)
                    for k in range(R + 1):
                        found[i, k] += t
                        if k <= Q:
                            found[i, 5 + k] += t * y[r]
                        t *= u
                continue
            _series(D, poly, rate, J, a)
            for k in range(R + 1):
                total = 0.0
                for j in range(J + 1):
                    total += a[j] * M[b, j + k]
                c[k] = total
            for k in range(Q + 1):
                total = 0.0
                for j in range(J + 1):
                    total += a[j] * N[b, j + k]
                e[k] = total
            # From powers of d to powers of u = D + d.
            for k in range(R + 1):
                found[i, k] += c[0]
                for j in range(R - k):
                    c[j] = D * c[j] + c[j + 1]
            for k in range(Q + 1):
                found[i, 5 + k] += e[0]
                for j in range(Q - k):
                    e[j] = D * e[j] + e[j + 1]
        trusted[i] = found[i, 0] > _FAINT * mass
    return found, trusted
