"""The normal density of rows with common factors and a noise variance per column."""

from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray

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
        p, K = self.W.shape
        centred = (X - self.mean) / np.sqrt(self.noise)
        W = self.W / np.sqrt(self.noise)[:, None]
        root = np.linalg.cholesky(np.eye(K) + W.T @ W)
        half = np.linalg.solve(root, (centred @ W).T)
        size = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->j", half, half)
        log_det = np.sum(np.log(self.noise)) + 2 * np.sum(np.log(np.diag(root)))
        return np.asarray(-0.5 * (p * np.log(2 * np.pi) + log_det + size))
