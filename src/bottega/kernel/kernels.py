r"""Kernels: functions of two points that are inner products of features of them.

A kernel object is called with tables of points, knows its diagonal, is added, multiplied and
composed with others, and says whether the matrix of given points is positive semi-definite.
`get_kernel` makes them from the words that estimators take.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.kernel._objects import base
from bottega.kernel._objects.base import Kernel, PsdCheck, RowKernel, TableKernel
from bottega.kernel._objects.combined import (
    ComposedKernel,
    ConstantKernel,
    NormalizedKernel,
    ProductKernel,
    ScaledKernel,
    SumKernel,
)
from bottega.kernel._objects.features import monomial_map
from bottega.kernel._objects.given import (
    FunctionKernel,
    PrecomputedKernel,
    QuadraticFormKernel,
)
from bottega.kernel._objects.numbers import check_degree, check_number, resolve_gamma
from bottega.kernel._objects.products import dense, products, row_squares, squared_distances

__all__ = [
    "ComposedKernel",
    "ConstantKernel",
    "FunctionKernel",
    "GaussianKernel",
    "Kernel",
    "LaplacianKernel",
    "LinearKernel",
    "NormalizedKernel",
    "PolynomialKernel",
    "PrecomputedKernel",
    "ProductKernel",
    "PsdCheck",
    "QuadraticFormKernel",
    "RowKernel",
    "ScaledKernel",
    "SigmoidKernel",
    "SumKernel",
    "get_kernel",
    "resolve_gamma",
]


@stored
@dataclass(frozen=True)
class LinearKernel(TableKernel):
    """The inner product of the points themselves, k(x, z) = x.z.

    Examples
    --------
    >>> LinearKernel()([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    @property
    def row_kernel(self) -> RowKernel:
        """Its code for compiled loops."""
        return RowKernel(base.LINEAR)

    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        return products(X, Z)

    def _diagonal(self, X: Any) -> FloatArray:
        return row_squares(X)

    def feature_map(self, X: Any) -> FloatArray:
        """Return the points."""
        return dense(base.as_points(X)).copy()


@stored
@dataclass(frozen=True)
class PolynomialKernel(TableKernel):
    r"""Polynomials of a degree, :math:`k(x, z) = (\gamma\, x^\top z + c)^d`.

    Its features are the monomials up to degree d (of degree d alone with c = 0).

    Parameters
    ----------
    degree : int
        The degree d.
    gamma : float
        Factor of the inner product.
    coef0 : float
        The constant c, not negative: with a negative one this is no kernel.

    Examples
    --------
    >>> quadratic = PolynomialKernel(2)
    >>> X = np.array([[1.0, 2.0], [3.0, -1.0]])
    >>> float(quadratic(X)[0, 1])
    4.0
    >>> phi = quadratic.feature_map(X)  # 1, x1, x2, x1^2, x1 x2, x2^2 with their factors
    >>> phi.shape[1], bool(np.isclose(phi[0] @ phi[1], 4))
    (6, True)
    >>> quadratic.feature_map(X, distinct=False).shape[1]  # x1 x2 and x2 x1 apart
    7
    """

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_degree(self.degree)
        check_number("gamma", self.gamma, above=0)
        check_number("coef0", self.coef0)

    @property
    def row_kernel(self) -> RowKernel:
        """Its code and numbers for compiled loops."""
        return RowKernel(base.POLYNOMIAL, float(self.gamma), float(self.coef0), int(self.degree))

    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        return self._of(products(X, Z))

    def _diagonal(self, X: Any) -> FloatArray:
        return self._of(row_squares(X))

    def _of(self, inner: FloatArray) -> FloatArray:
        inner *= self.gamma
        inner += self.coef0
        return np.asarray(inner ** int(self.degree))

    def feature_map(self, X: Any, *, distinct: bool = True) -> FloatArray:
        """Return the monomials, each times its factor.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Points.
        distinct : bool
            One column for each monomial, C(p + d, d) of them. False: one for each ordered choice
            of inputs, 1 + p + ... + p^d, which counts x1 x2 and x2 x1 as two; the inner products
            are the same.
        """
        X = dense(base.as_points(X))
        return monomial_map(X, int(self.degree), self.gamma, self.coef0, distinct)


@stored
@dataclass(frozen=True)
class GaussianKernel(TableKernel):
    r"""The Gaussian kernel, :math:`k(x, z) = \exp(-\gamma \lVert x - z \rVert^2)`.

    Parameters
    ----------
    gamma : float
        One over twice the variance: :math:`\gamma = 1 / (2\sigma^2)`. The larger, the narrower.

    Examples
    --------
    >>> GaussianKernel(0.5)([[0.0]], [[2.0]]).round(4)
    array([[0.1353]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_number("gamma", self.gamma, above=0)

    @property
    def row_kernel(self) -> RowKernel:
        """Its code and number for compiled loops."""
        return RowKernel(base.GAUSSIAN, float(self.gamma))

    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        distances = squared_distances(X, Z)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _diagonal(self, X: Any) -> FloatArray:
        return np.ones(X.shape[0])


@stored
@dataclass(frozen=True)
class LaplacianKernel(TableKernel):
    r"""The Laplacian kernel, :math:`k(x, z) = \exp(-\gamma \sum_j |x_j - z_j|)`.

    Parameters
    ----------
    gamma : float
        The larger, the narrower.

    Examples
    --------
    >>> LaplacianKernel(0.5)([[0.0, 0.0]], [[1.0, -1.0]]).round(4)
    array([[0.3679]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_number("gamma", self.gamma, above=0)

    @property
    def row_kernel(self) -> RowKernel:
        """Its code and number for compiled loops."""
        return RowKernel(base.LAPLACIAN, float(self.gamma))

    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        distances = cdist(dense(X), dense(Z), "cityblock")
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def _diagonal(self, X: Any) -> FloatArray:
        return np.ones(X.shape[0])


@stored
@dataclass(frozen=True)
class SigmoidKernel(TableKernel):
    r"""The sigmoid, :math:`k(x, z) = \tanh(\gamma\, x^\top z + c)`, which is in general no kernel.

    Its matrix may have negative eigenvalues (`is_psd`): a dual problem with it need not be convex.

    Parameters
    ----------
    gamma : float
        Factor of the inner product.
    coef0 : float
        The constant c.

    Examples
    --------
    >>> check = SigmoidKernel(1.0, -1.0).is_psd(np.arange(1.0, 4.0)[:, None] / 3)
    >>> bool(check), round(check.least, 3)
    (False, -1.545)
    """

    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        check_number("gamma", self.gamma, above=0)
        check_number("coef0", self.coef0)

    @property
    def row_kernel(self) -> RowKernel:
        """Its code and numbers for compiled loops."""
        return RowKernel(base.SIGMOID, float(self.gamma), float(self.coef0))

    def _matrix(self, X: Any, Z: Any) -> FloatArray:
        return np.tanh(self.gamma * products(X, Z) + self.coef0)

    def _diagonal(self, X: Any) -> FloatArray:
        return np.tanh(self.gamma * row_squares(X) + self.coef0)


_WORDS: dict[str, str] = {
    "linear": "linear",
    "poly": "poly",
    "polynomial": "poly",
    "rbf": "rbf",
    "gaussian": "rbf",
    "laplacian": "laplacian",
    "sigmoid": "sigmoid",
    "cosine": "cosine",
    "precomputed": "precomputed",
}


def get_kernel(
    kernel: Any,
    *,
    gamma: Any = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    X: Any = None,
    weight: FloatArray | None = None,
    by_pair: bool = False,
) -> Kernel:
    """Return the kernel object that an estimator's parameters stand for.

    Parameters
    ----------
    kernel : str, Kernel or callable
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"laplacian"``, ``"sigmoid"``, ``"cosine"``,
        ``"precomputed"``; a kernel object, which is returned as it is; or a function.
    gamma : float, "scale", "auto" or None
        As `resolve_gamma` takes it.
    degree : int
        Of ``"poly"``.
    coef0 : float
        Constant of ``"poly"`` and ``"sigmoid"``.
    X : array-like of shape (n, p), optional
        The training rows, for a `gamma` that depends on them.
    weight : ndarray of shape (n,), optional
        Their weights.
    by_pair : bool
        Whether a function is of two points instead of two tables.

    Returns
    -------
    Kernel
        The kernel.

    Examples
    --------
    >>> get_kernel("poly", gamma=1.0, degree=2, coef0=1.0)
    PolynomialKernel(degree=2, gamma=1.0, coef0=1.0)
    >>> get_kernel("rbf", gamma="auto", X=np.zeros((5, 4)))
    GaussianKernel(gamma=0.25)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return FunctionKernel(kernel, by_pair=by_pair)
    word = _WORDS.get(kernel) if isinstance(kernel, str) else None
    if word is None:
        raise ParameterError(
            f"kernel={kernel!r} is not allowed; use one of {', '.join(_WORDS)}, a Kernel, or a "
            f"function.{did_you_mean(str(kernel), _WORDS)}"
        )
    if word == "linear":
        return LinearKernel()
    if word == "cosine":
        return NormalizedKernel(LinearKernel())
    if word == "precomputed":
        return PrecomputedKernel()
    gamma = resolve_gamma(gamma, X, weight)
    if word == "poly":
        return PolynomialKernel(degree, gamma, coef0)
    if word == "sigmoid":
        return SigmoidKernel(gamma, coef0)
    return GaussianKernel(gamma) if word == "rbf" else LaplacianKernel(gamma)
