"""What the surfaces share: checks, prediction with standard errors, and the path of errors."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import LinearSmoother, Tuned
from bottega.core.errors import InputError
from bottega.core.path import Path
from bottega.core.smoother import gaussian_criteria, mean_and_se
from bottega.core.typing import FloatArray
from bottega.core.weights import check_weight

__all__ = ["Surface", "check_penalties", "error_curve"]


class Surface(LinearSmoother, RegressorMixin, Tuned):
    """A linear smoother of a few inputs.

    A subclass gives `_noise_rows`: a matrix F, one row per point, with ``F F'`` the covariance of
    the fitted surface there in units of sigma^2; and `_evaluate` and `_rows_of_s`.
    """

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, dtype=np.float64)
        return self._check_width(X), y, check_weight(sample_weight, len(y))

    def _points_of(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._check_width(validate_data(self, X, dtype=np.float64, reset=False))

    @abstractmethod
    def _evaluate(self, X: FloatArray) -> FloatArray:
        """Return the surface at each row."""

    @abstractmethod
    def _noise_rows(self, X: FloatArray) -> FloatArray:
        """Return F, with F F' the covariance of the surface over sigma^2."""

    @abstractmethod
    def _rows_of_s(self, X: FloatArray) -> FloatArray:
        """Return the weights of the training responses in the surface at each row."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the surface at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error too.

        Returns
        -------
        mean : ndarray of shape (m,)
        std : ndarray of shape (m,)
            Only with `return_std`. It is about noise alone: nothing about bias.
        """
        X = self._points_of(X)
        mean = self._evaluate(X)
        return (mean, self._error_at(X)) if return_std else mean

    def _error_at(self, X: FloatArray) -> FloatArray:
        found = np.empty(len(X))
        for start in range(0, len(X), 2_000):  # F has as many columns as there are coefficients
            part = slice(start, start + 2_000)
            found[part] = np.sqrt((self._noise_rows(X[part]) ** 2).sum(axis=1))
        return np.asarray(self.smoother_.sigma * found)

    def _standard_error(self, X: Any) -> FloatArray:
        return self._error_at(self._points_of(X))

    def matrix(self, X: Any) -> FloatArray:
        """Return the rows of S for the points X: ``predict(X) = matrix(X) @ y``.

        It has m n entries and is for small data; nothing else here needs it.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.

        Returns
        -------
        ndarray of shape (m, n)
        """
        return self._rows_of_s(self._points_of(X))


def error_curve(
    knob: str,
    values: Any,
    fits: Any,
    df: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
) -> tuple[Path, float | None]:
    """Return the path of fitted values and leverages, and the residual scale for Cp.

    `fits` gives (fitted, leverage) of the rows, one pair per value of the knob, simplest first.
    """
    w = np.ones(len(y)) if weight is None else weight
    n, logs = int(np.count_nonzero(w)), float(np.log(w[w > 0]).sum())
    rss, error, spread = [], [], []
    for fitted, leverage in fits:
        residual = y - fitted
        rss.append(float(np.sum(w * residual**2)))
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = (residual / (1 - leverage)) ** 2
        mean, se = mean_and_se(loss, weight)
        error.append(float(mean))
        spread.append(float(se))
    rss_of = np.array(rss)
    rich = np.flatnonzero(df <= n / 2)
    scale = None
    if len(rich) and rss_of[rich[-1]] > 0:
        scale = float(np.sqrt(rss_of[rich[-1]] / (n - df[rich[-1]])))
    curve = Path(
        knob=knob,
        values=values,
        df=df,
        train_error=rss_of / w.sum(),
        error=np.array(error),
        error_se=np.array(spread),
        estimate="loo",
        loss="squared error",
        criteria=gaussian_criteria(rss_of, df, n, scale=scale, log_weights=logs),
    )
    return curve, scale


def check_penalties(values: Any) -> FloatArray:
    """Return given penalties, the largest first."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array([])
    if found.ndim != 1 or not len(found) or not np.all(np.isfinite(found) & (found >= 0)):
        raise InputError(
            f"values must be a list of finite penalties, none negative; got {values!r}."
        )
    return np.sort(found)[::-1]
