"""The columns of a table as coordinate descent needs them, dense or sparse, never both."""

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from bottega.core.typing import FloatArray, IntArray
from bottega.optimize._kernels import coordinate as kernels

__all__ = ["DenseColumns", "InputColumns", "SparseColumns", "columns_of", "is_sparse"]

# A column whose centred square is this small a share of its square may be rounding.
_SUSPECT = 1e-6
# Numbers in a block of sparse columns up to which it is quicker as a dense one.
_SMALL = 2**18


class InputColumns(Protocol):
    """Columns ``(x_j - shift_j) * factor_j``, and the products with them that a walk takes."""

    shift: FloatArray
    factor: FloatArray

    def moments(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each column under the row weights `v`."""

    def correlate(self, R: FloatArray) -> FloatArray:
        """Return the products of all columns with the columns of R."""

    def gram(self, left: IntArray, right: IntArray, v: FloatArray) -> FloatArray:
        """Return the products, weighted by `v`, of some columns with some others."""

    def add(self, S: IntArray, beta: FloatArray, out: FloatArray) -> None:
        """Add the combination of the columns S to `out`."""

    def block(self, S: IntArray) -> Any:
        """Return some columns as a matrix of their own."""


class DenseColumns:
    """A centred (and scaled) copy, stored by columns."""

    def __init__(
        self, X: FloatArray, w: FloatArray, *, standardize: bool, fit_intercept: bool
    ) -> None:
        p = X.shape[1]
        self.shift = w @ X / w.sum() if fit_intercept else np.zeros(p)
        self.A = np.subtract(X, self.shift, order="F")
        self.factor = np.ones(p)
        if standardize:
            spread = np.sqrt(w @ self.A**2 / w.sum())
            self.factor = 1 / np.where(spread > 0, spread, 1.0)
            self.A *= self.factor

    def moments(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each column under the row weights `v`."""
        weight = v.sum()
        mean = self.A.T @ v / weight
        square = np.einsum("ij,ij,i->j", self.A, self.A, v, optimize=False) / weight
        variance = square - mean**2
        for j in np.flatnonzero(variance <= _SUSPECT * square):
            variance[j] = v @ (self.A[:, j] - mean[j]) ** 2 / weight
        return mean, np.maximum(variance, 0.0)

    def correlate(self, R: FloatArray) -> FloatArray:
        """Return the products of all columns with the columns of R."""
        return np.asarray(self.A.T @ R)

    def gram(self, left: IntArray, right: IntArray, v: FloatArray) -> FloatArray:
        """Return the products, weighted by `v`, of some columns with some others."""
        return (self.A[:, left] * v[:, None]).T @ self.A[:, right]

    def add(self, S: IntArray, beta: FloatArray, out: FloatArray) -> None:
        """Add the combination of the columns S to `out`."""
        kernels.add_columns(self.A, S, beta, out)

    def block(self, S: IntArray) -> Any:
        """Return some columns as a matrix of their own."""
        return self.A[:, S]


class SparseColumns:
    """The user's sparse matrix as it is; centre and scale enter the products alone."""

    def __init__(self, X: Any) -> None:
        self.X = sparse.csc_array(X)
        self.square = self.X.copy()
        self.square.data **= 2
        self.shift, self.factor = np.zeros(X.shape[1]), np.ones(X.shape[1])

    def moments(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each column under the row weights `v`."""
        weight = v.sum()
        mean, square = self.X.T @ v / weight, self.square.T @ v / weight
        variance = square - mean**2
        # Empty columns, of which sparse data have many, are no suspects: all is exactly zero.
        for j in np.flatnonzero((square > 0) & (variance <= _SUSPECT * square)):
            column = self.X[:, [j]].toarray()[:, 0]
            variance[j] = v @ (column - mean[j]) ** 2 / weight
        return mean, np.maximum(variance, 0.0)

    def correlate(self, R: FloatArray) -> FloatArray:
        """Return the products of all columns with the columns of R."""
        return np.asarray(self.X.T @ R)

    def gram(self, left: IntArray, right: IntArray, v: FloatArray) -> FloatArray:
        """Return the products, weighted by `v`, of some columns with some others."""
        weighted = self.X[:, left].multiply(v[:, None])
        return np.asarray((weighted.T @ self.X[:, right]).toarray())

    def add(self, S: IntArray, beta: FloatArray, out: FloatArray) -> None:
        """Add the combination of the columns S to `out`."""
        out += self.X[:, S] @ beta

    def block(self, S: IntArray) -> Any:
        """Return some columns as a matrix of their own, dense where it is small."""
        found = self.X[:, S]
        return found.toarray() if found.shape[0] * found.shape[1] <= _SMALL else found


def is_sparse(X: Any) -> bool:
    """Return True if a matrix is a sparse one of scipy."""
    return bool(sparse.issparse(X))


def columns_of(X: Any, w: FloatArray, *, standardize: bool, fit_intercept: bool) -> InputColumns:
    """Return the columns of a dense or a sparse table."""
    if is_sparse(X):
        return SparseColumns(X)
    return DenseColumns(X, w, standardize=standardize, fit_intercept=fit_intercept)
