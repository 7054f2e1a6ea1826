"""Knots of a spline from sorted rows."""

import numpy as np

from bottega._jit import kernel


@kernel
def tie_starts(x, tie):
    """Return where each group of (nearly) equal sorted x begins, and the number of rows."""
    n = len(x)
    found = np.empty(n + 1, dtype=np.intp)
    groups = 0
    for i in range(n):
        if i == 0 or x[i] - x[found[groups - 1]] > tie:
            found[groups] = i
            groups += 1
    found[groups] = n
    return found[: groups + 1].copy()


@kernel
def knot_means(x, y, w, start):
    """Return the means of x and y and the weight of each group, and the rss about the means."""
    m = len(start) - 1
    middle, mean, total = np.empty(m), np.empty(m), np.empty(m)
    pure = 0.0
    for g in range(m):
        first = start[g]
        weight = dx = dy = 0.0
        for i in range(first, start[g + 1]):  # about the first row, so that equal rows stay equal
            weight += w[i]
            dx += w[i] * (x[i] - x[first])
            dy += w[i] * (y[i] - y[first])
        middle[g], mean[g], total[g] = x[first] + dx / weight, y[first] + dy / weight, weight
        for i in range(first, start[g + 1]):
            pure += w[i] * (y[i] - mean[g]) ** 2
    return middle, mean, total, pure


@kernel
def central_sums(y, start, mean):
    """Return how many rows each group has, and sums of powers 2, 3, 4 of y about its mean."""
    m = len(start) - 1
    found = np.zeros((4, m))
    for g in range(m):
        found[0, g] = start[g + 1] - start[g]
        for i in range(start[g], start[g + 1]):
            gap = y[i] - mean[g]
            square = gap * gap
            found[1, g] += square
            found[2, g] += square * gap
            found[3, g] += square * square
    return found
