"""Counts of pairs of labels."""

from typing import Any

import numpy as np

from bottega.core.typing import Array

__all__ = ["cross_table"]


def cross_table(rows: Array, columns: Array, labels: Any, weight: Any = None) -> Array:
    """Count how often each label in `rows` comes with each label in `columns`.

    Parameters
    ----------
    rows, columns : ndarray of shape (n,)
        Pairs of labels.
    labels : array-like of shape (K,)
        Which labels to count.
    weight : array-like of shape (n,), optional
        What each pair counts; the table then holds sums of weights.

    Returns
    -------
    ndarray of shape (K + 1, K + 1)
        The last row and column count values that are not among the labels.

    Examples
    --------
    >>> cross_table(np.array(["a", "a", "b"]), np.array(["a", "b", "c"]), ["a", "b"])
    array([[1, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    place = {label: i for i, label in enumerate(np.asarray(labels).tolist())}
    rest = len(place)
    size = rest + 1
    at = [
        np.array([place.get(v, rest) for v in each.tolist()], dtype=np.intp)
        for each in (np.asarray(rows), np.asarray(columns))
    ]
    return np.bincount(at[0] * size + at[1], weight, size**2).reshape(size, size)
