"""Where the rows come from: memory or chunks, and what is learnt of their columns first."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from bottega.additive._model.work import offset_of
from bottega.additive._penalized.bins import Binning, Ranges
from bottega.additive._penalized.design import Design
from bottega.additive._terms.build import Building
from bottega.additive._terms.facts import ColumnFacts, TableFacts
from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive._terms.sums import RowSums, binned_sets
from bottega.core.chunks import CheckedChunks
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["ChunkFacts", "ModelRows"]


class ChunkFacts:
    """Facts and ranges of the columns of a block of rows, and the ends of y; mergeable."""

    def __init__(self, X: Any, y: Any, w: Any, categorical: Sequence[int]) -> None:
        self.categorical = categorical
        self.facts = TableFacts(X, w)
        self.ranges = Ranges(X.shape[1], categorical).update(X)
        self.ends = (float(np.min(y)), float(np.max(y)))

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""
        return self.merge(type(self)(X, y, w, self.categorical))

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""
        self.facts.merge(other.facts)
        self.ranges.merge(other.ranges)
        self.ends = (min(self.ends[0], other.ends[0]), max(self.ends[1], other.ends[1]))
        return self


class ModelRows:
    """The rows of a fit.

    Parameters
    ----------
    facts : sequence of ColumnFacts
        Of each column.
    ranges : Ranges
        The values that each column is rounded to.
    rows : Rows or None
        The rows in memory.
    chunks : CheckedChunks, optional
        The rows where they are not.
    """

    def __init__(
        self,
        facts: Sequence[ColumnFacts],
        ranges: Ranges,
        rows: Rows | None,
        chunks: CheckedChunks | None = None,
    ) -> None:
        self.facts, self.ranges, self.rows, self.chunks = facts, ranges, rows, chunks
        self._binning: Binning | None = None

    def parts(self) -> Iterator[tuple[FloatArray, FloatArray | None]]:
        """Give the inputs and weights of the rows, all at once or chunk by chunk."""
        if self.rows is not None:
            yield self.rows.X, self.rows.weight
            return
        assert self.chunks is not None
        for X, _, w in self.chunks:
            yield X, w

    def responses(self) -> Iterator[tuple[FloatArray, FloatArray, FloatArray | None]]:
        """Give inputs, responses and weights of the rows, all at once or chunk by chunk."""
        if self.rows is not None:
            yield self.rows.X, self.rows.y, self.rows.weight
            return
        assert self.chunks is not None
        for X, y, w in self.chunks:
            yield X, y[:, 0] if np.ndim(y) == 2 else y, w

    def binning(self, terms: Sequence[PlacedTerm]) -> Binning:
        """Return bins of all that the terms want binned; those of an earlier call if it is so."""
        wanted = binned_sets(terms)
        if self._binning is None or not set(wanted) <= set(self._binning.margins):
            known = () if self._binning is None else self._binning.margins
            made = Binning(self.ranges, [*known, *wanted], keep=self.rows is not None)
            for X, weight in self.parts():
                made.update(X, None, weight)
            self._binning = made
        return self._binning

    def building(
        self, terms: Sequence[PlacedTerm], inputs: MixedInputs, n_splines: int
    ) -> Building:
        """Return what blocks are built of."""
        sums = RowSums(self.parts, self.binning(terms))
        return Building(inputs, self.facts, sums.gram, sums.points, n_splines)

    def binned(self, design: Design, terms: Sequence[PlacedTerm]) -> Any:
        """Return the rows as the engine takes them: a list of one, or chunks."""
        if self.rows is None:
            return BinnedChunks(self, design, terms)
        rows = self.rows
        return [design.rows(rows.X, rows.y, rows.weight, _offset(terms, rows.X))]


class BinnedChunks:
    """Chunks as codes of bins, each time they are iterated over."""

    def __init__(self, source: ModelRows, design: Design, terms: Sequence[PlacedTerm]) -> None:
        self.source, self.design, self.terms = source, design, terms

    def __iter__(self) -> Iterator[Any]:
        for X, y, w in self.source.responses():
            yield self.design.rows(X, y, w, _offset(self.terms, X))


def _offset(terms: Sequence[PlacedTerm], X: FloatArray) -> FloatArray | None:
    shift = offset_of(terms, X)
    return None if np.ndim(shift) == 0 else shift
