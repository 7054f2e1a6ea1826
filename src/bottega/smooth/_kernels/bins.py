"""Kernels of binned local regression: rows onto an even grid, and values back from it.

Symbols
-------
x, y, w     rows in any order; one weight may stand for all
low, step   first point of the grid and the distance between neighbours
share       of a row for the grid point on its right: how near it is to that
"""

import numpy as np

from bottega._jit import kernel


@kernel
def bin_linear(x, y, w, low, step, size):
    """Share each row among the two grid points about it, the nearer the more.

    Returns the sums over rows of share times w, times w y, and times w^2.
    """
    count, total, square = np.zeros(size), np.zeros(size), np.zeros(size)
    unit = w.size == 1  # one weight for all
    inverse = 1.0 / step
    for i in range(x.size):
        weight = w[0] if unit else w[i]
        place = (x[i] - low) * inverse
        left = int(min(place, size - 2.0)) if place > 0.0 else 0
        right_share = min(max(place - left, 0.0), 1.0) * weight
        left_share = weight - right_share
        count[left] += left_share
        count[left + 1] += right_share
        total[left] += left_share * y[i]
        total[left + 1] += right_share * y[i]
        if not unit:
            square[left] += left_share * weight
            square[left + 1] += right_share * weight
    return count, total, count * w[0] if unit else square


@kernel
def look_up(x, low, step, values):
    """Interpolate each column of values on a grid linearly at each x (ends held beyond)."""
    size, count = values.shape
    found = np.empty((x.size, count))
    inverse = 1.0 / step
    for i in range(x.size):
        place = (x[i] - low) * inverse
        left = int(min(place, size - 2.0)) if place > 0.0 else 0
        share = min(max(place - left, 0.0), 1.0)
        for f in range(count):
            found[i, f] = (1.0 - share) * values[left, f] + share * values[left + 1, f]
    return found
