"""Votes and means of neighbourhoods, for every k at once.

A list of neighbours is a row of `distances` (ascending) and of `indices`, which name places: rows,
or where many rows are equal the distinct ones, `copies` of each (empty: one of each). The
neighbourhood for k is everything no farther than the k-th row, ties included. `left_out` names the
place of a training row that does not count (-1: none), and `own` is its response: that is what
leave-one-out is made of. `ks` ascends, so each neighbour is looked at once for all of them.
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
def _rows_at(place, left_out, copies):
    """Return how many rows count at a place of several."""
    return copies[place] - 1 if place == left_out else copies[place]


@kernel
def _reach(indices, i, left_out, gap, copies, k, last, reached):
    """Return the entry of a list that holds its k-th row, and the rows up to it.

    `last` and `reached` are those of a smaller k; without `copies` the entry `gap` does not count.
    """
    end = indices.shape[1] - 1
    if copies.size == 0:
        return min(k - 1 if k - 1 < gap else k, end), k
    while reached < k and last < end:
        last += 1
        reached += _rows_at(indices[i, last], left_out, copies)
    return last, reached


@kernel
def _nearest(distances, indices, i, left_out, gap, copies):
    """Return the distance of the nearest row that counts."""
    first = 0
    if copies.size == 0:
        first = 1 if gap == 0 else 0
    elif indices[i, 0] == left_out and copies[left_out] == 1:
        first = 1
    return distances[i, min(first, distances.shape[1] - 1)]


@kernel
def _weight(distance, nearest, scheme):
    """Return the weight of a neighbour; inverse distances are taken relative to the nearest."""
    if scheme != INVERSE:
        return 1.0
    if nearest == 0.0:  # exact matches count alone
        return 1.0 if distance == 0.0 else 0.0
    return nearest / distance


@kernel
def neighbor_means(distances, indices, left_out, own, y, copies, ks, scheme):
    """Return the (weighted) mean response of the neighbourhood, one column per value of `ks`.

    `y` is the mean response of each place.
    """
    rows, width = distances.shape
    found = np.empty((rows, len(ks)))
    for i in range(rows):
        left = left_out[i]
        gap = _find(indices, i, left) if copies.size == 0 else width
        nearest = _nearest(distances, indices, i, left, gap, copies)
        total, weight, position = 0.0, 0.0, 0
        last, reached = -1, 0
        for j in range(len(ks)):
            last, reached = _reach(indices, i, left, gap, copies, ks[j], last, reached)
            limit = distances[i, last] * (1 + TIE)
            while position < width and distances[i, position] <= limit:
                place = indices[i, position]
                if copies.size == 0:
                    if position != gap:
                        share = _weight(distances[i, position], nearest, scheme)
                        total += share * y[place]
                        weight += share
                else:
                    count = _rows_at(place, left, copies)
                    share = _weight(distances[i, position], nearest, scheme) if count > 0 else 0.0
                    here = copies[place] * y[place] - (own[i] if place == left else 0.0)
                    total += share * here
                    weight += share * count
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
def neighbor_votes(
    distances,
    indices,
    left_out,
    own,
    codes,
    copies,
    table,
    ks,
    scheme,
    counts,
    default,
    with_shares,
):
    """Return the class each neighbourhood votes for, and the shares of all classes where wanted.

    `codes` are the classes of the places; with `copies` each has rows of several classes, counted
    in `table`. The labels have one column per value of `ks`; the shares are (points, values,
    classes), or empty. `counts` are the rows of each class, those left out included.
    """
    rows, width = distances.shape
    labels = np.empty((rows, len(ks)), dtype=np.intp)
    shares = np.empty((rows if with_shares else 0, len(ks), len(counts)))
    votes, scores = np.empty(len(counts)), np.empty(len(counts))
    left = counts.copy()
    for i in range(rows):
        if left_out[i] >= 0:
            left[own[i]] -= 1
        gap = _find(indices, i, left_out[i]) if copies.size == 0 else width
        nearest = _nearest(distances, indices, i, left_out[i], gap, copies)
        votes[:] = 0.0
        position, last, reached = 0, -1, 0
        for j in range(len(ks)):
            last, reached = _reach(indices, i, left_out[i], gap, copies, ks[j], last, reached)
            limit = distances[i, last] * (1 + TIE)
            while position < width and distances[i, position] <= limit:
                place = indices[i, position]
                if copies.size == 0:
                    if position != gap:
                        share = _weight(distances[i, position], nearest, scheme)
                        votes[codes[place]] += share
                elif _rows_at(place, left_out[i], copies) > 0:
                    share = _weight(distances[i, position], nearest, scheme)
                    for c in range(len(votes)):
                        one = 1.0 if place == left_out[i] and c == own[i] else 0.0
                        votes[c] += share * (table[place, c] - one)
                position += 1
            _score(votes, left, scheme, scores)
            labels[i, j] = winner(scores, default)
            if with_shares:
                shares[i, j] = scores / scores.sum()
        if left_out[i] >= 0:
            left[own[i]] += 1
    return labels, shares


@kernel
def own_weights(distances, indices, places, copies, ks, scheme):
    """Return the sum over rows of the weight each training row has in its own neighbourhood.

    The lists are those of the training rows at the given places, at distance 0 of themselves.
    """
    rows, width = distances.shape
    found = np.zeros(len(ks))
    for i in range(rows):
        position, counted, last, reached = 0, 0, -1, 0
        here = copies[places[i]] if copies.size > 0 else 1
        for j in range(len(ks)):
            last, reached = _reach(indices, i, -1, width, copies, ks[j], last, reached)
            limit = distances[i, last] * (1 + TIE)
            if scheme == INVERSE and distances[i, 0] == 0.0:
                limit = 0.0
            if copies.size == 0:
                while position < width and distances[i, position] <= limit:
                    position += 1
                counted = position
            while position < width and distances[i, position] <= limit:
                counted += copies[indices[i, position]]
                position += 1
            found[j] += here / counted
    return found
