"""A quadratic function of a vector, whose curvature is known exactly."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.optimize._convexity.piece import Piece
from bottega.optimize._convexity.reasons import Reason
from bottega.optimize.objective import numbers_of

__all__ = ["QuadraticFunction"]

_EPS = float(np.finfo(np.float64).eps)


class QuadraticFunction(Piece):
    r"""The function :math:`\tfrac12 x^\top A x + b^\top x + c`.

    It is convex exactly if no eigenvalue of A is negative, strongly convex with the smallest
    eigenvalue as its constant, and has a gradient that changes by no more than the largest times
    the distance. It is a piece: it adds to others, and takes multiples and affine maps inside.

    Parameters
    ----------
    A : array-like of shape (d, d)
        Symmetric matrix; only its symmetric part counts.
    b : array-like of shape (d,) or float, default=0.0
        Slope at zero.
    c : float, default=0.0
        Value at zero.

    Attributes
    ----------
    eigenvalues : ndarray of shape (d,)
        Of A, the smallest first.
    rounding : float
        Eigenvalues of this size cannot be told from zero.

    Examples
    --------
    >>> f = QuadraticFunction([[2.0, 0.0], [0.0, 4.0]], [1.0, 0.0])
    >>> f([1.0, 1.0]), f.gradient([1.0, 1.0]).tolist(), f.curvature
    (4.0, [3.0, 4.0], 'convex')
    """

    def __init__(self, A: Any, b: Any = 0.0, c: float = 0.0) -> None:
        matrix = np.atleast_2d(numbers_of(A, "A"))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise InputError(f"A has shape {matrix.shape}; give a square matrix.")
        slope = numbers_of(b, "b")
        if slope.shape not in ((), (1,), (len(matrix),)):
            raise InputError(f"b has shape {slope.shape}; A asks for ({len(matrix)},).")
        if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(slope)) and np.isfinite(c)):
            raise InputError("A, b and c have to be finite numbers.")
        self.A = matrix / 2 + matrix.T / 2
        self.b, self.c = np.broadcast_to(slope, (len(matrix),)).copy(), float(c)
        self.inputs = len(matrix)
        self.eigenvalues: FloatArray
        self.eigenvectors: FloatArray
        self.eigenvalues, self.eigenvectors = np.linalg.eigh(self.A)
        self.rounding = 8 * len(matrix) * _EPS * float(np.max(np.abs(self.eigenvalues)))
        self.bends = (float(self.eigenvalues[0]), float(self.eigenvalues[-1]))

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return f"quadratic({of})"

    def _value(self, x: FloatArray) -> float:
        return float(x @ (self.A @ x) / 2 + self.b @ x + self.c)

    def _gradient(self, x: FloatArray) -> FloatArray:
        return self.A @ x + self.b

    def _hessian(self, x: FloatArray) -> FloatArray:
        return self.A.copy()

    def _reason(self) -> Reason:
        low, high = self.bends
        if not np.any(self.A):
            return Reason("affine", self.words(), "its matrix is zero")
        if low >= -self.rounding:
            size = "zero to rounding" if low <= self.rounding else f"{low:.4g}"
            rule = f"the smallest eigenvalue of its matrix is {size}"
            return Reason("convex", self.words(), rule)
        if high <= self.rounding:
            rule = "no eigenvalue of its matrix is positive"
            return Reason("concave", self.words(), rule)
        rule = f"its matrix has eigenvalues from {low:.4g} to {high:.4g}"
        return Reason("unknown", self.words(), rule)
