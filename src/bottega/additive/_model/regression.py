"""The regressor of the additive models: families, means, intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from bottega.additive._model.estimator import AdditiveEstimator
from bottega.core.errors import InputError, ParameterError
from bottega.core.likelihood import get_family
from bottega.core.responses import check_responses
from bottega.core.results import augment_columns
from bottega.core.smoother import interval
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import check_response, with_warning

__all__ = ["AdditiveRegression"]


@dataclass(frozen=True)
class _Noise:
    """What intervals are made of beside a standard error."""

    n: int
    sigma: float
    df_residual: float


class AdditiveRegression(RegressorMixin, AdditiveEstimator):
    """What the regressor does with its rows and predictors."""

    family: str
    link: str | None

    def _check_params(self) -> None:
        super()._check_params()
        if self.family == "multinomial":
            raise ParameterError(
                "AdditiveModel: family='multinomial' is for classes; use AdditiveClassifier, which "
                "takes labels and gives their probabilities."
            )
        get_family(self.family, self.link)

    def _family_of(self) -> Any:
        return get_family(self.family, self.link)

    def _check_response(self, y: Array, *, all_rows: bool = True) -> None:
        if all_rows:
            check_response(np.asarray(y, dtype=np.float64))
        check_responses(y, get_family(self.family), type(self).__name__, all_rows=all_rows)

    def predict(self, X: Any, return_std: bool = False, *, terms: bool = False) -> Any:
        """Return the mean of the response at each row, or the effects that make it.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        return_std : bool
            Whether to return the standard error of the mean too.
        terms : bool
            Whether to return the effect of each term instead: a data frame whose columns, the
            intercept first, add up to the predictor, ``link(predict(X))``.

        Returns
        -------
        ndarray of shape (m,), a pair of them, or a data frame
        """
        matrix = self._check_new(X)
        if terms:
            return self._term_frame(matrix, ())
        eta = self._predictors(matrix)[:, 0]
        with np.errstate(over="ignore"):
            mean = with_warning(np.asarray(self.fit_.family.mean(eta)))
        if not return_std:
            return mean
        return mean, np.abs(self.fit_.family.mean_slope(eta)) * self._mean_error(matrix)

    def interval(
        self, X: Any, level: float = 0.95, kind: str = "confidence"
    ) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper limits of the mean, or of a new response, at each row.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        level : float
            Probability that each interval holds, on the average over the rows.
        kind : {"confidence", "prediction"}
            For the mean, or (gaussian family, identity link) for a new response.

        Returns
        -------
        lower, upper : ndarray of shape (m,)
            Limits of the predictor by its Bayesian covariance, as means.
        """
        matrix = self._check_new(X)
        fit, eta = self.fit_, self._predictors(matrix)[:, 0]
        plain = fit.family.name == "gaussian" and fit.family.the_link.name == "identity"
        if kind == "prediction" and not plain:
            raise InputError(
                "Intervals of a new response are for the gaussian family; for others use conformal "
                "intervals."
            )
        noise: Any = _Noise(fit.n, float(np.sqrt(fit.scale)), fit.df_residual)
        if fit.scale_known:
            noise = _Noise(fit.n, 1.0, np.inf)
        limits = interval(eta, self._mean_error(matrix), noise, level=level, kind=kind)
        low, high = np.sort([fit.family.mean(each) for each in limits], axis=0)
        return low, high

    def augment(self, X: Any, y: Any = None) -> Any:
        """Return one row per observation: fitted mean and residual.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,), optional
            Responses.

        Returns
        -------
        data frame
            Columns fitted, residual, std_residual, leverage, cooks; the last three are missing.
        """
        fitted = self.predict(X)
        residual = None if y is None else np.asarray(y, dtype=np.float64) - fitted
        return self._make_frame(augment_columns(fitted, residual))
