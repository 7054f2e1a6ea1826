"""Blocks of a kernel matrix, as products of matrices where the kernel is a function of those."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.errors import InputError
from bottega.core.parallel import in_threads
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.kernel._inputs.points import GramRows
from bottega.kernel._objects.base import GAUSSIAN, LINEAR, POLYNOMIAL, SIGMOID, RowKernel
from bottega.kernel.kernels import Kernel
from bottega.optimize.row_cache import Gram

__all__ = ["gram_of", "may_be_single", "weighted_sums"]

_TILE = 2**18  # entries of the matrix at once: they stay in the processor's cache
_LARGEST = 1e150  # value of a kernel
_FEW = 2_000  # rows up to which numbers are of double precision
_FAR = 1e3  # squared length of a row, times gamma, up to which single precision is enough


@dataclass(frozen=True)
class _ProductGram:
    """A kernel that is a function of the inner product of two features of the rows."""

    left: Array
    right: Array
    kernel: RowKernel

    @property
    def n(self) -> int:
        return len(self.left)

    @property
    def dtype(self) -> Any:
        return self.left.dtype

    def block(self, rows: Any, columns: Any) -> Array:
        found = self.left[rows] @ self.right[columns].T
        code, _, coef0, degree = self.kernel
        if code == GAUSSIAN:
            np.exp(found, out=found)
        elif code in (POLYNOMIAL, SIGMOID):
            found += found.dtype.type(coef0)
            if code == SIGMOID:
                np.tanh(found, out=found)
            else:
                found **= degree
        return np.asarray(found)

    def take(self, rows: IntArray) -> Self:
        return type(self)(self.left[rows], self.right[rows], self.kernel)


@dataclass(frozen=True)
class _KernelGram:
    """A kernel known by its values alone."""

    X: Any
    kernel: Kernel
    dtype: Any = np.float64

    @property
    def n(self) -> int:
        return len(self.X) if isinstance(self.X, np.ndarray) else int(self.X.shape[0])

    def block(self, rows: Any, columns: Any) -> Array:
        return self.kernel(self.X[rows], self.X[columns])

    def take(self, rows: IntArray) -> Self:
        return type(self)(self.X[rows], self.kernel)


@dataclass(frozen=True)
class _MatrixGram:
    """The matrix itself."""

    K: FloatArray
    dtype: Any = np.float64

    @property
    def n(self) -> int:
        return len(self.K)

    def block(self, rows: Any, columns: Any) -> Array:
        return self.K[rows][:, columns]

    def take(self, rows: IntArray) -> Self:
        return type(self)(self.K[np.ix_(rows, rows)])


def gram_of(
    X: Any, kernel: Kernel, dtype: Any = np.float64, *, centered: bool = True
) -> tuple[Gram, FloatArray | None]:
    """Return the matrix of training rows by its blocks, and the centre that was taken from them.

    Distances do not depend on where the origin is, and neither does a linear machine whose
    coefficients sum to zero: there the rows are centred, so that no digits are lost. Those of a
    machine whose coefficients do not sum to zero are not `centered`.
    """
    code, gamma, _, _ = own = kernel.row_kernel
    if isinstance(X, GramRows):
        return _MatrixGram(X.against(X)), None
    with np.errstate(over="ignore", invalid="ignore"):
        # Of the Gaussian kernel the exponents may be too large.
        largest = abs(X).max() ** 2 * gamma if code == GAUSSIAN else kernel.diagonal(X).max()
    if not largest <= _LARGEST:
        raise InputError(
            "The kernel of the training rows is beyond the range of numbers; bring the inputs to a "
            "scale near one, or use another gamma."
        )
    if is_sparse(X) or code not in (LINEAR, POLYNOMIAL, GAUSSIAN, SIGMOID):
        return _KernelGram(X.tocsr() if is_sparse(X) else X, kernel), None
    shifts = code == GAUSSIAN or (code == LINEAR and centered)
    center = X.mean(axis=0) if shifts else None
    Z = X if center is None else X - center
    if code == GAUSSIAN:
        Z = Z * np.sqrt(gamma)
        size, one = np.einsum("ij,ij->i", Z, Z), np.ones(len(Z))
        Z *= np.sqrt(2.0)
        left, right = np.column_stack([Z, -size, one]), np.column_stack([Z, one, -size])
    else:
        right = np.ascontiguousarray(Z)
        left = gamma * right if code in (POLYNOMIAL, SIGMOID) else right
    return _ProductGram(
        left.astype(dtype, copy=False), right.astype(dtype, copy=False), own
    ), center


def may_be_single(X: Any, kernel: Kernel) -> bool:
    """Return True if the matrix is large enough to be of single precision first, and fit for it.

    An exponent is a difference of squared lengths: rows far from the others would lose digits.
    """
    code, gamma, _, _ = kernel.row_kernel
    if X.shape[0] <= _FEW or is_sparse(X) or code != GAUSSIAN:
        return False
    far = float(np.max(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
    return bool(gamma * far <= _FAR)


def weighted_sums(
    X: Any, points: Any, coef: FloatArray, between: Callable[[Any, Any], FloatArray]
) -> FloatArray:
    """Return the sums of the kernel at the points times their coefficients (points, machines)."""
    m, machines = X.shape[0], coef.shape[1]
    found = np.zeros((m, machines))
    if not points.shape[0] or not m:
        return found
    tall = max(1, _TILE // points.shape[0])

    def add(start: int) -> None:
        part = slice(start, min(start + tall, m))
        found[part] = between(X[part], points) @ coef

    if m <= tall:
        add(0)
    else:
        in_threads(add, range(0, m, tall))
    return found
