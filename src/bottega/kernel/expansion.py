"""Functions of a kernel's space: sums of kernels at points."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import take_rows
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.kernel._objects.products import dense
from bottega.kernel.kernels import Kernel
from bottega.risk.bounds import kernel_perceptron

__all__ = ["KernelExpansion"]


@stored
@dataclass(frozen=True, eq=False)
class KernelExpansion:
    r"""A function of the kernel's space, :math:`f = \sum_i \alpha_i K(x_i, \cdot)`.

    Its squared norm is :math:`\lVert f \rVert_K^2 = \alpha^\top K \alpha`, and the inner product
    of two of them :math:`\langle f, g \rangle_K = \alpha^\top K_{fg} \beta`; so
    :math:`\langle f, K(x, \cdot) \rangle_K = f(x)`. Expansions are added and multiplied by numbers.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    points : array-like of shape (n, p), or objects
        The points :math:`x_i`.
    coef : array-like of shape (n,)
        The coefficients :math:`\alpha_i`.

    Examples
    --------
    >>> from bottega.kernel import PolynomialKernel
    >>> f = KernelExpansion(PolynomialKernel(2), [[1.0, 0.0], [0.0, 1.0]], [1.0, -1.0])
    >>> f([[2.0, 1.0]]), f.norm2()  # (1 + 2)^2 - (1 + 1)^2, and 4 - 1 - 1 + 4
    (array([5.]), 6.0)
    """

    kernel: Kernel
    points: Any
    coef: FloatArray

    def __post_init__(self) -> None:
        coef = np.asarray(self.coef, dtype=np.float64)
        points = list(self.points) if self.kernel.objects else self.points
        if not (self.kernel.objects or is_sparse(points)):
            points = np.asarray(points, dtype=np.float64)
        n = points.shape[0] if hasattr(points, "shape") else len(points)
        if coef.shape != (n,):
            raise InputError(f"coef has shape {coef.shape}; it needs one number per point: ({n},).")
        object.__setattr__(self, "coef", coef)
        object.__setattr__(self, "points", points)

    def __call__(self, X: Any) -> FloatArray:
        """Return f at points."""
        return np.asarray(self.kernel(X, self.points) @ self.coef)

    def inner(self, other: "KernelExpansion") -> float:
        """Return the inner product with another function of the same space."""
        if other.kernel != self.kernel:
            raise InputError("Two functions have an inner product in the space of one kernel only.")
        return float(self.coef @ self.kernel(self.points, other.points) @ other.coef)

    def norm2(self) -> float:
        """Return the squared norm, the coefficients times the kernel matrix times them."""
        return max(0.0, float(self.coef @ self.kernel(self.points) @ self.coef))

    def norm(self) -> float:
        """Return the norm in the kernel's space."""
        return float(np.sqrt(self.norm2()))

    def margin(self, X: Any, y: Any) -> float:
        """Return the least y f(x) over rows with labels -1 and +1."""
        return float(np.min(_signs(y) * self(X)))

    def with_margin_one(self, X: Any, y: Any) -> "KernelExpansion":
        """Return the multiple of f whose least y f(x) is 1; refused where f does not separate."""
        margin = self.margin(X, y)
        if not margin > 0:
            raise InputError(
                f"This function does not separate the rows: its least y f(x) is {margin:.4g}."
            )
        return self * (1 / margin)

    def most_updates(self, X: Any, y: Any) -> float:
        r"""Return how many updates a kernel perceptron can make on these rows, by this function.

        :math:`\lVert f \rVert_K^2 \max_t K(x_t, x_t)` for the multiple of f with margin 1.
        """
        f = self.with_margin_one(X, y)
        return float(kernel_perceptron(f.norm2(), float(np.max(self.kernel.diagonal(X)))))

    def __add__(self, other: Any) -> "KernelExpansion":
        if not isinstance(other, KernelExpansion):
            return NotImplemented
        if other.kernel != self.kernel:
            raise InputError("Functions of the spaces of two kernels have no sum here.")
        if self.kernel.objects:
            points: Any = [*self.points, *other.points]
        else:
            tables = [dense(self.points), dense(other.points)]
            points = np.vstack(tables)
        return KernelExpansion(self.kernel, points, np.r_[self.coef, other.coef])

    def __mul__(self, factor: Any) -> "KernelExpansion":
        if not isinstance(factor, Real):
            return NotImplemented
        return replace(self, coef=float(factor) * self.coef)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> "KernelExpansion":
        return self + (-1.0) * other

    def reduced(self) -> "KernelExpansion":
        """Return the same function without the points whose coefficient is zero."""
        used = np.flatnonzero(self.coef)
        points = (
            [self.points[i] for i in used] if self.kernel.objects else take_rows(self.points, used)
        )
        return KernelExpansion(self.kernel, points, self.coef[used])


def _signs(y: Any) -> FloatArray:
    signs = np.asarray(y, dtype=np.float64)
    if not np.all(np.abs(signs) == 1):
        raise InputError("Margins are for labels -1 and +1.")
    return signs
