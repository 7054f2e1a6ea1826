"""Sums and sums of squares of columns by class, in one pass over the rows.

Symbols
-------
X       columns of the rows, one below the other (p, n)
code    the class of each row (n)
centre  what is subtracted from the rows of each class (K, p)
sums    of x - centre by class (K, p)
squares of the same, squared (K, p)

one     whether the rows of a piece are of a class, 1 or 0 (K, PIECE)

A piece of a column stays in the cache while it is gone through for each class: without branches
that is faster than to look up the sums of each row's class. A value that is not finite spoils the
sums of its column in all classes.
"""

import numpy as np

from bottega._jit import summing_kernel

PIECE = 512


@summing_kernel
def sums_by_class(X, code, centre, sums, squares):
    """Add the sums of all rows to `sums` and `squares`."""
    p, n = X.shape
    K = centre.shape[0]
    one = np.empty((K, PIECE))
    for start in range(0, n, PIECE):
        m = min(PIECE, n - start)
        for k in range(K):
            for r in range(m):
                one[k, r] = 1.0 if code[start + r] == k else 0.0
        for j in range(p):
            column = X[j, start : start + m]
            for k in range(K):
                inside = one[k, :m]
                middle = centre[k, j]
                total = 0.0
                square = 0.0
                for r in range(m):
                    x = (column[r] - middle) * inside[r]
                    total += x
                    square += x * x
                sums[k, j] += total
                squares[k, j] += square
