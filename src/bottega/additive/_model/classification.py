"""The classifier of the additive models: classes, probabilities."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from bottega.additive._model.estimator import AdditiveEstimator, shares_of
from bottega.core.classes import check_classes, decided
from bottega.core.likelihood import BINOMIAL
from bottega.core.typing import FloatArray

__all__ = ["AdditiveClassification"]


class AdditiveClassification(ClassifierMixin, AdditiveEstimator):
    """What the classifier does with its rows and predictors."""

    def _family_of(self) -> Any:
        check_classes(self.classes_)
        return BINOMIAL if len(self.classes_) == 2 else len(self.classes_)

    def _notes(self) -> tuple[str, ...]:
        first, *others = self.classes_.tolist()
        if len(others) == 1:
            return (*super()._notes(), f"Effects are on the log odds of {others[0]!r}.")
        return (*super()._notes(), f"Effects on a class are log odds against the first, {first!r}.")

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, or with more classes the score of each.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        """
        eta = self._predictors(self._check_new(X))
        if len(self.classes_) == 2:
            return eta[:, 0]
        return np.column_stack([np.zeros(len(eta)), eta])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, one column each.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        """
        return shares_of(self._predictors(self._check_new(X)), self.fit_)

    def predict(self, X: Any, *, terms: bool = False) -> Any:
        """Return the most probable class of each row, or the effects that make its log odds.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        terms : bool
            Whether to return the effect of each term instead: a data frame whose columns, the
            intercept first, add up to the log odds; with more than two classes those of each class
            but the first, its name in brackets.

        Returns
        -------
        ndarray of shape (m,), or a data frame
        """
        matrix = self._check_new(X)
        if terms:
            names = [] if len(self.classes_) == 2 else [str(one) for one in self.classes_[1:]]
            return self._term_frame(matrix, names)
        found = decided(shares_of(self._predictors(matrix), self.fit_))
        return np.asarray(self.classes_[found])
