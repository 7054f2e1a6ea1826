"""Losses of numbers predicted by numbers: squared, absolute, of a quantile, Huber's, of counts."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core._losses.base import HALF, ROUNDING, Loss
from bottega.core.errors import ParameterError
from bottega.core.likelihood import POISSON
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray

_LEAST_MEAN = 1e-6  # the least mean of a count that counts in `of_rows`


@stored
class SquaredError(Loss):
    """The square of the difference."""

    name, title, code = "squared_error", "squared error", 2

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray((y - z) ** 2)

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(2 * (z - y))

    def _curvature(self, y: Array, z: Array) -> Array:
        return np.full(np.shape(z), 2.0)

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return np.asarray(probabilities @ values)


@stored
class AbsoluteError(Loss):
    """The size of the difference."""

    name, title, code = "absolute_error", "absolute error", 1

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(np.abs(y - z))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(np.sign(z - y))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return np.asarray(values[np.argmax(np.cumsum(probabilities, axis=-1) >= HALF, axis=-1)])


@stored
@dataclass(frozen=True)
class Quantile(Loss):
    r"""The loss whose best prediction is a quantile.

    :math:`q\,(y - z)` where the truth lies above the prediction, :math:`(1 - q)(z - y)` below.

    Parameters
    ----------
    quantile : float
        The quantile q, between 0 and 1; the default is half the absolute error.

    Examples
    --------
    >>> Quantile(0.9)([1.0, 0.0], [0.0, 1.0])
    array([0.9, 0.1])
    >>> float(Quantile(0.9).best([0, 1, 5], [0.5, 0.25, 0.25]))
    5.0
    """

    quantile: float = 0.5

    name, title = "quantile", "quantile loss"

    def __post_init__(self) -> None:
        if not 0 < self.quantile < 1:
            raise ParameterError(
                f"quantile={self.quantile!r} is not allowed; give a number between 0 and 1."
            )

    def _value(self, y: Array, z: Array) -> Array:
        above = y - z
        return np.asarray(np.maximum(self.quantile * above, (self.quantile - 1) * above))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.where(z > y, 1 - self.quantile, np.where(z < y, -self.quantile, 0.0))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        reached = np.cumsum(probabilities, axis=-1) >= self.quantile - ROUNDING
        return np.asarray(values[np.argmax(reached, axis=-1)])


@stored
@dataclass(frozen=True)
class Huber(Loss):
    r"""The loss that is quadratic near the truth and linear beyond.

    :math:`r^2/2` where :math:`|r| = |y - z| \le \delta`, else :math:`\delta(|r| - \delta/2)`: its
    gradient is never larger than `delta`, so no single row can pull far.

    Parameters
    ----------
    delta : float
        Where the loss turns linear. Large values make it half the squared error.

    Examples
    --------
    >>> Huber(1.0)([0.0, 0.0], [0.5, 3.0])
    array([0.125, 2.5  ])
    """

    delta: float = 1.0

    name, title, code = "huber", "Huber loss", 6

    def __post_init__(self) -> None:
        if not (self.delta > 0 and math.isfinite(self.delta)):
            raise ParameterError(f"delta={self.delta!r} is not allowed; give a number above 0.")

    def _value(self, y: Array, z: Array) -> Array:
        size = np.abs(y - z)
        near = np.minimum(size, self.delta)
        return np.asarray(near * (size - near / 2))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(np.clip(z - y, -self.delta, self.delta))

    def _curvature(self, y: Array, z: Array) -> Array:
        return np.asarray(np.abs(y - z) <= self.delta)

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        # The expected gradient rises in straight pieces between the points v - delta, v + delta:
        # find the piece on which it passes zero, and the zero on it.
        knots = np.sort(np.concatenate([values - self.delta, values + self.delta]))
        slopes = probabilities @ self.gradient(values[:, np.newaxis], knots)
        right = np.clip(np.argmax(slopes >= 0, axis=-1), 1, None)
        left = right - 1
        before = np.take_along_axis(slopes, left[..., np.newaxis], axis=-1)[..., 0]
        after = np.take_along_axis(slopes, right[..., np.newaxis], axis=-1)[..., 0]
        share = np.divide(-before, after - before, out=np.zeros_like(before), where=after > before)
        return np.asarray(knots[left] + np.clip(share, 0.0, 1.0) * (knots[right] - knots[left]))


@stored
class PoissonDeviance(Loss):
    """Half the deviance of a Poisson mean z from a count y: y log(y / z) - y + z.

    `of_rows` judges estimators, which may predict a mean of zero or less: it counts a prediction
    below 1e-6 as 1e-6, so that the mean stays finite.
    """

    name, title = "poisson", "half the Poisson deviance"

    def of_rows(self, y: Any, predicted: Any) -> FloatArray:
        """Return the loss of each row, for one or many predictions per row."""
        return super().of_rows(y, np.maximum(predicted, _LEAST_MEAN))

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(POISSON.unit_deviance(y, z) / 2)

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return np.asarray(probabilities @ values)
