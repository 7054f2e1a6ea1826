"""Sums over rows, which are merged by adding them up."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

__all__ = ["AddedSums"]


@dataclass(frozen=True)
class AddedSums:
    """Numbers and arrays of a part of the rows, which add up.

    Examples
    --------
    >>> AddedSums((1, np.ones(2))).merge(AddedSums((2, np.ones(2)))).values
    (3, array([2., 2.]))
    """

    values: tuple[Any, ...]

    def merge(self, other: Self) -> Self:
        """Take in another part."""
        found = []
        for mine, theirs in zip(self.values, other.values, strict=True):
            if isinstance(mine, np.ndarray):
                mine += theirs  # in place: matrices may be large
                found.append(mine)
            else:
                found.append(mine + theirs)
        return type(self)(tuple(found))
