"""Kernels of local regression: sums over wide windows, by boxes of rows instead of row by row.

In a box of rows about c, with D = (c - at) / h and d = (x - c) / h, the weight function is its
Taylor series about D,

    w0(D + d) = a_0 + a_1 d + a_2 d^2 + ...,

so that the sums over the box follow from the box's own sums of d^j, which serve all points. For the
normal weight function the boxes are narrow enough for 18 terms to reach the last digit. For the
others, which are polynomials on either side of the point, the series ends and is exact; running
sums within each box let a window begin and end anywhere.

Symbols
-------
x, y, w  rows ascending in x, not all equal; responses (less a level); weights
at       points; h the bandwidth of all of them
powers   highest power of u wanted (at least 2)
found    one row per point: sums of t u^r (columns 0-4) and t u^r y (5-7; up to half of `powers`),
         with u = (x - at) / h and t = w times the weight function
M, N     sums over rows of a box of w d^j and of w d^j y
"""

import numpy as np

from bottega._jit import kernel

_TERMS = 18  # of the series of the normal, beyond a_0
_HALF_NORMAL = 0.25  # half the width of a box, in standard deviations
_HALF_POLYNOMIAL = 0.125  # and in bandwidths
# Where a sum is less than this share of what it was made from, rounding would show.
_FAINT = 1e-4


@kernel
def _box_starts(x, width):
    """Return the first row of each box of a width, and one past the last row."""
    boxes = int((x[-1] - x[0]) / width) + 1
    start = np.searchsorted(x, x[0] + width * np.arange(boxes + 1))
    start[0], start[boxes] = 0, x.size
    return start


@kernel
def _is_clear(found, mass, widest, R):
    """Return True if the even sums stand well above the rounding of the boxes.

    That is in proportion to the mass in reach and to the largest power of u that counts: of the
    widest u there is, or of 2, where u^k times the normal function is about the largest.
    """
    power = min(widest, 2.0) ** 2
    clear = found[0] > _FAINT * mass
    for k in range(2, R + 1, 2):
        clear = clear and found[k] > _FAINT * mass * power ** (k // 2)
    return clear


@kernel
def _add_row(d, w, y, M, N):
    """Add a row to the sums of its box."""
    t = w
    for j in range(M.size):
        M[j] += t
        if j < N.size:
            N[j] += t * y
        t *= d


@kernel
def _add_box(a, M, D, R, c, found):
    """Add the sums of a box to those of a point: series times moments, then powers of D + d."""
    for k in range(R + 1):
        total = 0.0
        for j in range(a.size):
            total += a[j] * M[j + k]
        c[k] = total
    for k in range(R + 1):
        found[k] += c[0]
        for j in range(R - k):
            c[j] = D * c[j] + c[j + 1]


@kernel
def sums_normal(x, y, w, at, h, reach, powers):
    """Return the sums for the weight exp(-u^2 / 2), and where they can be trusted."""
    m, R, Q, J = at.size, powers, powers // 2, _TERMS
    width = min(2.0 * _HALF_NORMAL * h, x[-1] - x[0])
    start = _box_starts(x, width)
    boxes = start.size - 1
    M, N = np.zeros((boxes, J + R + 1)), np.zeros((boxes, J + Q + 1))
    for b in range(boxes):
        for i in range(start[b], start[b + 1]):
            _add_row((x[i] - x[0] - (b + 0.5) * width) / h, w[i], y[i], M[b], N[b])
    found, trusted = np.zeros((m, 8)), np.empty(m, dtype=np.bool_)
    a, c = np.empty(J + 1), np.empty(5)
    for i in range(m):
        place = at[i] - x[0]
        # Bounded before they become whole numbers: a point may be anywhere.
        first = int(np.floor(min(max((place - reach * h) / width, 0.0), 1.0 * boxes)))
        last = int(np.floor(min(max((place + reach * h) / width, -1.0), boxes - 1.0)))
        mass = 0.0
        for b in range(first, last + 1):
            if start[b] == start[b + 1]:
                continue
            mass += M[b, 0]
            D = ((b + 0.5) * width - place) / h
            # From w0' = -u w0.
            a[0] = np.exp(-0.5 * D * D)
            a[1] = -D * a[0]
            for j in range(1, J):
                a[j + 1] = -(D * a[j] + a[j - 1]) / (j + 1)
            _add_box(a, M[b], D, R, c, found[i])
            _add_box(a, N[b], D, Q, c, found[i, 5:])
        trusted[i] = _is_clear(found[i], mass, (x[-1] - x[0]) / h, R)
    return found, trusted


@kernel
def _shift(poly, D, a):
    """Write the coefficients of poly(|D + d|) in powers of d, by repeated synthetic division."""
    size = poly.size
    a[:] = poly
    for j in range(size - 1):
        for k in range(size - 2, j - 1, -1):
            a[k] += D * a[k + 1]


@kernel
def sums_polynomial(x, y, w, at, h, poly, powers):
    """Return the sums for the weight ``sum poly[j] |u|^j``, |u| < 1, and where they are trusted."""
    n, m, R, Q, J = x.size, at.size, powers, powers // 2, poly.size - 1
    width = min(2.0 * _HALF_POLYNOMIAL * h, x[-1] - x[0])
    start = _box_starts(x, width)
    boxes = start.size - 1
    # Running sums: row i of them is over the rows of its box before row i; then the whole box.
    M, N = np.zeros((n, J + R + 1)), np.zeros((n, J + Q + 1))
    M_all, N_all = np.zeros((boxes, J + R + 1)), np.zeros((boxes, J + Q + 1))
    box = np.empty(n, dtype=np.int64)
    for b in range(boxes):
        for i in range(start[b], start[b + 1]):
            box[i] = b
            M[i], N[i] = M_all[b], N_all[b]
            _add_row((x[i] - x[0] - (b + 0.5) * width) / h, w[i], y[i], M_all[b], N_all[b])
    found, trusted = np.zeros((m, 8)), np.empty(m, dtype=np.bool_)
    a, c = np.empty(J + 1), np.empty(5)
    part_M, part_N = np.empty(J + R + 1), np.empty(J + Q + 1)
    for i in range(m):
        place = at[i] - x[0]
        ends = (
            np.searchsorted(x, at[i] - h, side="right"),
            np.searchsorted(x, at[i]),
            np.searchsorted(x, at[i] + h, side="left"),
        )
        mass = 0.0
        for side in range(2):
            row, stop = ends[side], ends[side + 1]
            sign = -1.0 if side == 0 else 1.0
            while row < stop:
                b = box[row]
                until = min(start[b + 1], stop)
                whole = until == start[b + 1]
                for j in range(J + R + 1):
                    part_M[j] = (M_all[b, j] if whole else M[until, j]) - M[row, j]
                for j in range(J + Q + 1):
                    part_N[j] = (N_all[b, j] if whole else N[until, j]) - N[row, j]
                mass += part_M[0]
                D = ((b + 0.5) * width - place) / h
                _shift(poly, sign * D, a)
                if side == 0:
                    for j in range(1, J + 1, 2):
                        a[j] = -a[j]
                _add_box(a, part_M, D, R, c, found[i])
                _add_box(a, part_N, D, Q, c, found[i, 5:])
                row = until
        trusted[i] = _is_clear(found[i], mass, (x[-1] - x[0]) / h, R)
    return found, trusted
