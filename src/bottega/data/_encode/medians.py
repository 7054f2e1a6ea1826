"""Exact medians of columns that are too long to keep.

The rows that come first say between which values the median should lie. Of those that follow, what
is below is counted and what is between is kept: one pass, and little memory. Where the first rows
were not like the others (a sorted column, say), the median is found digit by digit (a radix
selection) in four further passes.
"""

from collections.abc import Callable, Iterable

import numpy as np

from bottega.core.typing import FloatArray, IntArray

__all__ = ["MedianBrackets", "Passes", "selected_medians"]

Passes = Callable[[], Iterable[FloatArray]]

_DIGIT = 16  # bits of a digit of the selection
_WIDTH = 6.0  # standard errors of the first rows' median on either side
_ROOM = 4  # times the share of rows that should be between, after which a column is given up


class MedianBrackets:
    """Counts what is below the median, and keeps what is near it.

    Parameters
    ----------
    first : ndarray of shape (m, p)
        The rows that came first.
    """

    def __init__(self, first: FloatArray) -> None:
        seen = (~np.isnan(first)).sum(axis=0)
        self._share = _WIDTH * 0.5 / np.sqrt(np.maximum(seen, 1))
        self.low, self.high = np.full((2, first.shape[1]), np.nan)
        for j in np.flatnonzero(seen):
            column = first[~np.isnan(first[:, j]), j]
            place = np.clip([0.5 - self._share[j], 0.5 + self._share[j]], 0.0, 1.0)
            self.low[j], self.high[j] = np.quantile(column, place, method="nearest")
        p = first.shape[1]
        self._below: IntArray = np.zeros(p, dtype=np.int64)
        self._near: list[list[tuple[FloatArray, IntArray]]] = [[] for _ in range(p)]
        self._kept: IntArray = np.zeros(p, dtype=np.int64)  # distinct values between, at most
        self._rows = 0
        self.update(first)

    def update(self, matrix: FloatArray) -> None:
        """Take in a block of rows."""
        self._rows += len(matrix)
        below = matrix < self.low
        self._below += below.sum(axis=0)
        near = (matrix <= self.high) & ~below
        room = _ROOM * 2 * self._share * self._rows + 1_000
        for j in np.flatnonzero(near.any(axis=0)):
            self._near[j].append(np.unique(matrix[near[:, j], j], return_counts=True))
            self._kept[j] += len(self._near[j][-1][0])
            if self._kept[j] > room[j]:
                self._near[j] = [_joined(self._near[j])]
                self._kept[j] = len(self._near[j][0][0])
                if self._kept[j] > room[j]:  # these rows are not like the first ones
                    self.low[j] = self.high[j] = np.nan
                    self._near[j] = []

    def take(self, columns: IntArray) -> "MedianBrackets":
        """Return the brackets of some columns."""
        found = object.__new__(MedianBrackets)
        found._share, found.low, found.high = (
            each[columns] for each in (self._share, self.low, self.high)
        )
        found._below, found._kept = self._below[columns], self._kept[columns]
        found._near, found._rows = [self._near[j] for j in columns], self._rows
        return found

    def medians(self, seen: IntArray) -> FloatArray:
        """Return the medians of columns with so many values, NaN where they were not caught."""
        found = np.full(len(seen), np.nan)
        for j in np.flatnonzero(np.isfinite(self.low) & (seen > 0)):
            values, counts = _joined(self._near[j])
            upto = np.cumsum(counts)
            middle = np.array([(seen[j] - 1) // 2, seen[j] // 2]) - self._below[j]
            if middle[0] >= 0 and middle[1] < upto[-1]:
                found[j] = values[np.searchsorted(upto, middle, side="right")].mean()
        return found


def _joined(parts: list[tuple[FloatArray, IntArray]]) -> tuple[FloatArray, IntArray]:
    """Return the distinct values of several parts, and how often each occurs in all."""
    values, place = np.unique(np.concatenate([each for each, _ in parts]), return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, place, np.concatenate([each for _, each in parts]))
    return values, counts


def selected_medians(seen: IntArray, passes: Passes) -> FloatArray:
    """Return exact medians of columns too long to keep, from passes over their blocks."""
    columns = np.repeat(np.flatnonzero(seen), 2)  # the lower and the upper middle value of each
    rank = (seen[columns] - 1 + np.tile([0, 1], len(columns) // 2)) // 2
    prefix = np.zeros(len(columns), dtype=np.uint64)
    for shift in range(64 - _DIGIT, -1, -_DIGIT):
        counts = np.zeros((len(columns), 1 << _DIGIT), dtype=np.int64)
        for block in passes():
            keys, present = _ordered_keys(block), ~np.isnan(block)
            for t, j in enumerate(columns):
                key = keys[present[:, j], j]
                if shift < 64 - _DIGIT:
                    key = key[key >> np.uint64(shift + _DIGIT) == prefix[t]]
                digit = (key >> np.uint64(shift)) & np.uint64((1 << _DIGIT) - 1)
                counts[t] += np.bincount(digit.astype(np.int64), minlength=1 << _DIGIT)
        upto = counts.cumsum(axis=1)
        for t in range(len(columns)):
            digit = int(np.searchsorted(upto[t], rank[t], side="right"))
            rank[t] -= upto[t, digit - 1] if digit else 0
            prefix[t] = prefix[t] << np.uint64(_DIGIT) | np.uint64(digit)
    middle = _values_of_keys(prefix).reshape(-1, 2).mean(axis=1)
    found = np.zeros(len(seen))
    found[columns[::2]] = middle
    return found


_SIGN = np.uint64(1 << 63)


def _ordered_keys(values: FloatArray) -> np.ndarray:
    """Return whole numbers in the order of the floats that they stand for."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values_of_keys(keys: np.ndarray) -> FloatArray:
    """Return the floats that keys stand for."""
    return np.asarray(np.where(keys & _SIGN, keys ^ _SIGN, ~keys)).view(np.float64)
