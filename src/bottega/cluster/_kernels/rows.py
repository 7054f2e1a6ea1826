"""Sums over rows: scale of the columns, sums by label, distances to centres and candidates.

Symbols: X (n, p) rows, w their weights (empty: ones), shift what is subtracted from each row, C
centres less the shift (K, p).
"""

import numpy as np

from bottega._jit import kernel
from bottega.cluster._kernels.lloyd import squared_distance


@kernel
def column_sums(X, w, shift, out):
    """Add sum of w (x - shift), of w (x - shift)^2 and largest |x - shift| to out (3, p)."""
    n, p = X.shape
    for i in range(n):
        weight = w[i] if w.shape[0] > 0 else 1.0
        for j in range(p):
            x = X[i, j] - shift[j]
            out[0, j] += weight * x
            out[1, j] += weight * x * x
            out[2, j] = max(out[2, j], abs(x))


@kernel
def sums_by_label(X, w, shift, label, S, N):
    """Add up w (x - shift), w and rows by label."""
    n, p = X.shape
    for i in range(n):
        weight = w[i] if w.shape[0] > 0 else 1.0
        k = label[i]
        for j in range(p):
            S[k, j] += weight * (X[i, j] - shift[j])
        S[k, p] += weight
        N[k] += 1


@kernel
def own_distances(X, shift, C, label, out):
    """Write the squared distance of each row to its own centre."""
    for i in range(X.shape[0]):
        out[i] = squared_distance(X, i, shift, C, label[i])


@kernel
def nearer(X, shift, c, closest):
    """Lower the squared distances of the rows to the nearest centre by a further centre c."""
    n, p = X.shape
    for i in range(n):
        total = 0.0
        for j in range(p):
            gap = X[i, j] - shift[j] - c[j]
            total += gap * gap
        closest[i] = min(closest[i], total)


@kernel
def potentials(X, w, shift, CT, closest, out):
    """Add to `out`, per candidate (columns of CT), the potential that it would leave."""
    n, p = X.shape
    L = CT.shape[1]
    near = np.empty(L)
    for i in range(n):
        weight = w[i] if w.shape[0] > 0 else 1.0
        for k in range(L):
            near[k] = 0.0
        for j in range(p):
            x = X[i, j] - shift[j]
            for k in range(L):
                gap = x - CT[j, k]
                near[k] += gap * gap
        limit = closest[i]
        for k in range(L):
            out[k] += weight * min(near[k], limit)
