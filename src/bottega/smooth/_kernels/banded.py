"""Products with matrices of local functions, such as B-splines.

Symbols
-------
B           a matrix whose row i has ``values[i]`` in the columns from ``first[i]`` on
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
