"""Rows that come in chunks, prepared for logistic regression: sums that are made anew each step."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from bottega.classify._logistic.chunked_rows import ChunkedRows, UsedRows, weights_of
from bottega.classify._logistic.work import LikelihoodWork, LogisticDescent, PreparedLikelihood
from bottega.core.chunks import CheckedChunks
from bottega.core.class_factors import class_factors
from bottega.core.moments import Moments
from bottega.core.typing import FloatArray, IntArray
from bottega.core.validate import check_columns
from bottega.optimize.proximal_newton import LogisticProblem

_CONSTANT = 1e-14  # a spread this small against the mean is rounding


class FoldClassMoments:
    """Moments of the inputs in each class of each fold."""

    def __init__(self, X: Any, codes: IntArray, w: Any, K: int, folds: int, fold: Any) -> None:
        self.parts = [[Moments() for _ in range(K)] for _ in range(folds)]
        number = np.zeros(len(codes), np.intp) if fold is None else fold
        for f, c in np.unique(np.column_stack([number, codes]), axis=0):
            here = (number == f) & (codes == c)
            self.parts[f][c].update(X[here], None, None if w is None else w[here])

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            for one, another in zip(mine, theirs, strict=True):
                one.merge(another)
        return self

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows of the first fold."""
        return self.merge(type(self)(X, y, w, len(self.parts[0]), len(self.parts), None))

    def by_class(self, without: int | None = None) -> list[Moments]:
        """Return the moments of each class, without a fold."""
        found = [Moments() for _ in self.parts[0]]
        for f, part in enumerate(self.parts):
            if f != without:
                for one, another in zip(found, part, strict=True):
                    one.merge(another)
        return found


class ChunkedLikelihood(LikelihoodWork):
    """Chunks of rows; a part of them is what a fold leaves."""

    def __init__(self, moments: FoldClassMoments, chunks: CheckedChunks, class_weight: Any) -> None:
        self.moments, self.chunks, self.folds = moments, chunks, len(moments.parts)
        each = moments.by_class()
        self.factor = np.ones(len(each))
        if class_weight is not None:
            counts = np.array([one.count for one in each])
            self.factor = class_factors(class_weight, chunks.classes, counts)
        weights = np.array([one.weight for one in each])
        super().__init__(sum(one.count for one in each), weights * self.factor)

    def prepare(self, descent: LogisticDescent, part: Any = None) -> PreparedLikelihood | None:
        each = self.moments.by_class(part)
        weights = np.array([one.weight for one in each]) * self.factor
        present = np.flatnonzero(weights)
        if len(present) < 2:
            return None
        weight = float(weights.sum())
        mean, variance = _pooled([each[k] for k in present], weights[present])
        check_columns(variance, mean=mean)
        size = np.sqrt(variance + mean**2)
        spread, shift = np.sqrt(variance), mean
        if not descent.fit_intercept:
            spread, shift = size, np.zeros_like(mean)
        constant = spread <= _CONSTANT * size
        factor = np.ones_like(spread)
        if descent.standardize:
            factor = 1 / np.where(constant, 1.0, spread)
        number = np.searchsorted(present, np.arange(len(each)))

        count = sum(one.count for one in each)
        used = UsedRows(self.folds, part, self.factor, number)
        rows = ChunkedRows(self.chunks, used, shift, factor, len(present), weight, weight / count)
        scaling = np.zeros_like(mean), np.where(constant, 0.0, 1.0), constant
        settings: Any = {"l1_ratio": descent.l1_ratio, "fit_intercept": descent.fit_intercept}
        problem = LogisticProblem(rows, weights[present] / weight, scaling, **settings)
        return PreparedLikelihood(problem, present, shift, factor)

    def reduce(self, function: Callable[..., Any]) -> Any:
        return self.reduce_folds(lambda X, codes, w, _: function(X, codes, w), folds=1)

    def reduce_folds(self, function: Callable[..., Any], folds: int) -> Any:
        """Return what a function makes of inputs, codes, weights and folds of rows, merged."""
        factor = self.factor
        return self.chunks.reduce(
            lambda X, codes, w, fold: function(X, codes, weights_of(factor, codes, w), fold), folds
        )


def _pooled(each: list[Moments], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the columns over classes with their own weights."""
    share = weights / weights.sum()
    means = np.stack([one.mean for one in each])
    mean = share @ means
    within = np.stack([np.diagonal(one.scatter) / one.weight for one in each])
    return mean, share @ (within + (means - mean) ** 2)
