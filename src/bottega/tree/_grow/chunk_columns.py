"""The inputs of a tree in chunks: passes over the rows learn the bins, and keep a byte per value.

The bins are those of the same rows in memory, whatever the chunks: they are learnt from the same
rows. So is the order that folds and samples are drawn by. A table of few numbers is kept as it is
after the first pass, and no other is made.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from bottega.core.chunked import NO_ROWS
from bottega.core.chunks import CheckedChunks
from bottega.core.class_factors import factors_of_classes
from bottega.core.errors import InputError
from bottega.core.gathered import Gathered, joined_responses
from bottega.core.rows import check_weight
from bottega.core.scratch import FEW_NUMBERS, scratch_array
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.core.validate import check_response
from bottega.tree._grow.binned_columns import BinnedColumns
from bottega.tree._grow.bins import Bins, rows_to_learn_from
from bottega.tree._grow.column_reader import ColumnReader


class ColumnChunks(Gathered):
    """An estimator of trees, whose columns come in chunks: numbers, texts, categories, gaps."""

    columns_in_: ColumnReader
    categorical_features: Any

    def _check_chunks(self, chunks: Iterable[Any], *, guess: bool = False) -> CheckedChunks:
        self.columns_in_ = ColumnReader(self.categorical_features)
        if isinstance(chunks, Iterable) and not isinstance(chunks, Iterator):
            self.columns_in_.fit_chunks(chunks)
        return super()._check_chunks(chunks, guess=guess)

    def _reader_of_chunks(self, first: Any) -> Any:
        return None if self.columns_in_.is_plain else self.columns_in_.read_chunk


def gather_columns(
    estimator: Any, checked: CheckedChunks
) -> tuple["ChunkColumns", Array, FloatArray | None]:
    """Return the columns of rows in chunks, their responses and weights."""
    if checked.y_ndim != 1:
        raise InputError(f"{type(estimator).__name__} fits chunks of one response only.")
    facts = ChunkedColumnFacts()
    few = None if checked.are_held else _FewNumbers()
    for found in checked.map(partial(facts_of_block, few=few)):
        facts.add(*found)
    if not facts.count:
        raise InputError(NO_ROWS)
    y, weight = joined_responses(facts.y, facts.weight, factors_of_classes(estimator, checked))
    if is_regressor(estimator):
        y = y[:, 0]
        check_response(y)
    if weight is not None and not np.all(weight > 0):
        raise InputError(
            "class_weight leaves a class out by a weight of 0; leave its rows out of the chunks."
        )
    columns = ChunkColumns(checked, facts, *estimator.columns_in_.kinds_of_columns())
    return columns, y, check_weight(weight, len(y))


class _FewNumbers:
    """The inputs of chunks, as long as they are few together.

    Threads that ask at once may be given a few more than that; `ChunkedColumnFacts` forgets them.
    """

    def __init__(self) -> None:
        self._seen = 0

    def kept(self, X: FloatArray) -> FloatArray | None:
        """Return the inputs of a chunk, or None where there are too many of them by now."""
        self._seen += X.size
        return X if self._seen <= FEW_NUMBERS else None


def facts_of_block(X: FloatArray, y: Any, w: Any, *, few: _FewNumbers | None) -> tuple[Any, ...]:
    """Return what the first pass wants to know of a chunk, and its inputs where they are `few`."""
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    marks = np.all((X == 0) | (X == 1) | np.isnan(X), axis=0)
    return (
        None if few is None else few.kept(X),
        low,
        high,
        np.isnan(X).any(axis=0),
        marks,
        y,
        w,
    )


@dataclass
class ChunkedColumnFacts:
    """What the first pass tells: ends and gaps of the columns, responses, weights; few rows too."""

    count: int = 0
    low: Any = np.nan
    high: Any = np.nan
    missing: Any = False
    marks: Any = True
    X: list[FloatArray] | None = field(default_factory=list)
    y: list[Array] = field(default_factory=list)
    weight: list[FloatArray | None] = field(default_factory=list)

    def add(self, X: Any, low: Any, high: Any, missing: Any, marks: Any, y: Any, w: Any) -> None:
        """Take in the facts of the next chunk."""
        self.count += len(y)
        self.low, self.high = np.fmin(self.low, low), np.fmax(self.high, high)
        self.missing, self.marks = self.missing | missing, self.marks & marks
        self.y.append(y)
        self.weight.append(w)
        if X is None or self.count * len(low) > FEW_NUMBERS:
            self.X = None
        elif self.X is not None:
            self.X.append(X)


class ChunkColumns:
    """Columns of rows in chunks; what it has of `bottega.tree._grow.columns.Columns` is the same.

    Parameters
    ----------
    checked : CheckedChunks
        The rows.
    facts : ChunkedColumnFacts
        What the first pass told.
    categorical : ndarray of bool
        Which columns hold codes of levels.
    n_levels : ndarray of int
        How many levels they have; 0 for numbers.
    """

    def __init__(
        self,
        checked: CheckedChunks,
        facts: ChunkedColumnFacts,
        categorical: BoolArray,
        n_levels: IntArray,
    ) -> None:
        self._checked, self._facts = checked, facts
        self.categorical, self.n_levels = categorical, n_levels
        self._X = None if facts.X is None else np.concatenate(facts.X)
        facts.X = None

    def __len__(self) -> int:
        return self._facts.count

    def ranges(self) -> tuple[FloatArray, FloatArray, BoolArray, IntArray]:
        """Return the ends, missing values and numbers of levels of the columns."""
        facts = self._facts
        low, high = np.nan_to_num(facts.low), np.nan_to_num(facts.high)
        return low, high, facts.missing, self.n_levels

    def are_marks(self, at: IntArray) -> BoolArray:
        """Return which of some columns hold nothing but 0, 1 and missing values."""
        return np.asarray(self._facts.marks)[at]

    def iter_columns(self) -> Iterator[FloatArray]:
        """Yield the columns, a few with each pass over the chunks."""
        return self._checked.iter_columns() if self._X is None else iter(self._X.T)

    def learn_bins(self, rows: IntArray | None = None) -> Bins:
        """Return bins of the columns, learnt from (some of) the rows, which a pass reads."""
        wanted = rows_to_learn_from(len(self), rows)
        return Bins.learn(self._take(wanted), self.categorical, self.n_levels)

    def _take(self, rows: IntArray | None) -> FloatArray:
        """Return some rows, also repeatedly; None: all."""
        if self._X is not None:
            return self._X if rows is None else self._X[rows]
        if rows is None:
            return np.concatenate([X for X, _, _ in self._checked])
        wanted = np.unique(rows)
        found: list[FloatArray] = []
        start = 0
        for X, _, _ in self._checked:
            here = slice(*np.searchsorted(wanted, [start, start + len(X)]))
            found.append(X[wanted[here] - start])
            start += len(X)
        return np.concatenate(found)[np.searchsorted(wanted, rows)]

    def encode(self, bins: Bins, order: IntArray | None = None) -> Array:
        """Return the bins of the rows as bytes (in the given order), from one more pass."""
        if self._X is not None:
            return bins.encode(self._X, order)
        place = None
        if order is not None:
            place = np.empty(len(order), dtype=np.intp)
            place[order] = np.arange(len(order))
        codes = scratch_array((len(self), len(self.n_levels)), np.uint8)
        start = 0
        for block in self._checked.map(_EncodeBlock(bins)):
            stop = start + len(block)
            codes[slice(start, stop) if place is None else place[start:stop]] = block
            start = stop
        return codes

    def binned(self) -> BinnedColumns:
        """Return the rows in bins of all of them."""
        bins = self.learn_bins()
        return BinnedColumns(bins, self.encode(bins), self.n_levels, given=self)


@dataclass(frozen=True)
class _EncodeBlock:
    """Makes codes of the values of a chunk, where it is."""

    bins: Bins

    def __call__(self, X: FloatArray, y: Any, w: Any) -> Array:
        return self.bins.encode(X)
