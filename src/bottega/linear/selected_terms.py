"""What linear fits that choose their own columns share: checks, prediction, terms, summary."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.smoother import gaussian_criteria
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.core.weights import check_weight

__all__ = ["SelectedTerms", "log_weights"]

_SHOWN = 20  # coefficients in a summary


class SelectedTerms:
    """Reports of an estimator that sets `coef_`, `intercept_`, `support_` and `_totals`.

    `_totals` holds n, rss, tss, df and the sum of the logarithms of the weights.
    """

    coef_: FloatArray
    intercept_: float
    support_: IntArray
    n_features_in_: int
    fit_intercept: bool
    card: ClassVar[Card]
    _totals: dict[str, float]

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, dtype=np.float64)
        weight = check_weight(sample_weight, len(y))
        if weight is not None:
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
            if len(y) < 2:
                raise InputError(
                    "Only 1 sample has a positive weight, and a fit needs at least 2: give more "
                    "rows."
                )
        return X, y, weight

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
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def tidy(self) -> Any:
        """Return one row a term in the model, as a data frame.

        Returns
        -------
        data frame
            Columns term, estimate, std_error, statistic, p_value, conf_low, conf_high. The columns
            were chosen by looking at the response, so the usual standard errors and tests do not
            hold: all but the estimates are missing.
        """
        return self._make_frame(self._terms())  # type: ignore[attr-defined]

    def _terms(self) -> dict[str, Any]:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        terms = [f"x{j}" if names is None else str(names[j]) for j in self.support_]
        estimate = self.coef_[self.support_]
        if self.fit_intercept:
            terms = ["(Intercept)", *terms]
            estimate = np.concatenate([[self.intercept_], estimate])
        unknown = ("std_error", "statistic", "p_value", "conf_low", "conf_high")
        missing = {name: np.full(len(terms), np.nan) for name in unknown}
        return {"term": terms, "estimate": estimate} | missing

    def _row(self) -> dict[str, float]:
        check_is_fitted(self)
        n, rss, df = (self._totals[name] for name in ("n", "rss", "df"))
        found = gaussian_criteria(rss, df, int(n), log_weights=self._totals["log_weights"])
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                "nobs": int(n),
                "df": df,
                "sigma": float(np.sqrt(rss / (n - df))) if n > df else np.nan,
                "r_squared": float(1 - np.divide(rss, self._totals["tss"])),
                "deviance": rss,
                "loglik": float(df + 1 - found["aic"] / 2),
                "aic": float(found["aic"]),
                "bic": float(found["bic"]),
                "gcv": float(found["gcv"]),
            }

    def glance(self) -> Any:
        """Return one row about the model: size, df, scale, fit and criteria.

        The degrees of freedom count the terms and not the search for them, so sigma, aic, bic and
        gcv flatter the model; the cross-validated error of `path_` does not.
        """
        return self._make_frame(  # type: ignore[attr-defined]
            {name: [value] for name, value in self._row().items()}
        )

    def summary(self) -> Summary:
        """Return tables about the fit and its terms, as text, HTML and Markdown."""
        terms = self._terms()
        shown = {name: list(terms[name][:_SHOWN]) for name in ("term", "estimate")}
        notes = [
            f"{len(self.support_)} of {self.n_features_in_} columns are in the model. They were "
            "chosen by looking at the response: standard errors and tests of a model given "
            "beforehand do not hold, so none are shown."
        ]
        if len(terms["term"]) > _SHOWN:
            notes.append(
                f"The first {_SHOWN} of {len(terms['term'])} terms are shown; tidy() has them all."
            )
        row = Section("", {name: [value] for name, value in self._row().items()})
        return Summary(self.card.title, (row, Section("Terms", shown)), tuple(notes))


def log_weights(weight: Any) -> float:
    """Return the sum of the logarithms of positive weights (None: all one)."""
    return 0.0 if weight is None else float(np.sum(np.log(weight)))
