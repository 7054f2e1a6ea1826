"""Distances between rows, and between strings."""

import numpy as np

from bottega._jit import kernel

EUCLIDEAN, MANHATTAN, CHEBYSHEV, HAMMING = 0, 1, 2, 3
# A sum of squares outside these limits has overflowed or lost digits, and its root outside those.
LEAST_SQUARE, MOST_SQUARE = 1e-280, 1e300
_LEAST_ROOT, _MOST_ROOT = 1e-140, 1e150


@kernel
def _scaled_distance(a, i, b, j):
    """Return the Euclidean distance by squares relative to the largest gap."""
    top = 0.0
    for d in range(a.shape[1]):
        top = max(top, abs(a[i, d] - b[j, d]))
    if top == 0.0:
        return 0.0
    total = 0.0
    for d in range(a.shape[1]):
        share = (a[i, d] - b[j, d]) / top
        total += share * share
    return top * np.sqrt(total)


@kernel
def distance(a, i, b, j, metric):
    """Return a distance; the Euclidean one of numbers whose squares can be represented."""
    total = 0.0
    p = a.shape[1]
    if metric == EUCLIDEAN:
        for d in range(p):
            gap = a[i, d] - b[j, d]
            total += gap * gap
        return np.sqrt(total)
    if metric == MANHATTAN:
        for d in range(p):
            total += abs(a[i, d] - b[j, d])
        return total
    if metric == CHEBYSHEV:
        for d in range(p):
            total = max(total, abs(a[i, d] - b[j, d]))
        return total
    for d in range(p):
        if a[i, d] != b[j, d]:
            total += 1.0
    return total / p


@kernel
def listed_distances(points, stored, indices, metric):
    """Return the distance from each point to the stored rows its list names."""
    m, width = indices.shape
    found = np.empty((m, width))
    for i in range(m):
        for j in range(width):
            found[i, j] = distance(points, i, stored, indices[i, j], metric)
        if metric == EUCLIDEAN:
            for j in range(width):
                if not _LEAST_ROOT < found[i, j] < _MOST_ROOT:
                    found[i, j] = _scaled_distance(points, i, stored, indices[i, j])
    return found


@kernel
def all_distances(points, stored, metric):
    """Return the distance from each point to every stored row."""
    m, n = points.shape[0], stored.shape[0]
    found = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            found[i, j] = distance(points, i, stored, j, metric)
        if metric == EUCLIDEAN:
            for j in range(n):
                if not _LEAST_ROOT < found[i, j] < _MOST_ROOT:
                    found[i, j] = _scaled_distance(points, i, stored, j)
    return found


@kernel
def project(points, directions):
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
def edit_distances(letters, starts, stored_letters, stored_starts):
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
