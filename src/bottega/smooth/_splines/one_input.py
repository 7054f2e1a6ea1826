"""What the smoothers of one input share: checks, prediction with derivatives, intervals."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.smooth._path.in_range import InRange
from bottega.smooth._path.path_smoother import PathSmoother


def integrate(curve: Any, knots: FloatArray, degree: int, a: float, b: float) -> float:
    """Return the integral from a to b of a curve that is a polynomial between its knots."""
    if not np.all(np.isfinite([a, b])):
        raise InputError(f"The ends of an integral must be finite; got {a!r} and {b!r}.")
    low, high = min(a, b), max(a, b)
    inside = knots[(knots > low) & (knots < high)]
    ends = np.unique(np.concatenate([[low], inside, [high]]))
    nodes, mass = np.polynomial.legendre.leggauss(degree // 2 + 1)  # exact for the degree
    half = np.diff(ends) / 2
    points = (ends[:-1] + half)[:, None] + half[:, None] * nodes
    total = float(half @ (curve(points.ravel()).reshape(points.shape) @ mass))
    return total if b >= a else -total


class OneInputCurve(RegressorMixin, InRange):
    """A curve fitted to one input."""

    _least_rows: ClassVar[int] = 2

    def _points(self, X: Any) -> FloatArray:
        return np.ascontiguousarray(self._check_new(X)[:, 0])

    def _derived(self, X: Any, derivative: Any) -> tuple[FloatArray, FloatArray]:
        """Return checked points, and the curve or a derivative there."""
        x = self._points(X)
        if derivative not in range(4):
            raise InputError(
                f"derivative={derivative!r} is not allowed; use a whole number from 0 to 3."
            )
        return x, self._curve_at(x, int(derivative))

    @abstractmethod
    def _curve_at(self, x: FloatArray, derivative: int = 0) -> FloatArray:
        """Return the curve or a derivative at each x."""

    @abstractmethod
    def _breaks(self) -> tuple[FloatArray, int]:
        """Return the knots of the curve and the degree of its pieces."""

    def integral(self, a: float, b: float) -> float:
        """Return the integral of the fitted curve from a to b."""
        check_is_fitted(self)
        return integrate(self._curve_at, *self._breaks(), a, b)


class OneInputSmoother(PathSmoother, OneInputCurve):
    """A linear smoother of one input, with derivatives and their standard errors."""

    _range: tuple[float, float]  # the least and the greatest x

    @abstractmethod
    def _deviation(self, x: FloatArray, derivative: int) -> FloatArray:
        """Return the standard error of the curve or a derivative at each x."""

    def predict(self, X: Any, return_std: bool = False, derivative: int = 0) -> Any:
        """Return the curve, or a derivative of it, at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, 1)
            Points.
        return_std : bool
            Whether to return the standard error too.
        derivative : int
            Order of the derivative, from 0 (the curve itself) to 3.

        Returns
        -------
        mean : ndarray of shape (m,)
        std : ndarray of shape (m,)
            Only with `return_std`. It is about noise alone: nothing about bias.
        """
        x, mean = self._derived(X, derivative)
        return (mean, self._deviation(x, int(derivative))) if return_std else mean

    def _standard_error(self, X: Any) -> FloatArray:
        return self._deviation(self._points(X), 0)
