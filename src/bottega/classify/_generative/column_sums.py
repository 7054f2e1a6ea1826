r"""Statistics of each column within each class, with missing values left out, block by block.

Symbols
-------
p     columns
K     classes
L     levels of a category
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from bottega.classify._generative.moments import FEW, by_class, members, repeated, row_blocks
from bottega.classify._kernels.class_sums import sums_by_class
from bottega.core.parallel import in_threads, spare_threads
from bottega.core.rows import first_rows, split_rows
from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray

__all__ = ["ColumnSums", "column_sums"]

_FAR = 16.0  # squared distance of a mean from a centre, against the variance, that costs a digit
_FIRST = 16  # rows that are looked at first
_LARGE = 2**21  # numbers in a table from which on its parts are worth threads of their own


@stored
class ColumnSums:
    """Weight, mean and scatter of the observed values of each column in each class.

    Attributes
    ----------
    count, weight : ndarray of shape (K,)
        Rows of each class.
    observed : ndarray of shape (K, p)
        Number of observed values.
    seen, mean, scatter : ndarray of shape (K, p)
        Weight, mean and sum of squares about the mean of these.
    whole, binary : ndarray of bool, shape (p,)
        Columns of which all values are whole numbers from 0 on, and all are 0 or 1.
    levels : list of (ndarray of shape (K, L) or None)
        Weights of the levels of each category.
    values : list of (list of (ndarray, ndarray) or None)
        All values, and their weights, by class, of columns that are kept so.
    """

    def __init__(self, K: int, p: int, categories: Sequence[int], kept: Sequence[int]) -> None:
        self.count = np.zeros(K, dtype=np.int64)
        self.weight = np.zeros(K)
        self.observed, self.seen, self.mean, self.scatter = np.zeros((4, K, p))
        self.whole, self.binary = np.ones((2, p), dtype=bool)
        self.levels: list[Any] = [np.zeros((K, 0)) if j in categories else None for j in range(p)]
        self.values: list[Any] = [[] if j in kept else None for j in range(p)]

    def update(self, X: FloatArray, y: IntArray, w: Any = None) -> Self:
        """Take in rows; `y` are the codes of their classes."""
        K, p = self.mean.shape
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused afterwards
            if w is not None or not self._take_columns(X, y, K):
                for part in row_blocks(len(y), p):
                    self._take(X[part], y[part], None if w is None else w[part], K)
        self.count = self.count + np.bincount(y, minlength=K)
        self.weight = self.weight + np.bincount(y, weights=w, minlength=K)
        for j, counts in enumerate(self.levels):
            if counts is not None:
                self.levels[j] = _added(counts, _level_weights(X[:, j], y, w, K))
        for j, values in enumerate(self.values):
            if values is not None:
                self.values[j] = _joined(values, _values_of(X[:, j], y, w, K))
        return self

    def merge(self, other: Self) -> Self:
        """Take in the statistics of other rows."""
        self._absorb(other.observed, other.seen, other.mean, other.scatter)
        self.count, self.weight = self.count + other.count, self.weight + other.weight
        self.whole, self.binary = self.whole & other.whole, self.binary & other.binary
        pairs = zip(self.levels, other.levels, strict=True)
        self.levels = [a if a is None else _added(a, b) for a, b in pairs]
        kept = zip(self.values, other.values, strict=True)
        self.values = [a if a is None else _joined(a, b) for a, b in kept]
        return self

    def _take_columns(self, X: FloatArray, y: IntArray, K: int) -> bool:
        """Take in rows of few classes that are stored by columns; False where they are not so.

        Nothing is taken in where a value is missing.
        """
        if K > FEW or not X.flags.f_contiguous or X.dtype != np.float64 or not len(y):
            return False
        count = np.bincount(y, minlength=K)[:, None]
        size, codes = np.maximum(count, 1), y.astype(np.intp, copy=False)
        # A constant is exactly zero about its value, and another class may be far away.
        mean = X[first_rows(codes, K)]
        for _ in range(2):
            sums, squares = np.zeros((2, *mean.shape))
            sums_by_class(X.T, codes, mean, sums, squares)
            if not np.isfinite(squares).all():
                return False
            offset = sums / size
            scatter = np.maximum(squares - sums * offset, 0.0)
            far = np.any(offset**2 * size > _FAR * scatter)  # the first row misled
            mean = mean + offset
            if not far:
                break
        self._look(X)
        observed = np.broadcast_to(count, mean.shape).astype(np.float64)
        self._absorb(observed, observed, np.where(count > 0, mean, 0.0), scatter)
        return True

    def _take(self, X: FloatArray, y: IntArray, w: Any, K: int) -> None:
        if K <= FEW and not np.isnan(X.sum()):
            self._take_whole(X, y, w, K)
            return
        order, present, first = by_class(y, K)
        rows = X[order]
        counts = np.bincount(y, minlength=K)[present]
        weights: Any = None if w is None else w[order][:, None]
        there = ~np.isnan(rows) if np.isnan(rows.sum()) else None
        # A constant is exactly zero about its value, and another class may be far away.
        shift = rows[first]
        if there is not None:
            least = np.minimum.reduceat(np.where(there, rows, np.inf), first, axis=0)
            shift = np.where(np.isinf(least), 0.0, least)
            rows = np.where(there, rows, np.repeat(shift, counts, axis=0))
        self._look(rows)
        rows -= np.repeat(shift, counts, axis=0)
        observed, seen = np.zeros((2, *self.seen.shape))
        observed[present] = counts[:, None]
        if there is not None:
            observed[present] = np.add.reduceat(there.astype(np.float64), first, axis=0)
        seen[present] = observed[present]
        if weights is not None:
            held = weights if there is None else weights * there
            seen[present] = np.add.reduceat(held, first, axis=0)
        sums = np.add.reduceat(rows if w is None else rows * weights, first, axis=0)
        about = sums / np.where(seen[present] > 0, seen[present], 1.0)
        rows -= np.repeat(about, counts, axis=0)
        if there is not None:
            rows[~there] = 0.0
        rows *= rows
        if weights is not None:
            rows *= weights
        mean, scatter = np.zeros_like(self.mean), np.zeros_like(self.mean)
        mean[present] = about + shift
        scatter[present] = np.add.reduceat(rows, first, axis=0)
        self._absorb(observed, seen, mean, scatter)

    def _take_whole(self, X: FloatArray, y: IntArray, w: Any, K: int) -> None:
        """Take in rows of few classes without a gap."""
        self._look(X)
        member = members(y, K)
        weighted = member if w is None else member * w
        weight = weighted.sum(axis=1)[:, None]
        # A constant is exactly zero about its value, and another class may be far away.
        shift = X[first_rows(y, K)]
        rows = X - repeated(shift, member, X)
        about = weighted @ rows / np.where(weight > 0, weight, 1.0)
        rows -= repeated(about, member, rows)
        rows *= rows
        mean = np.where(weight > 0, about + shift, 0.0)
        observed = np.broadcast_to(member.sum(axis=1)[:, None], self.seen.shape)
        seen = np.broadcast_to(weight, self.seen.shape)
        self._absorb(observed, seen, mean, weighted @ rows)

    def _look(self, rows: FloatArray) -> None:
        """Note which columns still hold whole numbers, or zeros and ones, alone."""
        few = rows[:_FIRST]  # as a rule these tell
        self.whole = self.whole & np.all((few >= 0) & (few == np.floor(few)), axis=0)
        for j in np.flatnonzero(self.whole):
            x = rows[:, j]
            self.whole[j] = bool(np.all(x >= 0) and np.all(x == np.floor(x)))
            self.binary[j] = self.binary[j] and self.whole[j] and bool(np.all(x <= 1))
        self.binary = self.binary & self.whole

    def _absorb(
        self, observed: FloatArray, seen: FloatArray, mean: FloatArray, scatter: FloatArray
    ) -> None:
        total = self.seen + seen
        share = seen / np.where(total > 0, total, 1.0)
        gap = np.where((self.seen > 0) & (seen > 0), mean - self.mean, 0.0)
        self.scatter = self.scatter + scatter + self.seen * share * gap**2
        self.mean = np.where(self.seen > 0, self.mean + share * gap, mean)
        self.observed, self.seen = self.observed + observed, total


def column_sums(
    X: FloatArray, y: IntArray, w: Any, K: int, categories: Sequence[int], kept: Sequence[int]
) -> ColumnSums:
    """Return the statistics of rows; parts of a large table are summed up side by side."""
    n, p = X.shape

    def part_of(rows: slice) -> ColumnSums:
        weight = None if w is None else w[rows]
        return ColumnSums(K, p, categories, kept).update(X[rows], y[rows], weight)

    parts = list(split_rows(n, max(_LARGE // max(p, 1), 1)))
    several = len(parts) > 1 and spare_threads() > 1
    total, *others = in_threads(part_of, parts) if several else map(part_of, parts)
    for other in others:
        total.merge(other)
    return total


def _level_weights(x: FloatArray, y: IntArray, w: Any, K: int) -> FloatArray:
    there = ~np.isnan(x)
    codes = x[there].astype(np.intp)
    L = int(codes.max(initial=-1)) + 1
    weight = None if w is None else w[there]
    flat = np.bincount(y[there] * L + codes, weights=weight, minlength=K * L)
    return flat.astype(np.float64).reshape(K, L)


def _added(counts: FloatArray, more: FloatArray) -> FloatArray:
    """Return the sum of weights of levels; one side may know more levels."""
    K, L = len(counts), max(counts.shape[1], more.shape[1])
    total = np.zeros((K, L))
    total[:, : counts.shape[1]] += counts
    total[:, : more.shape[1]] += more
    return total


def _values_of(x: FloatArray, y: IntArray, w: Any, K: int) -> list[Any]:
    there = ~np.isnan(x)
    weight = np.ones(len(x)) if w is None else w
    return [(x[at], weight[at]) for at in (there & (y == k) for k in range(K))]


def _joined(values: list[Any], more: list[Any]) -> list[Any]:
    if not values or not more:
        return values or more
    return [
        (np.concatenate([a, c]), np.concatenate([b, d]))
        for (a, b), (c, d) in zip(values, more, strict=True)
    ]
