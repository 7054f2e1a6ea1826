"""Multiplicative steps for the Kullback-Leibler divergence: only positive entries are visited."""

import math

import numpy as np

from bottega._jit import kernel, summing_kernel


@summing_kernel
def _fitted(F, i, Z, j):
    total = 0.0
    for s in range(F.shape[1]):
        total += F[i, s] * Z[j, s]
    return total


@summing_kernel
def _collect(numerator, share, Z, j):
    for s in range(Z.shape[1]):
        numerator[s] += share * Z[j, s]


@kernel
def divergence_step(starts, columns, values, F, Z, rates, l1, l2, floor):
    """Change F by one step; return the sum of x log(x / fitted) before it.

    `rates` are the sums over the observed entries of each row (or of all rows alike, in one row) of
    the rows of Z. A coordinate takes the minimum of its majoriser, and none falls below `floor`.
    """
    m, k = F.shape
    numerator = np.empty(k)
    total = 0.0
    for i in range(m):
        for s in range(k):
            numerator[s] = 0.0
        for t in range(starts[i], starts[i + 1]):
            j = columns[t]
            fitted = _fitted(F, i, Z, j)
            total += values[t] * math.log(values[t] / fitted)
            _collect(numerator, values[t] / fitted, Z, j)
        at = min(i, rates.shape[0] - 1)
        for s in range(k):
            rate = rates[at, s] + l1
            above = numerator[s] * F[i, s]
            if l2 > 0.0:
                new = 2.0 * above / (rate + math.sqrt(rate * rate + 4.0 * l2 * above))
            elif rate > 0.0:
                new = above / rate
            else:
                new = 0.0
            F[i, s] = max(floor, new)
    return total
