"""Adaptive splines for numbers: one response or several, by least squares or a likelihood."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from bottega.additive._adaptive_model.estimator import AdaptiveBase
from bottega.additive._adaptive_model.work import (
    AdaptiveWork,
    FamilyWork,
    SquaresWork,
    TermLikelihood,
)
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.likelihood import Family, gaussian_criteria, get_family, information_criteria
from bottega.core.losses import POISSON, SQUARED_ERROR, Loss
from bottega.core.responses import check_responses
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import with_warning

# Share of the deviance without inputs that is left where responses of 0 and 1 are separated.
_SEPARATED = 1e-3


class AdaptiveRegression(RegressorMixin, AdaptiveBase):
    """The hooks of regression; the public class has its parameters and its card."""

    family: str
    link: str | None

    @property
    def _family(self) -> Family:
        return get_family(self.family, self.link)

    def _check_params(self) -> None:
        super()._check_params()
        get_family(self.family, self.link)

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_rows(X, y)
        if self._plain:
            return X, y
        if y.ndim > 1:
            raise InputError(
                f"AdaptiveSplines: family={self.family!r} takes one response; y has "
                f"{y.shape[1]}. Fit one at a time, or use family='gaussian'."
            )
        check_responses(y, self._family, type(self).__name__)
        return X, y

    @property
    def _plain(self) -> bool:
        """Whether coefficients are those of least squares."""
        return self.family == "gaussian" and self.link in (None, "identity")

    def _prepare(self, rows: Rows) -> AdaptiveWork:
        how = self._work_settings()
        if self._plain:
            Y = rows.y[:, None] if rows.y.ndim == 1 else rows.y
            return SquaresWork(rows, **how, Y=Y)
        family = self._family
        return FamilyWork(rows, **how, **self._fitting(), family=family)

    def _own_loss(self, work: AdaptiveWork) -> Loss:
        return POISSON if self.family == "poisson" else SQUARED_ERROR

    def _answers(self, work: AdaptiveWork, scores: FloatArray, method: str) -> Array:
        mean = self._mean(scores)
        return mean if self.n_outputs_ > 1 else mean[..., 0]

    def _look_back(self, work: Any, n_terms: int) -> None:
        rows = work.rows
        self._link_name = self._family.the_link.name
        left = work.responses - self._mean(work.columns.B[:, work.subset(n_terms)] @ self._coef)
        n, df, w = len(rows), self.df_, rows.weights
        rss = w @ left**2
        self.rss_ = float(rss.sum())
        self.deviance_ = self.rss_
        total = w @ (work.responses - w @ work.responses / w.sum()) ** 2
        numbers: dict[str, Any] = {
            "nobs": n,
            "df": df,
            "gcv": self.gcv_,
            "train_error": float(np.mean(rss)) / rows.total_weight,
        }
        with np.errstate(all="ignore"):
            numbers["r_squared"] = float(1 - rss.sum() / total.sum())
            numbers["sigma"] = float(np.sqrt(np.mean(rss) / (n - df))) if n > df else np.nan
        if not isinstance(work, TermLikelihood):
            found = gaussian_criteria(rss, df, n, log_weights=rows.log_weights)
            if n > df:  # of several responses, all together
                numbers |= {name: float(found[name].sum()) for name in ("aic", "bic")}
                numbers["loglik"] = (df + 1) * len(rss) - numbers["aic"] / 2
        else:
            self.deviance_ = work.deviance(n_terms)
            known = self._family.known_scale
            criteria = information_criteria(self.deviance_, df, n) if known else {}
            numbers |= {name: float(criteria[name]) for name in ("aic", "bic") if name in criteria}
            null = work.deviance(1)
            numbers["r_squared"] = float(1 - self.deviance_ / null) if null > 0 else np.nan
            numbers["sigma"] = np.nan
            if self.family == "binomial" and self.deviance_ <= _SEPARATED * null:
                warn_caller(
                    f"{type(self).__name__}: the terms separate the responses of 0 and 1, so the "
                    "likelihood has no maximum; coefficients are bounded by a small ridge alone. "
                    "Predictions hold; use fewer terms (n_terms) for coefficients to be read.",
                    DataWarning,
                )
        self._look_at(work.fit(n_terms)[1] if isinstance(work, TermLikelihood) else None)
        self._fit_numbers = numbers | {"deviance": self.deviance_}

    def _mean(self, scores: FloatArray) -> FloatArray:
        return scores if self._plain else self._family.mean(scores)

    def _outputs(self) -> list[str]:
        return ["y"] if self.n_outputs_ == 1 else [f"y{q}" for q in range(self.n_outputs_)]

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of the response at each row of X."""
        with np.errstate(over="ignore"):
            mean = self._mean(self._scores(self._check_new(X)))
        return with_warning(mean if self.n_outputs_ > 1 else mean[:, 0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
