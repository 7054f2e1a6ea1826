r"""The compiled branch and bound over subsets of columns.

Symbols
-------
S        the subset at hand, RSS(S) its residual sum of squares
C, b     inverse of the Gram matrix of S and the coefficients of S, on the columns still free to go
delta    b_v^2 / C_vv: what RSS grows by when v alone leaves S
rho      least RSS found for each size
mask     a subset as a 64-bit word: bit v is on when column v is in
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bottega._jit import kernel
from bottega.linear._kernels.subset_walks import GAIN, Floats, Ints

Words: TypeAlias = NDArray[np.int64]

NEW = -2  # a node whose columns were not looked at yet


@kernel
def _drop(C: Floats, b: Floats, v: int, f: int, kept: Ints, into: Floats, coef: Floats) -> None:
    """Write the inverse Gram matrix and the coefficients without v, for the columns `kept`."""
    pivot = 1.0 / C[v, v]
    for a in range(f):
        i = kept[a]
        share = C[i, v] * pivot
        coef[a] = b[i] - share * b[v]
        for c in range(a + 1):
            found = C[i, kept[c]] - share * C[kept[c], v]
            into[a, c] = found
            into[c, a] = found


@kernel
def search_best(
    C0: Floats,
    b0: Floats,
    rss0: float,
    rho: Floats,
    masks: Words,
    low: int,
    high: int,
    margin: float,
) -> int:
    r"""Find the subset with the least RSS of every size from `low` to `high`; return the nodes met.

    `rho` and `masks` hold good subsets on entry (the better, the less is searched) and the best
    on return. `margin` is the share of RSS by which rounding may blur a bound.

    A node is a subset S with its columns split in fixed and free; its children drop one free
    column v_j and fix those before it, so each subset is met once. Columns are ordered by delta,
    the most useful first: the child with the most descendants costs most. Every subset below
    child j of size s leaves out v_j and at least |S| - 1 - s columns after it, set D. With
    :math:`\hat C` the matrix C scaled to a unit diagonal,

    .. math:: RSS(S \setminus D) - RSS(S) = b_D^\top C_{DD}^{-1} b_D
              \ge \max\Bigl(\max_{v \in D} \delta_v,
              \sum_{v \in D} \delta_v / \lambda_{\max}(\hat C_{DD})\Bigr),

    and the eigenvalue is at most the largest absolute row sum over the columns from v_j on. The
    child is walked only if that bound is below rho for some size.
    """
    p = len(b0)
    C, b = np.empty((p + 1, p, p)), np.empty((p + 1, p))
    delta = np.empty((p + 1, p))
    columns = np.empty((p + 1, p), dtype=np.int64)  # which column each free place holds
    free, size = np.zeros(p + 1, dtype=np.intp), np.zeros(p + 1, dtype=np.intp)
    place = np.zeros(p + 1, dtype=np.intp)  # the next child of each level
    rss, word = np.zeros(p + 1), np.zeros(p + 1, dtype=np.int64)
    after = np.zeros((p + 1, p))  # eigenvalue bound for the columns from each place on
    rows, root = np.zeros(p), np.zeros(p)
    order, kept = np.zeros(p, dtype=np.intp), np.zeros(p, dtype=np.intp)
    tail = np.zeros((p + 1, p + 1))
    one = np.int64(1)

    C[0], b[0], rss[0] = C0, b0, rss0
    free[0], size[0], place[0] = p, p, NEW
    columns[0] = np.arange(p)
    word[0] = (one << p) - one
    nodes, level = 0, 0
    while level >= 0:
        f, m = free[level], size[level]
        if place[level] == NEW:  # first visit: what its columns are worth, and in which order
            nodes += 1
            for a in range(f):
                delta[level, a] = b[level, a] * b[level, a] / C[level, a, a]
                root[a] = 1.0 / np.sqrt(C[level, a, a])
                order[a] = a
            for a in range(1, f):  # insertion: the parent's order is nearly right
                t, c = order[a], a
                while c > 0 and delta[level, order[c - 1]] < delta[level, t]:
                    order[c] = order[c - 1]
                    c -= 1
                order[c] = t
            # Order the whole node, so that places count from the most useful column on.
            _permute(C[level], b[level], delta[level], columns[level], order, f, root)
            least = f - 1
            if rss[level] + delta[level, least] < rho[m - 1] and low <= m - 1 <= high:
                rho[m - 1] = rss[level] + delta[level, least]
                masks[m - 1] = word[level] & ~(one << columns[level, least])
            tail[level, f] = 0.0
            largest = 0.0
            for a in range(f - 1, -1, -1):
                tail[level, a] = tail[level, a + 1] + delta[level, a]
                rows[a] = 1.0
                for c in range(a + 1, f):
                    share = abs(C[level, a, c]) * root[a] * root[c]
                    rows[a] += share
                    rows[c] += share
                    largest = max(largest, rows[c])
                largest = max(largest, rows[a])
                after[level, a] = largest
            # A child with nothing free below it is the single drop that was just counted.
            place[level] = f - 2
        j = place[level]
        if j < 0:
            level -= 1
            continue
        place[level] -= 1
        # Sizes below child j: all f - j - 1 columns after it dropped, down to at least one.
        smallest = m - f + j
        grow = delta[level, j]
        hope = False
        for s in range(max(smallest, low), min(m - 2, high) + 1):
            more = f - (m - 1 - s)  # the cheapest columns that must go besides v_j start here
            together = (grow + tail[level, more]) / after[level, j]
            if rss[level] + max(grow, together) < rho[s] * (1 - GAIN + margin):
                hope = True
                break
        if not hope:
            continue
        g = f - j - 1
        for a in range(g):
            kept[a] = j + 1 + a
            columns[level + 1, a] = columns[level, j + 1 + a]
        _drop(C[level], b[level], j, g, kept, C[level + 1], b[level + 1])
        free[level + 1], size[level + 1], place[level + 1] = g, m - 1, NEW
        rss[level + 1] = rss[level] + grow
        word[level + 1] = word[level] & ~(one << columns[level, j])
        level += 1
    return nodes


@kernel
def _permute(
    C: Floats, b: Floats, delta: Floats, columns: Words, order: Ints, f: int, root: Floats
) -> None:
    """Reorder the first f places of a node."""
    sorted_already = True
    for a in range(f):
        if order[a] != a:
            sorted_already = False
            break
    if sorted_already:
        return
    square, line = np.empty((f, f)), np.empty((3, f))
    names = np.empty(f, dtype=np.int64)
    for a in range(f):
        t = order[a]
        line[0, a], line[1, a], line[2, a] = b[t], delta[t], root[t]
        names[a] = columns[t]
        for c in range(f):
            square[a, c] = C[t, order[c]]
    for a in range(f):
        b[a], delta[a], root[a], columns[a] = line[0, a], line[1, a], line[2, a], names[a]
        for c in range(f):
            C[a, c] = square[a, c]
