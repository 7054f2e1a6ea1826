"""Drawing the rows of a tree, and gathering what its growth needs to know of them."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.random import STEP, below


@kernel
def draw(n, positions, size, replace, seed):
    """Return how often each of n rows is drawn in `size` draws.

    `positions` lists the rows to draw from, a row of weight k there k times; empty: each once.
    """
    counts = np.zeros(n, np.int32)
    listed = positions.shape[0] > 0
    total = positions.shape[0] if listed else n
    state = np.uint64(seed)
    if replace:
        for _ in range(size):
            state += STEP
            at = below(state, total)
            counts[positions[at] if listed else at] += 1
        return counts
    wanted = size
    for row in range(total):  # each row with the chance that fills the sample exactly
        state += STEP
        if below(state, total - row) < wanted:
            counts[positions[row] if listed else row] += 1
            wanted -= 1
    return counts


@kernel
def gather(counts, y, weight, weighted, n_classes, two_class):
    """Return the drawn rows with their weights w, targets t and copies c, and the centre of t.

    The symbols are those of the growth of a binned tree; numbers are centred at their mean.
    """
    m = 0
    for i in range(counts.shape[0]):
        m += counts[i] > 0
    rows = np.empty(m, np.int32)
    w, t, c = np.empty(m), np.empty(m), np.empty(m if weighted else 1)
    at = 0
    W = S = 0.0
    for i in range(counts.shape[0]):
        if counts[i] > 0:
            rows[at] = i
            w[at] = counts[i] * weight[i] if weighted else np.float64(counts[i])
            t[at] = y[i]
            if weighted:
                c[at] = counts[i]
            W += w[at]
            S += w[at] * y[i]
            at += 1
    center = S / W if n_classes == 0 else 0.0
    if n_classes == 0 or two_class:
        for i in range(m):
            t[i] = w[i] * (t[i] - center)
    return rows, w, t, c, center
