"""Curves that are linear combinations of B-splines, fitted by (penalised) least squares."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.basis.spline_functions import LocalDesign, design
from bottega.core.errors import InputError
from bottega.core.smoother import Smoother, mean_and_se
from bottega.core.typing import FloatArray
from bottega.smooth._kernels import banded as kernels
from bottega.smooth._splines.one_input import OneInputSmoother

__all__ = ["BasisSmoother", "band_of", "leave_one_out", "local_design"]


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


def band_of(M: FloatArray, width: int) -> FloatArray:
    """Return the lower diagonals of a symmetric matrix, as the kernels store them."""
    size = len(M)
    found = np.zeros((width, size))
    for k in range(min(width, size)):
        found[k, : size - k] = np.diagonal(M, -k)
    return found


def leave_one_out(
    B: LocalDesign, M: FloatArray, right: FloatArray, y: FloatArray, weight: FloatArray | None
) -> tuple[float, float, float, float]:
    """Return rss, the leave-one-out error, its standard error and the greatest leverage."""
    residual = y - B @ (M @ right)
    w = 1.0 if weight is None else weight
    leverage = w * kernels.band_quadratic(B.values, B.first, band_of(M, B.values.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = (residual / (1 - leverage)) ** 2
    error, spread = mean_and_se(loss, weight)
    return float(np.sum(w * residual**2)), float(error), float(spread), float(leverage.max())


class BasisSmoother(OneInputSmoother):
    """A combination of B-splines.

    After `_keep`: ``knots`` are all knots, ``M`` the matrix with ``coef = M B'Wy``.
    """

    _linear_ends: bool
    _degree: int
    _all_knots: FloatArray
    _coef: FloatArray
    _M: FloatArray

    def _keep(
        self,
        x: FloatArray,
        y: FloatArray,
        weight: FloatArray | None,
        M: FloatArray,
        right: FloatArray,
        df: float,
        trace_sst: float,
        scale: Any,
    ) -> None:
        """Keep the fit: coefficients, the matrix of their variance, and the smoother."""
        self._M, self._coef = M, M @ right
        self._x = x
        B = self._local(x, 0)
        pull = kernels.band_quadratic(B.values, B.first, band_of(M, B.values.shape[1]))
        self.smoother_ = Smoother(
            y,
            B @ self._coef,
            pull if weight is None else weight * pull,
            df=df,
            weight=weight,
            trace_sst=trace_sst,
            scale=scale,
        )

    def _local(self, x: FloatArray, derivative: int) -> LocalDesign:
        return local_design(x, self._all_knots, self._degree, derivative, self._linear_ends)

    def _curve_at(self, x: FloatArray, derivative: int) -> FloatArray:
        return self._local(x, derivative) @ self._coef

    def _coefficient_covariance(self) -> FloatArray:
        """Return the covariance of the coefficients in units of sigma^2."""
        return self._M

    def _deviation(self, x: FloatArray, derivative: int) -> FloatArray:
        B = self._local(x, derivative)
        V = band_of(self._coefficient_covariance(), B.values.shape[1])
        variance = kernels.band_quadratic(B.values, B.first, V)
        return np.asarray(self.smoother_.sigma * np.sqrt(np.maximum(variance, 0.0)))

    def _rows_of_s(self, x: FloatArray) -> FloatArray:
        S = self._local(x, 0) @ (self._M @ self._local(self._x, 0).toarray().T)
        weight = self.smoother_.weight
        return S if weight is None else S * weight

    def integral(self, a: float, b: float) -> float:
        """Return the integral of the fitted curve from a to b."""
        check_is_fitted(self)
        if not np.all(np.isfinite([a, b])):
            raise InputError(f"The ends of an integral must be finite; got {a!r} and {b!r}.")
        low, high = min(a, b), max(a, b)
        inside = self._all_knots[(self._all_knots > low) & (self._all_knots < high)]
        ends = np.unique(np.concatenate([[low], inside, [high]]))
        # Exact: on each piece the curve is a polynomial of the degree.
        nodes, mass = np.polynomial.legendre.leggauss(self._degree // 2 + 1)
        half = np.diff(ends) / 2
        points = (ends[:-1] + half)[:, None] + half[:, None] * nodes
        total = float(half @ (self._curve_at(points.ravel(), 0).reshape(points.shape) @ mass))
        return total if b >= a else -total
