"""Partitions of a box into boxes, and which of them a tree can make."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["guillotine"]


def guillotine(boxes: Any) -> bool:
    """Return True if a partition into boxes can be made by a binary tree.

    It can if the whole can be cut in two from side to side without going through a box, and so can
    the parts.

    Parameters
    ----------
    boxes : array-like of shape (k, p, 2)
        Lower and upper end of each box in each direction. Together they must fill a box.

    Notes
    -----
    Any cut that is possible may be made first: it takes no possible cut away from the parts.

    Examples
    --------
    >>> guillotine([[[0, 1], [0, 2]], [[1, 2], [0, 1]], [[1, 2], [1, 2]]])
    True
    >>> pinwheel = [[[0, 2], [0, 1]], [[2, 3], [0, 2]], [[1, 3], [2, 3]], [[0, 1], [1, 3]],
    ...             [[1, 2], [1, 2]]]
    >>> guillotine(pinwheel)
    False
    """
    whole = np.asarray(boxes, dtype=np.float64)
    if whole.ndim != 3 or whole.shape[2] != 2 or not np.all(whole[:, :, 0] < whole[:, :, 1]):
        raise InputError(
            f"boxes must have shape (k, p, 2) with lower ends below upper ends; got "
            f"shape {whole.shape}."
        )
    _check_partition(whole)
    stack = [whole]
    while stack:
        part = stack.pop()
        if len(part) == 1:
            continue
        for j in range(part.shape[1]):
            start, stop = part[:, j, 0], part[:, j, 1]
            at = next(
                (c for c in np.unique(stop)[:-1] if not np.any((start < c) & (c < stop))), None
            )
            if at is not None:
                stack += [part[stop <= at], part[start >= at]]
                break
        else:
            return False
    return True


def _check_partition(boxes: FloatArray) -> None:
    outer = boxes[:, :, 1].max(axis=0) - boxes[:, :, 0].min(axis=0)
    volume = np.prod(boxes[:, :, 1] - boxes[:, :, 0], axis=1).sum()
    for i in range(len(boxes) - 1):
        low = np.maximum(boxes[i, :, 0], boxes[i + 1 :, :, 0])
        high = np.minimum(boxes[i, :, 1], boxes[i + 1 :, :, 1])
        if np.any(np.all(low < high, axis=1)):
            raise InputError(f"Box {i} overlaps another; a partition has no overlaps.")
    if not np.isclose(volume, np.prod(outer), rtol=1e-9):
        raise InputError("The boxes leave gaps; together they must fill one box.")
