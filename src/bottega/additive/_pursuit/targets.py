"""What ridge functions are fitted to: residuals of squares, or of a likelihood's quadratic."""

from abc import ABC, abstractmethod

import numpy as np
from scipy import special

from bottega.core.typing import FloatArray, IntArray

_STEEPEST = 4.0  # largest working residual, on the scale of the log odds
_FLATTEST = 1e-5  # smallest working weight
_RAREST = 1e-6  # share of a class


class Criterion(ABC):
    """Responses and row weights, and what a linear predictor loses on them."""

    w: FloatArray
    steps: (
        bool  # whether the working residuals change with the predictor, so that steps may be long
    )

    @abstractmethod
    def start(self) -> FloatArray:
        """Return the intercepts of a model without terms."""

    @abstractmethod
    def working(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return residuals (n, q) to be fitted, and their weights, (n,) or (n, q)."""

    @abstractmethod
    def deviance(self, eta: FloatArray) -> float:
        """Return what the model loses: a (weighted) sum of squares, or a deviance."""


class Squares(Criterion):
    """Weighted squares of one or more responses, each already on the scale that it counts by."""

    steps = False

    def __init__(self, Y: FloatArray, w: FloatArray) -> None:
        self.Y, self.w = Y, w

    def start(self) -> FloatArray:
        """Return the weighted means."""
        return np.asarray(self.w @ self.Y / self.w.sum())

    def working(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the residuals and the row weights."""
        return self.Y - eta, self.w

    def deviance(self, eta: FloatArray) -> float:
        """Return the weighted residual sum of squares of all responses."""
        return float(np.sum(self.w @ (self.Y - eta) ** 2))


class LogLikelihood(Criterion):
    """Classes with probabilities by softmax; two classes have the log odds of the second."""

    steps = True

    def __init__(self, codes: IntArray, count: int, w: FloatArray) -> None:
        self.codes, self.count, self.w = codes, count, w
        if count == 2:
            self.Y = (codes == 1).astype(np.float64)[:, None]
        else:
            self.Y = (codes[:, None] == np.arange(count)).astype(np.float64)

    def start(self) -> FloatArray:
        """Return the log odds, or the centred log shares, of the classes."""
        share = self.w @ self.Y / self.w.sum()
        share = np.clip(share, _RAREST, 1 - _RAREST)  # a fold may lack a class
        if self.count == 2:
            return np.asarray(special.logit(share))
        return np.asarray(np.log(share) - np.log(share).mean())

    def working(self, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return working residuals and weights of Fisher's scoring, class by class."""
        prob = special.expit(eta) if self.count == 2 else special.softmax(eta, axis=1)
        left = self.Y - prob
        # The product of both is the slope of the likelihood, whatever bounds the residual.
        spread = np.maximum(prob * (1 - prob), np.abs(left) / _STEEPEST)
        spread = np.maximum(spread, _FLATTEST)
        return left / spread, self.w[:, None] * spread

    def deviance(self, eta: FloatArray) -> float:
        """Return -2 log-likelihood."""
        if self.count == 2:
            sign = 1 - 2 * self.Y[:, 0]
            return float(2 * self.w @ np.logaddexp(0, sign * eta[:, 0]))
        own = np.take_along_axis(eta, self.codes[:, None], axis=1)[:, 0]
        return float(2 * self.w @ (special.logsumexp(eta, axis=1) - own))


def target(R: FloatArray, W: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the target and weights of one function that enters each response times beta.

    Of a single response it is in the units of the response.
    """
    if len(beta) == 1:
        return np.ascontiguousarray(R[:, 0]), W if W.ndim == 1 else np.ascontiguousarray(W[:, 0])
    if W.ndim == 1:
        return R @ (beta / (beta @ beta)), W
    v = W @ beta**2
    return (W * R) @ beta / v, v


def loadings(f: FloatArray, R: FloatArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return intercept and slope of the weighted regression of each residual on a function."""
    weight = W[:, None] if W.ndim == 1 else W
    total = weight.sum(axis=0)
    middle = f @ weight / total
    gap = f[:, None] - middle
    mean = (weight * R).sum(axis=0) / total
    slope = (weight * gap * R).sum(axis=0) / np.maximum((weight * gap**2).sum(axis=0), 1e-300)
    return mean - slope * middle, slope
