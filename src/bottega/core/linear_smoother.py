"""What an estimator offers because it predicts by a matrix that does not depend on y."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.results import augment_columns, glance_row, glance_section
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother, SmootherSums, interval
from bottega.core.tables import Summary
from bottega.core.typing import FloatArray

__all__ = ["Intervals", "LinearSmoother"]


def _of_smoother(name: str, doc: str) -> Any:
    """Return a property that shows a number of the fitted smoother."""
    return property(lambda self: getattr(self._fitted_smoother(), name), doc=doc)


def _of_criteria(name: str, doc: str) -> Any:
    """Return a property that shows a criterion of the fitted smoother."""
    return property(lambda self: self._fitted_smoother().criteria[name], doc=doc)


class Intervals:
    """`interval` of an estimator whose mean has a standard error.

    It gives `_standard_error(X)`, that of the fitted mean at each row of X, and `_noise`: its
    sigma and what is left to estimate it by, df_residual.
    """

    @abstractmethod
    def _standard_error(self, X: Any) -> FloatArray:
        """Return the standard error of the fitted mean at each row."""

    @abstractmethod
    def _noise(self) -> Any:
        """Return a smoother, or what has its sigma and df_residual."""

    def interval(
        self, X: Any, level: float = 0.95, kind: str = "confidence"
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper limits at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        level : float
            Coverage of each interval, pointwise (of a Bayesian model its posterior probability).
        kind : {"confidence", "prediction"}
            For the mean at the point, or for a new observation there.

        Returns
        -------
        lower, upper : ndarray
            The bands ignore bias: they cover the mean of the fit, not the true mean, where the
            fit is too smooth.
        """
        mean = self.predict(X)  # type: ignore[attr-defined]
        return interval(mean, self._standard_error(X), self._noise(), level=level, kind=kind)


class LinearSmoother(Intervals):
    """What an estimator offers after `fit` because it predicts by ``y_hat = S y``.

    The estimator sets `smoother_` (of the rows that count) and gives `_standard_error(X)` and
    `_matrix(X)`, the rows of S at checked inputs. The bands say nothing about bias.
    """

    smoother_: Smoother | SmootherSums

    df_ = _of_smoother("df", "Equivalent degrees of freedom, tr S.")
    leverage_ = _of_smoother("leverage", "Diagonal of S: how far each row pulls its own fit.")
    sigma_ = _of_smoother("sigma", "Residual standard deviation.")
    loo_residuals_ = _of_smoother("loo_residuals", "Exact leave-one-out residuals.")
    loo_ = _of_smoother("loo", "Mean squared leave-one-out residual.")
    loglik_ = _of_smoother("loglik", "Gaussian log-likelihood.")
    gcv_ = _of_criteria("gcv", "Generalised cross-validation.")
    aic_ = _of_criteria("aic", "Akaike's criterion.")
    aicc_ = _of_criteria("aicc", "Akaike's criterion, corrected for small samples.")
    bic_ = _of_criteria("bic", "Schwarz's criterion.")
    hq_ = _of_criteria("hq", "Hannan and Quinn's criterion.")
    cp_ = _of_criteria("cp", "Mallows' Cp against the scale of the path (its own without one).")

    def _fitted_smoother(self) -> Smoother | SmootherSums:
        check_is_fitted(self)
        return self.smoother_

    @property
    def _path_scale(self) -> Any:
        """The residual scale for Cp of the path that was walked, or None."""
        path = getattr(self, "path_", None)
        return None if path is None else path.scale

    def _restore(self, rows: Rows) -> None:
        """Extend the smoother of the rows that count to all that were given.

        A row of weight zero has its fitted value, and no pull on it.
        """
        given, kept, fit = rows.given, rows.kept, self.smoother_
        assert given is not None
        assert given.weight is not None
        assert isinstance(fit, Smoother)
        away = np.flatnonzero(given.weight == 0)
        fitted = np.empty(given.y.shape)
        fitted[kept] = fit.fitted
        X = given.take(away).X
        fitted[away] = self._unnamed(X).predict(X)  # type: ignore[attr-defined]
        leverage = np.zeros(len(given))
        leverage[kept] = fit.leverage
        self.smoother_ = replace(
            fit, y=given.y, fitted=fitted, leverage=leverage, weight=given.weight
        )

    def _noise(self) -> Any:
        return self._fitted_smoother()

    @abstractmethod
    def _matrix(self, X: Any) -> FloatArray:
        """Return the rows of S at checked inputs, one column per row that counts."""

    def matrix(self, X: Any) -> FloatArray:
        """Return the matrix S of the smoother at given points: ``predict(X) = S y``.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.

        Returns
        -------
        ndarray of shape (m, n)
            One column per training row, zero for rows of weight zero.
        """
        fit = self._fitted_smoother()
        n = len(fit.y)  # refused for a fit in chunks, which keeps no rows
        S = self._matrix(self._check_new(X))  # type: ignore[attr-defined]
        if S.shape[1] == n:
            return S
        found = np.zeros((len(S), n))
        found[:, np.flatnonzero(fit.weight)] = S  # type: ignore[arg-type]
        return found

    def _glance_row(self) -> dict[str, Any]:
        return glance_row(self._fitted_smoother())

    def glance(self) -> Any:
        """Return one row about the model: size, df, scale, fit and criteria."""
        row = self._glance_row()
        return self._make_frame({k: [v] for k, v in row.items()})  # type: ignore[attr-defined]

    def augment(self, X: Any = None, y: Any = None) -> Any:
        """Return one row per observation: fitted, residual, and influence on the fit.

        Parameters
        ----------
        X, y : array-like, optional
            New rows: their fitted values and residuals; what only training rows have is missing.
            Left out, the training rows are shown.
        """
        fit = self._fitted_smoother()
        if np.ndim(fit.rss) != 0:
            raise InputError("augment is for one response; select one and fit it alone.")
        if X is None:
            columns = augment_columns(fit.fitted, fit.residuals, fit)
        else:
            fitted = self.predict(X)  # type: ignore[attr-defined]
            residual = None if y is None else np.asarray(y, dtype=np.float64) - fitted
            columns = augment_columns(fitted, residual)
        return self._make_frame(columns)  # type: ignore[attr-defined]

    def summary(self) -> Summary:
        """Return a table about the fit that shows itself as text, HTML and Markdown."""
        return Summary(type(self).__name__, (glance_section(self._glance_row()),))
