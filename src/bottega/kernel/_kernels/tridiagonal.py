"""Squared lengths of rows under the inverse of a shifted tridiagonal matrix, for many shifts.

Symbols
-------
Qt       the rows, one per column, in the coordinates in which the matrix is T
ratio    L in T + a = L D L', one column per shift a: what a coordinate takes off the next
inverse  1 / D
left     q'(T + a)^-1 q of each row q and shift
"""

import numpy as np

from bottega._jit import kernel

ROWS = 32  # taken together: what is known of them for all shifts stays near the processor


@kernel
def lengths(Qt, ratio, inverse, first, last, left):
    """Solve L x = q for the rows from first to last and sum x^2 / D on the way.

    There are at least ROWS rows; the last ones of them are taken with some that came before.
    """
    r, m = ratio.shape
    q = np.empty(ROWS)
    x = np.empty((m, ROWS))
    total = np.empty((m, ROWS))
    for begin in range(first, last, ROWS):
        start = max(0, min(begin, last - ROWS))
        for j in range(m):
            for i in range(ROWS):
                x[j, i] = 0.0
                total[j, i] = 0.0
        for k in range(r):
            for i in range(ROWS):
                q[i] = Qt[k, start + i]
            for j in range(m):
                back, scale = ratio[k, j], inverse[k, j]
                for i in range(ROWS):
                    t = q[i] - back * x[j, i]
                    x[j, i] = t
                    total[j, i] += t * t * scale
        for j in range(m):
            for i in range(ROWS):
                left[start + i, j] = total[j, i]
