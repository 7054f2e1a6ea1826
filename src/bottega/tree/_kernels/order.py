"""Sorting: columns of some of the rows, levels by their scores, a place among sorted numbers."""

import numpy as np

from bottega._jit import kernel


@kernel
def filter_order(order, start, place, m):
    """Return the sorted order of m rows that were taken (also repeatedly) from sorted columns.

    Old row r stands at the new places place[start[r]:start[r + 1]].
    """
    p, n = order.shape
    out = np.empty((p, m), dtype=np.int32)
    for j in range(p):
        k = 0
        for i in range(n):
            r = order[j, i]
            for s in range(start[r], start[r + 1]):
                out[j, k] = place[s]
                k += 1
    return out


@kernel
def sort_by_score(score, n, order):
    """Write into `order` the numbers 0 .. n-1 sorted by their score (Shell's method).

    Scores that differ by rounding alone are equal, and their numbers stay in order.
    """
    for i in range(n):
        order[i] = i
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            k = order[i]
            at = i
            while at >= gap and (
                score[order[at - gap]] > score[k]
                or (score[order[at - gap]] == score[k] and order[at - gap] > k)
            ):
                order[at] = order[at - gap]
                at -= gap
            order[at] = k
        gap //= 3
    equal = 0.0
    for i in range(n):
        equal = max(equal, 1e-10 * abs(score[i]))
    for i in range(1, n):
        at, k = i, order[i]
        while at > 0 and order[at - 1] > k and score[k] - score[order[at - 1]] <= equal:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@kernel
def lowest(values, start, stop, x):
    """Return the place of the first of the sorted values[start:stop] that is not below x."""
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] < x:
            start = middle + 1
        else:
            stop = middle
    return start
