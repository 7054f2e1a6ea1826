"""Bayesian linear regression: a normal prior on the coefficients, a normal posterior."""

from collections.abc import Mapping
from copy import copy
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import ConvergenceWarning, InputError, warn_caller
from bottega.core.params import Anything, Auto, Boolean, Parameter, Real
from bottega.core.results import CoefficientResults, glance_row, term_names, tidy_columns
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.linear._bayesian.evidence import Evidence, Maximum, normal_prior
from bottega.linear._decomposition.triangle import Triangle, TriangleLearner

__all__ = ["BayesianRegression"]

# A sum of squares about the mean below this share of that about zero is rounding alone.
_ROUNDING = 1e-26


class BayesianRegression(CoefficientResults, RegressorMixin, TriangleLearner):
    r"""Linear regression with a normal prior on the coefficients.

    With responses :math:`y \sim N(\Phi w, I / \beta)` and the prior :math:`w \sim N(m_0, S_0)` the
    posterior is :math:`N(m_N, S_N)` with

    .. math:: S_N^{-1} = S_0^{-1} + \beta \Phi^\top \Phi, \qquad
              m_N = S_N (S_0^{-1} m_0 + \beta \Phi^\top y),

    and a new response at :math:`\phi` is
    :math:`N(m_N^\top \phi,\; 1/\beta + \phi^\top S_N \phi)`.

    Parameters
    ----------
    weight_precision : float or "auto", default="auto"
        Precision of the prior N(m0, I / weight_precision) on the coefficients; larger values shrink
        more. ``"auto"``: where the evidence is greatest.
    noise_precision : float or "auto", default="auto"
        Precision beta of the noise (one over its variance). ``"auto"``: where the evidence is
        greatest.
    prior_mean : array-like of shape (p,) or (p + 1,), optional
        Prior mean m0; zero by default.
    prior_covariance : array-like of shape (p, p) or (p + 1, p + 1), optional
        Prior covariance S0, instead of `weight_precision`. Of size p + 1 (with an intercept) it is
        for the intercept, first, and the coefficients; of size p for the coefficients alone.
    fit_intercept : bool, default=True
        Whether there is an intercept. Its prior is flat, unless `prior_covariance` says otherwise:
        it is never shrunk.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Posterior mean of the coefficients, which is their mode (MAP) too.
    intercept_ : float
        Posterior mean of the intercept.
    covariance_ : ndarray of shape (d, d)
        Posterior covariance of the intercept (first, where there is one) and the coefficients.
    alpha_ : float
        Precision of the noise in use.
    lambda_ : float
        Precision of the coefficients in use: one with a `prior_covariance`, and infinite where the
        evidence is greatest with all coefficients at the prior mean: the inputs explain no more
        than chance would.
    df_ : float
        Degrees of freedom: `gamma_`, and one for the intercept.
    gamma_ : float
        Effective number of coefficients: those that the data settle rather than the prior.
    evidence_ : float
        Logarithm of the evidence, the density of y given the precisions. A flat prior on the
        intercept has density one: compare evidence only among models that treat the intercept
        alike.
    scores_ : ndarray of shape (1,)
        `evidence_` under scikit-learn's name, where it is a list over iterations; here the maximum
        is found at once.
    n_iter_ : int
        Steps of the search for the greatest evidence; 0 when both precisions are given.
    converged_ : bool
        False where the evidence only rises with the precision of the noise (the inputs fit y
        without error).
    n_samples_seen_ : int
        Rows of positive weight seen.

    Notes
    -----
    The posterior mean is ridge regression with penalty `lambda_` / `alpha_` on unscaled inputs;
    with `lambda_` near zero it is least squares. Inputs of different units want different priors:
    standardise them first, or give a `prior_covariance`.

    The rows are reduced to their QR triangle, n p^2 operations, and one singular value
    decomposition, p^3, serves all precisions. `partial_fit` updates the triangle: any split of the
    rows gives the posterior of all of them, with ``"auto"`` too.

    `gamma_` is the df of the coefficients. A weight of k is k copies of the row. The flat
    prior on the intercept uses up one observation: the noise is estimated from n - 1
    (scikit-learn's `BayesianRidge` counts n there).

    `glance` shows nobs, df (gamma), sigma, alpha, lambda and evidence; limits are credible ones.
    Do not read the intervals as more than the model: they assume a linear truth and
    independent normal noise, and with ``"auto"`` take the precisions for known.

    References
    ----------
    .. [1] Bishop, C. M. (2006). Pattern Recognition and Machine Learning, sections 3.3-3.5.
       Springer.
    .. [2] MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 2))
    >>> y = 1 + X @ [2.0, -1.0] + 0.5 * rng.normal(size=50)
    >>> model = BayesianRegression().fit(X, y)
    >>> model.coef_.round(2), round(model.alpha_, 1)
    (array([ 2.08, -1.  ]), 4.3)
    >>> mean, std = model.predict([[0.0, 0.0]], return_std=True)
    >>> mean.round(2), std.round(2)
    (array([1.01]), array([0.07]))
    >>> model.sample(3, random_state=0).shape
    (3, 3)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "weight_precision": Auto(
            Real(0, None, log=True, open_low=True), help="precision of the prior"
        ),
        "noise_precision": Auto(
            Real(0, None, log=True, open_low=True), help="precision of the noise"
        ),
        "prior_mean": Anything(help="mean of the prior; zero by default"),
        "prior_covariance": Anything(help="covariance of the prior, instead of weight_precision"),
        "fit_intercept": Boolean(help="have an intercept, with a flat prior"),
    }
    card: ClassVar[Card] = Card(
        method="bayesian_regression",
        title="Bayesian linear regression",
        task="regression",
        strengths=(
            "Gives a distribution of coefficients and predictions instead of a point estimate.",
            "Sets its own shrinkage by the evidence, without a validation set.",
            "Prior knowledge enters as a prior; new rows update the posterior exactly.",
            "Works with more columns than rows.",
        ),
        weaknesses=(
            "Captures linear effects only: anything curved or interacting is bias.",
            "Its intervals depend on the normal model and on the chosen precisions.",
            "Keeps every input: it never selects.",
        ),
        assumptions=(
            "The mean is linear in the inputs, with independent normal errors of constant "
            "variance.",
            "The coefficients have a normal prior: inputs of different units need scaling, or a "
            "prior covariance.",
        ),
        cost="n p^2 + p^3",
        source="M420-M432, E21-E25",
        standardize=True,
        wide=True,
    )

    def __init__(
        self,
        weight_precision: float | str = "auto",
        noise_precision: float | str = "auto",
        *,
        prior_mean: Any = None,
        prior_covariance: Any = None,
        fit_intercept: bool = True,
    ) -> None:
        self.weight_precision = weight_precision
        self.noise_precision = noise_precision
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.fit_intercept = fit_intercept

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Update the posterior by more rows: it becomes that of all rows so far.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,)
            Responses.
        sample_weight : array-like of shape (m,), optional
            Row weights: how many times each row counts.

        Returns
        -------
        BayesianRegression
            The estimator. With ``"auto"`` the precisions are found anew from all rows, and the
            first block needs enough rows to tell.
        """
        if not hasattr(self, "_triangle"):
            return self.fit(X, y, sample_weight)
        rows = self._next_rows(X, y, sample_weight)
        # An error leaves the model as it was.
        self._settle(copy(self._triangle).update(rows.X, rows.y, rows.weight), {})
        return self

    def _settle(self, triangle: Triangle, setting: Mapping[str, Any]) -> None:
        mean, root = normal_prior(
            self.prior_mean, self.prior_covariance, self.n_features_in_, self.fit_intercept
        )
        whole = triangle.about(0.0)
        size, d = len(mean), len(whole) - 1
        # Below the first row of a triangle that begins with the constant stands that of the centred
        # columns: what is left for the coefficients when the intercept is free.
        flat = d - size
        R, responses = whole[flat:d, flat:d], whole[flat:d, d]
        size_about_zero = np.sum(whole[:, flat:d] ** 2, axis=0)
        R = np.where(np.sum(R**2, axis=0) > _ROUNDING * size_about_zero, R, 0.0)
        # With w = m0 + root v the prior of v is N(0, I / lambda_).
        U, singular, Vt = np.linalg.svd(R @ root)
        rotated = U.T @ (responses - R @ mean)
        known = singular > singular[0] * size * np.finfo(np.float64).eps
        lam = np.where(known, singular**2, 0.0)
        rest = float(np.sum(rotated[~known] ** 2) + whole[d, d] ** 2)
        square = float(np.sum(whole[:, d] ** 2))
        if rest <= _ROUNDING * square:
            rest = 0.0  # of a fit without error rounding leaves something, or nothing
        evidence = Evidence(lam[known], rotated[known] ** 2, rest, triangle.weight - flat)
        found = self._precisions(evidence, triangle.count, square)
        self.lambda_, self.alpha_ = found.weight_precision, found.noise_precision
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        self.gamma_ = evidence.gamma(self.lambda_, self.alpha_)
        self.df_ = float(self.gamma_ + self.fit_intercept)
        self.evidence_ = float(evidence(self.lambda_, self.alpha_))
        precision = self.lambda_ + self.alpha_ * lam
        v = Vt.T @ (self.alpha_ * np.sqrt(lam) * rotated / precision)
        factor = root @ Vt.T / np.sqrt(precision)
        w, covariance = mean + root @ v, factor @ factor.T
        if flat:
            self.evidence_ -= 0.5 * np.log(triangle.weight)
            centre = whole[0, 1:] / whole[0, 0]
            cross = -covariance @ centre[:-1]
            corner = 1 / (self.alpha_ * triangle.weight) - cross @ centre[:-1]
            w = np.concatenate([[centre[-1] - centre[:-1] @ w], w])
            covariance = np.block([[np.atleast_2d(corner), cross], [cross[:, None], covariance]])
        self.scores_ = np.array([self.evidence_])
        first = int(self.fit_intercept)
        self.coef_, self.intercept_ = w[first:], float(w[0]) if first else 0.0
        self.covariance_ = covariance
        self._triangle = triangle
        self.n_samples_seen_ = triangle.count

    def _precisions(self, evidence: Evidence, seen: int, square: float) -> Maximum:
        weight = None if isinstance(self.weight_precision, str) else float(self.weight_precision)
        if self.prior_covariance is not None:
            if weight is not None:
                raise InputError(
                    f"Give weight_precision={weight:g} or a prior_covariance, not both: leave "
                    "weight_precision at 'auto'."
                )
            weight = 1.0
        noise = None if isinstance(self.noise_precision, str) else float(self.noise_precision)
        total = evidence.rest + float(evidence.power.sum())
        if noise is None and not (evidence.n > 0 and total > _ROUNDING * square):
            raise InputError(
                f"The precision of the noise cannot be told from n_samples = {seen}: there are "
                "too few, or y does not vary. Give more rows, or a number as noise_precision."
            )
        if weight is None and not len(evidence.lam):
            raise InputError(
                "The precision of the prior cannot be told from these rows: no input varies. Give "
                "more rows, or a number as weight_precision."
            )
        found = evidence.maximize(weight, noise)
        if not found.converged:
            warn_caller(
                "The evidence has no maximum, it only rises with the precision of the noise: the "
                f"inputs fit y without error. lambda_={found.weight_precision:.3g} and "
                f"alpha_={found.noise_precision:.3g} are where the search ended; give a number as "
                "noise_precision, or fewer inputs.",
                ConvergenceWarning,
            )
        return found

    def _error_at(self, X: FloatArray) -> FloatArray:
        points = np.column_stack([np.ones(len(X)), X]) if self.fit_intercept else X
        variance = np.einsum("ij,ij->i", points @ self.covariance_, points)
        return np.sqrt(np.maximum(variance, 0))

    def _noise(self) -> Any:
        return SimpleNamespace(sigma=self.alpha_**-0.5, df_residual=np.inf)  # taken for known

    def sample(self, n_samples: int = 1, random_state: Any = None) -> FloatArray:
        """Draw coefficients from the posterior.

        Parameters
        ----------
        n_samples : int
            Number of draws.
        random_state : int, RandomState, Generator or None
            What makes the draws repeatable.

        Returns
        -------
        ndarray of shape (n_samples, d)
            One draw per row: the intercept first, where there is one, then the coefficients.
        """
        check_is_fitted(self)
        rng = np.random.default_rng(seed_of(random_state, "sample"))
        mean = self._mean()
        return rng.multivariate_normal(mean, self.covariance_, size=n_samples, method="eigh")

    def _mean(self) -> FloatArray:
        return np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        # A posterior has no test; its limits are normal, the precisions being taken for known.
        return tidy_columns(
            term_names(self, intercept=self.fit_intercept),
            self._mean(),
            std_error=np.sqrt(np.diag(self.covariance_)),
            level=level,
        )

    def _glance_row(self) -> dict[str, Any]:
        row = {"nobs": self.n_samples_seen_, "df": self.gamma_, "sigma": float(self.alpha_**-0.5)}
        return glance_row(
            row, **{"alpha": self.alpha_, "lambda": self.lambda_}, evidence=self.evidence_
        )

    def _notes(self) -> tuple[str, ...]:
        return ("The limits hold 95 % of the posterior probability; evidence is its logarithm.",)
