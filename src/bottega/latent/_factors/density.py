"""The normal density of rows with common factors and a noise variance per column."""

from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.latent._reading.normal_density import log_density

__all__ = ["FactorDensity"]


@stored
@dataclass(frozen=True)
class FactorDensity:
    """Rows x = mean + W f + noise, with f standard normal and one noise variance per column.

    Attributes
    ----------
    mean : ndarray of shape (p,)
    W : ndarray of shape (p, K)
    noise : ndarray of shape (p,)
    """

    mean: FloatArray
    W: FloatArray
    noise: FloatArray

    def covariance(self) -> FloatArray:
        """Return W W' + diag(noise)."""
        return np.asarray(self.W @ self.W.T + np.diag(self.noise))

    def precision(self) -> FloatArray:
        """Return the inverse of the covariance, by a K x K system."""
        scaled = self.W / self.noise[:, None]
        inner = np.eye(self.W.shape[1]) + self.W.T @ scaled
        return np.asarray(np.diag(1 / self.noise) - scaled @ np.linalg.solve(inner, scaled.T))

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log-likelihood of each row."""
        return log_density(X, self.mean, self.W, self.noise)
