"""What all numbers of factors share: mean, scales and correlations of the columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.core.moments import Moments
from bottega.core.row_counts import rows_of_weight
from bottega.core.typing import FloatArray
from bottega.latent._factors.density import FactorDensity
from bottega.latent._factors.likelihood import FactorSolution

__all__ = ["FactorWork", "degrees_of_freedom"]

_CONSTANT = 1e-14  # of the size of a column: a standard deviation that is rounding


@dataclass(frozen=True)
class FactorWork:
    """Mean, standard deviation (divisor n) and correlations of the columns; weight of the rows."""

    mean: FloatArray
    scale: FloatArray
    R: FloatArray
    weight: float

    @classmethod
    def of(cls, moments: Moments, owner: str, names: Sequence[str]) -> "FactorWork":
        """Return the work from the moments of the rows."""
        scale = np.sqrt(np.diag(moments.scatter) / moments.weight)
        still = np.flatnonzero(scale <= _CONSTANT * np.abs(moments.mean))
        if len(still):
            raise InputError(
                f"{owner}: column {names[still[0]]!r} of X does not vary, so it has no "
                "correlations; leave it out."
            )
        R = moments.scatter / scale / scale[:, None] / moments.weight
        R = (R + R.T) / 2
        R[np.diag_indices_from(R)] = 1.0
        # All else is a mean over the rows, so the unit of the weights matters here alone.
        return cls(moments.mean, scale, R, rows_of_weight(moments.weight, moments.count))

    @property
    def most(self) -> int:
        """Most factors whose model has no more parameters than there are correlations."""
        p = len(self.mean)
        return max(int(np.floor((2 * p + 1 - np.sqrt(8 * p + 1)) / 2 + 1e-9)), 0)

    def log_likelihood(self, solution: FactorSolution) -> float:
        """Return the log-likelihood of the rows on the scale of the columns."""
        return self._likelihood_at(solution.discrepancy)

    def log_likelihoods(self, solution: FactorSolution) -> list[float]:
        """Return the log-likelihood after each iteration."""
        return [self._likelihood_at(each) for each in solution.trace]

    def _likelihood_at(self, discrepancy: float) -> float:
        p = len(self.mean)
        fixed = p * np.log(2 * np.pi) + 2 * np.sum(np.log(self.scale))
        return float(-0.5 * self.weight * (fixed + discrepancy))

    def density(self, solution: FactorSolution) -> FactorDensity:
        """Return the density on the scale of the columns."""
        W = solution.loadings * self.scale[:, None]
        return FactorDensity(self.mean, W, solution.uniquenesses * self.scale**2)

    def excess(self, solution: FactorSolution) -> float:
        """Return how much the discrepancy is above that of any covariance; NaN without inverse."""
        values = np.linalg.eigvalsh(self.R)
        if values[0] <= 1e-12 * values[-1]:
            return float("nan")
        return float(solution.discrepancy - np.sum(np.log(values)) - len(self.R))


def degrees_of_freedom(p: int, K: int) -> int:
    """Return the correlations less the parameters of K factors; negative with too many factors."""
    return ((p - K) ** 2 - p - K) // 2
