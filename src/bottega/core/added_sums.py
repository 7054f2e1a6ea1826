"""Sums over rows, which are merged by adding them up."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

__all__ = ["AddedSums"]


@dataclass(frozen=True)
class AddedSums:
    """Numbers, arrays, other statistics and tuples of these of a part of the rows, which add up.

    Examples
    --------
    >>> AddedSums((1, np.ones(2))).merge(AddedSums((2, np.ones(2)))).values
    (3, array([2., 2.]))
    """

    values: tuple[Any, ...]

    def merge(self, other: Self) -> Self:
        """Take in another part."""
        return type(self)(_added(self.values, other.values))


def _added(mine: Any, theirs: Any) -> Any:
    if isinstance(mine, tuple):
        return tuple(map(_added, mine, theirs))
    if isinstance(mine, np.ndarray):
        mine += theirs  # in place: matrices may be large
        return mine
    return mine.merge(theirs) if hasattr(mine, "merge") else mine + theirs
