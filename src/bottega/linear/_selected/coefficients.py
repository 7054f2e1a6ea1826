"""What linear fits that choose their own columns share: prediction, terms, numbers of the fit."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.likelihood import gaussian_criteria
from bottega.core.results import SelectedResults, term_names, tidy_columns
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray, IntArray
from bottega.core.validate import with_warning


def totals_of(rows: Rows) -> dict[str, Any]:
    """Return what the numbers of a fit need to know about its rows."""
    spread = (rows.y - np.average(rows.y, weights=rows.weight)) ** 2
    return {
        "n": len(rows),
        "weight": rows.total_weight,
        "tss": float(np.average(spread, weights=rows.weight) * rows.total_weight),
        "log_weights": rows.log_weights,
    }


def check_whole_numbers(values: Any, low: int, high: int) -> IntArray:
    """Return the sorted values of a knob that a user gave, if these rows allow them."""
    found = np.unique(values)
    if found[0] < low or found[-1] > high:
        raise InputError(
            f"values must be a list of whole numbers from {low} to {high}; got {values!r}."
        )
    return np.asarray(found, dtype=np.intp)


class AllTerms(SelectedResults):
    """`tidy` of models that choose their columns: a row for each, zero for those left out."""

    @abstractmethod
    def _all_terms(self, level: float) -> dict[str, Any]:
        """Return the columns of tidy, also of the terms that are not in the model."""

    def tidy(self, level: float = 0.95) -> Any:
        """Return one row per term, as a data frame; terms that were left out have estimate zero.

        Parameters
        ----------
        level : float
            Probability of the intervals, which are missing.

        Returns
        -------
        data frame
            Columns term, estimate, std_error, statistic, p_value, conf_low, conf_high (with more
            than two classes response first, a row per class and term). A coefficient that was
            selected by the data, or shrunk, has no test: all but the estimates are missing.
        """
        check_is_fitted(self)
        return self._make_frame(self._all_terms(level))  # type: ignore[attr-defined]


class SelectedCoefficients(AllTerms):
    """Prediction and results of an estimator that sets `coef_` and `intercept_`.

    `_keep_totals` is told how the fit went; a classifier has `_fit_numbers` of its own.
    """

    intercept_: Any
    fit_intercept: bool
    _least_rows = 2

    def _keep_totals(self, totals: dict[str, Any], *, rss: float, df: float) -> None:
        self.df_ = float(df)
        self._totals = {name: float(each) for name, each in (totals | {"rss": rss}).items()}

    def predict(self, X: Any) -> FloatArray:
        """Return the fitted mean at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.

        Returns
        -------
        ndarray of shape (m,)
        """
        X = self._check_new(X)  # type: ignore[attr-defined]
        with np.errstate(over="ignore", invalid="ignore"):
            return with_warning(np.asarray(X @ self.coef_ + self.intercept_))

    def _fit_numbers(self) -> dict[str, Any]:
        n, rss, df = int(self._totals["n"]), self._totals["rss"], self.df_
        found = gaussian_criteria(rss, df, n, log_weights=self._totals["log_weights"])
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                "nobs": n,
                "df": df,
                "sigma": float(np.sqrt(rss / (n - df))) if n > df else np.nan,
                "r_squared": float(1 - np.divide(rss, self._totals["tss"])),
                "deviance": rss,
                "loglik": float(df + 1 - found["aic"] / 2),
                **{name: float(found[name]) for name in ("aic", "bic", "gcv")},
                "train_error": rss / self._totals["weight"],
            }

    def _all_terms(self, level: float) -> dict[str, Any]:
        return self._terms(level, np.arange(self.n_features_in_))

    def _terms(self, level: float = 0.95, columns: Any = None) -> dict[str, Any]:
        """Return the intercept and some columns, by default those in the model."""
        if columns is None:
            columns = getattr(self, "support_", np.flatnonzero(self.coef_))
        names = term_names(self, intercept=False)
        terms, estimate = [names[j] for j in columns], self.coef_[columns]
        if self.fit_intercept:
            terms, estimate = ["(Intercept)", *terms], np.append(self.intercept_, estimate)
        return tidy_columns(terms, estimate, level=level)
