"""The average of fitted models: the vote of classifiers, the mean of regressors."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.parallel import available_cores, in_threads
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.estimator import Combination
from bottega.ensemble._combination.models import class_shares


class Average(Combination):
    """Predicts by the (weighted) average of what its fitted models give."""

    estimators_: list[Any]

    @abstractmethod
    def _outputs(self, model: Any, X: Any) -> FloatArray:
        """Return what one model adds to the average, one entry per row of X."""

    @abstractmethod
    def _decided(self, average: FloatArray) -> Array:
        """Return the predictions (numbers, or codes of classes) that an average stands for."""

    def _model_weights(self) -> FloatArray:
        """Return the weights of the models, which sum to one."""
        return np.full(len(self.estimators_), 1 / len(self.estimators_))

    def _all_outputs(self, X: Any) -> Iterator[FloatArray]:
        """Yield the outputs of each model, a few computed side by side, in order."""
        step = 4 * available_cores()
        for start in range(0, len(self.estimators_), step):
            some = self.estimators_[start : start + step]
            yield from in_threads(lambda model: self._outputs(model, X), some)

    def _average(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        total: Any = 0.0
        for weight, outputs in zip(self._model_weights(), self._all_outputs(X), strict=True):
            total = total + weight * outputs
        return np.asarray(total)


class VoteOfClasses(Average):
    """The average of class probabilities, or of votes."""

    vote: str

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the average share of each class, one column per class."""
        return self._average(X)

    def predict(self, X: Any) -> Array:
        """Return the class with the largest share for each row of X."""
        shares = self._average(X)
        return np.asarray(self.classes_[self._decided(shares)])

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        votes = self.vote == "majority"
        if not votes and not hasattr(model, "predict_proba"):
            raise InputError(
                f"{type(model).__name__} has no probabilities to average; use vote='majority'."
            )
        return class_shares(model, X, self.classes_, votes=votes)

    def _decided(self, average: FloatArray) -> Array:
        # Shares equal but for rounding are a tie, which goes to the first class.
        top = average.max(axis=1, keepdims=True)
        return np.asarray(np.argmax(average >= top - 1e-12, axis=1))


class MeanOfNumbers(Average):
    """The mean of predicted numbers."""

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of the models' predictions for each row of X."""
        return self._average(X)

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        return np.asarray(model.predict(X), dtype=np.float64)

    def _decided(self, average: FloatArray) -> Array:
        return average
