"""Losses of labels -1 and +1 predicted by a real number, whose sign is the label."""

import numpy as np
from scipy.special import expit

from bottega.core._losses.base import HALF, Loss, share_of_upper
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray


@stored
class Hinge(Loss):
    """What is missing to a margin of 1."""

    name, title, code, labels, task = "hinge", "hinge loss", 4, "sign", "margin"

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(np.maximum(0.0, 1 - y * z))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.where(y * z < 1, -y, 0.0)

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        return np.where(share_of_upper(values, probabilities) >= HALF, 1.0, -1.0)


@stored
class Logistic(Loss):
    """Minus the log likelihood of the label where the prediction is the log odds."""

    name, title, code, labels, task = "logistic", "logistic loss", 5, "sign", "margin"

    def _value(self, y: Array, z: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * z))

    def _gradient(self, y: Array, z: Array) -> Array:
        return np.asarray(-y * expit(-y * z))

    def _curvature(self, y: Array, z: Array) -> Array:
        return np.asarray(expit(z) * expit(-z))

    def _best(self, values: Array, probabilities: FloatArray) -> Array:
        share = share_of_upper(values, probabilities)
        with np.errstate(divide="ignore"):
            return np.log(share) - np.log1p(-share)
