"""Products with matrices of local functions, such as B-splines.

Symbols
-------
B           a matrix whose row i has ``values[i]`` in the columns from ``first[i]`` on (products of
            them: in the columns ``columns[i]``, rising)
G, Z        symmetric matrices by their lower diagonals: ``G[k, j]`` is entry (j + k, j)
"""

import numpy as np

from bottega._jit import kernel


@kernel
def band_gram(values, first, w, y, size):
    """Return B'WB (lower band) and B'Wy."""
    n, k = values.shape
    G, right = np.zeros((k, size)), np.zeros(size)
    for i in range(n):
        for a in range(k):
            column = first[i] + a
            scaled = w[i] * values[i, a]
            right[column] += scaled * y[i]
            for c in range(a, k):
                G[c - a, column] += scaled * values[i, c]
    return G, right


@kernel
def band_quadratic(values, first, Z):
    """Return the quadratic form of each row of B in a symmetric band matrix."""
    n, k = values.shape
    found = np.empty(n)
    for i in range(n):
        total = 0.0
        for a in range(k):
            column = first[i] + a
            total += values[i, a] * values[i, a] * Z[0, column]
            for c in range(a + 1, k):
                total += 2 * values[i, a] * values[i, c] * Z[c - a, column]
        found[i] = total
    return found


@kernel
def sparse_quadratic(values, columns, M):
    """Return the quadratic form b'Mb of each row b of B in a symmetric matrix."""
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
