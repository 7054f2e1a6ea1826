"""Few features that nearly have a kernel as their inner product: for many rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import take_rows
from bottega.core.row_order import own_order
from bottega.core.seeds import seed_of
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.kernel._objects.base import as_points
from bottega.kernel.kernels import GaussianKernel, Kernel, LaplacianKernel

__all__ = ["FourierMap", "NystroemMap", "kernel_error", "nystroem", "random_fourier"]

_VANISHING = 1e-12  # share of the largest eigenvalue below which a direction is left out
_JUDGED = 1000  # rows on which the error of a map is measured


@stored
@dataclass(frozen=True, eq=False)
class NystroemMap:
    """Features of the kernels with some points, the landmarks.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    landmarks : ndarray or sparse matrix of shape (m, p), or objects
        The points.
    whitening : ndarray of shape (m, r)
        What turns kernels with the landmarks into features.
    """

    kernel: Kernel
    landmarks: Any
    whitening: FloatArray

    def __call__(self, X: Any) -> FloatArray:
        """Return the features of points, one row each."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.kernel(X, self.landmarks) @ self.whitening)


@stored
@dataclass(frozen=True, eq=False)
class FourierMap:
    """Cosines and sines of random directions.

    Attributes
    ----------
    directions : ndarray of shape (p, m / 2)
        Random frequencies.
    """

    directions: FloatArray

    def __call__(self, X: Any) -> FloatArray:
        """Return the features of points, one row each."""
        angles = np.asarray(as_points(X) @ self.directions)
        size = 1 / np.sqrt(self.directions.shape[1])
        with np.errstate(invalid="ignore"):
            return size * np.hstack([np.cos(angles), np.sin(angles)])


def nystroem(kernel: Kernel, X: Any, n_components: int = 500, random_state: Any = 0) -> NystroemMap:
    r"""Return features whose inner products are the kernel on some rows, and nearly so elsewhere.

    With the kernel matrix :math:`K_{mm} = U \Lambda U^\top` of m landmarks the features of x are
    :math:`\Lambda^{-1/2} U^\top k_m(x)`. The matrix of their inner products is at most the true
    one, and exact where a landmark takes part.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    X : array-like of shape (n, p), or objects
        Points, of which the landmarks are drawn; which ones does not depend on the order of rows.
    n_components : int
        Number of landmarks, m.
    random_state : int, Generator or None
        Seed of the draw.

    Returns
    -------
    NystroemMap
        A function of points.

    References
    ----------
    .. [1] Williams, C. K. I. and Seeger, M. (2001). Using the Nystroem method to speed up kernel
       machines. Advances in Neural Information Processing Systems 13, 682-688.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> kernel = GaussianKernel(0.25)
    >>> few, many = nystroem(kernel, X, 20), nystroem(kernel, X, 100)
    >>> kernel_error(kernel, many, X) < 1e-3 < kernel_error(kernel, few, X) < 0.3
    True
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    _check_count(n_components)
    order = own_order(X, None)
    # Another stream than the one that shuffles that order, which would undo it.
    rng = np.random.default_rng([seed_of(random_state), n_components])
    chosen = rng.permutation(n)[:n_components]
    landmarks = take_rows(X, np.sort(order[chosen]))
    K = kernel(landmarks)
    if not np.all(np.isfinite(K)):
        raise InputError("The kernel of the landmarks is not finite; rescale the points.")
    lam, U = linalg.eigh(K, overwrite_a=True, check_finite=False, driver="evd")
    if lam[0] < -1e-8 * max(abs(lam[0]), lam[-1]):
        raise InputError(
            f"The kernel is not positive semi-definite on these points: its least eigenvalue is "
            f"{lam[0]:.4g}, its largest {lam[-1]:.4g}. It has no features."
        )
    held = lam > _VANISHING * lam[-1]
    return NystroemMap(kernel, landmarks, U[:, held] / np.sqrt(lam[held]))


def random_fourier(
    kernel: Kernel, n_inputs: int, n_components: int = 500, random_state: Any = 0
) -> FourierMap:
    r"""Return random features whose inner products are a shift-invariant kernel in the mean.

    The cosines and sines of :math:`\omega^\top x` for frequencies :math:`\omega` drawn from the
    Fourier transform of the kernel: normal ones for the Gaussian kernel, Cauchy's for the
    Laplacian. The error falls like one over the root of their number, whatever the points.

    Parameters
    ----------
    kernel : GaussianKernel or LaplacianKernel
        The kernel.
    n_inputs : int
        Columns of the points.
    n_components : int
        Number of features, made even.
    random_state : int, Generator or None
        Seed of the draw.

    Returns
    -------
    FourierMap
        A function of points.

    References
    ----------
    .. [1] Rahimi, A. and Recht, B. (2007). Random features for large-scale kernel machines.
       Advances in Neural Information Processing Systems 20, 1177-1184.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> phi = random_fourier(GaussianKernel(0.25), 2, 1000)
    >>> phi(X).shape, kernel_error(GaussianKernel(0.25), phi, X) < 0.1
    ((400, 1000), True)
    """
    _check_count(n_components)
    rng = np.random.default_rng(seed_of(random_state))
    shape = n_inputs, max(1, (n_components + 1) // 2)
    if isinstance(kernel, GaussianKernel):
        return FourierMap(np.sqrt(2 * kernel.gamma) * rng.normal(size=shape))
    if isinstance(kernel, LaplacianKernel):
        return FourierMap(kernel.gamma * rng.standard_cauchy(size=shape))
    raise InputError(
        f"Random Fourier features are for the Gaussian and the Laplacian kernel, not for "
        f"{kernel!r}; use nystroem."
    )


def kernel_error(kernel: Kernel, features: Any, X: Any) -> float:
    """Return how far inner products of features are from the kernel, relative to it.

    The root of the sum of squared differences over that of squared kernels, of all pairs of (at
    most 1,000) rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    features : callable
        The map of points to features.
    X : array-like of shape (n, p), or objects
        Points.
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n > _JUDGED:
        X = take_rows(X, own_order(X, None)[-_JUDGED:])
    K, Z = kernel(X), features(X)
    return float(np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K))


def _check_count(n_components: Any) -> None:
    if isinstance(n_components, bool) or not isinstance(n_components, int | np.integer):
        raise ParameterError(f"n_components={n_components!r} must be a whole number at least 1.")
    if n_components < 1:
        raise ParameterError(f"n_components={n_components!r} must be a whole number at least 1.")
