"""The tree of joined clusters: the joins, where it is cut, and what the cut leaves together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from bottega.core.typing import FloatArray, IntArray

__all__ = ["MergeTree", "cut", "mean_within", "threshold"]


@dataclass
class MergeTree:
    """The tree of a table, and the distances it was made of."""

    distances: FloatArray  # of all pairs, condensed
    merges: FloatArray  # SciPy's linkage matrix
    unit: float

    @property
    def n(self) -> int:
        return len(self.merges) + 1

    @cached_property
    def square(self) -> FloatArray:
        """The distances as a square table."""
        return np.asarray(squareform(self.distances))


def threshold(heights: FloatArray, K: int) -> float:
    """Return a distance half way between the last join of K clusters and the next one."""
    n = len(heights) + 1
    if K == 1:  # above all joins
        return float(np.nextafter(np.max(heights), np.inf))
    last = heights[n - K - 1] if n > K else 0.0
    return float(last / 2 + heights[n - K] / 2)


def cut(merges: FloatArray, K: int) -> IntArray:
    """Return the clusters before the last K - 1 joins, numbered by their first rows."""
    n = len(merges) + 1
    # The joins are numbered, so that equal heights and inversions do not matter.
    numbered = merges.copy()
    numbered[:, 2] = np.arange(1, n)
    labels = np.asarray(hierarchy.fcluster(numbered, n - K + 0.5, "distance"))
    first = np.sort(np.unique(labels, return_index=True)[1])
    place = np.empty(labels.max() + 1, dtype=np.int64)
    place[labels[first]] = np.arange(len(first))
    return place[labels]


def mean_within(square: FloatArray, labels: IntArray) -> float:
    """Return the mean distance of rows to the other rows of their cluster; 0 of those alone."""
    total = 0.0
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if len(rows) > 1:
            total += float(square[np.ix_(rows, rows)].sum()) / (len(rows) - 1)
    return total / len(labels)
