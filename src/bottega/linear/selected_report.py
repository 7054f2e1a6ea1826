"""What a fit that chose its own columns says about itself: one row, and a summary."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.path import Path
from bottega.core.smoother import gaussian_criteria
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray

__all__ = ["SelectedReport", "log_weights"]

_SHOWN = 20  # coefficients in a summary


class SelectedReport:
    """`glance` and `summary` of an estimator that sets `coef_`, its knob and `_totals`.

    `_totals` holds n, weight (the sum of the row weights), rss, tss, df and log_weights (the sum of
    their logarithms); a likelihood of its own has `_fit_row` of its own.
    """

    coef_: FloatArray
    n_features_in_: int
    knob: ClassVar[str]
    card: ClassVar[Card]
    path_: Path
    _totals: dict[str, float]

    @abstractmethod
    def _terms(self) -> dict[str, Any]:
        """Return the terms in the model, as columns with term and estimate among them."""

    def _columns_used(self) -> int:
        return int(np.count_nonzero(np.any(np.atleast_2d(self.coef_) != 0, axis=0)))

    def _train_error(self) -> float:
        return self._totals["rss"] / self._totals["weight"]

    def _choice_row(self) -> dict[str, Any]:
        """Return what was picked, and how well it does."""
        value = getattr(self, f"{self.knob}_")
        row: dict[str, Any] = {self.knob: value}
        if hasattr(self, "alpha_"):
            row["alpha"] = self.alpha_
        row |= {"nonzero": int(np.count_nonzero(self.coef_)), "train_error": self._train_error()}
        row |= {"error": np.nan, "error_se": np.nan}
        if hasattr(self, "path_"):
            place = int(np.flatnonzero(self.path_.values == value)[0])
            row["error"] = float(self.path_.error[place])
            row["error_se"] = float(self.path_.error_se[place])
        if hasattr(self, "dual_gap_"):
            row["dual_gap"] = self.dual_gap_
        return row

    def _fit_row(self) -> dict[str, Any]:
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
        """Return one row about the model: size, df, scale, fit and criteria, and what was picked.

        `error` and `error_se` are the honest error of `path_` at the model, missing where the knob
        was given. The degrees of freedom count the terms and not the search for them, so sigma,
        aic, bic and gcv flatter the model; `error` does not.
        """
        check_is_fitted(self)
        row = self._fit_row() | self._choice_row()
        return self._make_frame(  # type: ignore[attr-defined]
            {name: [value] for name, value in row.items()}
        )

    def summary(self) -> Summary:
        """Return tables about the fit and its terms, as text, HTML and Markdown."""
        check_is_fitted(self)
        terms = self._terms()
        wanted: list[str] = [name for name in ("response", "term", "estimate") if name in terms]
        shown: dict[str, Any] = {name: list(terms[name][:_SHOWN]) for name in wanted}
        notes = [
            f"{self._columns_used()} of {self.n_features_in_} columns are in the model. They were "
            "chosen by looking at the response: standard errors and tests of a model given "
            "beforehand do not hold, so none are shown."
        ]
        if len(terms["term"]) > _SHOWN:
            notes.append(
                f"The first {_SHOWN} of {len(terms['term'])} terms are shown; tidy() has them all."
            )
        if hasattr(self, "path_"):
            notes.append(
                f"error is the mean {self.path_.loss} on new rows, estimated by "
                f"{self.path_.estimate}."
            )
        rows = (self._choice_row(), self._fit_row())
        sections = [Section("", {name: [value] for name, value in row.items()}) for row in rows]
        return Summary(self.card.title, (*sections, Section("Terms", shown)), tuple(notes))


def log_weights(weight: Any) -> float:
    """Return the sum of the logarithms of positive weights (None: all one)."""
    return 0.0 if weight is None else float(np.sum(np.log(weight)))
