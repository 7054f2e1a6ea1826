"""Kernels made of kernels: sums, products, multiples, compositions, normalisation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.kernel._objects.base import Kernel

__all__ = [
    "ComposedKernel",
    "ConstantKernel",
    "NormalizedKernel",
    "ProductKernel",
    "ScaledKernel",
    "SumKernel",
]


def _positive(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ParameterError(
            f"{name}={value!r} is not allowed; a kernel stays one only times (or plus) a positive, "
            "finite number."
        )


@stored
@dataclass(frozen=True)
class ConstantKernel(Kernel):
    """The kernel that is a positive number for all pairs: an intercept.

    Parameters
    ----------
    value : float
        The number.
    """

    value: float

    def __post_init__(self) -> None:
        _positive("value", self.value)

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return a matrix of this number."""
        return np.full((_count(X), _count(X if Z is None else Z)), self.value)

    def diagonal(self, X: Any) -> FloatArray:
        """Return the number for each point."""
        return np.full(_count(X), self.value)

    def feature_map(self, X: Any) -> FloatArray:
        """Return one constant column."""
        return np.full((_count(X), 1), np.sqrt(self.value))


def _count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


@stored
@dataclass(frozen=True)
class ScaledKernel(Kernel):
    """A positive multiple of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    factor : float
        The number.
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        _positive("factor", self.factor)

    @property
    def objects(self) -> bool:  # type: ignore[override]
        """Whether points are objects."""
        return self.kernel.objects

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        return self.factor * self.kernel(X, Z)

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each point."""
        return self.factor * self.kernel.diagonal(X)

    def feature_map(self, X: Any) -> FloatArray:
        """Return the features times the root of the factor."""
        return np.sqrt(self.factor) * self.kernel.feature_map(X)


@dataclass(frozen=True)
class _Pair(Kernel):
    """Two kernels of the same points."""

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        free = isinstance(self.first, ConstantKernel) or isinstance(self.second, ConstantKernel)
        if not free and self.first.objects != self.second.objects:
            raise ParameterError(
                f"{self.first!r} and {self.second!r} are kernels of different kinds of points."
            )

    @property
    def objects(self) -> bool:  # type: ignore[override]
        """Whether points are objects."""
        return self.first.objects or self.second.objects


@stored
@dataclass(frozen=True)
class SumKernel(_Pair):
    """The sum of two kernels: the features of both side by side.

    Parameters
    ----------
    first, second : Kernel
        The kernels.
    """

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        return self.first(X, Z) + self.second(X, Z)

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each point."""
        return self.first.diagonal(X) + self.second.diagonal(X)

    def feature_map(self, X: Any) -> FloatArray:
        """Return the features of both."""
        return np.hstack([self.first.feature_map(X), self.second.feature_map(X)])


@stored
@dataclass(frozen=True)
class ProductKernel(_Pair):
    """The product of two kernels: all products of a feature of one with a feature of the other.

    Parameters
    ----------
    first, second : Kernel
        The kernels.
    """

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        return self.first(X, Z) * self.second(X, Z)

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each point."""
        return self.first.diagonal(X) * self.second.diagonal(X)

    def feature_map(self, X: Any) -> FloatArray:
        """Return the products of features."""
        first, second = self.first.feature_map(X), self.second.feature_map(X)
        return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)


@stored
@dataclass(frozen=True)
class ComposedKernel(Kernel):
    """A kernel after a map of the points: k(f(x), f(z)).

    Parameters
    ----------
    kernel : Kernel
        The kernel of the mapped points.
    transform : callable
        The map f, of a whole table (or list) of points.
    """

    kernel: Kernel
    transform: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.transform):
            raise ParameterError(f"transform={self.transform!r} is not a function of points.")

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(f(x_i), f(z_j))."""
        return self.kernel(self.transform(X), None if Z is None else self.transform(Z))

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each point."""
        return self.kernel.diagonal(self.transform(X))

    def feature_map(self, X: Any) -> FloatArray:
        """Return the features of the mapped points."""
        return self.kernel.feature_map(self.transform(X))


@stored
@dataclass(frozen=True)
class NormalizedKernel(Kernel):
    """A kernel scaled to k(x, x) = 1: the cosine of the angle between features.

    A point whose features are all zero has none; its kernel with every point is zero.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    """

    kernel: Kernel

    @property
    def objects(self) -> bool:  # type: ignore[override]
        """Whether points are objects."""
        return self.kernel.objects

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j)."""
        left = _inverse_root(self.kernel.diagonal(X))
        right = left if Z is None else _inverse_root(self.kernel.diagonal(Z))
        return self.kernel(X, Z) * left[:, None] * right

    def diagonal(self, X: Any) -> FloatArray:
        """Return 1 for each point, 0 where it has no features."""
        return (self.kernel.diagonal(X) > 0).astype(np.float64)

    def feature_map(self, X: Any) -> FloatArray:
        """Return the features, of length one."""
        return self.kernel.feature_map(X) * _inverse_root(self.kernel.diagonal(X))[:, None]


def _inverse_root(diagonal: FloatArray) -> FloatArray:
    known = diagonal > 0
    return np.where(known, 1 / np.sqrt(np.where(known, diagonal, 1.0)), 0.0)
