"""Rows of a table as a network takes them: standard units, masks of what is missing, codes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["FARTHEST", "TableScale", "TargetScale", "center_and_scale", "center_and_scale_of"]

FARTHEST = 1e6  # standard deviations: squares of farther numbers overflow in single precision

_LARGE = 1e100  # beyond this the squares of numbers overflow
_CONSTANT = 1e-12  # relative spread of a column that is constant


def center_and_scale(
    X: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the weighted mean and standard deviation of what is known in each column.

    A column that is constant has the scale 1, one that is unknown also the mean 0. The size of a
    column is taken out first: squares neither vanish nor overflow.
    """
    low, high = np.min(X, axis=0), np.max(X, axis=0)  # NaN where any value is
    if not np.isnan(low).any() and weight is None:
        unit = np.maximum(np.abs(low), np.abs(high))
        if np.all((unit < _LARGE) & ((unit > 1 / _LARGE) | (unit == 0))):
            mean = X.mean(axis=0)
            Z = X - mean
            spread = np.sqrt(np.einsum("ij,ij->j", Z, Z) / len(X))
            constant = spread <= _CONSTANT * unit
            return mean, np.where(constant, 1.0, spread), np.ones(X.shape[1], dtype=bool)
    return center_and_scale_of([(X, weight)])


def center_and_scale_of(
    blocks: Iterable[tuple[FloatArray, FloatArray | None]],
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return what `center_and_scale` does, of rows that come in blocks with their weights."""
    unit: Any = None
    mean: Any = 0.0
    total: Any = 0.0
    squares: Any = 0.0
    largest: Any = 0.0
    complete: Any = True
    for X, weight in blocks:
        known = ~np.isnan(X)
        size = np.max(np.abs(X), axis=0, initial=0.0, where=known)
        if unit is None:  # in which squares neither vanish nor overflow
            unit = np.where(size > 0, size, 1.0)
        largest, complete = np.maximum(largest, size), complete & known.all(axis=0)
        Z = np.where(known, X / unit, 0.0)
        w = known.astype(np.float64) if weight is None else known * weight[:, None]
        new = w.sum(axis=0)
        shared = np.where(total + new > 0, total + new, 1.0)
        own = (w * Z).sum(axis=0) / np.where(new > 0, new, 1.0)
        gap = own - mean
        squares = squares + (w * (Z - own) ** 2).sum(axis=0) + gap**2 * total * new / shared
        mean, total = mean + gap * new / shared, total + new
    spread = np.sqrt(squares / np.where(total > 0, total, 1.0)) * unit
    scale = np.where(spread > _CONSTANT * largest, spread, 1.0)
    return mean * unit, scale, np.asarray(complete)


@stored
@dataclass(frozen=True)
class TableScale:
    """What brings the columns of a table into standard units.

    Attributes
    ----------
    numbers, categories : ndarray of int
        Positions of the columns of either kind.
    center, scale : ndarray
        Mean and standard deviation of each column of numbers.
    masked : ndarray of bool
        Columns of numbers that miss values: each gets a column that is 1 where it does.
    levels : ndarray of int
        Number of levels of each category; the code after them is for missing and unknown ones.
    farthest : float
        Standard deviations beyond which a number is taken as so many.
    """

    numbers: IntArray
    categories: IntArray
    center: FloatArray
    scale: FloatArray
    masked: BoolArray
    levels: IntArray
    farthest: float

    @classmethod
    def of(
        cls, X: FloatArray, levels: IntArray, weight: FloatArray | None, standardize: bool
    ) -> "TableScale":
        """Learn from a matrix; `levels` has 0 for numbers, else the number of levels."""
        found = center_and_scale(X[:, levels == 0], weight)
        return cls.of_columns(levels, *found, standardize)

    @classmethod
    def of_columns(
        cls,
        levels: IntArray,
        center: FloatArray,
        scale: FloatArray,
        complete: BoolArray,
        standardize: bool,
    ) -> "TableScale":
        """Return it from what `center_and_scale` found of the columns of numbers."""
        numbers, categories = np.flatnonzero(levels == 0), np.flatnonzero(levels > 0)
        farthest = FARTHEST
        if not standardize:
            center, scale = np.zeros(len(numbers)), np.ones(len(numbers))
            farthest = np.inf
        return cls(numbers, categories, center, scale, ~complete, levels[categories], farthest)

    @property
    def n_numbers(self) -> int:
        """Number of columns of numbers that the network takes, with the masks."""
        return len(self.numbers) + int(self.masked.sum())

    def arrays(self, X: FloatArray) -> tuple[Array, ...]:
        """Return the numbers in standard units, and the codes where there are categories."""
        Z = (X if not len(self.categories) else X[:, self.numbers]) - self.center
        Z /= self.scale
        if np.isfinite(self.farthest):
            np.clip(Z, -self.farthest, self.farthest, out=Z)
        if self.masked.any() or np.isnan(Z).any():
            missing = np.isnan(Z)
            Z = np.hstack([np.where(missing, 0.0, Z), missing[:, self.masked]])
        if not len(self.categories):
            return (Z,)
        codes = X[:, self.categories]
        return Z, np.where(np.isnan(codes), self.levels, codes).astype(np.int64)


@stored
@dataclass(frozen=True)
class TargetScale:
    """What brings responses into standard units, and predictions back.

    The scale of responses that are all equal is 0: what is predicted is what they are.
    """

    center: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, y: FloatArray, weight: FloatArray | None, standardize: bool) -> "TargetScale":
        """Learn from responses (n, q)."""
        if not standardize:
            return cls(np.zeros(y.shape[1]), np.ones(y.shape[1]))
        center, scale, _ = center_and_scale(y, weight)
        return cls(center, np.where(y.min(axis=0) == y.max(axis=0), 0.0, scale))

    @classmethod
    def of_amounts(cls, y: FloatArray, weight: FloatArray | None) -> "TargetScale":
        """Learn from responses (n, q) of 0 and more: 0 stays 0, and the mean becomes 1."""
        unit = np.where(y.any(axis=0), y.max(axis=0), 1.0)  # whose sums do not overflow
        mean = np.average(y / unit, axis=0, weights=weight) * unit
        return cls(np.zeros(y.shape[1]), np.where(mean > 0, mean, 1.0))

    def inward(self, y: FloatArray) -> FloatArray:
        """Return responses in standard units."""
        return (y - self.center) / np.where(self.scale > 0, self.scale, 1.0)

    def outward(self, z: FloatArray) -> FloatArray:
        """Return predictions in the units of the responses."""
        return z * self.scale + self.center
