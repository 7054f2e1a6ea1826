"""The two nearest centres of a block of rows, by distances in single precision.

Symbols
-------
T        the rows of a block, one below the other in columns (q, BLOCK)
M        centres (L, q); q is p filled up with zeros to a multiple of four, L is K filled up with
         an infinite centre to a multiple of two
near     squared distances of the rows to two centres (2, BLOCK)
first    distances to the nearest centre (BLOCK)
second   distances to the nearest other one (BLOCK)
best     the nearest centre, the first among equals (BLOCK)

All loops over a block have one length and no branches: the processor works on many rows at a time.
"""

import numpy as np

from bottega._jit import summing_kernel

BLOCK = 128


@summing_kernel
def two_nearest(T, M, near, first, second, best):
    """Find the nearest centre of each row of a block, and the distances to it and the next."""
    L, q = M.shape
    for r in range(BLOCK):
        first[r] = np.inf
        second[r] = np.inf
        best[r] = 0
    for k in range(0, L, 2):
        for r in range(BLOCK):
            near[0, r] = 0.0
            near[1, r] = 0.0
        for j in range(0, q, 4):
            a0, a1, a2, a3 = M[k, j], M[k, j + 1], M[k, j + 2], M[k, j + 3]
            b0, b1, b2, b3 = M[k + 1, j], M[k + 1, j + 1], M[k + 1, j + 2], M[k + 1, j + 3]
            for r in range(BLOCK):
                x0, x1, x2, x3 = T[j, r], T[j + 1, r], T[j + 2, r], T[j + 3, r]
                near[0, r] += (x0 - a0) ** 2 + (x1 - a1) ** 2 + (x2 - a2) ** 2 + (x3 - a3) ** 2
                near[1, r] += (x0 - b0) ** 2 + (x1 - b1) ** 2 + (x2 - b2) ** 2 + (x3 - b3) ** 2
        for s in range(2):
            number = np.int32(k + s)
            for r in range(BLOCK):
                value = near[s, r]
                least = first[r]
                second[r] = min(second[r], max(least, value))
                best[r] = number if value < least else best[r]
                first[r] = min(least, value)
    for r in range(BLOCK):
        first[r] = np.sqrt(first[r])
        second[r] = np.sqrt(second[r])
