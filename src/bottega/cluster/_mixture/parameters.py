"""The parameters of a mixture of normal distributions, in the units that the work is done in."""

from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["MixtureParameters", "MixtureUnits"]

_LEAST = 1e-300  # share of a component that no row belongs to: its logarithm is finite


@stored
@dataclass(frozen=True, eq=False)
class MixtureUnits:
    """Origin and unit of each column that the work is done in.

    Attributes
    ----------
    center, scale : ndarray of shape (p,)
        A row x is worked with as ``(x - center) / scale``.
    """

    center: FloatArray
    scale: FloatArray

    def into(self, X: FloatArray) -> FloatArray:
        """Return rows in these units, one row per column of X: (p, n)."""
        return np.ascontiguousarray(((X - self.center) / self.scale).T)


@stored
@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """Weights, means and covariances of a mixture.

    Attributes
    ----------
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, p)
    values : ndarray of shape (k, p)
        Eigenvalues of the covariances; variances of the columns where `vectors` is None.
    vectors : ndarray of shape (k, p, p) or None
        Eigenvectors in columns; None where all covariances are diagonal.
    floored : ndarray of shape (k,)
        Components with a variance that was raised to the least allowed.
    """

    weights: FloatArray
    means: FloatArray
    values: FloatArray
    vectors: FloatArray | None
    floored: BoolArray

    @property
    def log_weights(self) -> FloatArray:
        """Logarithms of the weights."""
        return np.log(np.maximum(self.weights, _LEAST))

    @property
    def log_det(self) -> FloatArray:
        """Logarithms of the determinants of the covariances."""
        return np.sum(np.log(self.values), axis=1)

    @property
    def precisions(self) -> FloatArray:
        """Inverses of the covariances: (k, p, p), or (k, p) where they are diagonal."""
        if self.vectors is None:
            return 1 / self.values
        return (self.vectors / self.values[:, None, :]) @ np.swapaxes(self.vectors, 1, 2)

    @property
    def covariances(self) -> FloatArray:
        """The covariances: (k, p, p)."""
        if self.vectors is None:
            return self.values[:, :, None] * np.eye(self.values.shape[1])
        return (self.vectors * self.values[:, None, :]) @ np.swapaxes(self.vectors, 1, 2)
