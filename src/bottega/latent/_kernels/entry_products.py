"""Products of two factors at some entries, and of a sparse table with a factor.

The entries of row i are the columns ``columns[starts[i]:starts[i + 1]]``.
"""

import numpy as np

from bottega._jit import kernel, summing_kernel


@summing_kernel
def _dot(F, i, Z, j):
    total = 0.0
    for s in range(F.shape[1]):
        total += F[i, s] * Z[j, s]
    return total


@kernel
def products_at(starts, columns, F, Z, found):
    """Set `found` to the product of row i of F with row j of Z at each entry (i, j)."""
    for i in range(len(starts) - 1):
        for t in range(starts[i], starts[i + 1]):
            found[t] = _dot(F, i, Z, columns[t])


@summing_kernel
def _add(total, x, Z, j):
    for s in range(Z.shape[1]):
        total[s] += x * Z[j, s]


@kernel
def rows_times(starts, columns, values, Z, found, first, last):
    """Set rows `first` to `last` of `found` to those of a sparse table times Z."""
    k = Z.shape[1]
    total = np.empty(k)
    for i in range(first, last):
        for s in range(k):
            total[s] = 0.0
        for t in range(starts[i], starts[i + 1]):
            _add(total, values[t], Z, columns[t])
        for s in range(k):
            found[i, s] = total[s]
