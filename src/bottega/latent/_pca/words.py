"""Directions in words: the columns that carry them."""

from collections.abc import Sequence

import numpy as np

from bottega.core.typing import FloatArray, IntArray

__all__ = ["carriers", "in_words"]

_SHARE = 0.9
_ROUNDING = 1e-9


def carriers(direction: FloatArray, most: int | None = None) -> IntArray:
    """Return the fewest columns that hold 90 % of the squares of a direction, largest first.

    Among columns of one size the first comes first. `most` limits their number.

    Examples
    --------
    >>> carriers(np.array([-0.1, 0.7, 0.7])).tolist()
    [1, 2]
    """
    size = np.abs(direction)
    largest = float(size.max(initial=0.0))
    if largest == 0:
        return np.zeros(0, dtype=np.intp)
    # Rounded, so that equal loadings stay in the order of the columns on every processor.
    order = np.lexsort((np.arange(len(size)), -np.round(size / largest, 8)))
    held = np.cumsum(direction[order] ** 2) / np.sum(direction**2)
    needed = int(np.argmax(held >= _SHARE - _ROUNDING)) + 1
    return order[: needed if most is None else min(needed, most)]


def in_words(direction: FloatArray, names: Sequence[str], most: int | None = None) -> str:
    """Return the columns that carry a direction, those of one sign against those of the other.

    Examples
    --------
    >>> in_words(np.array([-0.4, 0.8, -0.4, 0.1]), ["Matrix", "Alien", "Serenity", "Amelie"])
    'Alien against Matrix, Serenity'
    """
    found = carriers(direction, most)
    if not len(found):
        return "nothing"
    sides = [", ".join(names[j] for j in found if sign * direction[j] > 0) for sign in (1, -1)]
    return " against ".join(side for side in sides if side)
