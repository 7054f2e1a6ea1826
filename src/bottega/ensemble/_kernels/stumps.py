"""Votes of stumps, row by row.

Symbols: stump b looks at column `feature[b]` and votes for class `low[b]` where the value is at
most `threshold[b]`, for `high[b]` where it is above, for `other[b]` where it is missing. For a
category the vote of code `levels[s]` is `level_vote[s]`, s in `level_start[b] .. level_stop[b]`
(sorted by code); a level that is not listed votes for `other[b]`. A stump that looks at no column
has feature -1 and votes for `other[b]`.
"""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.order import lowest


@kernel
def stump_labels(
    X, b, feature, threshold, low, high, other, level_start, level_stop, levels, level_vote
):
    """Return the class that stump b votes for, one entry per row of X."""
    j, start, stop = feature[b], level_start[b], level_stop[b]
    labels = np.full(X.shape[0], other[b])
    if j >= 0:
        for i in range(X.shape[0]):
            x = X[i, j]
            if stop > start:
                at = lowest(levels, start, stop, x)
                if at < stop and levels[at] == x:
                    labels[i] = level_vote[at]
            elif x <= threshold[b]:
                labels[i] = low[b]
            elif x > threshold[b]:  # NaN is neither
                labels[i] = high[b]
    return labels


@kernel
def add_votes(
    X, alpha, votes, feature, threshold, low, high, other, level_start, level_stop, levels,
    level_vote,
):  # fmt: skip
    """Add the weight `alpha[b]` of every stump to the votes (n, K) for the class it votes for."""
    for b in range(len(alpha)):
        labels = stump_labels(
            X, b, feature, threshold, low, high, other, level_start, level_stop, levels, level_vote
        )
        for i in range(X.shape[0]):
            votes[i, labels[i]] += alpha[b]
