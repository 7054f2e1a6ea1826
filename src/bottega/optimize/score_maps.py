"""Rising maps from a score to a probability: Platt's sigmoid, isotonic, beta; temperature."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import optimize, special

from bottega.core.loaded import insist
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.optimize.soft_logistic import soft_logistic

__all__ = ["MAPS", "Beta", "Isotonic", "ScoreMap", "Sigmoid", "Temperature"]

_LEAST = 1e-12  # the least probability whose logarithm is taken


class ScoreMap(ABC):
    """A rising map from the score of a class to its probability."""

    @abstractmethod
    def fit(self, score: FloatArray, positive: BoolArray, weight: FloatArray) -> "ScoreMap":
        """Learn the map from scores of rows of the class and of others."""

    @abstractmethod
    def __call__(self, score: FloatArray) -> FloatArray:
        """Return probabilities."""


@stored
class Sigmoid(ScoreMap):
    """Platt's: a logistic regression on the score, of responses a little inside 0 and 1."""

    slope: float
    intercept: float

    def fit(self, score: FloatArray, positive: BoolArray, weight: FloatArray) -> "Sigmoid":
        """Learn slope and intercept."""
        hits, others = float(weight[positive].sum()), float(weight[~positive].sum())
        share = np.where(positive, (hits + 1) / (hits + 2), 1 / (others + 2))
        middle = float(np.average(score, weights=weight))
        spread = float(np.sqrt(np.average((score - middle) ** 2, weights=weight))) or 1.0
        Z = np.column_stack([np.ones(len(score)), (score - middle) / spread])
        constant, slope = soft_logistic(Z, share, weight)
        self.slope = float(slope) / spread
        self.intercept = float(constant) - self.slope * middle
        return self

    def __call__(self, score: FloatArray) -> FloatArray:
        """Return probabilities."""
        return np.asarray(special.expit(self.slope * score + self.intercept))


@stored
class Isotonic(ScoreMap):
    """The nearest rising step function, straight between its corners and level beyond them."""

    scores: FloatArray
    shares: FloatArray

    def fit(self, score: FloatArray, positive: BoolArray, weight: FloatArray) -> "Isotonic":
        """Learn the corners."""
        levels, place = np.unique(score, return_inverse=True)
        total = np.bincount(place, weight)
        share = np.bincount(place, weight * positive) / total
        rising = optimize.isotonic_regression(share, weights=total).x
        # A corner between two equal ones says nothing.
        inner = (rising[1:-1] != rising[:-2]) | (rising[1:-1] != rising[2:])
        kept = np.r_[True, inner, True][: len(levels)] if len(levels) > 1 else [True]
        self.scores, self.shares = levels[kept], np.clip(rising[kept], 0.0, 1.0)
        return self

    def __call__(self, score: FloatArray) -> FloatArray:
        """Return probabilities."""
        return np.interp(score, self.scores, self.shares)

    def check_loaded(self) -> None:
        """Raise where the corners read from a file do not fit together."""
        insist(self.scores.shape == self.shares.shape, "corners of other heights")
        insist(np.diff(self.scores) > 0, "corners out of order")


@stored
class Beta(ScoreMap):
    r"""The beta map of a probability p: log odds :math:`a \ln p - b \ln(1 - p) + c`, a, b >= 0."""

    coef: FloatArray

    def fit(self, score: FloatArray, positive: BoolArray, weight: FloatArray) -> "Beta":
        """Learn a, b and c by logistic regression; one that would be negative is left out."""
        Z = self._columns(score)
        used = [0, 1, 2]
        while True:
            found = soft_logistic(Z[:, used], positive.astype(np.float64), weight)
            negative = [k for k, b in zip(used, found, strict=True) if k > 0 and b < 0]
            if not negative:
                break
            worst = min(negative, key=lambda k: found[used.index(k)])
            used.remove(worst)
        self.coef = np.zeros(3)
        self.coef[used] = found
        return self

    def __call__(self, score: FloatArray) -> FloatArray:
        """Return probabilities."""
        return np.asarray(special.expit(self._columns(score) @ self.coef))

    @staticmethod
    def _columns(p: FloatArray) -> FloatArray:
        p = np.clip(p, _LEAST, 1 - _LEAST)
        return np.column_stack([np.ones(len(p)), np.log(p), -np.log1p(-p)])


@stored
class Temperature:
    """One factor on the log probabilities (or decision values) of all classes."""

    inverse: float

    def fit(self, scores: FloatArray, codes: IntArray, weight: FloatArray) -> "Temperature":
        """Learn the factor that gives the least log loss."""
        own = np.arange(len(codes)), codes

        def loss(log_factor: Any) -> float:
            z = np.exp(log_factor) * scores
            return float(weight @ (special.logsumexp(z, axis=1) - z[own]))

        found = optimize.minimize_scalar(loss, bounds=(-10.0, 10.0), method="bounded")
        self.inverse = float(np.exp(found.x))
        return self

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return probabilities, a column per class."""
        return np.asarray(special.softmax(self.inverse * scores, axis=1))


MAPS: dict[str, type[ScoreMap]] = {"sigmoid": Sigmoid, "isotonic": Isotonic, "beta": Beta}
