"""The distribution of a mean and a precision together."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from bottega.core.errors import InputError
from bottega.core.params import Choice
from bottega.core.seeds import seed_of
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.marginals import GammaMarginal, Marginal, StudentMarginal

__all__ = ["JointNormalGamma"]


@stored
@dataclass(frozen=True)
class JointNormalGamma:
    """A precision that is Gamma, and a mean that is normal given it.

    Attributes
    ----------
    mean : float
        Mean of the mean.
    kappa : float
        The mean has `kappa` times the precision of an observation.
    a, b : float
        Shape and rate of the precision.
    """

    mean: float
    kappa: float
    a: float
    b: float

    def logpdf(self, mean: Any, precision: Any) -> Any:
        """Return the log density at means and precisions."""
        mu, tau = np.broadcast_arrays(
            np.asarray(mean, dtype=np.float64), np.asarray(precision, dtype=np.float64)
        )
        if not (tau > 0).all():
            raise InputError("A precision is a positive number.")
        with np.errstate(over="ignore"):
            gap = self.kappa * (mu - self.mean) ** 2
        found = (
            0.5 * math.log(self.kappa / (2 * math.pi))
            + self.a * math.log(self.b)
            - special.gammaln(self.a)
            + (self.a - 0.5) * np.log(tau)
            - tau * (self.b + 0.5 * gap)
        )
        return float(found) if found.ndim == 0 else found

    def pdf(self, mean: Any, precision: Any) -> Any:
        """Return the density at means and precisions."""
        return np.exp(self.logpdf(mean, precision))

    def marginal(self, parameter: str) -> Any:
        """Return the distribution of ``"mean"`` or ``"precision"`` alone, of `scipy.stats`."""
        Choice("mean", "precision").check("JointNormalGamma", "parameter", parameter)
        return self.marginals()[parameter].frozen()

    def marginals(self) -> dict[str, Marginal]:
        """Return the distributions of mean and precision, each alone."""
        scale = math.sqrt(self.b / self.a) / math.sqrt(self.kappa)
        return {
            "mean": StudentMarginal(self.mean, scale, 2 * self.a),
            "precision": GammaMarginal(self.a, self.b),
        }

    def rvs(self, size: int = 1, random_state: Any = None) -> FloatArray:
        """Return draws of mean and precision, one row each."""
        rng = np.random.default_rng(seed_of(random_state, "JointNormalGamma"))
        return self.draw(size, rng)

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return draws of mean and precision, one row each."""
        tau = rng.gamma(self.a, size=size) / self.b
        with np.errstate(divide="ignore"):
            spread = 1 / np.sqrt(self.kappa * tau)  # infinite where the precision underflows
        return np.column_stack([self.mean + rng.normal(size=size) * spread, tau])
