"""Votes of stumps, row by row.

Symbols: stump b looks at column `feature[b]` and votes for class `low[b]` where the value is at
most `threshold[b]`, for `high[b]` where it is above, for `other[b]` where it is missing. For a
category the vote of code `levels[s]` is `level_vote[s]`, s in `level_start[b] .. level_stop[b]`
(sorted by code); a level that is not listed votes for `other[b]`. A stump that looks at no column
has feature -1 and votes for `other[b]`.
"""

import numpy as np

from bottega._jit import kernel


@kernel
def stump_labels(
    X, b, feature, threshold, low, high, other, level_start, level_stop, levels, level_vote
):
    """Return the class that stump b votes for, one entry per row of X."""
    n = X.shape[0]
    labels = np.empty(n, dtype=np.int64)
    j, start, stop = feature[b], level_start[b], level_stop[b]
    for i in range(n):
        if j < 0:
            labels[i] = other[b]
        elif stop > start:
            labels[i] = _level_label(X[i, j], start, stop, levels, level_vote, other[b])
        else:
            labels[i] = _label(X[i, j], threshold[b], low[b], high[b], other[b])
    return labels


@kernel
def add_votes(
    X, alpha, votes, feature, threshold, low, high, other, level_start, level_stop, levels,
    level_vote,
):  # fmt: skip
    """Add the weight `alpha[b]` of every stump to the votes (n, K) for the class it votes for."""
    n = X.shape[0]
    for b in range(len(alpha)):
        j, start, stop = feature[b], level_start[b], level_stop[b]
        if j < 0:
            votes[:, other[b]] += alpha[b]
        elif stop > start:
            for i in range(n):
                k = _level_label(X[i, j], start, stop, levels, level_vote, other[b])
                votes[i, k] += alpha[b]
        else:
            for i in range(n):
                votes[i, _label(X[i, j], threshold[b], low[b], high[b], other[b])] += alpha[b]


@kernel
def _label(x, threshold, low, high, other):
    if x <= threshold:
        return low
    if x > threshold:
        return high
    return other  # NaN is neither


@kernel
def _level_label(x, start, stop, levels, level_vote, other):
    last = stop
    while start < stop:
        middle = (start + stop) // 2
        if levels[middle] < x:
            start = middle + 1
        else:
            stop = middle
    return level_vote[start] if start < last and levels[start] == x else other
