"""Rows that come in chunks: what is learnt of their columns, and their bins."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from bottega.additive._model.work import offset_of
from bottega.additive._penalized.bins import Ranges
from bottega.additive._penalized.design import Design
from bottega.additive._terms.facts import TableFacts
from bottega.core.chunks import CheckedChunks

__all__ = ["ChunkFacts", "ChunkParts"]


class ChunkFacts:
    """Facts and ranges of the columns of one block of rows; mergeable."""

    def __init__(self, X: Any, w: Any, categorical: Sequence[int]) -> None:
        self.facts = TableFacts(X, w)
        self.ranges = Ranges(X.shape[1], categorical).update(X)

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""
        self.facts.merge(other.facts)
        self.ranges.merge(other.ranges)
        return self


class ChunkParts:
    """The chunks, each time they are iterated over, as (X, weight) or binned by a design."""

    def __init__(
        self, chunks: CheckedChunks, design: Design | None = None, terms: Sequence[Any] = ()
    ) -> None:
        self.chunks, self.design, self.terms = chunks, design, terms

    def __iter__(self) -> Iterator[Any]:
        for X, y, w in self.chunks:
            if self.design is None:
                yield X, w
                continue
            shift = offset_of(self.terms, X)
            offset = None if np.ndim(shift) == 0 else shift
            response = y[:, 0] if np.ndim(y) == 2 else y
            yield self.design.rows(X, response, w, offset)
