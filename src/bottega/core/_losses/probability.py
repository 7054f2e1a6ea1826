"""Losses of predicted probabilities: one number P(Y = 1) for labels 0 and 1, or one per class."""

from abc import abstractmethod
from typing import Any

import numpy as np

from bottega.core._losses.base import Loss, share_of_upper
from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray

_FLOOR = 1e-15  # the least probability that log loss counts in `of_rows`


class _OfProbability(Loss):
    labels, method, task = "unit", "predict_proba", "classification"

    def of_rows(self, y: Any, predicted: Any) -> FloatArray:
        """Return the loss of each row; the last axis of `predicted` has one entry per class."""
        codes, shares = np.asarray(y), np.asarray(predicted, dtype=np.float64)
        if shares.ndim < 2 or codes.shape != shares.shape[:1]:
            raise InputError(
                f"The {self.title} takes one class code per row and one probability per class; got "
                f"y of shape {codes.shape} and probabilities of shape {shares.shape}."
            )
        if codes.size and not (codes.min() >= 0 and codes.max() < shares.shape[-1]):
            raise InputError(
                f"The probabilities are for {shares.shape[-1]} classes; y has the codes "
                f"{codes.min()} to {codes.max()}."
            )
        position = codes.astype(np.intp).reshape((-1,) + (1,) * (shares.ndim - 1))
        return self._of_rows(np.take_along_axis(shares, position, axis=-1)[..., 0], shares)

    @abstractmethod
    def _of_rows(self, own: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the losses from the probability of the observed class and those of all."""

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return share_of_upper(values, probabilities)


@stored
class LogLoss(_OfProbability):
    """Minus the log of the probability of what was observed.

    ``loss(y, z)`` takes z strictly between 0 and 1. `of_rows` judges estimators, which may return
    0 for what they never saw: it counts a probability below 1e-15 as 1e-15, so that the mean
    stays finite (at most 34.5 per row).
    """

    name, title, code = "log_loss", "log loss", 3

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        y, z = super()._checked(y, z)
        if not np.all((z > 0) & (z < 1)):
            raise InputError(
                "The log loss takes predictions strictly between 0 and 1: it is infinite for a "
                "certain prediction that is wrong. Clip the probabilities, for example to "
                "[1e-6, 1 - 1e-6]."
            )
        return y, z

    def _value(self, y: Array, z: Array) -> Array:
        return np.where(y == 1, -np.log(z), -np.log1p(-z))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.where(y == 1, -1 / z, 1 / (1 - z))

    def _curvature(self, y: Array, z: Array) -> Array:
        return np.asarray(np.where(y == 1, z, 1 - z) ** -2.0)

    def _of_rows(self, own: FloatArray, shares: FloatArray) -> FloatArray:
        del shares
        return np.asarray(-np.log(np.maximum(own, _FLOOR)))


@stored
class Brier(_OfProbability):
    """The squared error of probabilities.

    With one probability per class it is half the sum of the squared differences to 1 for the
    observed class and 0 for the others: in [0, 1], and for two classes the same as ``loss(y, z)``.
    """

    name, title, code, bounded = "brier_score", "Brier score", 7, True

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        y, z = super()._checked(y, z)
        if not np.all((z >= 0) & (z <= 1)):
            raise InputError("The Brier score takes probabilities, between 0 and 1.")
        return y, z

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray((y - z) ** 2)

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(2 * (z - y))

    def _curvature(self, y: Array, z: Array) -> Array:
        return np.full(np.shape(z), 2.0)

    def _of_rows(self, own: FloatArray, shares: FloatArray) -> FloatArray:
        others = np.sum(shares**2, axis=-1) - own**2
        return np.asarray((others + (1 - own) ** 2) / 2)
