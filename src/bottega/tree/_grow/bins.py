"""Columns cut into at most 255 bins, so that a value is one byte and a split a table of sums.

A number gets the bin between its neighbouring cut points: every distinct value its own where there
are at most 255, quantiles of the training rows otherwise. A category's bin is its level; of more
than 255 levels the 254 most frequent keep a bin and the others share the last. Code 255 is a
missing value (or a level not seen in training).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bottega.core.parallel import in_threads
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree._kernels import bins as kernels

MAX_BINS = 255
MISSING = kernels.MISSING
# Quantiles of more rows are no better than those of so many.
SAMPLE = 100_000


@stored
@dataclass(frozen=True, eq=False)
class Bins:
    """Where the columns of a matrix are cut.

    `n_bins` (missing values apart), `categorical` and `cuts` (filled up with infinity) have one
    entry per column. A threshold between two bins lies halfway between ``high`` of the left bin
    and ``low`` of the right one. The bins of the levels of column j are
    ``level_bin[level_start[j]:level_start[j + 1]]``.

    Examples
    --------
    >>> X = np.array([[1.0, 0], [3.0, 2], [np.nan, 1]])
    >>> bins = Bins.learn(X, np.array([False, True]), np.array([0, 3]))
    >>> bins.encode(X)
    array([[  0,   0],
           [  1,   2],
           [255,   1]], dtype=uint8)
    """

    n_bins: IntArray
    categorical: Array
    cuts: FloatArray
    low: FloatArray
    high: FloatArray
    level_start: IntArray
    level_bin: Array

    @classmethod
    def learn(
        cls, X: FloatArray, categorical: Array, n_levels: IntArray, rows: IntArray | None = None
    ) -> Self:
        """Learn the cut points of the columns of X (NaN where missing) from (some of) its rows.

        Without `rows`, of more than 100,000 rows as many are looked at, evenly spaced. Categories
        hold codes below `n_levels`.
        """
        n, p = X.shape
        rows = rows_to_learn_from(n, rows)
        cuts, low, high = (np.full((p, MAX_BINS), np.inf) for _ in range(3))
        n_bins = np.zeros(p, dtype=np.int64)
        level_bins: list[Array] = [np.zeros(0, dtype=np.uint8)] * (p + 1)

        def learn_column(j: int) -> None:
            column = X[:, j] if rows is None else X[rows, j]
            column = column[~np.isnan(column)]
            if categorical[j]:
                level_bins[j] = _bins_of_levels(column, int(n_levels[j]))
                n_bins[j] = int(level_bins[j].max(initial=0)) + 1
                return
            below, above, cut = _cut(column)
            n_bins[j] = len(cut) + 1
            cuts[j, : len(cut)] = cut
            high[j, : len(cut)] = below
            low[j, 1 : len(cut) + 1] = above

        in_threads(learn_column, range(p))
        level_start = np.cumsum([0, *(len(each) for each in level_bins[:p])])
        categorical = np.asarray(categorical, dtype=bool)
        return cls(n_bins, categorical, cuts, low, high, level_start, np.concatenate(level_bins))

    def decode(self, codes: Array) -> FloatArray:
        """Return a number for each bin that every threshold between bins separates as its values.

        It is the value itself where each has a bin, the upper end of the bin otherwise; a level for
        a category, and NaN where values are missing.
        """
        p = codes.shape[1]
        found = np.empty(codes.shape)
        for j in range(p):
            found[:, j] = self._representatives(j)[codes[:, j]]
        return found

    def _representatives(self, j: int) -> FloatArray:
        values = np.full(MISSING + 1, np.nan)
        count = int(self.n_bins[j])
        if self.categorical[j]:
            level_bin = self.level_bin[self.level_start[j] : self.level_start[j + 1]]
            values[level_bin[::-1]] = np.arange(len(level_bin))[::-1]  # the first level of each
            return values
        if count == 1:
            values[0] = 0.0
            return values
        values[: count - 1] = self.high[j, : count - 1]
        last, low = values[count - 2], self.low[j, count - 1]
        if low <= last:  # of quantiles both are the cut point: as far again as from the one before
            step = last - values[count - 3] if count > 2 else abs(last)
            low = max(np.nextafter(last, np.inf), min(last + step, np.finfo(np.float64).max))
        values[count - 1] = low
        return values

    def encode(self, X: FloatArray, order: IntArray | None = None) -> Array:
        """Return the bins of the values of X as bytes, row by row (in the given order)."""
        n, p = len(X) if order is None else len(order), X.shape[1]
        codes = np.empty((n, p), dtype=np.uint8)

        # Rows, not columns, are shared out: two threads never write to the same line of memory.
        def encode_block(start: int) -> None:
            block = slice(start, start + size)
            part = X[block] if order is None else X[order[block]]
            for j in range(p):
                levels = self.level_bin[self.level_start[j] : self.level_start[j + 1]]
                column = np.require(part[:, j], np.float64, ["C", "W"])  # one type to the kernel
                kernels.encode_column(
                    column, self.cuts[j], self.categorical[j], levels, codes[block], j
                )

        size = max(1024, 2**18 // max(p, 1))
        in_threads(encode_block, range(0, n, size))
        return codes


def rows_to_learn_from(n: int, rows: IntArray | None = None) -> IntArray | None:
    """Return which of n rows the bins are learnt from: the first of `rows`; None stands for all."""
    if rows is not None:
        return rows[:SAMPLE]
    return np.linspace(0, n - 1, SAMPLE).astype(np.intp) if n > SAMPLE else None


def _cut(column: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the values below and above each cut point, and the cut points."""
    values = np.sort(column)
    if not len(values):
        empty = np.zeros(0)
        return empty, empty, empty
    first = np.flatnonzero(np.r_[True, values[1:] > values[:-1]])  # of each distinct value
    every = len(first) <= MAX_BINS
    if every:
        at = first[1:]
    else:
        wanted = np.arange(1, MAX_BINS) * len(values) / MAX_BINS
        # The end of the run of equal values that reaches nearest to the wanted place.
        ends = np.searchsorted(first, wanted)
        earlier, later = first[np.maximum(ends - 1, 1)], first[np.minimum(ends, len(first) - 1)]
        at = np.unique(np.where(wanted - earlier < later - wanted, earlier, later))
    below, above = values[at - 1], values[at]
    cut = below + (above - below) / 2
    cut = np.where(cut < above, cut, below)
    return (below, above, cut) if every else (cut, cut, cut)


def _bins_of_levels(column: FloatArray, n_levels: int) -> Array:
    """Return the bin of each level of a category."""
    if n_levels <= MAX_BINS:
        return np.arange(n_levels).astype(np.uint8)
    counts = np.bincount(column.astype(np.intp), minlength=n_levels)
    frequent = np.sort(np.argsort(-counts, kind="stable")[: MAX_BINS - 1])
    found = np.full(n_levels, MAX_BINS - 1, dtype=np.uint8)
    found[frequent] = np.arange(MAX_BINS - 1)
    return found
