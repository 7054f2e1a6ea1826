"""Probabilities from decision values: Platt's sigmoid, or isotonic regression."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit
from sklearn.isotonic import IsotonicRegression

from bottega.core.loaded import insist
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["Curve", "calibrated"]

_STEPS = 100


@stored
@dataclass(frozen=True)
class Curve:
    """The probability of the upper class as a function of the decision value.

    A sigmoid 1 / (1 + exp(-(slope f + offset))), or where `knots` is not empty the broken line
    through the `heights` there.
    """

    slope: float
    offset: float
    knots: FloatArray
    heights: FloatArray

    def __call__(self, f: FloatArray) -> FloatArray:
        """Return the probabilities at decision values."""
        if len(self.knots):
            return np.asarray(np.interp(f, self.knots, self.heights))
        return np.asarray(expit(self.slope * f + self.offset))

    def check_loaded(self) -> None:
        """Raise unless the two ends of the broken line fit together."""
        insist(self.knots.shape == self.heights.shape, "knots and heights of a curve differ")


def calibrated(f: FloatArray, upper: FloatArray, weight: FloatArray, how: str) -> Curve:
    """Return the curve of held-out decision values `f` for rows that are `upper` (1) or not (0).

    Platt's sigmoid has the targets (n1 + 1) / (n1 + 2) and 1 / (n0 + 2) instead of 1 and 0 [1]_,
    and is found by Newton's method with backtracking [2]_.

    References
    ----------
    .. [1] Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods. Advances in Large Margin Classifiers, 61-74. MIT Press.
    .. [2] Lin, H.-T., Lin, C.-J. and Weng, R. C. (2007). A note on Platt's probabilistic outputs
       for support vector machines. Machine Learning 68, 267-276.

    Examples
    --------
    >>> f = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> curve = calibrated(f, np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4), "platt")
    >>> curve(np.array([0.0, 9.0])).round(3)
    array([0.5  , 0.998])
    """
    if how == "isotonic":
        fit = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        fit.fit(f, upper, sample_weight=weight)
        return Curve(0.0, 0.0, fit.X_thresholds_, fit.y_thresholds_)
    n1 = float(weight @ upper)
    n0 = float(weight.sum() - n1)
    target = np.where(upper > 0, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    unit = float(np.max(np.abs(f), initial=0.0)) or 1.0
    slope, offset = _sigmoid(f / unit, target, weight, np.log((n1 + 1) / (n0 + 1)))
    return Curve(slope / unit, offset, np.empty(0), np.empty(0))


def _sigmoid(
    f: FloatArray, target: FloatArray, weight: FloatArray, offset: float
) -> tuple[float, float]:
    """Return slope and offset of greatest likelihood."""

    def loss(at: FloatArray) -> float:
        z = at[0] * f + at[1]
        return -float(weight @ (target * log_expit(z) + (1 - target) * log_expit(-z)))

    at = np.array([0.0, offset])
    design = np.column_stack([f, np.ones(len(f))])
    value = loss(at)
    for _ in range(_STEPS):
        p = expit(design @ at)
        gradient = design.T @ (weight * (p - target))
        if np.max(np.abs(gradient)) <= 1e-10 * weight.sum():
            break
        hessian = design.T @ (design * (weight * p * (1 - p))[:, None]) + 1e-12 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-10:
            new = at - length * step
            found = loss(new)
            if found < value - 1e-4 * length * float(gradient @ step):
                break
            length /= 2
        else:
            break
        at, value = new, found
    return float(at[0]), float(at[1])
