"""Missing numbers filled with what the other columns lead to expect."""

import warnings
from dataclasses import dataclass, field

import numpy as np

from bottega.core.errors import ConvergenceWarning, DataWarning
from bottega.core.typing import FloatArray
from bottega.latent import ProbabilisticPCA

__all__ = ["Filling"]

_MOST = 5  # latent variables


@dataclass(frozen=True)
class Filling:
    """Conditional means under probabilistic principal components.

    Attributes
    ----------
    model : ProbabilisticPCA or None
        None where a column is alone: its mean takes the place.
    """

    model: ProbabilisticPCA | None = field(repr=False)

    @classmethod
    def of(cls, X: FloatArray) -> "Filling":
        """Learn from rows with missing values (NaN)."""
        p = X.shape[1]
        known = ~np.all(np.isnan(X), axis=1)
        if p < 2 or known.sum() < 3:
            return cls(None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DataWarning)
            model = ProbabilisticPCA(min(_MOST, p - 1, int(known.sum()) - 2), tol=1e-3)
            return cls(model.fit(X[known]))

    def fill(self, X: FloatArray) -> FloatArray:
        """Return the rows without gaps; those that miss everything are at the mean."""
        gone = np.isnan(X)
        holes = gone.any(axis=1)
        if not holes.any():
            return X
        found = np.where(gone, 0.0, X)  # columns are centred
        some = holes & ~gone.all(axis=1)
        if self.model is not None and some.any():
            found[some] = self.model.impute(X[some])
        return found
