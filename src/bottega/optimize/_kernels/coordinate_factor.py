"""The Cholesky factor of a Gram matrix on a support that changes by a few columns at a time.

Symbols
-------
G        Gram matrix; the arrays may be larger than the support
S        support: the columns wanted
R        upper triangle with R'R = G_SS + diag(l2_S), for the columns `order[:count[0]]`
"""

import numpy as np

from bottega._jit import kernel

# A pivot this small against its column: the columns of the support are dependent.
_SINGULAR = 1e-11


@kernel
def _append(G, j, ridge, R, order, s):
    """Add column j to the factor; return whether it is independent of the columns there."""
    row = G[j]
    work = row[order[:s]]
    size = row[j] + ridge
    left = size
    for a in range(s):
        work[a] /= R[a, a]
        step = work[a]
        left -= step * step
        factor = R[a]
        for e in range(a + 1, s):
            work[e] -= step * factor[e]
    if not left > _SINGULAR * size:
        return False
    R[:s, s] = work
    R[s, s] = np.sqrt(left)
    order[s] = j
    return True


@kernel
def remove_column(R, order, s, k, Q):
    """Take the column at place k out of the factor, by plane rotations of its rows.

    The rows of Q (as many, or none) are rotated with those of R.
    """
    for a in range(k, s - 1):
        order[a] = order[a + 1]
    for a in range(s):
        row = R[a]
        for e in range(max(k, a - 1), s - 1):
            row[e] = row[e + 1]
    for a in range(k, s - 1):
        # Row a + 1 has, after the shift, an entry below the diagonal at place a.
        upper, lower = R[a], R[a + 1]
        x, y = upper[a], lower[a]
        size = np.sqrt(x * x + y * y)
        cosine, sine = x / size, y / size
        for e in range(a, s - 1):
            high, low = upper[e], lower[e]
            upper[e] = cosine * high + sine * low
            lower[e] = cosine * low - sine * high
        lower[a] = 0.0
        for i in range(Q.shape[1]):
            high, low = Q[a, i], Q[a + 1, i]
            Q[a, i] = cosine * high + sine * low
            Q[a + 1, i] = cosine * low - sine * high


@kernel
def update_factor(G, S, l2, R, order, count):
    """Bring the factor R'R = G_SS + l2_S to the columns S; return -1, or a dependent column.

    R holds the columns `order[:count[0]]`: few of them change from one call to the next, and each
    change costs the square of their number, where a new factor costs the cube.
    """
    wanted, nothing = np.zeros(len(G), np.bool_), np.empty((0, 0))
    for j in S:
        wanted[j] = True
    gone = 0
    for a in range(count[0]):
        if not wanted[order[a]]:
            gone += 1
    if 4 * gone > count[0]:
        count[0] = 0
    for a in range(count[0] - 1, -1, -1):
        if wanted[order[a]]:
            wanted[order[a]] = False
        else:
            remove_column(R, order, count[0], a, nothing)
            count[0] -= 1
    for j in S:
        if wanted[j]:
            if not _append(G, j, l2[j], R, order, count[0]):
                return j
            count[0] += 1
    return -1


@kernel
def solve_factored(R, s, z):
    """Set z to the solution of R'R x = z."""
    solve_transposed(R, s, z)
    solve_upper(R, s, z)


@kernel
def solve_transposed(R, s, z):
    """Set z to the solution of R'x = z."""
    for a in range(s):
        z[a] /= R[a, a]
        step, row = z[a], R[a]
        for e in range(a + 1, s):
            z[e] -= step * row[e]


@kernel
def solve_upper(R, s, z):
    """Set z to the solution of Rx = z."""
    for a in range(s - 1, -1, -1):
        row = R[a]
        total = z[a]
        for e in range(a + 1, s):
            total -= row[e] * z[e]
        z[a] = total / row[a]
