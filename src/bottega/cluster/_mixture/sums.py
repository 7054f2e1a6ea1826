"""What an M step needs of the rows: expected sums of the components, merged over blocks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.cluster._mixture.families import covariances_of
from bottega.cluster._mixture.parameters import MixtureParameters
from bottega.core.typing import FloatArray

__all__ = ["LOG_2PI", "MixtureSums", "bound_of", "maximise"]

LOG_2PI = float(np.log(2 * np.pi))
_EMPTY = 1e-12  # of all rows: a component with so little has no mean of its own


@dataclass(frozen=True, eq=False)
class MixtureSums:
    """Expected sums of rows, by component, under responsibilities q.

    Attributes
    ----------
    mass : ndarray of shape (k,)
        Sums of the responsibilities.
    about : ndarray of shape (k, p)
        Points that the sums are taken about.
    first : ndarray of shape (k, p)
        Sums of the rows.
    second : ndarray of shape (k, p, p), or (k, p) for diagonal families
        Sums of squares and products.
    totals : ndarray of shape (3,)
        Log-likelihood of the rows under `parameters`; entropy of q; minus the sum of the logarithms
        of the largest responsibility of each row.
    parameters : MixtureParameters or None
        Those that q is the posterior of; None where q was given.
    """

    mass: FloatArray
    about: FloatArray
    first: FloatArray
    second: FloatArray
    totals: FloatArray
    parameters: MixtureParameters | None = None

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows."""
        return float(self.totals[0])

    @property
    def entropy(self) -> float:
        """Entropy of q."""
        return float(self.totals[1])

    @property
    def doubt(self) -> float:
        """Minus the sum of the logarithms of the largest responsibility of each row."""
        return float(self.totals[2])

    def merge(self, other: "MixtureSums") -> "MixtureSums":
        """Return the sums over the rows of both."""
        return MixtureSums(
            self.mass + other.mass,
            self.about,
            self.first + other.first,
            self.second + other.second,
            self.totals + other.totals,
            self.parameters,
        )

    def scatter_about(self, means: FloatArray) -> FloatArray:
        """Return the sums of squares and products about means of the components."""
        gap = self.about - means
        if self.second.ndim == 2:
            return self.second + 2 * gap * self.first + self.mass[:, None] * gap**2
        cross = self.first[:, :, None] * gap[:, None, :]
        square = self.mass[:, None, None] * (gap[:, :, None] * gap[:, None, :])
        return self.second + cross + np.swapaxes(cross, 1, 2) + square


def maximise(sums: MixtureSums, family: str, floor: float, flat: int = 0) -> MixtureParameters:
    """Return the parameters that maximise the expected log-likelihood: the M step.

    A component that no row belongs to stays where it was.
    """
    before = sums.parameters
    total = float(sums.mass.sum())
    mass = sums.mass
    empty = mass <= _EMPTY * total
    means = sums.about + sums.first / np.where(empty, 1.0, mass)[:, None]
    if before is not None:
        means[empty] = before.means[empty]
    scatter = sums.scatter_about(means)
    scatter[empty] = 0.0
    values, vectors, floored = covariances_of(family, mass, scatter, floor, before, flat)
    if before is not None and np.any(empty):
        values = np.where(empty[:, None], before.values, values)
        if vectors is not None and before.vectors is not None:
            vectors = np.where(empty[:, None, None], before.vectors, vectors)
    return MixtureParameters(mass / total, means, values, vectors, floored)


def bound_of(sums: MixtureSums, parameters: MixtureParameters) -> float:
    """Return the bound: expected log-likelihood of rows and components, and the entropy of q."""
    if parameters is sums.parameters:  # q is the posterior: the bound touches
        return sums.log_likelihood
    p = sums.first.shape[1]
    scatter: Any = sums.scatter_about(parameters.means)
    distance = float(np.sum(parameters.precisions * scatter))
    constant = parameters.log_weights - 0.5 * (p * LOG_2PI + parameters.log_det)
    return float(sums.mass @ constant) - 0.5 * distance + sums.entropy
