"""Votes and means of neighbourhoods, for every k at once.

A list of neighbours is a row of `distances` (ascending) and of `indices`. The neighbourhood for k
is everything no farther than the k-th distance, ties included; `left_out` names a training row
that does not count (-1: none), which is what leave-one-out is made of. `ks` ascends, so each
neighbour is looked at once for all of them.
"""

import numpy as np

from bottega._jit import kernel

# Distances, and votes, that differ by less than this share are equal: what is equal in exact
# arithmetic must not be separated by rounding.
TIE = 1e-12

UNIFORM, INVERSE, BALANCED = 0, 1, 2


@kernel
def _find(indices, i, wanted):
    """Return where a list names `wanted`; behind its end where it does not."""
    if wanted >= 0:
        for j in range(indices.shape[1]):
            if indices[i, j] == wanted:
                return j
    return indices.shape[1]


@kernel
def _limit(distances, i, k, gap):
    """Return the radius of the neighbourhood for k in a list whose entry `gap` does not count."""
    return distances[i, k - 1 if k - 1 < gap else k] * (1 + TIE)


@kernel
def _weight(distance, nearest, scheme):
    """Return the weight of a neighbour; inverse distances are taken relative to the nearest."""
    if scheme != INVERSE:
        return 1.0
    if nearest == 0.0:  # exact matches count alone
        return 1.0 if distance == 0.0 else 0.0
    return nearest / distance


@kernel
def neighbor_means(distances, indices, left_out, y, ks, scheme):
    """Return the (weighted) mean response of the neighbourhood, one column per value of `ks`."""
    rows, width = distances.shape
    found = np.empty((rows, len(ks)))
    for i in range(rows):
        gap = _find(indices, i, left_out[i])
        nearest = distances[i, 1 if gap == 0 and width > 1 else 0]
        total, weight, position = 0.0, 0.0, 0
        for j in range(len(ks)):
            limit = _limit(distances, i, ks[j], gap)
            while position < width and distances[i, position] <= limit:
                if position != gap:
                    share = _weight(distances[i, position], nearest, scheme)
                    total += share * y[indices[i, position]]
                    weight += share
                position += 1
            found[i, j] = total / weight
    return found


@kernel
def _score(votes, counts, scheme, scores):
    """Write the score of each class; balanced, a vote counts n_largest / n_class."""
    if scheme != BALANCED:
        scores[:] = votes
        return
    largest = counts.max()
    for c in range(len(votes)):
        # Multiplied before divided: scores that are equal fractions come out equal.
        scores[c] = votes[c] * largest / counts[c] if counts[c] > 0 else 0.0


@kernel
def winner(scores, default):
    """Return the class of the highest score; of equals the default, else the first."""
    enough = scores.max() * (1 - TIE)
    if default >= 0 and scores[default] >= enough:
        return default
    for c in range(len(scores)):
        if scores[c] >= enough:
            return c
    return 0


@kernel
def winners(scores, default):
    """Return the class of the highest of the scores (points, models, classes)."""
    found = np.empty(scores.shape[:2], dtype=np.intp)
    for i in range(scores.shape[0]):
        for t in range(scores.shape[1]):
            found[i, t] = winner(scores[i, t], default)
    return found


@kernel
def neighbor_votes(distances, indices, left_out, codes, ks, scheme, counts, default, with_shares):
    """Return the class each neighbourhood votes for, and the shares of all classes where wanted.

    The labels have one column per value of `ks`; the shares are (points, values, classes), or
    empty. `counts` are the rows of each class, those left out included.
    """
    rows, width = distances.shape
    labels = np.empty((rows, len(ks)), dtype=np.intp)
    shares = np.empty((rows if with_shares else 0, len(ks), len(counts)))
    votes, scores = np.empty(len(counts)), np.empty(len(counts))
    left = counts.copy()
    for i in range(rows):
        gap = _find(indices, i, left_out[i])
        nearest = distances[i, 1 if gap == 0 and width > 1 else 0]
        if left_out[i] >= 0:
            left[codes[left_out[i]]] -= 1
        votes[:] = 0.0
        position = 0
        for j in range(len(ks)):
            limit = _limit(distances, i, ks[j], gap)
            while position < width and distances[i, position] <= limit:
                if position != gap:
                    share = _weight(distances[i, position], nearest, scheme)
                    votes[codes[indices[i, position]]] += share
                position += 1
            _score(votes, left, scheme, scores)
            labels[i, j] = winner(scores, default)
            if with_shares:
                shares[i, j] = scores / scores.sum()
        if left_out[i] >= 0:
            left[codes[left_out[i]]] += 1
    return labels, shares


@kernel
def own_weights(distances, ks, scheme):
    """Return the sum over rows of the weight each training row has in its own neighbourhood.

    The lists are those of the training rows, each row at distance 0 of itself.
    """
    rows, width = distances.shape
    found = np.zeros(len(ks))
    for i in range(rows):
        position = 0
        for j in range(len(ks)):
            limit = _limit(distances, i, ks[j], width)
            if scheme == INVERSE and distances[i, 0] == 0.0:
                limit = 0.0
            while position < width and distances[i, position] <= limit:
                position += 1
            found[j] += 1 / position
    return found
