"""Moments of the classes in folds of the rows, and the losses of rows that the folds hold out.

One pass gives the moments of every fold, and from these follow those of every training part: a
path is cross-validated without going through the rows for each fold.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np

from bottega.classify._generative.moments import ClassMoments, class_moments
from bottega.core.chunks import split_rows
from bottega.core.judge import LossSums, row_losses
from bottega.core.losses import Loss
from bottega.core.parallel import in_threads
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["FoldedClasses", "judge_held_out"]

# Numbers in a table from which on the folds are worth threads of their own.
_LARGE = 10**6


class FoldedClasses:
    """Moments of the classes in each of `count` folds of some rows; without `fold`, in all rows."""

    def __init__(
        self, X: Any, y: IntArray, w: Any, K: int, *, pooled: bool, count: int = 1, fold: Any = None
    ) -> None:
        if fold is None:
            self.parts = [class_moments(X, y, w, K, pooled=pooled)]
            self.parts += [ClassMoments(K, X.shape[1], pooled=pooled) for _ in range(count - 1)]
            return

        def part(k: int) -> ClassMoments:
            at = np.flatnonzero(fold == k)
            weight = None if w is None else w[at]
            return ClassMoments(K, X.shape[1], pooled=pooled).update(X[at], y[at], weight)

        self.parts = _for_each(part, count, X.size)

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        for part, more in zip(self.parts, other.parts, strict=True):
            part.merge(more)
        return self

    def total(self) -> ClassMoments:
        """Return the moments of all rows."""
        found = deepcopy(self.parts[0])
        for part in self.parts[1:]:
            found.merge(part)
        return found

    def training(self) -> Iterator[ClassMoments | None]:
        """Yield, for each fold, the moments of all others; None for a fold without rows."""
        for k, part in enumerate(self.parts):
            others = [deepcopy(other) for i, other in enumerate(self.parts) if i != k]
            rest = others[0]
            for other in others[1:]:
                rest.merge(other)
            yield rest if part.count.any() and rest.count.any() else None


def judge_held_out(
    blocks: Iterable[tuple[FloatArray, IntArray, Any, IntArray]],
    predictors: Sequence[Callable[[FloatArray], Array] | None],
    loss: Loss,
) -> dict[str, FloatArray]:
    """Return error, error_se and fold_error of predictions of the rows that their fold held out.

    A predictor gives (rows, settings, ...) for the rows of its fold; None for a fold without rows.
    """
    each = [LossSums() for _ in predictors]
    for X, y, w, fold in blocks:

        def judge(k: int, X: Any = X, y: Any = y, w: Any = w, fold: Any = fold) -> None:
            predict = predictors[k]
            rows = np.flatnonzero(fold == k)
            for part in split_rows(len(rows), 8192) if predict is not None else ():
                at = rows[part]
                losses = row_losses(loss, y[at], predict(X[at]))  # type: ignore[misc]
                each[k].update(losses, None if w is None else w[at])

        _for_each(judge, len(predictors), X.size)
    total = LossSums()
    for sums in each:
        total.merge(sums)
    error, error_se = total.mean_and_se()
    fold_error = np.stack([sums.mean for sums in each if sums.count])
    return {"error": error, "error_se": error_se, "fold_error": fold_error}


def _for_each(task: Callable[[int], Any], count: int, numbers: int) -> list[Any]:
    """Return what a task gives for each fold, side by side where the table is large."""
    if numbers < _LARGE:
        return [task(k) for k in range(count)]
    return in_threads(task, range(count), stage="folds")
