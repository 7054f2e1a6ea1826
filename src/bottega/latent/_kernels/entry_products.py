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


@summing_kernel
def _add_four(total, values, columns, t, Z):
    """Add four entries at a time: what is summed is read and written once for them."""
    a, b, c, d = values[t], values[t + 1], values[t + 2], values[t + 3]
    i, j, k, m = columns[t], columns[t + 1], columns[t + 2], columns[t + 3]
    for s in range(Z.shape[1]):
        total[s] += a * Z[i, s] + b * Z[j, s] + c * Z[k, s] + d * Z[m, s]


@kernel
def rows_times(starts, columns, values, Z, found, first, last):
    """Set rows `first` to `last` of `found` to those of a sparse table times Z."""
    k = Z.shape[1]
    total = np.empty(k)
    for i in range(first, last):
        for s in range(k):
            total[s] = 0.0
        t = starts[i]
        while t + 4 <= starts[i + 1]:
            _add_four(total, values, columns, t, Z)
            t += 4
        while t < starts[i + 1]:
            _add(total, values[t], Z, columns[t])
            t += 1
        for s in range(k):
            found[i, s] = total[s]


@summing_kernel
def _add_to_row(found, j, x, row):
    for s in range(len(row)):
        found[j, s] += x * row[s]


@kernel
def columns_times(starts, columns, values, Z, found, first, last):
    """Add to `found` the transpose of rows `first` to `last` of a sparse table times their Z."""
    for i in range(first, last):
        row = Z[i]
        for t in range(starts[i], starts[i + 1]):
            _add_to_row(found, columns[t], values[t], row)
