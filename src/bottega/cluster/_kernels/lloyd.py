"""One pass of Lloyd's algorithm over a block of rows, with Hamerly's bounds.

Hamerly, G. (2010). Making k-means even faster. SIAM International Conference on Data Mining.

Symbols
-------
X        rows (n, p); all work is done on x - shift, so that no digits are lost far from zero
C        centres less the shift (K, p)
label    the centre of each row, -1 where none was found yet
upper    a bound from above on the distance of a row to its own centre, times `scale`
lower    a bound from below on the distance to every other centre, times `scale`
moved    how far each centre has moved since the bounds were made, times `scale`
others   how far the other centres have moved at most, times `scale` (K)
half     half the distance of each centre to the nearest other one, times `scale` (K)
S        change of the sums of w (x - shift) and, in column p, of w, by centre (K, p + 1)
N        change of the numbers of rows by centre (K)

The bounds are single precision, and are rounded outwards by SLACK, which is far more than rounding
can do: a row is only left alone where no other centre can be as near, so the labels are those of
the plain algorithm. Ties go to the first centre.
"""

import numpy as np

from bottega._jit import kernel, summing_kernel

SLACK = 1e-6


@summing_kernel
def squared_distance(X, i, shift, C, k):
    """Return the squared distance of row i to centre k."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = X[i, j] - shift[j] - C[k, j]
        total += gap * gap
    return total


@kernel
def put(X, w, i, shift, label, k, S, N):
    """Move row i to centre k in the sums."""
    p = X.shape[1]
    weight = w[i] if w.shape[0] > 0 else 1.0
    old = label[i]
    for j in range(p):
        S[k, j] += weight * (X[i, j] - shift[j])
    S[k, p] += weight
    N[k] += 1
    if old >= 0:
        for j in range(p):
            S[old, j] -= weight * (X[i, j] - shift[j])
        S[old, p] -= weight
        N[old] -= 1
    label[i] = k


@kernel
def in_question(X, shift, C, scale, steps, tighten, label, upper, lower, start, rows, G):
    """List the rows from `start` on whose centre is in question, and copy them, shifted, to G.

    `steps` (3, K) are `moved`, `others` and `half`. With `tighten` the distance to its own centre
    is computed before a row is listed. The last column of G is one. Returns how many rows are
    listed, and the row to go on with where G is full.
    """
    n, p = X.shape
    m = 0
    for i in range(start, n):
        if m == G.shape[0]:
            return m, i
        k = label[i]
        if k >= 0:
            u = (upper[i] + steps[0, k]) * (1.0 + SLACK)
            low = (lower[i] - steps[1, k]) * (1.0 - SLACK)
            limit = max(low, steps[2, k])
            if u >= limit and tighten:
                u = np.sqrt(squared_distance(X, i, shift, C, k)) * scale * (1.0 + SLACK)
            upper[i] = u
            lower[i] = max(low, 0.0)
            if u < limit * (1.0 - SLACK):
                continue
        rows[m] = i
        for j in range(p):
            G[m, j] = X[i, j] - shift[j]
        G[m, p] = 1.0
        m += 1
    return m, n


@kernel
def settle(X, w, shift, C, scale, rows, m, G, P, label, upper, lower, S, N):
    """Give the first m listed rows their nearest centres; return how many changed theirs.

    P = G D are their squared distances less |x|^2, of which D has the factors (-2 c, |c|^2). Where
    their rounding leaves more than one centre possible, distances are computed directly: the
    labels are those of direct distances.
    """
    p = X.shape[1]
    K = C.shape[0]
    largest = 0.0
    for k in range(K):
        total = 0.0
        for j in range(p):
            total += C[k, j] * C[k, j]
        largest = max(largest, total)
    changed = 0
    for at in range(m):
        i = rows[at]
        own = 0.0
        for j in range(p):
            own += G[at, j] * G[at, j]
        rounding = 9e-16 * (p + 8) * (own + largest)
        best = 0
        first = P[at, 0]
        second = np.inf
        for k in range(1, K):  # without branches
            value = P[at, k]
            second = min(second, max(first, value))
            best = k if value < first else best
            first = min(first, value)
        if second - first <= rounding:
            exact = np.inf
            for k in range(K):
                if P[at, k] <= first + rounding:
                    value = squared_distance(X, i, shift, C, k)
                    if value < exact:
                        exact = value
                        best = k
        upper[i] = np.sqrt(max(own + first + rounding, 0.0)) * scale * (1.0 + SLACK)
        lower[i] = np.sqrt(max(own + second - rounding, 0.0)) * scale * (1.0 - SLACK)
        if best != label[i]:
            changed += 1
            put(X, w, i, shift, label, best, S, N)
    return changed
