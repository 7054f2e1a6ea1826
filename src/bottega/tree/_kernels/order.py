"""Sorted columns of some of the rows, from the sorted columns of all of them."""

import numpy as np

from bottega._jit import kernel

__all__ = ["filter_order"]


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
