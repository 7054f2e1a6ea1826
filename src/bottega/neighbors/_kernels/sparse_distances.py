"""Distances between sparse rows."""

import numpy as np

from bottega._jit import kernel
from bottega.neighbors._kernels.distances import (
    CHEBYSHEV,
    EUCLIDEAN,
    LEAST_SQUARE,
    MOST_SQUARE,
)


@kernel
def sparse_distances(values, columns, starts, stored, stored_columns, stored_starts, metric):
    """Return the distance from each row to each stored row, all in compressed form.

    The columns of a row ascend, so two rows are walked side by side; equal rows are at distance
    exactly 0.
    """
    m, n = len(starts) - 1, len(stored_starts) - 1
    found = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            unit = 1.0
            while True:
                a, b = starts[i], stored_starts[j]
                a_end, b_end = starts[i + 1], stored_starts[j + 1]
                total = top = 0.0
                while a < a_end or b < b_end:
                    if b >= b_end or (a < a_end and columns[a] < stored_columns[b]):
                        gap = abs(values[a])
                        a += 1
                    elif a >= a_end or columns[a] > stored_columns[b]:
                        gap = abs(stored[b])
                        b += 1
                    else:
                        gap = abs(values[a] - stored[b])
                        a += 1
                        b += 1
                    top = max(top, gap)
                    if metric == EUCLIDEAN:
                        if unit != 1.0:
                            gap /= unit
                        total += gap * gap
                    else:
                        total += gap
                if metric == CHEBYSHEV:
                    total = top
                if metric != EUCLIDEAN or unit != 1.0 or top == 0.0 or top == 1.0:
                    break
                if LEAST_SQUARE < total < MOST_SQUARE:
                    break
                unit = top  # squares that overflow or lose digits are taken relative to the largest
            found[i, j] = unit * np.sqrt(total) if metric == EUCLIDEAN else total
    return found
