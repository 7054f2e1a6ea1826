"""The weighted sum of fitted models: the vote of classifiers, the mean of regressors."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bottega.core.classes import decided
from bottega.core.errors import InputError
from bottega.core.parallel import at_most, available_cores, in_threads
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.estimator import Combination
from bottega.ensemble._combination.models import class_shares


class Average(Combination):
    """Predicts by the sum of what its fitted models give, with `weights_`, or all alike.

    A subclass says what a model gives (`_outputs`) and what a sum stands for (`_decided`).
    """

    def _seen_by(self, model: Any, X: Any) -> Any:
        """Return the inputs that a model takes: all of them, unless columns are drawn."""
        return X

    def _all_outputs(self, models: list[Any], X: Any) -> Iterator[FloatArray]:
        """Yield the outputs of each model, a few computed side by side, in order."""
        step = 4 * available_cores()
        for start in range(0, len(models), step):
            some = models[start : start + step]
            yield from in_threads(lambda model: self._outputs(model, X), some)

    def _average(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        with at_most(getattr(self, "n_jobs", None)):
            return self._weighted_sum(X)

    def _weighted_sum(self, X: Any) -> FloatArray:
        count = len(self.estimators_)
        weights = getattr(self, "weights_", np.full(count, 1 / count))
        used = [m for m in range(count) if weights[m] > 0] or [0]
        total: Any = 0.0
        outputs = self._all_outputs([self.estimators_[m] for m in used], X)
        for weight, one in zip(weights[used], outputs, strict=True):
            total = total + weight * one
        return total


class VoteOfClasses(Average):
    """The average of class probabilities, or of votes."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the average share of each class, one column per class."""
        return self._average(X)

    def predict(self, X: Any) -> Array:
        """Return the class with the largest share for each row of X."""
        shares = self._average(X)
        return self.classes_[self._decided(shares)]

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        if self.voting == "soft" and not hasattr(model, "predict_proba"):
            raise InputError(
                f"{type(model).__name__} has no probabilities to average; use voting='hard'."
            )
        votes = self.voting == "hard"
        return class_shares(model, self._seen_by(model, X), self.classes_, votes=votes)

    def _decided(self, total: FloatArray) -> Array:
        return decided(total)


class MeanOfNumbers(Average):
    """The weighted sum of predicted numbers."""

    def predict(self, X: Any) -> FloatArray:
        """Return the weighted sum of the models' predictions (by default their mean) at X."""
        return self._average(X)

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        return np.asarray(model.predict(self._seen_by(model, X)), dtype=np.float64)

    def _decided(self, total: FloatArray) -> Array:
        return total
