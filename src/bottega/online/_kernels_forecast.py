"""Online ridge regression and the weights of experts, row after row.

Symbols of ridge
----------------
R       upper triangle (d + 1 by d + 1) with R'R = alpha I + the sum of [x, y][x, y]' over the rows
        seen: its first d columns factor the inputs, its last column holds q with R'q = sum y x
        (the corner is not needed and stays zero)
kept    product of the cosines of the rotations that bring a row into R: kept^2 = 1 / (1 + h) with
        h = x'A^{-1}x and A the matrix before the row. What the rotations leave of the response is
        e kept, with e = y - w.x the error of ridge regression before it saw y

Symbols of experts
------------------
L       summed loss of each expert; its weight is proportional to exp(-eta L)
"""

import numpy as np

from bottega._jit import kernel

__all__ = ["aggregate", "aggregate_losses", "ridge_rows"]


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
        errors[i] = row[d] / kept
        z = y[i] - errors[i]
        predictions[i] = z * kept * kept if vovk else z


@kernel
def _weights(L, eta, weights):
    """Set the weights exp(-eta L), shifted by the least loss so that none overflows."""
    least = L.min()
    total = 0.0
    for k in range(len(L)):
        weights[k] = np.exp(-eta * (L[k] - least))
        total += weights[k]
    for k in range(len(L)):
        weights[k] /= total


@kernel
def aggregate(P, y, L, eta, t, quadratic, losses):
    """Charge the weighted mean of the experts' predictions, then add up what each expert lost.

    `eta` 0 stands for sqrt(8 ln K / t). The loss is quadratic or absolute.
    """
    n, K = P.shape
    weights = np.empty(K)
    for i in range(n):
        t += 1.0
        _weights(L, eta if eta > 0.0 else np.sqrt(8.0 * np.log(K) / t), weights)
        mean = 0.0
        for k in range(K):
            mean += weights[k] * P[i, k]
            gap = abs(y[i] - P[i, k])
            L[k] += gap * gap if quadratic else gap
        gap = abs(y[i] - mean)
        losses[i] = gap * gap if quadratic else gap


@kernel
def aggregate_losses(losses_of_experts, L, eta, t, losses):
    """Charge the weighted mean of the experts' losses, then add up what each expert lost."""
    n, K = losses_of_experts.shape
    weights = np.empty(K)
    for i in range(n):
        t += 1.0
        _weights(L, eta if eta > 0.0 else np.sqrt(8.0 * np.log(K) / t), weights)
        mixed = 0.0
        for k in range(K):
            mixed += weights[k] * losses_of_experts[i, k]
            L[k] += losses_of_experts[i, k]
        losses[i] = mixed
