"""Compiled loops over neighbours: distances, votes and means for every k at once, Parzen sums.

A list of neighbours is a row of `distances` (ascending) and of `indices`. The neighbourhood for k
is everything no farther than the k-th distance, ties included; `left_out` names a training row
that does not count (-1: none), which is what leave-one-out is made of.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bottega._jit import kernel

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Flags: TypeAlias = NDArray[np.bool_]

# Distances, and votes, that differ by less than this share are equal: what is equal in exact
# arithmetic must not be told apart by rounding.
TIE = 1e-12

EUCLIDEAN, MANHATTAN, CHEBYSHEV, HAMMING = 0, 1, 2, 3
UNIFORM, INVERSE, COST = 0, 1, 2


@kernel
def _distance(a: Floats, i: int, b: Floats, j: int, metric: int) -> float:
    total = 0.0
    p = a.shape[1]
    if metric == EUCLIDEAN:
        for d in range(p):
            gap = a[i, d] - b[j, d]
            total += gap * gap
        return float(np.sqrt(total))
    if metric == MANHATTAN:
        for d in range(p):
            total += abs(a[i, d] - b[j, d])
        return total
    if metric == CHEBYSHEV:
        for d in range(p):
            total = float(max(total, abs(a[i, d] - b[j, d])))
        return total
    for d in range(p):
        if a[i, d] != b[j, d]:
            total += 1.0
    return float(total / p)


@kernel
def listed_distances(points: Floats, stored: Floats, indices: Ints, metric: int) -> Floats:
    """Return the distance from each point to the stored rows its list names."""
    found = np.empty(indices.shape)
    for i in range(indices.shape[0]):
        for j in range(indices.shape[1]):
            found[i, j] = _distance(points, i, stored, indices[i, j], metric)
    return found


@kernel
def all_distances(points: Floats, stored: Floats, metric: int) -> Floats:
    """Return the distance from each point to every stored row."""
    found = np.empty((points.shape[0], stored.shape[0]))
    for i in range(points.shape[0]):
        for j in range(stored.shape[0]):
            found[i, j] = _distance(points, i, stored, j, metric)
    return found


@kernel
def project(points: Floats, directions: Floats) -> Floats:
    """Return ``points @ directions``, each row by the same operations in the same order.

    A BLAS product may round equal rows differently; here equal rows stay equal.
    """
    n, p = points.shape
    found = np.zeros((n, directions.shape[1]))
    for i in range(n):
        for d in range(p):
            for j in range(directions.shape[1]):
                found[i, j] += points[i, d] * directions[d, j]
    return found


@kernel
def edit_distances(
    letters: Ints, starts: Ints, stored_letters: Ints, stored_starts: Ints
) -> Floats:
    """Return the least number of insertions, deletions and replacements between strings.

    String i is ``letters[starts[i] : starts[i + 1]]``.
    """
    m, n = len(starts) - 1, len(stored_starts) - 1
    found = np.empty((m, n))
    longest = 0
    for j in range(n):
        longest = max(longest, stored_starts[j + 1] - stored_starts[j])
    row = np.empty(longest + 1, dtype=np.intp)
    for i in range(m):
        a, a_end = starts[i], starts[i + 1]
        for j in range(n):
            b = stored_starts[j]
            size = stored_starts[j + 1] - b
            for c in range(size + 1):
                row[c] = c
            for r in range(a_end - a):
                diagonal = row[0]
                row[0] = r + 1
                for c in range(size):
                    changed = diagonal + (letters[a + r] != stored_letters[b + c])
                    diagonal = row[c + 1]
                    row[c + 1] = min(changed, diagonal + 1, row[c] + 1)
            found[i, j] = row[size]
    return found


@kernel
def _find(indices: Ints, i: int, wanted: int) -> int:
    """Return where a list names `wanted`; behind its end where it does not."""
    if wanted >= 0:
        for j in range(indices.shape[1]):
            if indices[i, j] == wanted:
                return j
    return int(indices.shape[1])


@kernel
def _limit(distances: Floats, i: int, k: int, gap: int) -> float:
    """Return the radius of the neighbourhood for k in a list whose entry `gap` does not count."""
    return float(distances[i, k - 1 if k - 1 < gap else k] * (1 + TIE))


@kernel
def _weight(distance: float, nearest: float, scheme: int) -> float:
    """Return the weight of a neighbour; inverse distances are taken relative to the nearest."""
    if scheme != INVERSE:
        return 1.0
    if nearest == 0.0:  # exact matches count alone
        return 1.0 if distance == 0.0 else 0.0
    return nearest / distance


@kernel
def neighbor_means(
    distances: Floats, indices: Ints, left_out: Ints, y: Floats, ks: Ints, scheme: int
) -> Floats:
    """Return the (weighted) mean response of the neighbourhood, one column a value of `ks`.

    `ks` ascends, so each neighbour is looked at once for all of them.
    """
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
def _score(votes: Floats, counts: Ints, scheme: int, scores: Floats) -> None:
    """Write the score of each class; by cost a vote counts n_largest / n_class."""
    if scheme != COST:
        scores[:] = votes
        return
    largest = counts.max()
    for c in range(len(votes)):
        # Multiplied before divided: scores that are equal fractions come out equal.
        scores[c] = votes[c] * largest / counts[c] if counts[c] > 0 else 0.0


@kernel
def _winner(scores: Floats, default: int) -> int:
    """Return the class of the highest score; of equals the default, else the first."""
    enough = scores.max() * (1 - TIE)
    if default >= 0 and scores[default] >= enough:
        return default
    for c in range(len(scores)):
        if scores[c] >= enough:
            return c
    return 0


@kernel
def neighbor_labels(
    distances: Floats,
    indices: Ints,
    left_out: Ints,
    codes: Ints,
    ks: Ints,
    scheme: int,
    counts: Ints,
    default: int,
) -> Ints:
    """Return the class the neighbourhood votes for, one column a value of `ks` (ascending).

    `counts` are the rows of each class, those left out included.
    """
    rows, width = distances.shape
    found = np.empty((rows, len(ks)), dtype=np.intp)
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
            found[i, j] = _winner(scores, default)
        if left_out[i] >= 0:
            left[codes[left_out[i]]] += 1
    return found


@kernel
def neighbor_shares(
    distances: Floats, indices: Ints, codes: Ints, k: int, scheme: int, counts: Ints
) -> Floats:
    """Return the share of the (weighted) votes that each class has among the k nearest."""
    rows, width = distances.shape
    found = np.empty((rows, len(counts)))
    votes = np.empty(len(counts))
    for i in range(rows):
        votes[:] = 0.0
        limit = _limit(distances, i, k, width)
        for j in range(width):
            if distances[i, j] > limit:
                break
            votes[codes[indices[i, j]]] += _weight(distances[i, j], distances[i, 0], scheme)
        _score(votes, counts, scheme, found[i])
        found[i] /= found[i].sum()
    return found


@kernel
def own_weights(distances: Floats, ks: Ints, scheme: int) -> Floats:
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


@kernel
def parzen_path(
    points: Floats,
    stored: Floats,
    codes: Ints,
    n_classes: int,
    left_out: Ints,
    precisions: Floats,
    squared: Flags,
) -> tuple[Ints, Ints, Floats, Floats]:
    """Classify by sums of normal densities, one column a bandwidth.

    Parameters
    ----------
    points, stored : (m, p) and (n, p) arrays
    codes : classes of the stored rows
    left_out : for each point the stored row that is the point itself, or -1
    precisions : ascending ``1 / (2 sigma^2)``
    squared : where True, the kernel is the square of that of the bandwidth before

    Returns
    -------
    labels : (m, v) classes without the row left out
    fitted : (m, v) classes with it
    own : (m, v) weight of the row left out in its own fit
    shares : (m, n_classes) of the first bandwidth, without the row left out
    """
    m, n, v = points.shape[0], stored.shape[0], len(precisions)
    labels, fitted = np.empty((m, v), dtype=np.intp), np.empty((m, v), dtype=np.intp)
    own, shares = np.zeros((m, v)), np.empty((m, n_classes))
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
        shares[i] = sums[0] / sums[0].sum()
        for t in range(v):
            labels[i, t] = _winner(sums[t], -1)
            if left_out[i] >= 0:
                # The row itself has the term 1, the others exp(-least / (2 sigma^2)) of theirs.
                sums[t] *= np.exp(-least * precisions[t])
                sums[t, codes[left_out[i]]] += 1.0
                own[i, t] = 1 / sums[t].sum()
            fitted[i, t] = _winner(sums[t], -1)
    return labels, fitted, own, shares


@kernel
def parzen_log_sums(
    points: Floats, stored: Floats, codes: Ints, n_classes: int, precision: float
) -> Floats:
    """Return for each class the logarithm of the sum of ``exp(-precision |x - x_j|^2)``."""
    m, n = points.shape[0], stored.shape[0]
    found = np.empty((m, n_classes))
    gaps, least, sums = np.empty(n), np.empty(n_classes), np.empty(n_classes)
    for i in range(m):
        least[:] = np.inf
        sums[:] = 0.0
        for j in range(n):
            gaps[j] = _distance(points, i, stored, j, EUCLIDEAN) ** 2
            least[codes[j]] = min(least[codes[j]], gaps[j])
        for j in range(n):
            sums[codes[j]] += np.exp(-precision * (gaps[j] - least[codes[j]]))
        found[i] = np.log(sums) - precision * least
    return found
