"""Curves that are linear combinations of B-splines, fitted by (penalised) least squares."""

from dataclasses import dataclass

import numpy as np

from bottega.basis.spline_functions import LocalDesign, design
from bottega.core.loaded import insist
from bottega.core.losses import Loss
from bottega.core.rows import Rows
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._kernels import banded as kernels
from bottega.smooth._path.scores import Score, score_fit
from bottega.smooth._splines.one_input import OneInputSmoother


def gram(B: LocalDesign, rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Return B'WB and B'Wy."""
    band, right = kernels.band_gram(B.values, B.first, rows.weights, rows.y, B.size)
    G = np.zeros((B.size, B.size))
    for k in range(min(len(band), B.size)):
        at = np.arange(B.size - k)
        G[at + k, at] = G[at, at + k] = band[k, : B.size - k]
    return G, right


def _quadratic(B: LocalDesign, M: FloatArray) -> FloatArray:
    """Return the quadratic form of each row of B in a symmetric matrix."""
    width, size = B.values.shape[1], len(M)
    band = np.zeros((width, size))
    for k in range(min(width, size)):
        band[k, : size - k] = np.diagonal(M, -k)
    return kernels.band_quadratic(B.values, B.first, band)


@stored
@dataclass(frozen=True)
class SplineFit:
    """One fit: ``coef = M B'Wy``; with `linear_ends` it goes on along tangents beyond the ends."""

    knots: FloatArray
    degree: int
    linear_ends: bool
    M: FloatArray
    coef: FloatArray
    df: float
    trace_sst: float
    noise: FloatArray | None = None  # covariance of the coefficients over sigma^2, where not M

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        size = len(self.knots) - self.degree - 1
        insist(size > self.degree and self.coef.shape == (size,), "a spline without coefficients")
        for matrix in (self.M, self.noise):
            insist(matrix is None or matrix.shape == (size, size), "a spline of another size")

    def design(self, x: FloatArray, derivative: int = 0) -> LocalDesign:
        """Return the B-splines at each x."""
        return design(x, self.knots, self.degree, derivative, linear_ends=self.linear_ends)

    def leverage(self, B: LocalDesign, rows: Rows) -> FloatArray:
        """Return the leverages of the rows, B being their design."""
        pull = _quadratic(B, self.M)
        return pull if rows.weight is None else rows.weight * pull

    def score(self, B: LocalDesign, rows: Rows, loss: Loss | None) -> Score:
        """Reduce the fit to what a path needs."""
        return score_fit(rows, B @ self.coef, self.leverage(B, rows), loss, self.df)


class BasisSmoother(OneInputSmoother):
    """A combination of B-splines: `_keep` sets everything that is learned."""

    _spline: SplineFit

    def _keep(self, fit: SplineFit, rows: Rows) -> None:
        self._spline, self._x = fit, np.ascontiguousarray(rows.X[:, 0])
        self._range = (float(self._x.min()), float(self._x.max()))
        B = fit.design(self._x)
        self._keep_smoother(rows, B @ fit.coef, fit.leverage(B, rows), fit.trace_sst, fit.df)

    def _curve_at(self, x: FloatArray, derivative: int = 0) -> FloatArray:
        return self._spline.design(x, derivative) @ self._spline.coef

    def _coefficient_covariance(self) -> FloatArray:
        """Return the covariance of the coefficients in units of sigma^2."""
        return self._spline.M if self._spline.noise is None else self._spline.noise

    def _deviation(self, x: FloatArray, derivative: int) -> FloatArray:
        variance = _quadratic(self._spline.design(x, derivative), self._coefficient_covariance())
        return np.asarray(self.smoother_.sigma * np.sqrt(np.maximum(variance, 0.0)))

    def _noise_rows(self, X: FloatArray) -> FloatArray:
        """Return F, with F F' the covariance of the curve at points over sigma^2."""
        values, vectors = np.linalg.eigh(self._coefficient_covariance())
        return self._spline.design(X[:, 0]) @ (vectors * np.sqrt(np.maximum(values, 0.0)))

    def _matrix(self, X: FloatArray) -> FloatArray:
        spline = self._spline
        S = spline.design(X[:, 0]) @ (spline.M @ spline.design(self._x).toarray().T)
        return np.asarray(S * self._pull)

    def _breaks(self) -> tuple[FloatArray, int]:
        return self._spline.knots, self._spline.degree
