"""Exponential weights of experts, row after row.

`L` is the summed loss of each expert; its weight is proportional to exp(-eta L).
"""

import numpy as np

from bottega._jit import kernel


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
def aggregate(values, lost, L, eta, t, means):
    """Take the weighted mean of each row of values, then add up what each expert lost by it.

    `eta` 0 stands for sqrt(8 ln K / t).
    """
    n, K = values.shape
    weights = np.empty(K)
    for i in range(n):
        t += 1.0
        _weights(L, eta if eta > 0.0 else np.sqrt(8.0 * np.log(K) / t), weights)
        mean = 0.0
        for k in range(K):
            mean += weights[k] * values[i, k]
            L[k] += lost[i, k]
        means[i] = mean
