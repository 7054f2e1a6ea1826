"""What every kernel can do: its matrix, its diagonal, its algebra, and whether it is one."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray

__all__ = ["Kernel", "PsdCheck", "RowKernel", "TableKernel", "as_points", "psd_check"]

# Codes of the kernels that compiled loops know; all others come in blocks of the matrix.
LINEAR, POLYNOMIAL, GAUSSIAN, LAPLACIAN, SIGMOID = range(5)
OTHER = -1

# Eigenvalues below this share of the largest in size are what rounding makes of zero.
_ROUNDING = 1e-10


class RowKernel(NamedTuple):
    """A kernel as compiled loops take it: a code and its numbers."""

    code: int
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1


@dataclass(frozen=True)
class PsdCheck:
    """Whether a kernel matrix is positive semi-definite; it is true or false as a value.

    Attributes
    ----------
    least, largest : float
        Least and largest eigenvalue.
    tol : float
        Share of the largest eigenvalue in size that is taken as rounding.
    n : int
        Number of points.
    """

    least: float
    largest: float
    tol: float
    n: int

    def __bool__(self) -> bool:
        return self.least >= -self.tol * max(abs(self.least), abs(self.largest))

    def summary(self) -> Summary:
        """Return the eigenvalues and the verdict as a table."""
        row: dict[str, list[Any]] = {
            "points": [self.n],
            "least eigenvalue": [self.least],
            "largest eigenvalue": [self.largest],
            "positive semi-definite": ["yes" if self else "no"],
        }
        note = (
            "Points can show that a function is no kernel, never that it is one."
            if self
            else "This function is no kernel: no feature map has these inner products."
        )
        return Summary("Eigenvalues of the kernel matrix", (Section("", row),), (note,))

    def __str__(self) -> str:
        return str(self.summary())


class Kernel(ABC):
    """A symmetric function of two points, k(x, z), that is an inner product of features of them.

    Called with two tables it returns the matrix of all pairs. Kernels are added and multiplied with
    one another and with positive numbers, raised to whole powers, applied after a map (`after`) and
    scaled to k(x, x) = 1 (`normalized`); all of this leaves a kernel a kernel.
    """

    objects = False  # whether points are objects (texts) instead of rows of numbers

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j).

        Parameters
        ----------
        X : array-like of shape (n, p), or a list of objects
            Points.
        Z : array-like of shape (m, p), or a list of objects, optional
            Other points; those of X by default.
        """

    @abstractmethod
    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each point."""

    @property
    def row_kernel(self) -> RowKernel:
        """Its code and numbers for compiled loops; code -1 where only the matrix is known."""
        return RowKernel(OTHER)

    def feature_map(self, X: Any) -> FloatArray:
        """Return features whose inner products are the kernel, where they are finitely many."""
        raise InputError(
            f"{self!r} has no finite feature map; `nystroem` and `random_fourier` approximate one."
        )

    def is_psd(self, X: Any, tol: float = _ROUNDING) -> PsdCheck:
        """Return whether the matrix of these points is positive semi-definite.

        Parameters
        ----------
        X : array-like
            Points.
        tol : float
            Negative eigenvalues up to this share of the largest one are taken as rounding.

        Returns
        -------
        PsdCheck
            True or false, with the least eigenvalue.
        """
        return psd_check(self(X), tol)

    def after(self, transform: Callable[[Any], Any]) -> "Kernel":
        """Return the kernel k(f(x), f(z)) of a map f of tables of points."""
        from bottega.kernel._objects.combined import ComposedKernel

        return ComposedKernel(self, transform)

    def normalized(self) -> "Kernel":
        """Return the kernel k(x, z) / sqrt(k(x, x) k(z, z)): the cosine of the features."""
        from bottega.kernel._objects.combined import NormalizedKernel

        return NormalizedKernel(self)

    def __add__(self, other: Any) -> "Kernel":
        from bottega.kernel._objects.combined import ConstantKernel, SumKernel

        if isinstance(other, Real):
            other = ConstantKernel(float(other))
        if not isinstance(other, Kernel):
            return NotImplemented
        return SumKernel(self, other)

    def __mul__(self, other: Any) -> "Kernel":
        from bottega.kernel._objects.combined import ProductKernel, ScaledKernel

        if isinstance(other, Real):
            return ScaledKernel(self, float(other))
        if not isinstance(other, Kernel):
            return NotImplemented
        return ProductKernel(self, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __pow__(self, power: int) -> "Kernel":
        if not isinstance(power, int) or isinstance(power, bool) or power < 1:
            raise InputError(
                f"A kernel to the power {power!r} need not be one; the power must be 1, 2, ..."
            )
        found: Kernel = self
        for _ in range(power - 1):
            found = found * self
        return found


class TableKernel(Kernel):
    """A kernel of rows of numbers."""

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j) of the rows of X and Z (those of X by default)."""
        X = as_points(X)
        Z = X if Z is None else as_points(Z)
        if X.shape[1] != Z.shape[1]:
            raise InputError(
                f"X has {X.shape[1]} columns and Z has {Z.shape[1]}: a kernel needs points of one "
                "space."
            )
        return self._matrix(X, Z)

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each row."""
        return self._diagonal(as_points(X))

    @abstractmethod
    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        """Return the matrix of checked rows; `Z is X` where they are the same."""

    @abstractmethod
    def _diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of checked rows."""


def as_points(X: Any) -> Any:
    """Return points as a matrix of floats, dense or CSR."""
    if is_sparse(X):
        return X.tocsr()
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise InputError(
            f"A kernel takes a table of points, one per row; this one has {X.ndim} "
            f"dimension{'s' * (X.ndim != 1)}. Use X.reshape(-1, 1) for a single column."
        )
    return X


def psd_check(K: FloatArray, tol: float = _ROUNDING) -> PsdCheck:
    """Return whether a symmetric matrix is positive semi-definite, with its least eigenvalue."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(f"A kernel matrix is square; this one is {K.shape}.")
    scale = float(np.max(np.abs(K), initial=0.0))
    if not np.isfinite(scale):
        raise InputError("The kernel matrix has values that are not finite; rescale the points.")
    if np.max(np.abs(K - K.T), initial=0.0) > 1e-8 * scale:
        raise InputError(
            "The kernel matrix is not symmetric, so the function is no kernel: k(x, z) must be "
            "k(z, x)."
        )
    values = np.linalg.eigvalsh(K)
    return PsdCheck(float(values[0]), float(values[-1]), tol, len(K))
