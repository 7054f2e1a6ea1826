"""Categories as numbers that trees split well: marks of few levels, shrunken means of many.

A category of few levels becomes a column of 0 and 1 for each of them, so that a tree can take out
any one level however few rows it has. A category of many levels becomes the mean response of the
row's level, drawn towards the mean of all rows as if that had been seen `PRIOR` times more; with
more than two classes the share of each class. The means that a training row is given come from the
other folds, so that its own response is not among its inputs (that of a copy of it may be: a row
of weight k is k rows here too).

A missing value, and a level that the fit has not seen, are missing in the marks. In the means
missing is a level like others; where the fit has not met it, it has the mean of all rows.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.folds import deal_folds
from bottega.core.stored import stored
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.tree._grow.columns import Columns

FEW = 20  # levels that become marks; more become means
PRIOR = 5.0  # rows that the mean of all counts for beside those of a level
_FOLDS = 5


@stored
@dataclass(frozen=True, eq=False)
class LevelNumbers:
    """What turns columns of numbers and codes into columns of numbers.

    Attributes
    ----------
    n_levels : ndarray of int
        Levels of each input column; 0 for numbers.
    means : list
        For a category of many levels the means of its levels and, last, of missing; None for other
        columns.
    blank : ndarray of bool or None
        Columns of the matrix that had no value in the fit, and have 0 instead.
    """

    n_levels: IntArray
    means: list[FloatArray | None]
    blank: BoolArray | None = None

    @classmethod
    def learn(
        cls, columns: Columns, y: Array, weight: FloatArray | None, n_classes: int
    ) -> tuple[Self, FloatArray]:
        """Return the numbers of levels, and the matrix of the rows they were learnt from."""
        target = _targets(y, n_classes)
        w = np.ones(len(columns)) if weight is None else weight
        many = columns.n_levels > FEW
        means: list[FloatArray | None] = [None] * len(many)
        crossed: dict[int, FloatArray] = {}
        strata = y if n_classes else None
        fold = deal_folds(len(columns), _FOLDS, strata) if many.any() else np.zeros(0)
        for j in np.flatnonzero(many).tolist():
            codes, n_levels = _codes(columns.X[:, j], int(columns.n_levels[j])), columns.n_levels[j]
            means[j] = _level_means(codes, target, w, n_levels)
            crossed[j] = np.empty_like(target)
            for k in range(_FOLDS):
                here = fold == k
                if not here.any():
                    continue
                others = ~here if not here.all() else here
                found = _level_means(codes[others], target[others], w[others], n_levels)
                crossed[j][here] = found[codes[here]]
        matrix = cls(columns.n_levels, means).matrix(columns.X, crossed)
        blank: BoolArray = np.asarray(np.isnan(matrix).all(axis=0))
        learnt = cls(columns.n_levels, means, blank)
        return learnt, learnt._filled(matrix)

    def matrix(self, X: FloatArray, known: dict[int, FloatArray] | None = None) -> FloatArray:
        """Return the columns of numbers; `known` ones are taken as they are."""
        if not np.any(self.n_levels):
            return self._filled(np.ascontiguousarray(X))
        parts: list[FloatArray] = []
        for j, n_levels in enumerate(self.n_levels.tolist()):
            column, means = X[:, j], self.means[j]
            if n_levels == 0:
                parts.append(column[:, None])
            elif known is not None and j in known:
                parts.append(known[j])
            elif means is not None:
                parts.append(means[_codes(column, n_levels)])
            else:
                parts.append(_marks(column, n_levels))
        return self._filled(np.ascontiguousarray(np.hstack(parts)))

    def _filled(self, matrix: FloatArray) -> FloatArray:
        if self.blank is None or not self.blank.any():
            return matrix
        return np.where(self.blank, 0.0, matrix)

    @property
    def source(self) -> IntArray:
        """The input column that each column of the matrix comes from."""
        width = [
            1 if not n else means.shape[1] if means is not None else _n_marks(n)
            for n, means in zip(self.n_levels.tolist(), self.means, strict=True)
        ]
        return np.repeat(np.arange(len(width)), width)


def _n_marks(n_levels: int) -> int:
    return 1 if n_levels <= 2 else n_levels


def _marks(codes: FloatArray, n_levels: int) -> FloatArray:
    """Return a column of 0 and 1 for each level (of two levels, for the second)."""
    levels = [1] if n_levels <= 2 else range(n_levels)
    found: FloatArray = np.column_stack([codes == level for level in levels]).astype(np.float64)
    found[np.isnan(codes)] = np.nan
    return found


def _codes(column: FloatArray, n_levels: int) -> IntArray:
    """Return the codes of levels, those of missing values after all others."""
    return np.where(np.isnan(column), n_levels, column).astype(np.intp)


def _targets(y: Array, n_classes: int) -> FloatArray:
    """Return what is averaged: the response, or whether each class (of two, the second) is met."""
    if n_classes > 2:
        return (np.asarray(y)[:, None] == np.arange(n_classes)).astype(np.float64)
    return np.asarray(y, dtype=np.float64)[:, None]


def _level_means(codes: IntArray, target: FloatArray, w: FloatArray, n_levels: int) -> Any:
    """Return the shrunken means of the levels and of missing values; of none seen, that of all."""
    weight = np.bincount(codes, weights=w, minlength=n_levels + 1)
    overall = w @ target / w.sum()
    prior = PRIOR * w.mean()
    sums = np.column_stack(
        [np.bincount(codes, weights=w * t, minlength=n_levels + 1) for t in target.T]
    )
    return (sums + prior * overall) / (weight + prior)[:, None]
