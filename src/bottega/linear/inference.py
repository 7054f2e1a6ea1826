"""What the coefficients of a penalised linear fit are worth: covariance, terms, summary."""

from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from bottega.core.base import LinearSmoother
from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.spectrum import Spectrum

__all__ = ["CoefficientInference"]

_SHOWN = 20  # coefficients in a summary


class CoefficientInference(LinearSmoother):
    """Inference for a linear estimator that keeps its `Centering` and `Spectrum`.

    The estimator sets `coef_`, `intercept_`, `alpha_`, `smoother_`, `solver_`, `_centering` and
    `_spectrum`.
    """

    coef_: FloatArray
    intercept_: Any
    alpha_: float
    solver_: str
    n_features_in_: int
    card: ClassVar[Card]
    standardize: bool
    fit_intercept: bool
    _centering: Centering
    _spectrum: Spectrum

    def _error_at(self, X: FloatArray, kind: str = "sampling") -> FloatArray:
        """Return the standard deviation of the mean at each row, around the intercept too."""
        points = self._centering.inputs(X)
        norms = np.einsum("ij,ij->i", points, points)
        unit = self._spectrum.quadratic(points @ self._spectrum.V, norms, self.alpha_, kind)
        if self.fit_intercept:
            unit = unit + 1 / self._centering.weight
        return _outer(np.sqrt(unit), self.sigma_)

    def covariance(self, kind: str = "sampling") -> FloatArray:
        r"""Return the covariance matrix of `coef_` on the original scale.

        Parameters
        ----------
        kind : {"sampling", "posterior"}
            ``"sampling"``: over repeated responses at the same inputs,
            :math:`\sigma^2 (X^\top X + \alpha I)^{-1} X^\top X (X^\top X + \alpha I)^{-1}`.
            ``"posterior"``: of the coefficients given the data under the prior
            :math:`\beta_j \sim N(0, \sigma^2 / \alpha)` (on the penalised scale), whose mean ridge
            is, :math:`\sigma^2 (X^\top X + \alpha I)^{-1}`.

        Returns
        -------
        ndarray of shape (p, p) or (q, p, p)
        """
        check_is_fitted(self)
        if kind not in ("sampling", "posterior"):
            raise InputError(f"kind={kind!r} is not allowed; use 'sampling' or 'posterior'.")
        unit = self._spectrum.matrix(self.alpha_, kind)
        unit /= np.outer(self._centering.scale, self._centering.scale)
        return _outer(np.square(self.sigma_), unit)

    def _term_errors(self, kind: str) -> FloatArray:
        """Return the standard deviation of each term, the intercept first where there is one."""
        unit = self._spectrum.quadratic(self._spectrum.V, 1.0, self.alpha_, kind)
        errors = _outer(np.sqrt(unit) / self._centering.scale, self.sigma_)
        if not self.fit_intercept:
            return errors
        origin = np.zeros((1, self.n_features_in_))
        return np.concatenate([self._error_at(origin, kind), errors])

    def tidy(self, level: float = 0.95) -> Any:
        """Return one row a term, as a data frame.

        Parameters
        ----------
        level : float
            Probability that each interval holds.

        Returns
        -------
        data frame
            Columns term, estimate, std_error, statistic, p_value, conf_low, conf_high (and response
            where there are several). `std_error` is the sampling standard error. With a penalty the
            estimate is biased and the t test does not hold, so `statistic` and `p_value` are
            missing, and the limits are those of the posterior (credible) interval. With
            ``alpha=0`` they are the t test and the confidence interval of least squares.
        """
        return self._make_frame(self._terms(level))  # type: ignore[attr-defined]

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        fit = self._fitted_smoother()
        if not 0 < level < 1:
            raise InputError(f"level={level!r} is not allowed; level must lie between 0 and 1.")
        names = getattr(self, "feature_names_in_", None)
        terms = [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)
        estimate = self.coef_.T
        if self.fit_intercept:
            terms = ["(Intercept)", *terms]
            estimate = np.concatenate([np.asarray(self.intercept_)[None], estimate])
        error, posterior = self._term_errors("sampling"), self._term_errors("posterior")
        statistic = p_value = np.full_like(estimate, np.nan)
        left = fit.df_residual if np.all(np.isfinite(fit.sigma)) else np.nan
        if self.alpha_ == 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                statistic = estimate / error
            p_value = 2 * stats.t.sf(np.abs(statistic), left)
        half = stats.t.ppf(0.5 + level / 2, left) * posterior
        columns = {
            "estimate": estimate,
            "std_error": error,
            "statistic": statistic,
            "p_value": p_value,
            "conf_low": estimate - half,
            "conf_high": estimate + half,
        }
        head: dict[str, Any] = {"term": terms}
        if estimate.ndim == 2:
            q = estimate.shape[1]
            head = {"response": np.repeat(np.arange(q), len(terms)), "term": terms * q}
        return head | {name: column.T.ravel() for name, column in columns.items()}

    def summary(self) -> Summary:
        """Return tables about the fit and its coefficients, as text, HTML and Markdown."""
        terms = self._terms()
        notes = [
            f"Penalty alpha = {self.alpha_:.4g} on "
            f"{'standardised' if self.standardize else 'unscaled'} inputs; solver {self.solver_}."
        ]
        if self.alpha_ > 0:
            notes.append(
                "Penalised estimates are biased towards zero: no t tests; the limits are those of "
                "the posterior interval."
            )
        count = len(terms["term"])
        if count > _SHOWN:
            notes.append(f"The first {_SHOWN} of {count} terms are shown; tidy() has them all.")
        shown = {name: list(column[:_SHOWN]) for name, column in terms.items()}
        sections = (self._glance_section(), Section("Coefficients", shown))
        return Summary(self.card.title, sections, tuple(notes))


def _outer(left: Any, right: Any) -> FloatArray:
    return np.asarray(np.multiply.outer(left, right))
