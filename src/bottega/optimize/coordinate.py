"""The penalty of the lasso family, its grid of strengths, and what a walk along it gives."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Descent",
    "PenalizedFits",
    "Penalty",
    "alpha_grid",
    "check_penalty_weights",
]

# Relative duality gap of a start that is the minimum already.
EXACT = 1e-12
# Failure of the optimality conditions, against the largest product with y, that is rounding.
FLOOR = 1e-11


@dataclass(frozen=True)
class Penalty:
    r"""alpha times :math:`\sum_j w_j (l |b_j| + (1 - l) b_j^2 / 2)`, with l = `l1_ratio`."""

    l1_ratio: float
    weights: FloatArray  # 0 leaves a coefficient free, inf keeps it at zero
    positive: bool = False  # whether coefficients may not be negative

    def units(self, unusable: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the thresholds and ridge parts at alpha = 1; `unusable` columns are excluded."""
        weights = np.where(unusable, np.inf, self.weights)
        ridge = np.where(np.isinf(weights), 0.0, weights) * (1 - self.l1_ratio)
        return weights * self.l1_ratio, ridge

    def times(self, weights: FloatArray) -> "Penalty":
        """Return the penalty with its weights multiplied; free columns stay free."""
        with np.errstate(invalid="ignore"):
            product = np.where(self.weights == 0, 0.0, self.weights * weights)
        return Penalty(self.l1_ratio, product, self.positive)


@dataclass(frozen=True)
class Descent:
    """How to go along the path: tolerance on the relative duality gap, sweeps, relaxed or not."""

    tol: float
    max_iter: int
    relax: bool = False


@dataclass(frozen=True)
class PenalizedFits:
    """Fits at m alphas, descending, on the original scale."""

    alphas: FloatArray
    coef: FloatArray  # (m, p)
    intercept: FloatArray
    mse: FloatArray  # weighted mean squared residual
    gap: FloatArray  # against half the (weighted) mean square of the centred response
    n_iter: IntArray  # sweeps of coordinate descent
    half: float = 1.0  # what the gaps are divided by


def thresholds(alpha: float, unit1: FloatArray, unit2: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return thresholds and ridge parts at one alpha; infinite ones stay so at alpha = 0."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(unit1), np.inf, alpha * unit1), alpha * unit2


def strongest(q: FloatArray, unit1: FloatArray, positive: bool = False) -> float:
    """Return the smallest alpha at which every penalised coefficient is zero."""
    bound = (unit1 > 0) & np.isfinite(unit1)
    return float(np.max(pull_of(q[bound], positive) / unit1[bound], initial=0.0))


def pull_of(q: FloatArray, positive: bool) -> FloatArray:
    """Return how hard products with the residual pull coefficients away from zero."""
    return np.maximum(q, 0.0) if positive else np.abs(q)


def alpha_grid(top: float, count: int, eps: Any, n: int, p: int) -> FloatArray:
    """Return the grid from the strongest useful penalty down to `eps` times it."""
    if not top > 0:  # nothing to explain, or nothing penalised
        top = 1.0
    ratio = (1e-2 if n < p else 1e-3) if isinstance(eps, str) else float(eps)
    grid = top * np.logspace(0, np.log10(ratio), count)
    grid[0] = top  # exactly
    return grid


def check_penalty_weights(weights: Any, p: int) -> FloatArray:
    """Return the penalty weights of the columns, one each by default."""
    if weights is None:
        return np.ones(p)
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (p,):
        raise InputError(
            f"weights has shape {found.shape}; it needs one number per column: ({p},). "
            "Weights of rows are given to fit as sample_weight."
        )
    if np.any(np.isnan(found)) or np.any(found < 0):
        raise InputError(
            "weights of the penalty must be 0 or more (0: not penalised, inf: left out); "
            f"got {found[np.isnan(found) | (found < 0)][0]}."
        )
    return found


def not_unique(what: str) -> InputError:
    """Return the error for columns that are free of penalty and linearly dependent."""
    return InputError(
        f"{what} are linearly dependent, so their coefficients without a penalty are not unique: "
        "give alpha > 0 (and weights > 0), or drop columns."
    )
