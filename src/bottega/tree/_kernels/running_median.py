"""Absolute errors about the weighted medians of growing sets of rows.

A Fenwick tree over the ranks of the responses holds weights and weighted responses, so that a row
is added, and the median of all that have been added is found, in a logarithm of their number.
"""

import numpy as np

from bottega._jit import kernel


@kernel
def median(rows, start, stop, wz, k, W):
    """Return the weighted median of response k of rows sorted by it; the middle of two halves."""
    below = 0.0
    for i in range(start, stop):
        below += wz[rows[i], 0]
        if below > 0.5 * W * (1.0 + 1e-14):
            return wz[rows[i], k + 1]
        if below >= 0.5 * W * (1.0 - 1e-14) and i + 1 < stop:
            return 0.5 * (wz[rows[i], k + 1] + wz[rows[i + 1], k + 1])
    return wz[rows[stop - 1], k + 1]


@kernel
def _added(tree, rank, w, wy, whole, rows, start, wz, k):
    """Add a row to the tree; return the summed absolute error about the median of all rows in it.

    `whole` holds the sums of w and w z of the rows added so far.
    """
    n = tree.shape[0] - 1
    whole[0] += w
    whole[1] += wy
    at = rank + 1
    while at <= n:
        tree[at, 0] += w
        tree[at, 1] += wy
        at += at & -at
    # The largest place whose rows weigh less than half: the median comes next.
    place, step = 0, 1
    while 2 * step <= n:
        step *= 2
    w_below, wy_below = 0.0, 0.0
    while step > 0:
        if place + step <= n and w_below + tree[place + step, 0] < 0.5 * whole[0]:
            place += step
            w_below += tree[place, 0]
            wy_below += tree[place, 1]
        step //= 2
    middle = wz[rows[start + min(place, n - 1)], k + 1]
    return middle * w_below - wy_below + (whole[1] - wy_below) - middle * (whole[0] - w_below)


@kernel
def losses_of_medians(rows_of, p, j, start, stop, end, missing_left, wz, losses, rank):
    """Write the errors left and right of the boundary behind each present row of column j.

    The present rows are rows_of[j, start:end], the missing ones go to the left or the right.
    """
    n = stop - start
    tree, whole = np.empty((n + 1, 2)), np.empty(2)
    for i in range(n):
        losses[0, i] = losses[1, i] = 0.0
    for k in range(wz.shape[1] - 1):
        rows = rows_of[p + k]
        for i in range(start, stop):
            rank[rows[i]] = i - start
        for right in range(2):
            for i in range(n + 1):
                tree[i, 0] = tree[i, 1] = 0.0
            whole[0] = whole[1] = 0.0
            first = stop - end if missing_left != right else 0  # missing rows come first
            error = 0.0
            for step in range(n if missing_left != right else end - start):
                if step < first:
                    i = end + step
                else:
                    i = end - 1 - (step - first) if right else start + (step - first)
                    if right:
                        losses[1, i - start] += error
                r = rows_of[j, i]
                w = wz[r, 0]
                error = _added(tree, rank[r], w, w * wz[r, k + 1], whole, rows, start, wz, k)
                if step >= first and not right:
                    losses[0, i - start] += error
