"""Projection pursuit of classes: by likelihood, or by squares of their indicators."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from bottega.additive._pursuit.estimator import PursuitEstimator
from bottega.additive._pursuit.model import RidgeSum
from bottega.additive._pursuit.parts import Scale
from bottega.additive._pursuit.targets import Criterion, LogLikelihood, Squares
from bottega.additive._pursuit.walk import TermWalk
from bottega.core.classes import check_classes, decided, has_probabilities
from bottega.core.likelihood import information_criteria
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import with_warning


class PursuitClassification(ClassifierMixin, PursuitEstimator):
    """What its classifier does beside finding terms."""

    method: str

    def _criterion(self, rows: Rows, w: FloatArray) -> tuple[Criterion, Scale]:
        check_classes(self.classes_)
        K = len(self.classes_)
        likelihood = LogLikelihood(rows.y, K, w)
        plain = Scale(np.zeros(likelihood.Y.shape[1]), np.ones(likelihood.Y.shape[1]))
        if self.method == "likelihood":
            return likelihood, plain
        return Squares(likelihood.Y, w), plain

    def _free(self) -> int:
        return len(self.classes_) - 1

    def _predicted(self, eta: FloatArray, method: str) -> Array:
        found = self._scores(eta)
        return found if method == "predict_proba" else decided(found)

    def _scores(self, eta: FloatArray) -> FloatArray:
        """Return what decides on the class: probabilities, or fitted indicators, (m, K)."""
        two = len(self.classes_) == 2
        if self.method == "indicator":
            return np.column_stack([1 - eta, eta]) if two else eta
        if two:
            return np.column_stack([special.expit(-eta[:, 0]), special.expit(eta[:, 0])])
        return np.asarray(special.softmax(eta, axis=1))

    def _wrong(self, work: TermWalk, model: RidgeSum) -> float:
        missed = self._predicted(model.eta, "predict") != work.rows.y
        return float(np.average(missed, weights=work.rows.weight))

    def _curve_of(
        self, work: TermWalk, settings: Any, models: Sequence[RidgeSum], df: FloatArray
    ) -> Path:
        criteria = {}
        if self.method == "likelihood":
            deviance = np.array([model.deviance for model in models])
            criteria = information_criteria(deviance, df, len(work.rows))
        return Path(
            settings,
            df=df,
            train_error=np.array([self._wrong(work, model) for model in models]),
            criteria=criteria,
            loss="misclassification",
        )

    def _keep(self, work: TermWalk, model: RidgeSum) -> None:
        self._train = self._wrong(work, model)
        self._numbers = {"deviance": model.deviance}
        if self.method == "likelihood":
            criteria = information_criteria(model.deviance, self.df_, self._count)
            self._numbers |= {"loglik": -model.deviance / 2}
            self._numbers |= {name: float(criteria[name]) for name in ("aic", "bic")}

    def _names_of_predictors(self) -> Any:
        return self.classes_

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second of two classes, or the predictor of each class.

        Of indicators: the fitted value less one half, or the fitted value of each class.
        """
        eta = with_warning(self._predictor(X))
        if eta.shape[1] > 1:
            return eta
        return eta[:, 0] if self.method == "likelihood" else eta[:, 0] - 0.5

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of ``classes_``."""
        return self._scores(with_warning(self._predictor(X)))

    def predict(self, X: Any) -> Array:
        """Return the class with the largest probability, or indicator; of equal ones the first."""
        found = decided(self._scores(with_warning(self._predictor(X))))
        return np.asarray(self.classes_[found])
