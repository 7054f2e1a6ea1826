"""What the coefficients of a linear smoother are worth: covariance, terms, matrix."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError, NotKept
from bottega.core.judge import LossSums
from bottega.core.linear_smoother import LinearSmoother
from bottega.core.results import CoefficientResults, term_names, tidy_columns
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother, SmootherSums
from bottega.core.typing import FloatArray
from bottega.linear._decomposition.centering import Centering, squeeze
from bottega.linear._decomposition.problem import DecomposedProblem
from bottega.linear._decomposition.spectrum import Spectrum


class SpectralCoefficients(CoefficientResults, LinearSmoother):
    """What an estimator offers that settles on coefficients of a `DecomposedProblem`.

    `_keep` sets `coef_`, `intercept_`, `solver_`, `_centering` and `_spectrum`, `_keep_smoother`
    sets `smoother_`; the estimator itself sets `alpha_`.
    """

    coef_: FloatArray
    intercept_: Any
    alpha_: float
    solver_: str
    n_features_in_: int
    fit_intercept: bool
    _least_rows = 2
    _centering: Centering
    _spectrum: Spectrum
    _glance_section = LinearSmoother._glance_section

    # ---- settling -------------------------------------------------------------------------------

    def _keep(self, problem: DecomposedProblem, scaled: FloatArray, spectrum: Spectrum) -> None:
        """Keep the coefficients ``(q, p)`` of scaled inputs."""
        coef, intercept = problem.centering.original(scaled)
        self.coef_ = squeeze(coef, problem.y_ndim)
        self.intercept_ = squeeze(intercept, problem.y_ndim)
        self.solver_ = problem.solver
        self._centering, self._spectrum = problem.centering, spectrum
        # What `matrix` needs, as long as the model lives in memory: a model file has no data.
        self._training = problem.rows

    def _keep_smoother(
        self,
        problem: DecomposedProblem,
        parts: Iterable[tuple[FloatArray, FloatArray, Any]],
        *,
        df: float,
        trace_sst: float,
    ) -> FloatArray:
        """Keep the smoother of residuals and one minus leverages, given by blocks of rows.

        Returns the (weighted) products of the residuals of the responses with one another.
        """
        q, y_ndim = len(problem.tss), problem.y_ndim
        common = {"df": df, "trace_sst": trace_sst, "scale": self._path_scale}
        products, sums, kept = np.zeros((q, q)), LossSums(), []
        for residuals, room, w in parts:
            products += (residuals if w is None else residuals * w[:, None]).T @ residuals
            if problem.rows is not None:
                kept.append((residuals, room))
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                left_out = residuals**2 / room[:, None] ** 2
            sums.update(left_out.mean(axis=1, keepdims=True), w)
        if problem.rows is not None:
            y = problem.rows.y
            residuals, room = (np.concatenate(each) for each in zip(*kept, strict=True))
            # What the decomposition says about a row has more digits than its prediction.
            fitted = y - residuals.reshape(y.shape)
            self.smoother_ = Smoother(y, fitted, 1 - room, weight=problem.rows.weight, **common)
        else:
            self.smoother_ = SmootherSums(
                n=problem.centering.n,
                rss=squeeze(np.diag(products).copy(), y_ndim),
                tss=squeeze(problem.tss, y_ndim),
                loo=float(sums.mean_and_se()[0][0]),
                log_weights=problem.log_weights,
                **common,
            )
        return products

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"}

    # ---- predicting -----------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the fitted mean at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error of the fitted mean too.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, q)
        std : ndarray of the same shape
            Only with `return_std`.
        """
        check_is_fitted(self)
        X = self._check_new(X)  # type: ignore[attr-defined]
        mean = np.asarray(X @ self.coef_.T + self.intercept_)
        return (mean, self._error_at(X)) if return_std else mean

    def _standard_error(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._error_at(self._check_new(X))  # type: ignore[attr-defined]

    def _error_at(self, X: FloatArray, kind: str = "sampling") -> FloatArray:
        """Return the standard deviation of the mean at each row, around the intercept too."""
        points = self._centering.inputs(X)
        norms = np.einsum("ij,ij->i", points, points)
        unit = self._spectrum.quadratic(points @ self._spectrum.V, norms, self.alpha_, kind)
        if self.fit_intercept:
            unit = unit + 1 / self._centering.weight
        return _outer(np.sqrt(unit), self.sigma_)

    def _matrix(self, X: FloatArray) -> FloatArray:
        rows: Rows | None = getattr(self, "_training", None)
        if rows is None:
            raise NotKept("A model from a file has no training rows, so no matrix; fit it again.")
        spectrum, centering = self._spectrum, self._centering
        w = rows.weight
        train = centering.inputs(rows.X) @ spectrum.V
        S = ((centering.inputs(X) @ spectrum.V) / (spectrum.lam + self.alpha_)) @ train.T
        # The centred rows are orthogonal to the weights: nothing is left of the response's mean.
        S *= 1.0 if w is None else w
        if self.fit_intercept:
            S += (1.0 if w is None else w) / centering.weight
        return np.asarray(S)

    # ---- inference ------------------------------------------------------------------------------

    def covariance(self, kind: str = "sampling") -> FloatArray:
        r"""Return the covariance matrix of `coef_` on the original scale.

        Parameters
        ----------
        kind : {"sampling", "posterior"}
            ``"sampling"``: over repeated responses at the same inputs,
            :math:`\sigma^2 (X^\top X + \alpha I)^{-1} X^\top X (X^\top X + \alpha I)^{-1}`.
            ``"posterior"``: of the coefficients given the data under the prior
            :math:`\beta_j \sim N(0, \sigma^2 / \alpha)` (on the penalised scale), whose mean ridge
            is, :math:`\sigma^2 (X^\top X + \alpha I)^{-1}`. Without a penalty both are the same.

        Returns
        -------
        ndarray of shape (p, p) or (q, p, p)
            With rows and columns of aliased inputs missing.
        """
        check_is_fitted(self)
        if kind not in ("sampling", "posterior"):
            raise InputError(f"kind={kind!r} is not allowed; use 'sampling' or 'posterior'.")
        unit = self._spectrum.matrix(self.alpha_, kind if self.alpha_ > 0 else "sampling")
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

    def _tested(self) -> bool:
        """Return True if the t tests of least squares hold: a penalised estimate is biased."""
        return self.alpha_ == 0

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        fit, estimate = self._fitted_smoother(), self.coef_.T
        if self.fit_intercept:
            estimate = np.concatenate([np.asarray(self.intercept_)[None], estimate])
        # Limits of penalised estimates are those of the posterior; without penalty both agree.
        return tidy_columns(
            term_names(self, intercept=self.fit_intercept),
            estimate,
            std_error=self._term_errors("sampling"),
            spread=self._term_errors("posterior") if self.alpha_ > 0 else None,
            test=self._tested(),
            df=fit.df_residual if np.all(np.isfinite(fit.sigma)) else np.nan,
            level=level,
        )

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        return tags


def _outer(left: Any, right: Any) -> FloatArray:
    return np.asarray(np.multiply.outer(left, right))
