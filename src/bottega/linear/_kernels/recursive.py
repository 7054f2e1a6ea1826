"""Recursive least squares on the triangle of the rows seen so far.

Symbols
-------
R       upper triangle (d + 1 by d + 1) with R'R = A'A for the rows A = [x, y] seen so far: its
        first d columns are the QR factor of the inputs, its last column holds Q'y above the root
        of the residual sum of squares
row     the new row, rotated into R by one Givens rotation a coefficient
c, s    cosine and sine of a rotation
kept    product of the cosines. Its square is h = 1 / (1 + x'Vx), with V the inverse of the inputs'
        information; and what is left of the response is e sqrt(h), with e = y - x'b the error of
        predicting y before it was seen. So e and the gain of the textbook recursion come with the
        rotations, and V is never formed.
"""

import numpy as np

from bottega._jit import kernel

# Below this the row pins down a direction that nothing did before: no prediction to compare with.
_NEW_DIRECTION = 1e-10


@kernel
def absorb_rows(R, X, y, root_weight, intercept, root_forgetting, innovations):
    """Rotate the rows into R one after the other, and note the error of each before it was seen.

    `root_weight` is empty where all weights are one.
    """
    n, p = X.shape
    last = R.shape[0] - 1
    row = np.empty(last + 1)
    first = 1 if intercept else 0
    for i in range(n):
        scale = root_weight[i] if len(root_weight) else 1.0
        row[0] = scale
        for j in range(p):
            row[first + j] = scale * X[i, j]
        row[last] = scale * y[i]
        if root_forgetting < 1.0:
            for j in range(last + 1):
                for k in range(j, last + 1):
                    R[j, k] *= root_forgetting
        kept = 1.0
        for j in range(last):
            b = row[j]
            r = np.sqrt(R[j, j] * R[j, j] + b * b)
            if b == 0.0 or r == 0.0:
                continue
            c = R[j, j] / r
            s = b / r
            kept *= c
            R[j, j] = r
            for k in range(j + 1, last + 1):
                above = R[j, k]
                R[j, k] = c * above + s * row[k]
                row[k] = c * row[k] - s * above
        e = row[last]
        if abs(kept) > _NEW_DIRECTION and scale > 0.0:
            innovations[i] = e / (kept * scale)
        else:
            innovations[i] = np.nan
        R[last, last] = np.sqrt(R[last, last] * R[last, last] + e * e)
