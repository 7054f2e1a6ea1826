"""What kernel ridge regression prepares for its rows: a decomposition for each gamma, on demand."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg

from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.kernel._inputs.points import finite_kernel
from bottega.kernel._ridge.decompose import decompose_features, decompose_kernel
from bottega.kernel._ridge.spectrum import KernelSpectrum
from bottega.kernel.kernels import GaussianKernel, Kernel, LaplacianKernel, LinearKernel

__all__ = ["ApproximateRidge", "ExactRidge", "RidgeSolution", "RidgeWork"]

_SMALL = 500  # rows up to which a single penalty is decomposed like a path
_KNOWN = (GaussianKernel, LaplacianKernel, LinearKernel)  # positive semi-definite for all points


@dataclass(frozen=True)
class RidgeSolution:
    """A fit with one penalty: coefficients, and what a smoother keeps of each row."""

    coef: FloatArray  # (n, q) of the kernels, or (r, q) of the features
    intercept: FloatArray  # (q,)
    residual: FloatArray  # (n, q)
    left: FloatArray  # (n,): 1 minus the leverages
    df: float
    trace_sst: float


class _RidgeFits(ABC):
    """Ridge regressions with one kernel."""

    spectrum: KernelSpectrum

    @abstractmethod
    def coefficients(self, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients (., m, q) and the intercepts (m, q)."""

    def solution(self, alpha: float) -> RidgeSolution:
        """Return the fit with one penalty."""
        alphas, spectrum = np.array([alpha]), self.spectrum
        coef, intercept = self.coefficients(alphas)
        residual, left = np.empty_like(spectrum.outside), np.empty(len(spectrum.root))
        for rows, found, away in spectrum.fits(alphas):
            residual[rows] = found[:, 0] / spectrum.root[rows, None]
            left[rows] = away[:, 0]
        kept = 1 - spectrum.shrunk(alphas)
        constant = float(np.any(spectrum.u != 0))
        return RidgeSolution(
            coef[:, 0],
            intercept[0],
            residual,
            left,
            float(spectrum.df(alphas)[0]),
            float(np.sum(kept**2)) + constant,
        )


class ExactRidge(_RidgeFits):
    """With the whole kernel matrix."""

    def __init__(self, kernel: Kernel, K: FloatArray, rows: Rows, y: FloatArray, intercept: bool):
        self.kernel, self.rows, self.y, self.intercept = kernel, rows, y, intercept
        self._K: FloatArray | None = finite_kernel(K)
        self.mean_kernel = np.average(K, axis=0, weights=rows.weight)
        self.mean = np.average(y, axis=0, weights=rows.weight) if intercept else 0.0 * y[0]
        self._spectrum: KernelSpectrum | None = None

    @property
    def spectrum(self) -> KernelSpectrum:  # type: ignore[override]
        """The decomposition, made when it is first asked for."""
        if self._spectrum is None:
            assert self._K is not None
            K, self._K = self._K, None
            self._spectrum = decompose_kernel(K, self.y, self.rows, intercept=self.intercept)
        return self._spectrum

    def coefficients(self, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients of the kernels and the intercepts."""
        spectrum = self.spectrum
        coef = (spectrum.Q @ spectrum.inner(alphas)).reshape(len(self.y), len(alphas), -1)
        coef *= spectrum.root[:, None, None]
        return coef, self._intercepts(coef)

    def _intercepts(self, coef: FloatArray) -> FloatArray:
        if not self.intercept:
            return np.zeros(coef.shape[1:])
        return self.mean - np.einsum("i,i...->...", self.mean_kernel, coef)

    def solution(self, alpha: float) -> RidgeSolution:
        """Return the fit with one penalty: by Cholesky's factor where nothing else is wanted."""
        fresh = self._spectrum is None and isinstance(self.kernel, _KNOWN)
        if fresh and len(self.y) > _SMALL and alpha > 0:
            try:
                return self._direct(alpha)
            except linalg.LinAlgError:  # the penalty is lost in rounding
                pass
        return super().solution(alpha)

    def _direct(self, alpha: float) -> RidgeSolution:
        assert self._K is not None
        n, root = len(self.y), np.sqrt(self.rows.weights)
        u = root / np.linalg.norm(root) if self.intercept else np.zeros(n)
        A = self._K * root[:, None] * root
        if self.intercept:
            Au = A @ u
            w = Au - 0.5 * (u @ Au) * u
            A -= np.outer(u, w)
            A -= np.outer(w, u)
        A.flat[:: n + 1] += alpha
        target = root[:, None] * self.y
        target -= np.outer(u, u @ target)
        factor, _ = linalg.lapack.dpotrf(A, lower=1, overwrite_a=1, clean=1)[:2]
        if _ != 0:
            raise linalg.LinAlgError("not positive definite")
        d = linalg.cho_solve((factor, True), target, check_finite=False)
        inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
        diagonal = np.diagonal(inverse).copy()
        # Each entry below the diagonal stands for two.
        squares = 2 * float(np.sum(np.tril(inverse, -1) ** 2)) + float(diagonal @ diagonal)
        left = alpha * diagonal - u**2
        constant = float(self.intercept)
        kept = n - 2 * alpha * float(diagonal.sum()) + alpha**2 * squares
        coef = root[:, None] * d
        df = n - alpha * float(diagonal.sum()) + constant
        # In the direction of the intercept alpha / (0 + alpha) is 1, and nothing is kept.
        return RidgeSolution(
            coef,
            self._intercepts(coef),
            alpha * d / root[:, None],
            left,
            df,
            kept + constant,
        )


class ApproximateRidge(_RidgeFits):
    """With few features in place of the kernel."""

    def __init__(
        self,
        kernel: Kernel,
        features: Any,
        rows: Rows,
        y: FloatArray,
        intercept: bool,
        error: float,
    ):
        self.kernel, self.features, self.error = kernel, features, error
        self.intercept = intercept
        Z = finite_kernel(features(rows.X))
        self.mean = np.average(y, axis=0, weights=rows.weight) if intercept else 0.0 * y[0]
        self.spectrum, self.V, self.center = decompose_features(Z, y, rows, intercept=intercept)

    def coefficients(self, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients of the features and the intercepts."""
        spectrum = self.spectrum
        gains = spectrum.gains(alphas) * np.sqrt(spectrum.lam)[:, None]
        inner = (gains[:, :, None] * spectrum.z[:, None, :]).reshape(len(gains), -1)
        coef = (self.V @ inner).reshape(len(self.V), len(alphas), -1)
        if not self.intercept:
            return coef, np.zeros(coef.shape[1:])
        return coef, self.mean - np.einsum("i,i...->...", self.center, coef)


@dataclass
class RidgeWork:
    """The rows, and the ridge regressions of the gamma that was last asked for."""

    rows: Rows
    y: FloatArray  # (n, q)
    make: Callable[[Any], Any] = field(repr=False)
    _last: tuple[Any, Any] | None = None

    def at(self, gamma: Any) -> Any:
        """Return the ridge regressions with a gamma."""
        if self._last is None or self._last[0] != gamma:
            self._last = gamma, self.make(gamma)
        return self._last[1]
