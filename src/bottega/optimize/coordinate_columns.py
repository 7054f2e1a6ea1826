"""The columns of a table as coordinate descent needs them, dense or sparse, never both."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.sparse import is_sparse
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.core.validate import check_columns
from bottega.optimize._kernels import coordinate as kernels

__all__ = ["InputColumns", "columns_of"]

# A spread this small against the mean is rounding.
_CONSTANT = 1e-14
# A column whose centred square is this small a share of its square may be rounding.
_SUSPECT = 1e-6
# Numbers in a block of sparse columns up to which it is quicker as a dense one.
_SMALL = 2**18


class InputColumns(ABC):
    """Columns ``(x_j - shift_j) * factor_j`` of A, and the products with them that a walk takes."""

    A: Any
    shift: FloatArray
    factor: FloatArray

    @abstractmethod
    def _squares(self, v: FloatArray) -> FloatArray:
        """Return the sum of squares of each column under the row weights `v`."""

    @abstractmethod
    def _column(self, j: int) -> FloatArray:
        """Return one column."""

    def moments(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each column under the row weights `v`."""
        weight = v.sum()
        mean, square = self.A.T @ v / weight, self._squares(v) / weight
        variance = square - mean**2
        # Empty columns, of which sparse data have many, are no suspects: all is exactly zero.
        for j in np.flatnonzero((square > 0) & (variance <= _SUSPECT * square)):
            variance[j] = v @ (self._column(int(j)) - mean[j]) ** 2 / weight
        return mean, np.maximum(variance, 0.0)

    def scaling(
        self, v: FloatArray, *, standardize: bool, fit_intercept: bool
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return what is taken off and what multiplies each column, and which do not vary.

        Without an intercept nothing is taken off. Columns that do not vary are multiplied by zero.
        """
        mean, variance = self.moments(v)
        check_columns(variance, mean=mean)
        size, spread = np.sqrt(variance + mean**2), np.sqrt(variance)
        if not fit_intercept:
            mean, spread = np.zeros_like(mean), size
        constant = spread <= _CONSTANT * size
        scale = np.where(constant, 1.0, spread) if standardize else np.ones_like(spread)
        return mean, np.where(constant, 0.0, 1 / scale), constant

    def correlate(self, R: FloatArray) -> FloatArray:
        """Return the products of all columns with the columns of R."""
        return np.asarray(self.A.T @ R)

    @abstractmethod
    def gram(self, left: IntArray, right: IntArray, v: FloatArray) -> FloatArray:
        """Return the products, weighted by `v`, of some columns with some others."""

    @abstractmethod
    def add(self, S: IntArray, beta: FloatArray, out: FloatArray) -> None:
        """Add the combination of the columns S to `out`."""

    def block(self, S: IntArray) -> Any:
        """Return some columns as a matrix of their own, dense where it is small."""
        return self.A[:, S]


class _DenseColumns(InputColumns):
    """A centred (and scaled) copy, stored by columns."""

    def __init__(
        self, X: FloatArray, w: FloatArray, *, standardize: bool, fit_intercept: bool
    ) -> None:
        p = X.shape[1]
        self.shift = w @ X / w.sum() if fit_intercept else np.zeros(p)
        self.A = np.subtract(X, self.shift, order="F")
        self.factor = np.ones(p)
        if standardize:
            with np.errstate(over="ignore"):  # refused in the next line
                spread = np.sqrt(w @ self.A**2 / w.sum())
            check_columns(spread**2, mean=self.shift)
            self.factor = 1 / np.where(spread > 0, spread, 1.0)
            self.A *= self.factor

    def _squares(self, v: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ij,ij,i->j", self.A, self.A, v, optimize=False))

    def _column(self, j: int) -> FloatArray:
        return np.asarray(self.A[:, j])

    def gram(self, left: IntArray, right: IntArray, v: FloatArray) -> FloatArray:
        return np.asarray((self.A[:, left] * v[:, None]).T @ self.A[:, right])

    def add(self, S: IntArray, beta: FloatArray, out: FloatArray) -> None:
        kernels.add_columns(self.A, S, beta, out)


class _SparseColumns(InputColumns):
    """The user's sparse matrix as it is; centre and scale enter the products alone."""

    def __init__(self, X: Any) -> None:
        self.A = sparse.csc_array(X)
        self.square = self.A.copy()
        self.square.data **= 2
        self.shift, self.factor = np.zeros(X.shape[1]), np.ones(X.shape[1])

    def _squares(self, v: FloatArray) -> FloatArray:
        return np.asarray(self.square.T @ v)

    def _column(self, j: int) -> FloatArray:
        return np.asarray(self.A[:, [j]].toarray()[:, 0])

    def gram(self, left: IntArray, right: IntArray, v: FloatArray) -> FloatArray:
        weighted = self.A[:, left].multiply(v[:, None])
        return np.asarray((weighted.T @ self.A[:, right]).toarray())

    def add(self, S: IntArray, beta: FloatArray, out: FloatArray) -> None:
        out += self.A[:, S] @ beta

    def block(self, S: IntArray) -> Any:
        found = self.A[:, S]
        return found.toarray() if found.shape[0] * found.shape[1] <= _SMALL else found


def columns_of(X: Any, w: FloatArray, *, standardize: bool, fit_intercept: bool) -> InputColumns:
    """Return the columns of a dense or a sparse table."""
    if is_sparse(X):
        return _SparseColumns(X)
    return _DenseColumns(X, w, standardize=standardize, fit_intercept=fit_intercept)
