"""What the terms must know of a column before they become blocks, gathered chunk by chunk."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from bottega.additive._kernels.bins import column_facts, mean_and_squares
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["MOST_DISTINCT", "ColumnFacts", "TableFacts"]

MOST_DISTINCT = 64  # further distinct values are not counted
_ORDINARY = 1e100  # squares of numbers below this are numbers


@stored
@dataclass(frozen=True)
class ColumnFacts:
    """Range, centre and spread of a column, its number of distinct values, and gaps.

    `distinct` counts up to `MOST_DISTINCT`. Centre and spread are those of the weighted rows; the
    spread of a constant column is one.
    """

    low: float
    high: float
    centre: float
    spread: float
    distinct: int
    gaps: bool


class TableFacts:
    """The facts of all columns of a table, of which blocks of rows can be merged."""

    def __init__(self, X: FloatArray, weight: FloatArray | None = None) -> None:
        p = X.shape[1]
        self.weight, self.mean, self.squares, self.unit = np.zeros((4, p))
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)
        self.gaps = np.zeros(p, dtype=bool)
        self.values: list[FloatArray] = []
        fast = weight is None and len(X) > 0 and X.flags.f_contiguous and X.dtype == np.float64
        known = column_facts(X.T) if fast else None
        for j in range(p):
            x, w = np.ascontiguousarray(X[:, j]), weight
            if known is not None and self._take(j, *known[j]):
                self.values.append(_distinct(x))
                self.weight[j] = len(x)
                continue
            if np.isnan(np.min(x, initial=np.inf)):
                gone = np.isnan(x)
                self.gaps[j] = True
                x, w = x[~gone], None if w is None else w[~gone]
            self.values.append(_distinct(x))
            if len(x):
                self._learn(j, x, w)

    def _take(self, j: int, low: float, high: float, mean: float, squares: float) -> bool:
        """Take facts in the units of a column; return False where they are not ordinary numbers."""
        unit = max(abs(low), abs(high))
        if not (1 / _ORDINARY < unit < _ORDINARY and math.isfinite(mean)):
            return False
        self.low[j], self.high[j], self.unit[j] = low, high, unit
        self.mean[j], self.squares[j] = mean / unit, squares / unit**2
        return True

    def _learn(self, j: int, x: FloatArray, w: FloatArray | None) -> None:
        self.low[j], self.high[j] = x.min(), x.max()
        # In units of the largest number of each column: squares of any size are ordinary.
        self.unit[j] = max(abs(self.low[j]), abs(self.high[j]))
        self.weight[j] = len(x) if w is None else w.sum()
        if w is None and self._take(j, self.low[j], self.high[j], *mean_and_squares(x)):
            return
        u = x / (self.unit[j] or 1.0)
        # Sums rather than products of vectors: threads of the latter cost more than they save.
        self.mean[j] = (u if w is None else w * u).sum() / self.weight[j]
        u -= self.mean[j]
        u *= u
        self.squares[j] = (u if w is None else w * u).sum()

    def merge(self, other: Self) -> Self:
        """Take in the facts of further rows."""
        unit = np.maximum(self.unit, other.unit)
        a, b = self.unit / _or_one(unit), other.unit / _or_one(unit)
        total = self.weight + other.weight
        share = other.weight / np.maximum(total, 1e-300)
        gap = b * other.mean - a * self.mean
        self.squares = a**2 * self.squares + b**2 * other.squares + gap**2 * self.weight * share
        self.mean = a * self.mean + share * gap
        self.weight, self.unit = total, unit
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.gaps = np.asarray(self.gaps | other.gaps)
        self.values = [
            mine if len(mine) >= MOST_DISTINCT else _distinct(np.concatenate([mine, theirs]))
            for mine, theirs in zip(self.values, other.values, strict=True)
        ]
        return self

    def columns(self) -> Sequence[ColumnFacts]:
        """Return the facts of each column."""
        sd = np.sqrt(self.squares / np.maximum(self.weight, 1e-300))
        found = []
        for j in range(len(self.low)):
            constant = self.low[j] == self.high[j]
            spread = 1.0 if constant or sd[j] == 0 else float(sd[j] * self.unit[j])
            spread = spread or float(self.high[j] - self.low[j])  # among the smallest numbers
            found.append(
                ColumnFacts(
                    float(self.low[j]),
                    float(self.high[j]),
                    float(self.mean[j] * self.unit[j]),
                    spread,
                    len(self.values[j]),
                    bool(self.gaps[j]),
                )
            )
        return found


def _or_one(unit: FloatArray) -> FloatArray:
    return np.where(unit == 0, 1.0, unit)


def _distinct(column: FloatArray) -> FloatArray:
    """Return the distinct values of a column, some of them where there are too many."""
    for size in (2 * MOST_DISTINCT, 1000, len(column)):
        found = np.unique(column[:size])
        found = found[~np.isnan(found)]
        if len(found) >= MOST_DISTINCT:
            break
    return found[:MOST_DISTINCT]
