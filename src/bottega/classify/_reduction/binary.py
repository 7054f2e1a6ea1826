"""What the ways from two classes to several share: binary problems, their models, their scores."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags

from bottega.classify.logistic import LogisticRegression
from bottega.core.classes import decided
from bottega.core.frames import take_rows
from bottega.core.parallel import at_most, in_threads
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.wrapping import Wrapping, fit_weighted

__all__ = ["BinaryProblems"]


class BinaryProblems(ClassifierMixin, Wrapping):
    """Several classes by classifiers of two; a subclass says which problems and how they decide."""

    estimator: Any
    n_jobs: int | None
    estimators_: list[Any]

    def _bases(self) -> list[Any]:
        own = LogisticRegression(standardize=True)  # answers do not depend on units
        return [own if self.estimator is None else self.estimator]

    def _fit_problems(self, work: Rows, sides: Sequence[IntArray]) -> list[Any]:
        """Return a classifier per problem: each row is on side 1, 0, or (-1) left out."""
        (base,) = self._bases()

        def fit(side: IntArray) -> Any:
            rows = np.flatnonzero(side >= 0)
            mine = side[rows]
            every = len(rows) == len(side)
            X = work.X if every else take_rows(work.X, rows)
            weight = None if work.weight is None else work.weight[rows]
            return fit_weighted(clone(base), X, mine, weight)

        return in_threads(fit, sides, stage="problems")

    def _scores(self, X: Any) -> FloatArray:
        """Return the score of side 1 of each problem: above 0 for it."""
        return self._side_by_side(X, binary_score)

    def _shares(self, X: Any) -> FloatArray:
        """Return the probability of side 1 of each problem."""
        return self._side_by_side(X, lambda model, X: model.predict_proba(X)[:, 1])

    def _side_by_side(self, X: Any, ask: Any) -> FloatArray:
        with at_most(self.n_jobs):
            found = in_threads(lambda model: ask(model, X), self.estimators_)
        return np.column_stack(found)

    def predict(self, X: Any) -> Array:
        """Return the class of the largest score; of equals the first in sorted order."""
        codes = decided(self._decisions(self._check_new(X)))
        return self.classes_[codes]

    @abstractmethod
    def _decisions(self, X: Any) -> FloatArray:
        """Return a score per class of checked inputs."""

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def gives_probabilities(self: Any) -> bool:
    """Return True if the base has probabilities, so that the whole has."""
    return hasattr(self._bases()[0], "predict_proba")


def binary_score(model: Any, X: Any) -> FloatArray:
    """Return the score of the second class: above 0 where it is predicted."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64).reshape(-1)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64) - 0.5
    return np.where(np.asarray(model.predict(X)) == 1, 0.5, -0.5)
