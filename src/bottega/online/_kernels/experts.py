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
def aggregate(P, y, L, eta, t, squared, losses):
    """Charge the weighted mean of the experts' predictions, then add up what each expert lost.

    `eta` 0 stands for sqrt(8 ln K / t). The loss is the squared or the absolute error.
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
            L[k] += gap * gap if squared else gap
        gap = abs(y[i] - mean)
        losses[i] = gap * gap if squared else gap


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
