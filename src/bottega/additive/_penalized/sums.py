"""Sums over rows as codes: those in memory, or chunks that are coded where they are read.

What a pass wants of a part of the rows is made of that part alone and merged in order, so that the
answer does not depend on how many threads there are.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.additive._penalized.design import CodedRows
from bottega.core.added_sums import AddedSums
from bottega.core.parts import of_blocks
from bottega.core.rows import are_counts

__all__ = ["RowCounts", "merged_over", "summed"]


@dataclass
class RowCounts:
    """Numbers of rows, and sums of their weights and responses.

    Attributes
    ----------
    rows : int
        Number of rows.
    weight, log_weights : float
        Sums of the weights and of their logarithms.
    sum_y, squares, sum_offset : float
        Weighted sums of responses, their squares, and known parts of the predictor.
    counts : bool
        Whether all weights are whole numbers.
    """

    rows: int
    weight: float
    log_weights: float
    sum_y: float
    squares: float
    sum_offset: float
    counts: bool

    @classmethod
    def of(cls, part: CodedRows) -> Self:
        """Count the rows of a part."""
        w, y = part.weight, part.y
        plain = not part.weighted
        return cls(
            len(part),
            float(len(part)) if plain else float(w.sum()),
            0.0 if plain else float(np.sum(np.log(w))),
            float(w @ y),
            float(w @ y**2),
            0.0 if part.offset is None else float(w @ part.offset),
            plain or are_counts(w),
        )

    def merge(self, other: Self) -> Self:
        """Take in another part."""
        for name in ("rows", "weight", "log_weights", "sum_y", "squares", "sum_offset"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.counts = self.counts and other.counts
        return self


def merged_over(parts: Iterable[CodedRows], function: Callable[[CodedRows], Any]) -> Any:
    """Return what a function gives for each part of the rows, merged.

    Parts that know how (`reduce`) are coded and worked on where they are read.
    """
    reduce: Any = getattr(parts, "reduce", None)
    if reduce is not None:
        return reduce(function)
    return of_blocks(function, ((part,) for part in parts))


def summed(
    parts: Iterable[CodedRows], function: Callable[[CodedRows], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """Return the sums over all parts of what a function returns for each."""

    def of_part(part: CodedRows) -> AddedSums:
        # Far from the fit means may be impossible, and what is computed of them not finite.
        with np.errstate(all="ignore"):
            return AddedSums(function(part))

    found: AddedSums = merged_over(parts, of_part)
    return found.values
