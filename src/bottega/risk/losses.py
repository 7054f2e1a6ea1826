r"""Losses: what a prediction z costs when the truth is y, written ``loss(y, z)``.

A prediction need not be a label: the logarithmic loss takes a probability for a label 0 or 1, the
hinge and the logistic loss any number for a label -1 or +1 (A08). Every loss is at least 0, and
0 when the truth is predicted (A03), or tends to 0 with the prediction where only a limit predicts
the truth (logarithmic, logistic).

==============  =====  ====================================  =================================
Name            Code   Loss                                  Bayes-optimal prediction
==============  =====  ====================================  =================================
`ZERO_ONE`      0      1 if z differs from y, else 0         the most probable label
`ABSOLUTE`      1      :math:`|y - z|`                       a median
`QUADRATIC`     2      :math:`(y - z)^2`                     the mean
`LOGARITHMIC`   3      :math:`-\ln z` if y = 1,              P(Y = 1)
                       :math:`-\ln(1 - z)` if y = 0
`HINGE`         4      :math:`\max(0, 1 - yz)`               the more probable sign
`LOGISTIC`      5      :math:`\ln(1 + e^{-yz})`              the log odds of Y = +1
`Huber`         6      :math:`r^2/2` where :math:`|r| =      between median and mean
                       |y - z| \le \delta`, else
                       :math:`\delta(|r| - \delta/2)`
==============  =====  ====================================  =================================

The codes are for compiled kernels, which take no Python objects.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.typing import Array, FloatArray

__all__ = [
    "ABSOLUTE",
    "HINGE",
    "LOGARITHMIC",
    "LOGISTIC",
    "LOSSES",
    "QUADRATIC",
    "ZERO_ONE",
    "Huber",
    "Loss",
    "get_loss",
]

_SUM_TOLERANCE = 1e-9  # rounding of probabilities that a user computed
_HALF = 0.5 - 1e-12  # a running sum of probabilities may fall short of 1/2 by rounding


@dataclass(frozen=True, repr=False)
class Loss:
    """A loss of one prediction against one truth; the module's constants are its instances.

    Called as ``loss(y, z)``, truth first, with arrays that broadcast by numpy's rules.

    Attributes
    ----------
    name : str
        The name by which `get_loss` finds it.
    code : int
        The number by which compiled kernels know it.
    convex : bool
        Whether it is convex in the prediction.
    bounded : bool
        Whether it lies in [0, 1] whatever is predicted.
    labels : {"any", "real", "sign", "unit"}
        Which truths it takes: anything, numbers, -1 and +1, or 0 and 1.

    Examples
    --------
    >>> HINGE([1, -1], [0.5, 0.5])
    array([0.5, 1.5])
    >>> HINGE.gradient([1, -1], [0.5, 0.5])
    array([-1.,  1.])
    >>> float(QUADRATIC.best([0, 1, 5], [0.5, 0.25, 0.25]))
    1.5
    >>> float(ABSOLUTE.risk([0, 1, 5], [0.5, 0.25, 0.25], z=0))
    1.5
    """

    name: ClassVar[str]
    code: ClassVar[int]
    convex: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    labels: ClassVar[str] = "real"

    def __repr__(self) -> str:
        return self.name.upper()

    def __call__(self, y: Any, z: Any) -> FloatArray:
        """Return the loss of predicting z where the truth is y."""
        return np.asarray(self._value(*self._checked(y, z)), dtype=np.float64)

    def gradient(self, y: Any, z: Any) -> FloatArray:
        """Return the derivative in z; at a kink a subgradient (0 for absolute and hinge)."""
        return np.asarray(self._gradient(*self._checked(y, z)), dtype=np.float64)

    def best(self, values: Any, probabilities: Any) -> Array:
        """Return the prediction of least expected loss for a truth with finitely many values.

        Parameters
        ----------
        values : array-like of shape (k,)
            What the truth may be.
        probabilities : array-like of shape (..., k)
            How probable each is; the last axis sums to 1.

        Returns
        -------
        ndarray of shape (...)
            Ties of the zero-one and hinge losses go to the largest label, so +1 at one half
            (A-4.5); of all medians the absolute loss takes the least. Where the truth is certain
            the logarithmic and logistic losses have no least value, only a limit, and that limit
            (0 or 1, minus or plus infinity) is returned.
        """
        values, probabilities = self._distribution(values, probabilities)
        return np.asarray(self._best(values, probabilities))

    def risk(self, values: Any, probabilities: Any, z: Any) -> FloatArray:
        """Return the expected loss of z for a truth with finitely many values, as in `best`."""
        values, probabilities = self._distribution(values, probabilities)
        losses = self(values, np.asarray(z)[..., np.newaxis])
        # An infinite loss of what cannot happen costs nothing.
        possible = np.where(probabilities > 0, losses, 0.0)
        return np.asarray(np.sum(probabilities * possible, axis=-1))

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        """Return truth and prediction as arrays that this loss can take."""
        return _labels(self, y), np.asarray(z, dtype=np.float64)

    def _distribution(self, values: Any, probabilities: Any) -> tuple[Array, FloatArray]:
        values = np.asarray(_labels(self, values))
        probabilities = np.asarray(probabilities, dtype=np.float64)
        if values.ndim != 1 or not values.size or probabilities.shape[-1:] != values.shape:
            raise InputError(
                f"values has shape {values.shape} and probabilities {probabilities.shape}; give "
                "one probability for each value, along the last axis."
            )
        total = probabilities.sum(axis=-1)
        if not np.all(probabilities >= 0) or not np.all(np.abs(total - 1) <= _SUM_TOLERANCE):
            raise InputError("probabilities must be at least 0 and sum to 1 along the last axis.")
        order = np.argsort(values, kind="stable")
        return values[order], probabilities[..., order]

    @abstractmethod
    def _value(self, y: Array, z: Array) -> Array:
        """Return the loss; truth and prediction are checked."""

    @abstractmethod
    def _gradient(self, y: Array, z: Array) -> Array:
        """Return the derivative in z; truth and prediction are checked."""

    @abstractmethod
    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        """Return the best prediction; the values are sorted."""


def _labels(loss: Loss, y: Any) -> Array:
    """Return the truth as an array, or say that the loss does not take such labels."""
    if loss.labels == "any":
        return np.asarray(y)
    y = np.asarray(y, dtype=np.float64)
    if loss.labels == "sign" and not np.all((y == -1) | (y == 1)):
        raise InputError(f"The {loss.name} loss takes labels -1 and +1; code the classes so.")
    if loss.labels == "unit" and not np.all((y == 0) | (y == 1)):
        raise InputError(f"The {loss.name} loss takes labels 0 and 1; code the classes so.")
    return y


def _most_probable(values: Array, probabilities: FloatArray) -> Array:
    """Return the most probable of sorted values, the last of them in a tie."""
    backwards = np.argmax(probabilities[..., ::-1], axis=-1)
    return np.asarray(values[len(values) - 1 - backwards])


def _share_of_upper(values: Array, probabilities: FloatArray) -> FloatArray:
    """Return the probability of the label 1 (which stands last where it stands at all)."""
    return np.asarray(np.sum(probabilities * (values == 1), axis=-1))


class _ZeroOne(Loss):
    name, code, convex, bounded, labels = "zero_one", 0, False, True, "any"

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        return np.asarray(y), np.asarray(z)

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(y != z)

    def _gradient(self, y: Array, z: Array) -> Array:
        raise InputError(
            "The zero-one loss has no gradient to follow; learn with hinge or logistic instead."
        )

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        # The same value given twice counts with both its probabilities.
        distinct, where = np.unique(values, return_inverse=True)
        return _most_probable(distinct, probabilities @ np.eye(len(distinct))[where])


class _Absolute(Loss):
    name, code = "absolute", 1

    def _value(self, y: Array, z: Array) -> Array:
        return np.abs(y - z)

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(np.sign(z - y))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return np.asarray(values[np.argmax(np.cumsum(probabilities, axis=-1) >= _HALF, axis=-1)])


class _Quadratic(Loss):
    name, code = "quadratic", 2

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray((y - z) ** 2)

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(2 * (z - y))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return np.asarray(probabilities @ values)


class _Logarithmic(Loss):
    name, code, labels = "logarithmic", 3, "unit"

    def _checked(self, y: Any, z: Any) -> tuple[Array, Array]:
        y, z = super()._checked(y, z)
        if not np.all((z > 0) & (z < 1)):
            raise InputError(
                "The logarithmic loss takes predictions strictly between 0 and 1: it is infinite "
                "for a certain prediction that is wrong. Clip the probabilities, for example to "
                "[1e-6, 1 - 1e-6]."
            )
        return y, z

    def _value(self, y: Array, z: Array) -> Array:
        return np.where(y == 1, -np.log(z), -np.log1p(-z))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.where(y == 1, -1 / z, 1 / (1 - z))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return _share_of_upper(values, probabilities)


class _Hinge(Loss):
    name, code, labels = "hinge", 4, "sign"

    def _value(self, y: Array, z: Array) -> Array:
        return np.maximum(0.0, 1 - y * z)

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.where(y * z < 1, -y, 0.0)

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return np.where(_share_of_upper(values, probabilities) >= _HALF, 1.0, -1.0)


class _Logistic(Loss):
    name, code, labels = "logistic", 5, "sign"

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * z))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(-y * expit(-y * z))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        share = _share_of_upper(values, probabilities)
        with np.errstate(divide="ignore"):
            return np.log(share) - np.log1p(-share)


@dataclass(frozen=True)
class Huber(Loss):
    r"""The loss that is quadratic near the truth and linear beyond.

    :math:`r^2/2` where :math:`|r| = |y - z| \le \delta`, else :math:`\delta(|r| - \delta/2)`: its
    gradient is never larger than `delta`, so no single row can pull far.

    Parameters
    ----------
    delta : float
        Where the loss turns linear. Large values make it half the quadratic loss.

    Examples
    --------
    >>> Huber(1.0)([0.0, 0.0], [0.5, 3.0])
    array([0.125, 2.5  ])
    """

    delta: float = 1.0

    name, code = "huber", 6

    def __post_init__(self) -> None:
        if not (self.delta > 0 and math.isfinite(self.delta)):
            raise ParameterError(f"delta={self.delta!r} is not allowed; give a number above 0.")

    def _value(self, y: Array, z: Array) -> Array:
        size = np.abs(y - z)
        near = np.minimum(size, self.delta)
        return np.asarray(near * (size - near / 2))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(np.clip(z - y, -self.delta, self.delta))

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
        return knots[left] + np.clip(share, 0.0, 1.0) * (knots[right] - knots[left])


ZERO_ONE = _ZeroOne()
ABSOLUTE = _Absolute()
QUADRATIC = _Quadratic()
LOGARITHMIC = _Logarithmic()
HINGE = _Hinge()
LOGISTIC = _Logistic()

LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (ZERO_ONE, ABSOLUTE, QUADRATIC, LOGARITHMIC, HINGE, LOGISTIC, Huber())
}


def get_loss(loss: str | Loss) -> Loss:
    """Return a loss by its name, or the loss itself.

    Examples
    --------
    >>> get_loss("hinge") is HINGE
    True
    """
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ParameterError(
            f"loss={loss!r} is not known; choose one of {', '.join(LOSSES)}, or give a Loss."
            + did_you_mean(str(loss), LOSSES)
        )
    return LOSSES[loss]
