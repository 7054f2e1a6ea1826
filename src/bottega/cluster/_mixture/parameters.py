"""The parameters of a mixture of normal distributions, in the units that the work is done in."""

from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["MixtureParameters", "MixtureUnits", "beyond_reach", "within_reach"]

_LEAST = 1e-300  # share of a component that no row belongs to: its logarithm is finite
_FAR = 1e140  # deviations beyond which squares over small variances overflow
_LARGEST = 1e300


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
        with np.errstate(over="ignore"):  # see `within_reach`
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


def beyond_reach(Z: FloatArray) -> BoolArray:
    """Return which rows (p, n) are so many deviations out that their squares overflow."""
    return np.asarray(np.any(np.abs(Z) > _FAR, axis=0))


def within_reach(Z: FloatArray) -> FloatArray:
    """Return rows (p, n), those beyond reach drawn in along the line to the centre.

    There, too, the constant and the linear part of a log density are lost in its square.
    """
    far = beyond_reach(Z)
    if not far.any():
        return Z
    found = np.clip(Z, -_LARGEST, _LARGEST)
    found[:, far] *= _FAR / np.nanmax(np.abs(found[:, far]), axis=0)
    return found
