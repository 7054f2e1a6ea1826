"""Curves that are linear combinations of B-splines, fitted by (penalised) least squares."""

from dataclasses import dataclass

import numpy as np

from bottega.basis.spline_functions import LocalDesign, design
from bottega.core.losses import Loss
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother
from bottega.core.typing import FloatArray
from bottega.smooth._kernels import banded as kernels
from bottega.smooth._path.scores import Score, score_fit
from bottega.smooth._splines.one_input import OneInputSmoother


def local_design(
    x: FloatArray, knots: FloatArray, degree: int, derivative: int, linear_ends: bool
) -> LocalDesign:
    """Return the B-splines at each x; with `linear_ends`, on along the tangent beyond the ends."""
    if not linear_ends:
        return design(x, knots, degree, derivative)
    size = len(knots) - degree - 1
    inside = np.clip(x, knots[degree], knots[size])
    found = design(inside, knots, degree, derivative)
    beyond = x != inside
    if np.any(beyond):
        if derivative == 0:
            slope = design(inside[beyond], knots, degree, 1)
            found.values[beyond] += (x - inside)[beyond, None] * slope.values
        elif derivative > 1:
            found.values[beyond] = 0.0
    return found


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


@dataclass(frozen=True)
class SplineFit:
    """One fit.

    Attributes
    ----------
    knots : ndarray
        All knots.
    degree : int
        Degree of the pieces.
    linear_ends : bool
        Whether the curve goes on along the tangents beyond the ends.
    M : ndarray of shape (size, size)
        With ``coef = M B'Wy``.
    right : ndarray of shape (size,)
        B'Wy.
    df, trace_sst : float
        Traces of S and SS'.
    """

    knots: FloatArray
    degree: int
    linear_ends: bool
    M: FloatArray
    right: FloatArray
    df: float
    trace_sst: float

    @property
    def coef(self) -> FloatArray:
        """Coefficients of the B-splines."""
        return np.asarray(self.M @ self.right)

    def design(self, x: FloatArray, derivative: int = 0) -> LocalDesign:
        """Return the B-splines at each x."""
        return local_design(x, self.knots, self.degree, derivative, self.linear_ends)

    def leverage(self, B: LocalDesign, rows: Rows) -> FloatArray:
        """Return the leverages of the rows, B being their design."""
        pull = _quadratic(B, self.M)
        return pull if rows.weight is None else rows.weight * pull

    def score(self, B: LocalDesign, rows: Rows, loss: Loss | None) -> Score:
        """Reduce the fit to what a path needs."""
        leverage = self.leverage(B, rows)
        return score_fit(rows.y, rows.weight, B @ self.coef, leverage, loss, self.df)


class BasisSmoother(OneInputSmoother):
    """A combination of B-splines: `_keep` sets everything that is learned."""

    _linear_ends: bool
    _degree: int
    _all_knots: FloatArray
    _coef: FloatArray
    _M: FloatArray
    _x: FloatArray

    def _keep(self, fit: SplineFit, rows: Rows) -> None:
        """Keep the fit: coefficients, the matrix of their variance, and the smoother."""
        self._all_knots, self._degree, self._linear_ends = fit.knots, fit.degree, fit.linear_ends
        self._M, self._coef = fit.M, fit.coef
        self._x = x = np.ascontiguousarray(rows.X[:, 0])
        self._range = (float(x.min()), float(x.max()))
        B = fit.design(x)
        self.smoother_ = Smoother(
            rows.y,
            B @ self._coef,
            fit.leverage(B, rows),
            df=fit.df,
            weight=rows.weight,
            trace_sst=fit.trace_sst,
            scale=self._path_scale,
        )

    def _local(self, x: FloatArray, derivative: int) -> LocalDesign:
        return local_design(x, self._all_knots, self._degree, derivative, self._linear_ends)

    def _curve_at(self, x: FloatArray, derivative: int = 0) -> FloatArray:
        return self._local(x, derivative) @ self._coef

    def _coefficient_covariance(self) -> FloatArray:
        """Return the covariance of the coefficients in units of sigma^2."""
        return self._M

    def _deviation(self, x: FloatArray, derivative: int) -> FloatArray:
        variance = _quadratic(self._local(x, derivative), self._coefficient_covariance())
        return np.asarray(self.smoother_.sigma * np.sqrt(np.maximum(variance, 0.0)))

    def _noise_rows(self, X: FloatArray) -> FloatArray:
        """Return F, with F F' the covariance of the curve at points over sigma^2."""
        values, vectors = np.linalg.eigh(self._coefficient_covariance())
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return self._local(np.ascontiguousarray(X[:, 0]), 0) @ root

    def _matrix(self, X: FloatArray) -> FloatArray:
        at = self._local(np.ascontiguousarray(X[:, 0]), 0)
        S = at @ (self._M @ self._local(self._x, 0).toarray().T)
        weight = self.smoother_.weight
        return S if weight is None else S * weight[weight > 0]

    def _breaks(self) -> tuple[FloatArray, int]:
        return self._all_knots, self._degree
