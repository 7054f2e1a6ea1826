"""Statistics of the columns of numbers: of one matrix, or merged over chunks.

The medians of few rows are taken from the rows themselves, those of many as `medians` does.
"""

import numpy as np

from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.data._encode.medians import MedianBrackets, Passes, selected_medians

HELD = 8_000_000  # numbers that are kept for their medians: 64 MB


class NumberStatistics:
    """Count, mean, scatter, range and median of each column, missing values left out.

    Columns whose squares would be beyond the range of floating-point numbers are held in a unit of
    their own, a power of two.

    Attributes
    ----------
    rows : int
        Rows seen.
    seen : ndarray of int
        Values present in each column.
    unit : ndarray
        What the values of each column are divided by before they are squared: 1 for most.
    mean, low, high : ndarray
        Of these values.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.seen: IntArray = np.zeros(0, dtype=np.int64)
        self.unit: FloatArray = np.ones(0)
        self._mean: FloatArray = np.zeros(0)
        self._scatter: FloatArray = np.zeros(0)  # the sum of squares about the mean
        self._low: FloatArray = np.zeros(0)
        self._high: FloatArray = np.zeros(0)
        self._held: list[FloatArray] | None = []
        self._brackets: MedianBrackets | None = None

    @property
    def mean(self) -> FloatArray:
        """The mean of each column."""
        return self._mean * self.unit

    @property
    def low(self) -> FloatArray:
        """The least value of each column."""
        return self._low * self.unit

    @property
    def high(self) -> FloatArray:
        """The greatest value of each column."""
        return self._high * self.unit

    def update(self, matrix: FloatArray) -> "NumberStatistics":
        """Take in a block of rows, at least one."""
        if self._held is not None:
            self._held.append(matrix)
            if self.rows and (self.rows + len(matrix)) * matrix.shape[1] > HELD:
                self._brackets = MedianBrackets(np.concatenate(self._held))
                self._held = None
        elif self._brackets is not None:
            self._brackets.update(matrix)
        present = ~np.isnan(matrix)
        seen = present.sum(axis=0)
        whole = seen.sum() == matrix.size
        low = matrix.min(axis=0) if whole else np.where(present, matrix, np.inf).min(axis=0)
        high = matrix.max(axis=0) if whole else np.where(present, matrix, -np.inf).max(axis=0)
        if not self.rows:
            self.unit = _units(low, high)
        if np.any(self.unit != 1):
            matrix, low, high = matrix / self.unit, low / self.unit, high / self.unit
        if whole:
            mean = matrix.mean(axis=0)
            gap = matrix - mean
        else:
            mean = np.where(present, matrix, 0.0).sum(axis=0) / np.maximum(seen, 1)
            gap = np.where(present, matrix - mean, 0.0)
        scatter = np.einsum("ij,ij->j", gap, gap)
        if not self.rows:
            self.seen, self._mean, self._scatter = seen, mean, scatter
            self._low, self._high = low, high
        else:
            total = np.maximum(self.seen + seen, 1)
            apart = mean - self._mean
            self._scatter = self._scatter + scatter + apart**2 * (self.seen * seen / total)
            self._mean = self._mean + apart * (seen / total)
            self._low, self._high = np.minimum(self._low, low), np.maximum(self._high, high)
            self.seen = self.seen + seen
        self.rows += len(matrix)
        return self

    def take(self, columns: IntArray) -> "NumberStatistics":
        """Return the statistics of some columns."""
        found = NumberStatistics()
        found.rows, found.seen, found.unit = self.rows, self.seen[columns], self.unit[columns]
        found._mean, found._scatter = self._mean[columns], self._scatter[columns]
        found._low, found._high = self._low[columns], self._high[columns]
        if self._held is not None:
            found._held = [block[:, columns] for block in self._held]
        elif self._brackets is not None:
            found._held, found._brackets = None, self._brackets.take(columns)
        return found

    def filled_moments(self, fill: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation with `fill` in place of the missing values.

        NaN in `fill` leaves the missing values of a column out.
        """
        gaps = np.where(np.isnan(fill), 0, self.rows - self.seen)
        value = np.where(gaps > 0, fill / self.unit, 0.0)
        total = np.maximum(self.seen + gaps, 1)
        mean = (self.seen * self._mean + gaps * value) / total
        scatter = self._scatter + self.seen * (self._mean - mean) ** 2 + gaps * (value - mean) ** 2
        return mean * self.unit, np.sqrt(scatter / total) * self.unit

    def center_and_width(
        self, fill: FloatArray, by_range: bool
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return what is subtracted from each column, divided by, and which do not vary."""
        if by_range:
            return self.low, self.high - self.low, self.high == self.low
        center, width = self.filled_moments(fill)
        # Rounding leaves a constant column a tiny deviation: it must not be blown up.
        return center, width, ~(width > 10 * np.finfo(float).eps * np.abs(center))

    def medians(self, passes: Passes | None = None) -> FloatArray:
        """Return the median of each column, 0 for one without values.

        `passes` starts a pass over the blocks afresh, where they were too many to be kept.
        """
        if self._brackets is not None:
            found = self._brackets.medians(self.seen)
            missed = np.flatnonzero(np.isnan(found) & (self.seen > 0))
            if len(missed):
                assert passes is not None
                some = selected_medians(
                    self.seen[missed], lambda: (block[:, missed] for block in passes())
                )
                found[missed] = some
            return np.where(self.seen > 0, found, 0.0)
        assert self._held is not None
        matrix = self._held[0] if len(self._held) == 1 else np.concatenate(self._held)
        found = np.median(matrix, axis=0) if matrix.size else np.zeros(matrix.shape[1])
        for j in np.flatnonzero(self.seen < self.rows):
            present = matrix[~np.isnan(matrix[:, j]), j]
            found[j] = np.median(present) if present.size else 0.0
        return np.asarray(found)


SAFE = 1e100  # the square is far inside the range of floating-point numbers


def _units(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return for each column a power of two near its largest number, 1 where that is moderate."""
    size = np.maximum(np.abs(low), np.abs(high))
    extreme = np.isfinite(size) & (size > 0) & ((size > SAFE) | (size < 1 / SAFE))
    if not extreme.any():
        return np.ones(len(size))
    return np.ldexp(1.0, np.where(extreme, np.frexp(np.where(extreme, size, 1.0))[1] - 1, 0))
