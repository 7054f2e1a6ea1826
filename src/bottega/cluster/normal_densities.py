"""Normal densities with weights, whatever estimated them: what rows they find unusual."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bottega.cluster._mixture.fitted import log_joint
from bottega.cluster._mixture.outliers import tail_scores
from bottega.cluster._mixture.parameters import MixtureParameters, MixtureUnits
from bottega.core.typing import FloatArray, IntArray

__all__ = ["NormalDensities"]

_LEAST = 1e-14  # of the largest variance of a component: what rounding leaves of none


@dataclass(frozen=True, eq=False)
class NormalDensities:
    """A mixture of normal densities, given by its parameters.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        Shares of the components; they sum to one.
    means : ndarray of shape (k, p)
        Their means.
    covariances : ndarray of shape (k, p, p)
        Their covariances.

    Examples
    --------
    >>> one = NormalDensities(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    >>> one.outlier_scores([[0.0, 0.0], [3.0, np.nan], [0.0, 9.0]]).round(2)
    array([ 0.  ,  2.57, 17.59])
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    @cached_property
    def _units(self) -> MixtureUnits:
        variance = np.mean(np.diagonal(self.covariances, axis1=1, axis2=2), axis=0)
        return MixtureUnits(self.weights @ self.means, np.sqrt(variance))

    @cached_property
    def _parameters(self) -> MixtureParameters:
        units = self._units
        values, vectors = np.linalg.eigh(self.covariances / units.scale[:, None] / units.scale)
        least = _LEAST * values.max(axis=1, keepdims=True)
        return MixtureParameters(
            self.weights,
            (self.means - units.center) / units.scale,
            np.maximum(values, least),
            vectors,
            np.any(values < least, axis=1),
        )

    def outlier_scores(self, X: Any) -> FloatArray:
        """Return how unusual each row is: minus the decimal logarithm of a tail probability.

        As `GaussianMixture.outlier_scores`; NaN for a row without any value.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows; NaN where a value is missing.
        """
        rows = np.asarray(X, dtype=np.float64)
        return tail_scores(self._units.into(rows), self._parameters)

    def predict(self, X: Any) -> IntArray:
        """Return the most likely component of each row, given what is known of it.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows; NaN where a value is missing.
        """
        rows = np.asarray(X, dtype=np.float64)
        return np.asarray(np.argmax(log_joint(rows, self._units, self._parameters), axis=1))
