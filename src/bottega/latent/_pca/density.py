"""The probabilistic model of components: rows are normal, with noise in the directions left out."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.latent._pca.views import ComponentViews
from bottega.latent._reading.normal_density import along_axes

__all__ = ["ComponentDensity"]


class ComponentDensity(ComponentViews):
    """Likelihood, covariance and precision of an estimator with components."""

    noise_variance_: float

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row under the probabilistic model.

        The model is normal with the variances of the components, and `noise_variance_` in all other
        directions.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.

        Returns
        -------
        ndarray of shape (m,)
        """
        X = self._check_new(X)
        p, k, noise = self.n_features_in_, self.n_components_, self.noise_variance_
        spread = np.maximum(self.explained_variance_, noise)
        if np.any(spread <= 0) or (k < p and noise <= 0):
            raise InputError(
                "There is no density: the rows of the fit do not vary in all directions. Keep "
                "fewer components, leave constant columns out, or give more rows."
            )
        left = self._distances(X) if k < p else 0.0
        found = along_axes(self._scores(X) ** 2, left, spread, noise, p)
        return np.asarray(found - np.sum(np.log(self.scale_)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of rows under the probabilistic model.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.
        y : ignored
            There is no response.

        Returns
        -------
        float
        """
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> FloatArray:
        """Return the covariance matrix of the probabilistic model, in the units of X."""
        check_is_fitted(self)
        gap = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        found = (self.components_.T * gap) @ self.components_
        found[np.diag_indices(len(found))] += self.noise_variance_
        return np.asarray(found * np.outer(self.scale_, self.scale_))

    def get_precision(self) -> FloatArray:
        """Return the inverse of `get_covariance`."""
        return np.asarray(np.linalg.inv(self.get_covariance()))
