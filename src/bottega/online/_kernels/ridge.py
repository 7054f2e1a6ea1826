"""Ridge regression row after row: predict, then rotate the row into a triangle.

Symbols
-------
R       upper triangle (d + 1 by d + 1) with R'R = alpha I + the sum of [x, y][x, y]' over the rows
        seen: its first d columns factor the inputs, its last column holds q with R'q = sum y x
        (the corner is not needed and stays zero)
kept    product of the cosines of the rotations that bring a row into R: kept^2 = 1 / (1 + h) with
        h = x'A^{-1}x and A the matrix before the row. What the rotations leave of the response is
        e kept, with e = y - w.x the error of ridge regression before it saw y
"""

import numpy as np

from bottega._jit import kernel


@kernel
def ridge_rows(R, X, y, intercept, vovk, predictions, errors):
    """Predict each row, then rotate it into R.

    `predictions` gets the forecasts: of ridge regression, or with `vovk` those times
    1 / (1 + h), which is to put the row's input into the matrix before its response is known.
    `errors` gets the errors of ridge regression whatever the forecaster.
    """
    n, p = X.shape
    d = R.shape[0] - 1
    row = np.empty(d + 1)
    for i in range(n):
        for j in range(p):
            row[j] = X[i, j]
        if intercept:
            row[p] = 1.0
        row[d] = y[i]
        kept = 1.0
        for j in range(d):
            b = row[j]
            if b == 0.0:
                continue
            r = np.hypot(R[j, j], b)
            c = R[j, j] / r
            s = b / r
            kept *= c
            R[j, j] = r
            for k in range(j + 1, d + 1):
                above = R[j, k]
                R[j, k] = c * above + s * row[k]
                row[k] = c * row[k] - s * above
        errors[i] = row[d] / kept if kept > 0.0 else np.inf  # a row beyond all bounds
        z = y[i] - errors[i]
        predictions[i] = z * kept * kept if vovk else z
