"""Rows as components, and components as rows."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray

__all__ = ["ComponentMap"]


class ComponentMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """The map from rows to their coordinates on orthonormal components, and back."""

    components_: FloatArray
    explained_variance_: FloatArray
    mean_: FloatArray
    scale_: FloatArray
    n_components_: int
    n_features_in_: int
    whiten: bool

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _scores(self, X: Any) -> FloatArray:
        """Return the components of checked rows, not whitened."""
        directions = (self.components_ / self.scale_).T
        if is_sparse(X):
            return np.asarray(X @ directions) - self.mean_ @ directions
        return np.asarray((X - self.mean_) @ directions)

    def transform(self, X: Any) -> FloatArray:
        """Return the components of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Rows.

        Returns
        -------
        ndarray of shape (m, K)
            Coordinates; with `whiten` of variance one (a direction without variance gives zeros).
        """
        Z = self._scores(self._check_new(X))
        if not self.whiten:
            return Z
        spread = np.sqrt(self.explained_variance_)
        return Z / np.where(spread > 0, spread, np.inf)

    def inverse_transform(self, Z: Any) -> FloatArray:
        """Return the rows that have the given components, in the units of X.

        Parameters
        ----------
        Z : array-like of shape (m, K)
            Components.

        Returns
        -------
        ndarray of shape (m, p)
            Points of the plane of the components.
        """
        check_is_fitted(self)
        Z = check_array(Z, dtype=np.float64, input_name="Z", ensure_min_features=0)
        if Z.shape[1] != self.n_components_:
            raise InputError(
                f"Z has {Z.shape[1]} columns, and there are {self.n_components_} components."
            )
        if self.whiten:
            Z = Z * np.sqrt(self.explained_variance_)
        return np.asarray(Z @ self.components_ * self.scale_ + self.mean_)

    def _distances(self, X: Any) -> FloatArray:
        """Return the squared distances of checked rows from the plane, in scaled columns."""
        if is_sparse(X):
            X = X.toarray()
        A = (X - self.mean_) / self.scale_
        A -= (A @ self.components_.T) @ self.components_
        return np.asarray(np.einsum("ij,ij->i", A, A))

    def reconstruction_errors(self, X: Any) -> FloatArray:
        """Return the squared distance of each row from its reconstruction.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows. Those far from the plane of the components are unlike the rows of the fit.

        Returns
        -------
        ndarray of shape (m,)
            In units of the scaled columns. Their mean over the rows of the fit is
            `reconstruction_error_`.
        """
        return self._distances(self._check_new(X))
