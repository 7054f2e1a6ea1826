"""Classes: which one scores decide for, and shares of some classes among all of them."""

from functools import reduce
from typing import Any

import numpy as np

from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["TIE", "decided", "spread"]

TIE = 1e-12  # scores nearer than this, relative to the largest in size, are equal


def decided(scores: FloatArray, default: int = -1) -> IntArray:
    """Return the position of the largest score along the last axis.

    Of scores that are equal but for rounding the first wins, or `default` if it is among them.

    Examples
    --------
    >>> decided(np.array([[0.1 + 0.2, 0.3, 0.4], [0.3, 0.1 + 0.2, 0.0]]))
    array([2, 0])
    >>> decided(np.array([[0.5, 0.5]]), default=1)
    array([1])
    """
    columns = [scores[..., k] for k in range(scores.shape[-1])]  # faster than along the axis
    top = reduce(np.maximum, columns)
    least = top - TIE * np.maximum(top, -reduce(np.minimum, columns))
    found = np.zeros(scores.shape[:-1], dtype=np.intp)
    for k in (*range(len(columns) - 1, 0, -1), 0, default):
        if k >= 0:
            np.copyto(found, k, where=columns[k] >= least)
    return found


def spread(shares: Any, own: Array, classes: Array) -> FloatArray:
    """Return shares of a model's own classes as shares of `classes`; those not its own have 0.

    Examples
    --------
    >>> spread([[0.4, 0.6]], np.array(["a", "c"]), np.array(["a", "b", "c"]))
    array([[0.4, 0. , 0.6]])
    """
    found = np.asarray(shares, dtype=np.float64)
    if np.array_equal(own, classes):
        return found
    wide = np.zeros((len(found), len(classes)))
    wide[:, np.searchsorted(classes, own)] = found
    return wide
