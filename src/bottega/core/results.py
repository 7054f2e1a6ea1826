"""Results as data: the fixed columns of tidy, glance and augment, for every kind of model.

tidy      one row per term: estimate, standard error, test, interval
glance    one row per model: size, degrees of freedom, scale, fit, criteria
augment   one row per observation: fitted value, residual, influence

A number that a model does not have is missing (NaN); the columns are always there, in this order.
A class may add columns after them.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import ParameterError
from bottega.core.frames import default_names
from bottega.core.path import ESTIMATES, Path
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray

__all__ = [
    "AUGMENT",
    "GLANCE",
    "SHOWN",
    "TIDY",
    "CoefficientResults",
    "SelectedResults",
    "augment_columns",
    "check_level",
    "glance_row",
    "glance_section",
    "shown_terms",
    "term_names",
    "tidy_columns",
]

TIDY = ("term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")
GLANCE = (
    *("nobs", "df", "sigma", "r_squared", "deviance"),
    *("loglik", "aic", "bic", "gcv", "loo"),
)
AUGMENT = ("fitted", "residual", "std_residual", "leverage", "cooks")

SHOWN = 20  # terms in a summary
_WORDS = {"nobs": "rows", "r_squared": "R squared", "loo": "LOO error", "gcv": "GCV"}
_WORDS |= {"aic": "AIC", "bic": "BIC", "loglik": "log-likelihood"}


def term_names(estimator: Any, *, intercept: bool) -> list[str]:
    """Return the names of the columns an estimator was fitted to, the intercept first."""
    names = getattr(estimator, "feature_names_in_", None)
    terms = default_names(estimator.n_features_in_) if names is None else list(map(str, names))
    return ["(Intercept)", *terms] if intercept else terms


def tidy_columns(
    term: Sequence[str],
    estimate: Any,
    *,
    std_error: Any = None,
    test: bool = False,
    df: float = np.inf,
    level: float = 0.95,
    spread: Any = None,
    response: Any = None,
) -> dict[str, Any]:
    """Return the columns of tidy, a row per term (of each response, one after the other).

    `estimate` and `std_error` have shape (terms,) or (terms, responses), and `response` names the
    responses. With `test` the estimate over its standard error is tested against Student's t with
    `df` degrees of freedom (infinite where the scale is known). The intervals of probability
    `level` are made of `spread` if it is given (a posterior standard deviation), else of
    `std_error`. What is not given is missing.
    """
    check_level(level)
    estimate = np.asarray(estimate, dtype=np.float64)
    unknown = np.full_like(estimate, np.nan)
    error = unknown if std_error is None else np.asarray(std_error, dtype=np.float64)
    statistic = p_value = unknown
    if test:
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = estimate / error
        p_value = 2 * stats.t.sf(np.abs(statistic), df)
    half = stats.t.ppf(0.5 + level / 2, df) * (error if spread is None else spread)
    columns = (estimate, error, statistic, p_value, estimate - half, estimate + half)
    head: dict[str, Any] = {"term": list(term)}
    if estimate.ndim == 2:
        q = estimate.shape[1]
        names = np.arange(q) if response is None else np.asarray(response)
        head = {"response": np.repeat(names, len(term)), "term": list(term) * q}
    found = zip(TIDY[1:], (column.T.ravel() for column in columns), strict=True)
    return head | dict(found)


def check_level(level: float) -> float:
    """Return a level of confidence; refuse one that is not strictly between 0 and 1."""
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ParameterError(f"level={level!r} is not allowed; level must lie between 0 and 1.")
    return float(level)


def shown_terms(terms: Mapping[str, Any]) -> tuple[Section, tuple[str, ...]]:
    """Return the first terms as a table for a summary, and a note where there are more."""
    count = len(terms["term"])
    known = {
        name: list(column[:SHOWN])
        for name, column in terms.items()
        if not _all_missing(column)  # a test that does not hold is not shown as dashes
    }
    notes: tuple[str, ...] = ()
    if count > SHOWN:
        notes = (f"The first {SHOWN} of {count} terms are shown; tidy() has them all.",)
    return Section("Terms", known), notes


def _all_missing(column: Any) -> bool:
    array = np.asarray(column)
    return array.dtype.kind == "f" and array.size > 0 and bool(np.all(np.isnan(array)))


def glance_row(fit: Any, **more: Any) -> dict[str, Any]:
    """Return the row of glance from an object or a mapping that has (some of) its numbers.

    It is a smoother, or numbers by the names of `GLANCE`; `more` are columns behind the fixed ones.
    """
    if isinstance(fit, Mapping):
        row = {name: fit.get(name, np.nan) for name in GLANCE}
    else:
        row = {
            "nobs": fit.n,
            "df": fit.df,
            "sigma": fit.sigma,
            "r_squared": fit.r_squared,
            "deviance": fit.rss,
            "loglik": fit.loglik,
            "aic": fit.criteria["aic"],
            "bic": fit.criteria["bic"],
            "gcv": fit.criteria["gcv"],
            "loo": fit.loo,
        }
    return {name: _mean(value) for name, value in (row | more).items()}


def glance_section(row: Mapping[str, Any]) -> Section:
    """Return the row of glance as a table for a summary, without what is missing."""
    known = {
        _WORDS.get(name, name): [value]
        for name, value in row.items()
        if not (isinstance(value, float) and np.isnan(value))
    }
    return Section("", known)


def _mean(value: Any) -> Any:
    return value if np.isscalar(value) or value is None else float(np.mean(value))


def augment_columns(
    fitted: Array, residual: FloatArray | None, fit: Any = None
) -> dict[str, FloatArray]:
    """Return the columns of augment; `fit` is the smoother of the training rows."""
    unknown = np.full(len(fitted), np.nan)
    return {
        "fitted": fitted,
        "residual": unknown if residual is None else residual,
        "std_residual": unknown if fit is None else fit.std_residuals,
        "leverage": unknown if fit is None else fit.leverage,
        "cooks": unknown if fit is None else fit.cooks,
    }


class CoefficientResults:
    """`tidy` and `summary` of an estimator with coefficients.

    It gives `_terms(level)` (see `tidy_columns`) and `_glance_row`, the row of glance.
    """

    card: ClassVar[Card]

    @abstractmethod
    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        """Return the columns of tidy."""

    def _notes(self) -> tuple[str, ...]:
        """Return what a reader of the summary must know."""
        return ()

    def tidy(self, level: float = 0.95) -> Any:
        """Return one row per term, as a data frame.

        Parameters
        ----------
        level : float
            Probability that each interval holds.

        Returns
        -------
        data frame
            Columns term, estimate, std_error, statistic, p_value, conf_low, conf_high (and
            response first where there are several); what does not hold for this model is missing.
        """
        check_is_fitted(self)
        return self._make_frame(self._terms(level))  # type: ignore[attr-defined]

    def glance(self) -> Any:
        """Return one row about the model: size, df, scale, fit and criteria."""
        check_is_fitted(self)
        row = self._glance_row()  # type: ignore[attr-defined]
        return self._make_frame({k: [v] for k, v in row.items()})  # type: ignore[attr-defined]

    def summary(self) -> Summary:
        """Return tables about the fit and its terms, as text, HTML and Markdown."""
        check_is_fitted(self)
        terms, more = shown_terms(self._terms())
        about = glance_section(self._glance_row())  # type: ignore[attr-defined]
        return Summary(self.card.title, (about, terms), (*self._notes(), *more))


class SelectedResults(CoefficientResults):
    """Results of an estimator whose terms were chosen by looking at the response.

    It sets `coef_` and its knob, and gives `_fit_numbers`: those of `GLANCE` that it has. The
    degrees of freedom count the terms and not the search for them.
    """

    coef_: FloatArray
    n_features_in_: int
    knob: ClassVar[str]
    path_: Path

    @abstractmethod
    def _fit_numbers(self) -> dict[str, Any]:
        """Return the numbers of glance, by name, and `train_error`."""

    def _choice_row(self, train_error: float) -> dict[str, Any]:
        """Return what was picked, and how well it does."""
        value = getattr(self, f"{self.knob}_")
        row: dict[str, Any] = {self.knob: value}
        if hasattr(self, "alpha_"):
            row["alpha"] = self.alpha_
        row |= {"nonzero": int(np.count_nonzero(self.coef_)), "train_error": train_error}
        row |= {"error": np.nan, "error_se": np.nan}
        path = getattr(self, "path_", None)
        if path is not None:
            chosen = {name: getattr(self, f"{name}_") for name in path.knobs}
            place = path.settings.index(chosen)
            row |= {"error": float(path.error[place]), "error_se": float(path.error_se[place])}
        if hasattr(self, "dual_gap_"):
            row["dual_gap"] = self.dual_gap_
        return row

    def _glance_row(self) -> dict[str, Any]:
        numbers = self._fit_numbers()
        return glance_row(numbers, **self._choice_row(numbers["train_error"]))

    def glance(self) -> Any:
        """Return one row about the model: size, df, scale, fit and criteria, and what was picked.

        `error` and `error_se` are the honest error of `path_` at the model, missing where the knob
        was given. The degrees of freedom count the terms and not the search for them, so sigma,
        aic, bic and gcv flatter the model; `error` does not.
        """
        return super().glance()

    def _notes(self) -> tuple[str, ...]:
        used = int(np.count_nonzero(np.any(np.atleast_2d(self.coef_) != 0, axis=0)))
        notes = [
            f"{used} of {self.n_features_in_} columns are in the model. They were chosen by "
            "looking at the response: standard errors and tests of a model given beforehand do "
            "not hold, so none are shown."
        ]
        if hasattr(self, "path_"):
            how = ESTIMATES.get(str(self.path_.estimate), self.path_.estimate)
            notes.append(f"error is the mean {self.path_.loss} on new rows, estimated by {how}.")
        return tuple(notes)
