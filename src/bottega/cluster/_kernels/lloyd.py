"""One pass of Lloyd's algorithm over a part of the rows, with Hamerly's bounds.

Hamerly, G. (2010). Making k-means even faster. SIAM International Conference on Data Mining.

Symbols
-------
X        rows (n, p); all work is done on x - shift, so that no digits are lost far from zero
C        centres less the shift (K, p)
M        the same times `scale` in single precision, as `two_nearest` takes them
label    the centre of each row, -1 where none was found yet
upper    a bound from above on the distance of a row to its own centre, times `scale`
lower    a bound from below on the distance to every other centre, times `scale`
moved    how far each centre has moved since the bounds were made, times `scale`
others   how far the other centres have moved at most, times `scale` (K)
half     half the distance of each centre to the nearest other one, times `scale` (K)
round    what rounding can do to a distance, beside a share of the distance, times `scale` (K)
steps    `moved`, `others`, `half` and `round` (4, K)
S        change of the sums of w (x - shift) and, in column p, of w, by centre (K, p + 1)
N        change of the numbers of rows by centre (K)

Bounds, and the distances that rows are first given centres by, are in single precision. What its
rounding can do is added to or taken from them. So a row keeps its centre unseen, or gets one at
first sight, only where no other centre can be as near; elsewhere distances are computed in double
precision. The labels are those of the plain algorithm. Ties go to the first centre.

A helper that is called row by row must be short: the compiler puts it in its place only then, and
a call with arrays takes longer than the work on a row.
"""

import numpy as np

from bottega._jit import kernel
from bottega.cluster._kernels.nearest import BLOCK, two_nearest

SLACK = 1e-6
EPS = 1.2e-7  # twice the rounding of a number of size one to single precision
TINY = 1e-37  # what single precision holds in full; a bound from above must not vanish


@kernel
def squared_distance(X, i, shift, C, k):
    """Return the squared distance of row i to centre k, the same to the last bit everywhere."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = X[i, j] - shift[j] - C[k, j]
        total += gap * gap
    return total


@kernel
def add_row(X, i, shift, weight, S, k):
    """Add row i, `weight` times, to the sums of centre k."""
    p = X.shape[1]
    for j in range(p):
        S[k, j] += weight * (X[i, j] - shift[j])
    S[k, p] += weight


@kernel
def in_question(steps, label, upper, lower, rows):
    """Move the bounds with the centres; list the rows that they do not settle, return how many."""
    m = 0
    for i in range(label.shape[0]):
        k = max(label[i], 0)  # without a label the upper bound is infinite
        up = (upper[i] + steps[0, k]) * (1.0 + SLACK)
        low = max((lower[i] - steps[1, k]) * (1.0 - SLACK), 0.0)
        upper[i] = up
        lower[i] = low
        rows[m] = i
        m += not up < max(low, steps[2, k]) * (1.0 - SLACK)  # without branches
    return m


@kernel
def assign_rows(X, w, shift, C, M, scale, steps, label, upper, lower, S, N):
    """Give all rows their nearest centres; return how many changed theirs."""
    n, p = X.shape
    K = C.shape[0]
    rows = np.empty(n + 1, np.uint32)
    best = np.empty(BLOCK, np.int32)
    T = np.zeros((M.shape[1], BLOCK), np.float32)
    near = np.empty((2, BLOCK), np.float32)
    first = np.empty(BLOCK, np.float32)
    second = np.empty(BLOCK, np.float32)
    share = EPS * (p + 12)
    listed = in_question(steps, label, upper, lower, rows)
    changed = at = 0
    while at < listed:
        m = min(listed - at, BLOCK)
        start = rows[at]
        together = rows[at + m - 1] - start == m - 1
        for j in range(p):
            middle = shift[j]
            if together:
                for r in range(m):
                    T[j, r] = (X[start + r, j] - middle) * scale
            else:
                for r in range(m):
                    T[j, r] = (X[rows[at + r], j] - middle) * scale
        two_nearest(T, M, near, first, second, best)
        for r in range(m):
            i = rows[at + r]
            k = best[r]
            up = first[r] * (1.0 + share) + steps[3, k]
            low = second[r] * (1.0 - share) - steps[3, k]
            if not low > up:
                up = np.inf
                low = np.inf
                for c in range(K):
                    value = squared_distance(X, i, shift, C, c)
                    if value < up:
                        k = c
                    low = min(low, max(up, value))
                    up = min(up, value)
                up = np.sqrt(up) * scale * (1.0 + SLACK) + TINY
                low = np.sqrt(low) * scale * (1.0 - SLACK)
            upper[i] = up
            lower[i] = low
            old = label[i]
            if k != old:
                weight = w[i] if w.shape[0] > 0 else 1.0
                add_row(X, i, shift, weight, S, k)
                N[k] += 1
                if old >= 0:
                    add_row(X, i, shift, -weight, S, old)
                    N[old] -= 1
                label[i] = k
                changed += 1
        at += m
    return changed
