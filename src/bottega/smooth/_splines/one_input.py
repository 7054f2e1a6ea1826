"""What the smoothers of one input share: checks, prediction with derivatives, intervals."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import Estimator, LinearSmoother, Tuned
from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.core.weights import check_weight

__all__ = ["OneInputCurve", "OneInputSmoother"]


class OneInputCurve(RegressorMixin, Estimator):
    """A curve fitted to one input."""

    _derivatives: int = 3

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        x = self._check_width(X)[:, 0]
        y = np.asarray(y, dtype=np.float64)
        self._range = (float(x.min()), float(x.max()))
        return x, y, check_weight(sample_weight, len(y))

    def _points(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.ascontiguousarray(self._check_width(X)[:, 0])

    def _check_derivative(self, derivative: Any) -> int:
        if derivative not in range(self._derivatives + 1):
            raise InputError(
                f"derivative={derivative!r} is not allowed; use a whole number from 0 to "
                f"{self._derivatives}."
            )
        return int(derivative)

    @abstractmethod
    def _curve_at(self, x: FloatArray, derivative: int) -> FloatArray:
        """Return the curve or a derivative at each x."""


class OneInputSmoother(LinearSmoother, OneInputCurve, Tuned):
    """A linear smoother of one input, with derivatives and their standard errors."""

    @abstractmethod
    def _deviation(self, x: FloatArray, derivative: int) -> FloatArray:
        """Return the standard error of the curve or a derivative at each x."""

    @abstractmethod
    def _rows_of_s(self, x: FloatArray) -> FloatArray:
        """Return the weights of the training responses in the curve at each x."""

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
        x = self._points(X)
        derivative = self._check_derivative(derivative)
        mean = self._curve_at(x, derivative)
        return (mean, self._deviation(x, derivative)) if return_std else mean

    def _standard_error(self, X: Any) -> FloatArray:
        return self._deviation(self._points(X), 0)

    def matrix(self, X: Any) -> FloatArray:
        """Return the rows of S for the points X: ``predict(X) = matrix(X) @ y``.

        It has m n entries and is for small data; nothing else here needs it.

        Parameters
        ----------
        X : array-like of shape (m, 1)
            Points.

        Returns
        -------
        ndarray of shape (m, n)
        """
        return self._rows_of_s(self._points(X))
