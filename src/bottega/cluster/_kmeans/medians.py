"""Clusters around medians: Lloyd's algorithm for sums of absolute differences."""

from typing import Any

import numpy as np

from bottega.cluster._kernels.medians import nearest_by_sum
from bottega.cluster._kmeans.lloyd import Clustering
from bottega.core.typing import FloatArray, IntArray

__all__ = ["lloyd_medians", "nearest_median", "weighted_medians"]


def weighted_medians(X: FloatArray, w: FloatArray) -> FloatArray:
    """Return the weighted median of each column: of repeated rows, their median.

    Examples
    --------
    >>> weighted_medians(np.array([[1.0], [2.0], [9.0]]), np.array([1.0, 1.0, 2.0]))
    array([5.5])
    """
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    along = np.cumsum(w[order], axis=0)
    half = along[-1] / 2
    tiny = 1e-12 * along[-1]
    low = np.argmax(along >= half - tiny, axis=0)
    high = np.argmax(along > half + tiny, axis=0)
    columns = np.arange(X.shape[1])
    return np.asarray(values[low, columns] / 2 + values[high, columns] / 2)


def nearest_median(X: FloatArray, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the nearest centre of each row by the sum of absolute differences, and that sum."""
    label: Any = np.full(len(X), -1, dtype=np.int32)
    far = np.empty(len(X))
    nearest_by_sum(X, centers, label, far)
    return label, far


def lloyd_medians(
    X: FloatArray, w: FloatArray, start: FloatArray, *, max_iter: int, tol: float
) -> Clustering:
    """Run Lloyd's algorithm with medians for means from given centres.

    `w` is empty where all weights are one. It ends when no row changes its centre, or the squared
    moves of the centres sum to at most `tol`.
    """
    C, K = start.copy(), len(start)
    label: Any = np.full(len(X), -1, dtype=np.int32)
    far = np.empty(len(X))
    n_iter = reseeded = 0
    converged = False
    while n_iter < max_iter and not converged:
        n_iter += 1
        changed = nearest_by_sum(X, C, label, far)
        filled = _fill(X, label, far, K)
        reseeded += filled
        new = C.copy()
        for k in range(K):
            rows = label == k
            if np.any(rows):
                mine = X[rows]
                new[k] = weighted_medians(mine, w[rows]) if len(w) else np.median(mine, axis=0)
        moved = float(np.sum((new - C) ** 2))
        C = new
        converged = changed + filled == 0 or moved <= tol
    nearest_by_sum(X, C, label, far)
    inertia = float(w @ far) if len(w) else float(far.sum())
    empty = K - len(np.unique(label))
    return Clustering(C, label, inertia, n_iter, converged, reseeded, empty)


def _fill(X: FloatArray, label: IntArray, far: FloatArray, K: int) -> int:
    """Give each empty cluster the row farthest from its centre; return how many were filled."""
    count = np.bincount(label, minlength=K)
    empty = np.flatnonzero(count == 0).tolist()
    taken: list[FloatArray] = []
    filled = 0
    for i in np.argsort(-far, kind="stable"):
        if not empty or far[i] <= 0:
            break
        if count[label[i]] < 2 or any(np.array_equal(X[i], each) for each in taken):
            continue
        count[label[i]] -= 1
        label[i] = empty.pop(0)
        count[label[i]] += 1
        taken.append(X[i])
        filled += 1
    return filled
