"""Binned inputs: each input has few values, so that the rows are few codes.

An input with at most `MOST_EXACT` distinct values keeps them; one with more is rounded to an even
grid of `GRID` points. A spline with tens of knots is all but straight between two of them. Where
rows crowd in a small part of the range, half of the points are quantiles.

Symbols
-------
m       number of bins of a margin
d       number of inputs of a margin: one, or several that are binned together
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.additive._kernels import bins as kernels
from bottega.additive._kernels.crossproducts import bin_sums
from bottega.additive._terms.facts import TableFacts
from bottega.core.typing import FloatArray, IntArray

__all__ = ["GRID", "MOST_EXACT", "Axis", "Binning", "MarginBins", "Ranges"]

MOST_EXACT = 4096
GRID = 1024
# Points of the grid of each input, by the number of inputs of the margin.
_GRIDS = {1: GRID, 2: 128, 3: 32}
_LEAST_GRID = 16
_SAMPLE = 2048  # values that a column with many is judged by
_CROWD = 40  # rows in the fullest bin of an even grid, against the mean: more are too many
# What undoes the multiplications of `small_keys`, whose hashes stand for the numbers themselves.
_UNDO_FIRST, _UNDO_SECOND = (
    np.uint64(pow(factor, -1, 2**64)) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
)


@dataclass(frozen=True, eq=False)
class Axis:
    """The values that an input is rounded to.

    Attributes
    ----------
    points : ndarray of shape (m,)
        In rising order.
    rounding : str
        ``"none"``: they are all the values there are; ``"even"``: they are an even grid;
        ``"nearest"``: they stand closer where there are more rows.
    """

    points: FloatArray
    rounding: str

    def codes(self, x: FloatArray) -> IntArray:
        """Return the bin of each value; missing ones (and unknown ones) have the number m."""
        last = len(self.points) - 1
        if last < 0:
            return np.zeros(len(x), dtype=np.intp)
        if self.rounding == "none":
            place = np.minimum(np.searchsorted(self.points, x), last)
            return np.where(self.points[place] == x, place, last + 1)
        if self.rounding == "nearest":
            middles = self.points[:-1] / 2 + self.points[1:] / 2
            return np.where(np.isnan(x), last + 1, np.searchsorted(middles, x))
        low, high = float(self.points[0]), float(self.points[-1])
        x = np.ascontiguousarray(x, dtype=np.float64)
        return np.asarray(kernels.even_codes(x, low, high / last - low / last, last))


@dataclass(frozen=True, eq=False)
class MarginBins:
    """The bins of a margin, and how rows find theirs.

    Attributes
    ----------
    columns : tuple of int
        Positions of the inputs.
    axes : tuple of Axis
        What each of them is rounded to.
    numbers : ndarray of int or None
        Of several inputs: the combinations that have rows, as numbers of a mixed radix.
    values : ndarray of shape (m, d)
        What each bin stands for; NaN for a missing coordinate.
    weight : ndarray of shape (m,)
        Sum of the weights of the rows of each bin; bins of one input may have none.
    """

    columns: tuple[int, ...]
    axes: tuple[Axis, ...]
    numbers: IntArray | None
    values: FloatArray
    weight: FloatArray

    def codes(self, X: FloatArray) -> Any:
        """Return the bin of each row (int32)."""
        found = joint_codes(self.axes, X, self.columns)
        if self.numbers is not None:
            found = np.searchsorted(self.numbers, found)
        return found.astype(np.int32, copy=False)


class Ranges:
    """Distinct values of each column, or the range of those with many; mergeable.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    categorical : sequence of int
        Columns of codes, which are never rounded.
    """

    def __init__(self, n_columns: int, categorical: Sequence[int] = ()) -> None:
        self.n_columns = n_columns
        self.categorical = frozenset(int(each) for each in categorical)
        self.distinct: list[FloatArray | None] = [np.zeros(0)] * n_columns
        self.low = np.full(n_columns, np.inf)
        self.high = np.full(n_columns, -np.inf)
        # Hashes of a sample of the values, of columns with many.
        self.samples: list[Any] = [np.zeros(0, dtype=np.uint64)] * n_columns
        self.count = 0

    def update(self, X: Any, facts: TableFacts | None = None) -> Self:
        """Take in a block of rows, of which the facts may be known."""
        self.count += len(X)
        facts = TableFacts(X) if facts is None else facts
        self.low, self.high = np.minimum(self.low, facts.low), np.maximum(self.high, facts.high)
        for j in range(self.n_columns):
            x = np.ascontiguousarray(X[:, j], dtype=np.float64)
            if facts.gaps[j]:
                x = x[~np.isnan(x)]
            found = self._distinct(j, x)
            self._add(j, found, _sampled(x) if found is None else self.samples[j])
        return self

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""
        self.count += other.count
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        for j, found in enumerate(other.distinct):
            self._add(j, found, other.samples[j])
        return self

    def _distinct(self, j: int, x: FloatArray) -> FloatArray | None:
        if j in self.categorical:
            return np.unique(x + 0.0)
        if self.distinct[j] is None:
            return None
        found = kernels.few_distinct(x, x.view(np.int64), MOST_EXACT)
        return np.sort(found) if len(found) <= MOST_EXACT else None

    def _add(self, j: int, found: FloatArray | None, sample: Any) -> None:
        before = self.distinct[j]
        both = None if before is None or found is None else np.union1d(before, found)
        many = both is None or (len(both) > MOST_EXACT and j not in self.categorical)
        if many:
            seen = _keys(before) if before is not None and len(before) else self.samples[j]
            given = sample if found is None else _keys(found)
            self.samples[j] = _least(seen, given) if len(seen) or found is not None else given
        self.distinct[j] = None if many else both

    def some_values(self, column: int) -> FloatArray:
        """Return the distinct values of a column, or a sample of them where they are many."""
        distinct = self.distinct[column]
        return _values(self.samples[column]) if distinct is None else distinct

    def axis(self, column: int, grid: int = GRID) -> Axis:
        """Return the values that a column is rounded to: all of them where they are few."""
        distinct = self.distinct[column]
        if distinct is not None:
            return Axis(distinct, "none")
        share = np.linspace(0.0, 1.0, grid)
        even = Axis(self.low[column] * (1 - share) + self.high[column] * share, "even")
        seen = self.some_values(column)
        if np.max(np.bincount(even.codes(seen))) * grid <= _CROWD * len(seen):
            return even
        half = even.points[:: 2 if grid > 64 else 1]
        inner = np.quantile(seen, np.linspace(0.0, 1.0, grid - len(half) + 1))
        return Axis(np.unique(np.concatenate([half, inner, even.points[-1:]])), "nearest")

    def axes(self, columns: Sequence[int]) -> tuple[Axis, ...]:
        """Return the axes of a margin in one input or several."""
        grid = _GRIDS.get(len(columns), _LEAST_GRID)
        return tuple(self.axis(column, grid) for column in columns)


def _sampled(x: FloatArray) -> Any:
    """Return the hashes of values that these draw themselves, whatever the order of the rows."""
    for wanted in (_SAMPLE + _SAMPLE // 4, 4 * _SAMPLE):  # the latter where values are repeated
        if len(x) > 4 * wanted:  # nearly all of those wanted are below this
            limit, room = 2**64 // len(x) * wanted, 2 * wanted
            few = kernels.small_keys(x.view(np.uint64), np.uint64(limit), room)
            least = _least(few)
            if len(few) <= room and len(least) == _SAMPLE:
                return least
    return _least(_keys(x))


def _keys(x: FloatArray) -> Any:
    """Return the hashes of all values."""
    return kernels.small_keys(x.view(np.uint64), np.uint64(2**64 - 1), len(x))


def _least(*keys: Any) -> Any:
    """Return the least hashes of some, each once."""
    every = np.sort(np.concatenate(keys))
    first = np.ones(len(every), dtype=bool)
    first[1:] = every[1:] != every[:-1]
    return every[first][:_SAMPLE]


def _values(keys: Any) -> FloatArray:
    """Return the numbers that hashes were made of."""
    found = keys * _UNDO_SECOND
    found ^= (found >> np.uint64(29)) ^ (found >> np.uint64(58))
    found *= _UNDO_FIRST
    return np.asarray(found.view(np.float64))


def joint_codes(axes: Sequence[Axis], X: FloatArray, columns: Sequence[int]) -> IntArray:
    """Return one number for each combination of bins, a mixed-radix one."""
    codes = axes[0].codes(X[:, columns[0]])
    if len(columns) > 1:  # the numbers of combinations are large
        codes = codes.astype(np.intp)
    for axis, column in zip(axes[1:], columns[1:], strict=True):
        codes = codes * (len(axis.points) + 1) + axis.codes(X[:, column])
    return codes


def _joint_values(axes: Sequence[Axis], numbers: IntArray) -> FloatArray:
    """Return the values (m, d) that the numbers of `joint_codes` stand for."""
    found = np.empty((len(numbers), len(axes)))
    rest = numbers
    for k in range(len(axes) - 1, -1, -1):
        rest, place = np.divmod(rest, len(axes[k].points) + 1)
        found[:, k] = np.append(axes[k].points, np.nan)[place]
    return found


class Binning:
    """Weights of the bins of some margins; mergeable.

    Parameters
    ----------
    ranges : Ranges
        Of all rows.
    margins : sequence of tuple of int
        Positions of the inputs of each margin.
    keep : bool
        Whether the codes of the rows are kept: for rows that come all at once.
    """

    def __init__(
        self, ranges: Ranges, margins: Sequence[Sequence[int]], *, keep: bool = False
    ) -> None:
        self.margins = tuple(dict.fromkeys(tuple(int(c) for c in each) for each in margins))
        self.axes = {columns: ranges.axes(columns) for columns in self.margins}
        self.keep = keep
        self.kept: dict[tuple[int, ...], Any] = {}
        self.kept_of: Any = None  # the rows whose codes are kept
        self._numbers: dict[tuple[int, ...], IntArray] = {}
        self._mass: dict[tuple[int, ...], FloatArray] = {}

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""
        self.kept_of = X if self.keep else None
        for columns, places in self.taken(X, w).items():
            if self.keep:
                self.kept[columns] = places
        return self

    def taken(self, X: Any, w: Any = None) -> dict[tuple[int, ...], Any]:
        """Take in a block of rows, and return the bin of each row (int32) in each margin.

        Bins of several inputs are numbered as they stand in this block alone.
        """
        found: dict[tuple[int, ...], Any] = {}
        for columns in self.margins:
            codes = joint_codes(self.axes[columns], X, columns)
            found[columns] = self._add_codes(columns, codes, w)
        return found

    def _add_codes(self, columns: tuple[int, ...], codes: IntArray, w: Any = None) -> Any:
        """Add rows to their bins; return the bin of each."""
        if len(columns) == 1:
            numbers = np.arange(len(self.axes[columns][0].points) + 1, dtype=np.intp)
        else:
            numbers, codes = np.unique(codes, return_inverse=True)
        places = codes.ravel().astype(np.int32, copy=False)
        size = len(numbers)
        mass = kernels.bin_counts(places, size) if w is None else bin_sums(places, w, size)
        self._add(columns, numbers, mass)
        return places

    def guessed(self, ranges: Ranges) -> Self:
        """Return bins of the same margins with about the shares of rows that ranges tell of."""
        found = self.like()
        for columns in self.margins:
            values = ranges.some_values(columns[0])
            found._add_codes(columns, self.axes[columns][0].codes(values))
        return found

    def like(self) -> Self:
        """Return bins of the same margins without rows."""
        found = copy(self)
        found.kept, found._numbers, found._mass = {}, {}, {}
        return found

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""
        for columns in other.margins:
            self._add(columns, other._numbers[columns], other._mass[columns])
        return self

    def _add(self, columns: tuple[int, ...], numbers: IntArray, mass: FloatArray) -> None:
        if columns not in self._numbers:
            self._numbers[columns], self._mass[columns] = numbers, mass
            return
        if len(columns) == 1:  # the same bins everywhere
            self._mass[columns] = self._mass[columns] + mass
            return
        every = np.concatenate([self._numbers[columns], numbers])
        both, places = np.unique(every, return_inverse=True)
        masses = np.concatenate([self._mass[columns], mass])
        self._numbers[columns] = both
        self._mass[columns] = np.bincount(places.ravel(), masses, len(both)).astype(np.float64)

    def bins(self, columns: Sequence[int]) -> MarginBins:
        """Return the bins of a margin."""
        columns = tuple(int(each) for each in columns)
        numbers, axes = self._numbers[columns], self.axes[columns]
        values = _joint_values(axes, numbers)
        several = None if len(columns) == 1 else numbers
        return MarginBins(columns, axes, several, values, self._mass[columns])
