"""What linear fits that choose their own columns share: checks, prediction, terms."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.core.weights import check_weight
from bottega.linear.selected_report import SelectedReport

__all__ = ["SelectedTerms"]


class SelectedTerms(SelectedReport):
    """Checks and reports of an estimator that sets `intercept_` and `support_` too."""

    intercept_: float
    support_: IntArray
    fit_intercept: bool

    def _columns_used(self) -> int:
        return len(self.support_)

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
