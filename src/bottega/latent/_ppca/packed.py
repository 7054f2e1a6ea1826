"""Symmetric matrices as their lower triangles by rows."""

import numpy as np

from bottega.core.typing import FloatArray, IntArray

__all__ = ["outer_packed", "places", "unpacked"]


def places(K: int) -> tuple[IntArray, IntArray]:
    """Return row and column of each packed entry of a K x K matrix."""
    rows, columns = np.tril_indices(K)
    return rows, columns


def outer_packed(W: FloatArray) -> FloatArray:
    """Return w w' of every row of W, packed: what sums to W'W over some of the rows."""
    rows, columns = places(W.shape[1])
    return W[:, rows] * W[:, columns]


def unpacked(packed: FloatArray, K: int) -> FloatArray:
    """Return packed matrices along the last axis as (..., K, K).

    Examples
    --------
    >>> unpacked(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    rows, columns = places(K)
    found = np.empty((*packed.shape[:-1], K, K))
    found[..., rows, columns] = packed
    found[..., columns, rows] = packed
    return found
