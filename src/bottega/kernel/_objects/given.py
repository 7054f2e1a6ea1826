"""Kernels that a user brings: a matrix between inputs, a function, or the matrix of all pairs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.kernel._objects.base import Kernel, TableKernel, as_points, psd_check
from bottega.kernel._objects.products import dense

__all__ = ["FunctionKernel", "PrecomputedKernel", "QuadraticFormKernel"]


@stored
@dataclass(frozen=True, eq=False)
class QuadraticFormKernel(TableKernel):
    """The kernel x'Az of a symmetric, positive semi-definite matrix A.

    Parameters
    ----------
    A : array-like of shape (p, p)
        The matrix; refused with its least eigenvalue where this is negative.

    Examples
    --------
    >>> QuadraticFormKernel([[2.0, 1.0], [1.0, 2.0]])([[1.0, 0.0]], [[0.0, 1.0]])
    array([[1.]])
    """

    A: Any

    def __post_init__(self) -> None:
        A = np.array(self.A, dtype=np.float64)
        check = psd_check(A)
        if not check:
            raise ParameterError(
                f"A has the negative eigenvalue {check.least:.4g}, so x'Az is no kernel; A must be "
                "symmetric and positive semi-definite."
            )
        object.__setattr__(self, "A", A)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuadraticFormKernel) and np.array_equal(self.A, other.A)

    def __hash__(self) -> int:
        return hash(self.A.tobytes())

    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        return np.asarray(self._fitting(X) @ self.A @ dense(Z).T)

    def _diagonal(self, X: Any) -> FloatArray:
        X = self._fitting(X)
        return np.einsum("ij,ij->i", X @ self.A, X)

    def _fitting(self, X: Any) -> FloatArray:
        if X.shape[1] != len(self.A):
            raise InputError(f"A is for {len(self.A)} columns; the points have {X.shape[1]}.")
        return dense(X)

    def feature_map(self, X: Any) -> FloatArray:
        """Return the points times a root of A."""
        values, vectors = np.linalg.eigh(self.A)
        return self._fitting(as_points(X)) @ (vectors * np.sqrt(np.maximum(values, 0.0)))


@stored
@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A kernel that a user wrote.

    Parameters
    ----------
    function : callable
        The function: of two tables, returning the matrix of all pairs; or with `by_pair` of two
        points, returning a number.
    by_pair : bool
        Whether the function is of two points.
    objects : bool
        Whether points are objects (texts, graphs) in a list, instead of rows of numbers.

    Examples
    --------
    >>> same_letter = FunctionKernel(lambda a, b: float(a[0] == b[0]), by_pair=True, objects=True)
    >>> same_letter(["apple", "apricot", "lemon"])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    function: Callable[[Any, Any], Any]
    by_pair: bool = False
    objects: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"function={self.function!r} cannot be called.")

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        X = self._points(X)
        Z = X if Z is None else self._points(Z)
        n, m = len(X), len(Z)
        if not self.by_pair:
            found = np.asarray(self.function(X, Z), dtype=np.float64)
        elif Z is X:
            found = np.empty((n, n))
            for i in range(n):
                for j in range(i + 1):
                    found[i, j] = found[j, i] = self.function(X[i], X[j])
        else:
            found = np.array([[self.function(x, z) for z in Z] for x in X], dtype=np.float64)
            found = found.reshape(n, m)
        if found.shape != (n, m):
            raise InputError(
                f"The kernel function returned the shape {found.shape} for {n} and {m} points; it "
                f"must return the matrix of all pairs, ({n}, {m}). Set by_pair=True for a function "
                "of two points."
            )
        return found

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each point."""
        X = self._points(X)
        if self.by_pair:
            return np.array([float(self.function(x, x)) for x in X])
        return np.array([self(X[i : i + 1])[0, 0] for i in range(len(X))])

    def _points(self, X: Any) -> Any:
        return list(X) if self.objects else dense(as_points(X))


@stored
@dataclass(frozen=True)
class PrecomputedKernel(Kernel):
    """The matrix of all pairs, computed before: the table of points is the matrix itself.

    A model is fitted to the square matrix of the training points, and predicts from one with a row
    per new point and a column per training point.
    """

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix, as it is."""
        return np.array(dense(as_points(X)))

    def diagonal(self, X: Any) -> FloatArray:
        """Return the diagonal of the matrix."""
        return np.array(np.diagonal(dense(as_points(X))))
