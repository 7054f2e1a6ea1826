"""Kernels of tensor product splines.

Symbols
-------
B       a sparse matrix whose row i has ``values[i]`` in the columns ``columns[i]``, rising
M       a symmetric matrix
"""

import numpy as np

from bottega._jit import kernel


@kernel
def sparse_quadratic(values, columns, M):
    """Return the quadratic form b'Mb of each row b of B."""
    n, k = values.shape
    found = np.empty(n)
    for i in range(n):
        total = 0.0
        for a in range(k):
            row = columns[i, a]
            inner = 0.5 * values[i, a] * M[row, row]
            for c in range(a):
                inner += values[i, c] * M[row, columns[i, c]]
            total += 2 * values[i, a] * inner
        found[i] = total
    return found
