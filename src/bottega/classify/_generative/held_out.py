"""Moments of the classes in folds of the rows.

One pass gives the moments of every fold, and from these follow those of every training part: a
path is cross-validated without going through the rows for each fold.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Self

import numpy as np

from bottega.classify._generative.moments import ClassMoments, class_moments
from bottega.core.judge import for_folds
from bottega.core.typing import IntArray

__all__ = ["FoldedClasses"]


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

        self.parts = for_folds(part, count, X.size)

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
