"""Sums of normal densities around the stored rows, for every bandwidth at once."""

import numpy as np

from bottega._jit import kernel
from bottega.neighbors._kernels.distances import EUCLIDEAN, distance


@kernel
def parzen_shares(points, stored, codes, n_classes, left_out, precisions, squared):
    """Return the shares of the classes without and with the row left out, and its own weight.

    `left_out` is the stored row that a point is itself, or -1; `precisions` are ascending
    1 / (2 sigma^2), and where `squared` a kernel is the square of the one before.
    """
    m, n, v = points.shape[0], stored.shape[0], len(precisions)
    shares, fitted = np.empty((m, v, n_classes)), np.empty((m, v, n_classes))
    own = np.zeros((m, v))
    gaps = np.empty(n)
    sums = np.empty((v, n_classes))
    for i in range(m):
        least = np.inf
        for j in range(n):
            total = 0.0
            for d in range(points.shape[1]):
                gap = points[i, d] - stored[j, d]
                total += gap * gap
            gaps[j] = total
            if j != left_out[i]:
                least = min(least, total)
        # Relative to the nearest row, whose term is then 1: no sum can underflow to nothing.
        sums[:] = 0.0
        for j in range(n):
            if j == left_out[i]:
                continue
            excess = gaps[j] - least
            value = 1.0
            for t in range(v):
                value = value * value if squared[t] else np.exp(-excess * precisions[t])
                if value == 0.0:
                    break
                sums[t, codes[j]] += value
        for t in range(v):
            shares[i, t] = sums[t] / sums[t].sum()
            if left_out[i] >= 0:
                # The row itself has the term 1, the others exp(-least / (2 sigma^2)) of theirs.
                sums[t] *= np.exp(-least * precisions[t])
                sums[t, codes[left_out[i]]] += 1.0
                own[i, t] = 1 / sums[t].sum()
            fitted[i, t] = sums[t] / sums[t].sum()
    return shares, fitted, own


@kernel
def parzen_log_sums(points, stored, codes, n_classes, precision):
    """Return for each class the logarithm of the sum of ``exp(-precision |x - x_j|^2)``."""
    m, n = points.shape[0], stored.shape[0]
    found = np.empty((m, n_classes))
    gaps, least, sums = np.empty(n), np.empty(n_classes), np.empty(n_classes)
    for i in range(m):
        least[:] = np.inf
        sums[:] = 0.0
        for j in range(n):
            gaps[j] = distance(points, i, stored, j, EUCLIDEAN) ** 2
            least[codes[j]] = min(least[codes[j]], gaps[j])
        for j in range(n):
            sums[codes[j]] += np.exp(-precision * (gaps[j] - least[codes[j]]))
        found[i] = np.log(sums) - precision * least
    return found
