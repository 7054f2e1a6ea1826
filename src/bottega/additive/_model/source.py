"""Where the rows come from: memory or chunks, and what is learnt of their columns first."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from bottega.additive._model.foresight import BinnedProducts, Foresight
from bottega.additive._model.work import offset_of
from bottega.additive._penalized.bins import Binning, Ranges
from bottega.additive._penalized.design import CodedRows, Design
from bottega.additive._penalized.gaussian import DesignProducts, ResponseUnits
from bottega.additive._terms.build import Building
from bottega.additive._terms.facts import ColumnFacts, TableFacts
from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive._terms.sums import RowSums, binned_sets
from bottega.core.chunks import CheckedChunks
from bottega.core.parts import RowSource, merged
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["ChunkFacts", "ModelRows"]


_TIMES = 20  # that each of few values is seen in the first rows: others will hardly appear


class ChunkFacts:
    """Facts and ranges of the columns of a block of rows, and the ends of y; mergeable.

    With a guess of the columns of the design, also the products of the rows with them.
    """

    def __init__(
        self, X: Any, y: Any, w: Any, categorical: Sequence[int], guess: Foresight | None = None
    ) -> None:
        self.categorical = categorical
        self.facts = TableFacts(X, w)
        self.ranges = Ranges(X.shape[1], categorical).update(X, self.facts)
        self.ends = (float(np.min(y)), float(np.max(y)))
        self.products = None if guess is None else guess.of_rows(X, y, w)

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""
        return self.merge(type(self)(X, y, w, self.categorical))

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""
        self.facts.merge(other.facts)
        self.ranges.merge(other.ranges)
        self.ends = (min(self.ends[0], other.ends[0]), max(self.ends[1], other.ends[1]))
        self.products = merged(self.products, other.products)
        return self

    def reach(self, ends: Sequence[tuple[float, float]]) -> bool:
        """Take the ends of all rows for those of these; return False where these do not suit them.

        A column with few values is taken to have no others.
        """
        low, high = np.array(ends).T
        for column, seen in enumerate(self.ranges.distinct):
            if seen is not None and not (
                self.ranges.count >= _TIMES * len(seen)
                and low[column] == self.ranges.low[column]
                and high[column] == self.ranges.high[column]
            ):
                return False
        self.facts.low = self.ranges.low = low
        self.facts.high = self.ranges.high = high
        return True


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
        self._foresight: Foresight | None = None

    @classmethod
    def at_first_sight(cls, chunks: CheckedChunks) -> Self | None:
        """Return rows as the first chunk and the ends of the columns tell; None without these."""
        ends = chunks.chunks.ends if isinstance(chunks.chunks, RowSource) else None
        if ends is None or chunks.read is not None:
            return None
        for X, y, w in chunks:
            seen = ChunkFacts(X, y, w, ())
            known = seen.reach(ends)
            return cls(seen.facts.columns(), seen.ranges, None, chunks) if known else None
        return None

    def reduce(self, function: Callable[[FloatArray, FloatArray, FloatArray | None], Any]) -> Any:
        """Return what a function gives for inputs, responses and weights of the rows, merged.

        They are given all at once, or chunk by chunk where the chunks are read.
        """
        if self.rows is not None:
            return function(self.rows.X, self.rows.y, self.rows.weight)
        assert self.chunks is not None

        def of_chunk(X: FloatArray, y: Any, w: FloatArray | None, _: Any) -> Any:
            return function(X, y[:, 0] if np.ndim(y) == 2 else y, w)

        return self.chunks.reduce(of_chunk)

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, FloatArray | None]]:
        """Give inputs, responses and weights of the chunks one after the other."""
        assert self.chunks is not None
        for X, y, w in self.chunks:
            yield X, y[:, 0] if np.ndim(y) == 2 else y, w

    def binning(self, terms: Sequence[PlacedTerm]) -> Binning:
        """Return bins of all that the terms want binned; those of an earlier call if it is so."""
        wanted = binned_sets(terms)
        if self._binning is None or not set(wanted) <= set(self._binning.margins):
            known = () if self._binning is None else self._binning.margins
            made = Binning(self.ranges, [*known, *wanted], keep=self.rows is not None)
            if self.rows is not None:
                self._binning = made.update(self.rows.X, None, self.rows.weight)
            else:
                self._binning = self.reduce(lambda X, _, w: made.like().update(X, None, w))
        return self._binning

    def foresee(self, terms: Sequence[PlacedTerm], inputs: MixedInputs, n_splines: int) -> None:
        """Weigh the bins and sum the products of least squares in one pass over chunks.

        Where the columns cannot be foreseen nothing is done.
        """
        if self.rows is not None or self._binning is not None:
            return
        guess = self.guess(terms, inputs, n_splines)
        if guess is not None:
            self._take(guess, self.reduce(guess.of_rows))

    def guess(
        self, terms: Sequence[PlacedTerm], inputs: MixedInputs, n_splines: int
    ) -> Foresight | None:
        """Return the columns that least squares will probably have, if that can be said."""
        scale = ResponseUnits.of((y, w) for _, y, w in self.blocks())
        return Foresight.of(terms, inputs, self.facts, self.ranges, n_splines, scale)

    def take(self, guess: Foresight, found: BinnedProducts) -> None:
        """Use what a pass gave with guessed columns, if the rows have the bins of the guess."""
        if guess.has_bins_of(self.ranges):
            self._take(guess, found)

    def _take(self, guess: Foresight, found: BinnedProducts) -> None:
        self._foresight, self._binning, guess.found = guess, found.binning, found.found

    def products(self, design: Design) -> DesignProducts | None:
        """Return the products with the columns of a design, where they were foreseen."""
        return None if self._foresight is None else self._foresight.products(design)

    def building(
        self, terms: Sequence[PlacedTerm], inputs: MixedInputs, n_splines: int
    ) -> Building:
        """Return what blocks are built of."""
        sums = RowSums(self.reduce, self.binning(terms))
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

    def __iter__(self) -> Iterator[CodedRows]:
        for X, y, w in self.source.blocks():
            yield self.design.rows(X, y, w, _offset(self.terms, X))

    def products(self, design: Design) -> DesignProducts | None:
        """Return the products with the columns of a design, where a pass has given them."""
        return self.source.products(design)

    def reduce(self, function: Callable[[CodedRows], Any]) -> Any:
        """Return what a function gives for each chunk, merged; it is coded where it is read."""
        design, terms = self.design, self.terms
        return self.source.reduce(lambda X, y, w: function(design.rows(X, y, w, _offset(terms, X))))


def _offset(terms: Sequence[PlacedTerm], X: FloatArray) -> FloatArray | None:
    shift = offset_of(terms, X)
    return None if np.ndim(shift) == 0 else shift
