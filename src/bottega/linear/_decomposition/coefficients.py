"""What the coefficients of a linear smoother are worth: covariance, terms, matrix."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.added_sums import AddedSums
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.deal import MOST_ORDERED
from bottega.core.errors import InputError, NotKept
from bottega.core.judge import LossSums
from bottega.core.likelihood import gaussian_path
from bottega.core.linear_smoother import LinearSmoother
from bottega.core.path import Path, along
from bottega.core.results import CoefficientResults, term_names, tidy_columns
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother, SmootherSums
from bottega.core.sparse import dense_parts, small_as_dense
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, BoolArray, FloatArray
from bottega.core.validate import with_warning
from bottega.linear._decomposition.centering import squeeze
from bottega.linear._decomposition.leave_one_out import RowBlock
from bottega.linear._decomposition.positive import (
    degrees_of_freedom,
    nonnegative_coef,
    on_columns,
)
from bottega.linear._decomposition.problem import (
    DecomposedProblem,
    decompose_moments,
    decompose_rows,
    moments_of,
)
from bottega.linear._decomposition.spectrum import Spectrum


class LinearPrediction:
    """`predict` of an estimator that gives `_error_at(X)`, the standard error of its mean."""

    def predict(self: Any, X: Any, return_std: bool = False) -> Any:
        """Return the fitted mean at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error of the fitted mean too (of a Bayesian model its
            posterior standard deviation). A new response varies by the noise as well: see
            `interval` with ``kind="prediction"``.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, q)
        std : ndarray of the same shape
            Only with `return_std`.
        """
        X = self._check_new(X)
        if return_std:
            return self._with_error(X)
        with np.errstate(over="ignore", invalid="ignore"):
            return with_warning(self._mean_at(X))

    def _mean_at(self: Any, X: FloatArray) -> FloatArray:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _with_error(self: Any, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._mean_at(X), self._error_at(X)

    def _standard_error(self: Any, X: Any) -> FloatArray:
        return np.asarray(self._with_error(self._check_new(X))[1])


class SpectralCoefficients(CoefficientResults, LinearPrediction, LinearSmoother):
    """What an estimator offers that settles on coefficients of a `DecomposedProblem`.

    `_keep` sets what is learned; the estimator itself sets `alpha_`.
    """

    coef_: FloatArray
    alpha_: float
    n_features_in_: int
    fit_intercept: bool
    positive: bool = False
    _least_rows = 2

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_rows(X, y)  # type: ignore[misc]
        return small_as_dense(X), y

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Any:
        return moments_of([(X, y, w)])

    def _keep(
        self, problem: DecomposedProblem, spectrum: Spectrum, kept: FloatArray, lost: FloatArray
    ) -> FloatArray:
        """Keep the fit that keeps these shares ``(r, 1)`` of the directions and loses the others.

        `spectrum` is the part that inference is about. Returns the (weighted) products of the
        residuals of the responses with one another.
        """
        coef, intercept = problem.centering.original(problem.spectrum.coef_keeping(kept)[0])
        y_ndim = problem.y_ndim
        self.coef_, self.intercept_ = squeeze(coef, y_ndim), squeeze(intercept, y_ndim)
        self.solver_ = problem.solver
        self.rank_ = problem.spectrum.rank
        self._centering, self._spectrum = problem.centering, spectrum
        # What `matrix` needs, as long as the model lives in memory: a model file has no data.
        self._training = problem.rows
        # With weights tr SS' is that of the smoother of the rows times their root weights.
        df, trace_sst = (float(np.sum(kept**k)) + self.fit_intercept for k in (1, 2))
        common = {"df": df, "trace_sst": trace_sst, "scale": self._path_scale}
        if problem.rows is None:
            products, loo = _sums_of_chunks(problem, lost, df)
            self.smoother_ = SmootherSums(
                n=problem.centering.n,
                rss=squeeze(np.diag(products).copy(), y_ndim),
                tss=squeeze(problem.tss, y_ndim),
                loo=loo,
                log_weights=problem.log_weights,
                **common,
            )
            return products
        y, w, rotated = problem.rows.y, problem.rows.weight, problem.spectrum.rotated
        each = problem.reduce(lambda block: AddedSums(([block.residuals(rotated, lost)],)))
        residuals, room = map(np.concatenate, zip(*each.values[0], strict=True))
        # What the decomposition says about a row has more digits than its prediction.
        fitted = y - residuals.reshape(y.shape)
        self.smoother_ = Smoother(y, fitted, 1 - room, weight=w, **common)
        return np.asarray((residuals if w is None else residuals * w[:, None]).T @ residuals)

    def _keep_apart(self, problem: DecomposedProblem, scaled: FloatArray) -> None:
        """Keep coefficients (q, p) of responses whose fits are not by the same smoother."""
        coef, intercept = problem.centering.original(scaled)
        y_ndim = problem.y_ndim
        self.coef_, self.intercept_ = squeeze(coef, y_ndim), squeeze(intercept, y_ndim)
        self.solver_ = problem.solver
        self.rank_ = problem.spectrum.rank
        self._centering, self._spectrum = problem.centering, problem.spectrum

    def _keep_bounded(self, problem: DecomposedProblem, alpha: float) -> None:
        """Keep the fit whose coefficients may not be negative."""
        coef = nonnegative_coef(problem.spectrum, np.array([alpha]))[0]
        if len(coef) > 1:  # each response uses columns of its own
            return self._keep_apart(problem, coef)
        used = on_columns(problem, coef[0] > 0)
        kept = used.spectrum.kept(alpha)
        self._keep(used, used.spectrum, kept, used.spectrum.lost(alpha))
        self.coef_, self.rank_ = np.maximum(self.coef_, 0.0), problem.spectrum.rank
        return None

    def _fitted_smoother(self) -> Smoother | SmootherSums:
        check_is_fitted(self)
        if not hasattr(self, "smoother_"):
            raise NotKept(
                "Responses with a penalty each, or with coefficients that may not be negative, "
                "are not fitted by one smoother: fit them one by one to see its numbers."
            )
        return self.smoother_

    def _restore(self, rows: Rows) -> None:
        if hasattr(self, "smoother_"):
            super()._restore(rows)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"}

    def _error_at(self, X: FloatArray, kind: str = "sampling") -> FloatArray:
        """Return the standard deviation of the mean at each row, around the intercept too."""
        units = []
        for _, part in dense_parts(X):
            points = self._centering.inputs(part)
            norms = np.einsum("ij,ij->i", points, points)
            projected = self._spectrum.project(points)
            units.append(self._spectrum.quadratic(projected, norms, self.alpha_, kind))
        unit = np.concatenate(units)
        if self.fit_intercept:
            unit = unit + 1 / self._centering.weight
        return _outer(np.sqrt(unit), self.sigma_)

    def _projected(self, X: Any) -> FloatArray:
        """Return the rows of X along the right singular vectors."""
        parts = [self._spectrum.project(self._centering.inputs(part)) for _, part in dense_parts(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _matrix(self, X: FloatArray) -> FloatArray:
        rows: Rows | None = getattr(self, "_training", None)
        if rows is None:
            raise NotKept("A model from a file has no training rows, so no matrix; fit it again.")
        spectrum, centering = self._spectrum, self._centering
        S = (self._projected(X) / (spectrum.lam + self.alpha_)) @ self._projected(rows.X).T
        # The centred rows are orthogonal to the weights: nothing is left of the response's mean.
        S *= rows.weights
        if self.fit_intercept:
            S += rows.weights / centering.weight
        return np.asarray(S)

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
        self._fitted_smoother()
        if kind not in ("sampling", "posterior"):
            raise InputError(f"kind={kind!r} is not allowed; use 'sampling' or 'posterior'.")
        unit = self._spectrum.matrix(self.alpha_, kind if self.alpha_ > 0 else "sampling")
        unit /= np.outer(self._centering.scale, self._centering.scale)
        absent = self._absent
        unit[absent], unit[:, absent] = np.nan, np.nan
        return _outer(np.square(self.sigma_), unit)

    @property
    def _absent(self) -> BoolArray:
        """Inputs that least squares could not tell from others."""
        return np.asarray(getattr(self, "aliased_", np.zeros(self.n_features_in_, np.bool_)))

    def _term_errors(self, kind: str) -> FloatArray:
        """Return the standard deviation of each term, the intercept first where there is one."""
        unit = self._spectrum.quadratic(self._spectrum.V, 1.0, self.alpha_, kind)
        errors = _outer(np.sqrt(unit) / self._centering.scale, self.sigma_)
        errors[self._absent] = np.nan
        if not self.fit_intercept:
            return errors
        origin = np.zeros((1, self.n_features_in_))
        return np.concatenate([self._error_at(origin, kind), errors])

    def _tested(self) -> bool:
        """Return True if the t tests of least squares hold: a penalised estimate is biased."""
        return self.alpha_ == 0 and not self.positive

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        fit, estimate = self._fitted_smoother(), self.coef_.T.copy()
        estimate[self._absent] = np.nan
        if self.fit_intercept:
            estimate = np.concatenate([np.asarray(self.intercept_)[None], estimate])
        names = term_names(self, intercept=self.fit_intercept)
        if self.positive:  # what is at the bound was found by looking at the response
            return tidy_columns(names, estimate, level=level)
        # Limits of penalised estimates are those of the posterior; without penalty both agree.
        return tidy_columns(
            names,
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


class SpectralPath(SpectralCoefficients, Tuned, Chunked):
    """What ridge and principal components share: a knob that says how much of y is kept.

    A method gives `_kept`; its `_path` ends in `_gaussian_path`.
    """

    walks_chunks: ClassVar[bool] = True
    standardize: bool

    @abstractmethod
    def _kept(self, problem: DecomposedProblem, values: Array) -> FloatArray:
        """Return the share of each direction that each value of the knob keeps, (r, m)."""

    @property
    def _frame_of_inputs(self) -> dict[str, Any]:
        return {"standardize": self.standardize, "fit_intercept": self.fit_intercept}

    def _prepare(self, rows: Rows) -> DecomposedProblem:
        return decompose_rows(rows, **self._frame_of_inputs)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> DecomposedProblem:
        return decompose_moments(statistics, chunks, chunks.y_ndim, None, **self._frame_of_inputs)

    def _gaussian_path(
        self, problem: DecomposedProblem, values: Array, rss: FloatArray, **judged: Any
    ) -> Path:
        scaled = self._scaled_coef(problem, values)
        coef, _ = problem.centering.original(scaled)
        one = problem.y_ndim == 1
        df = self._kept(problem, values).sum(axis=0)
        if self.positive:
            df = degrees_of_freedom(problem.spectrum, scaled, values)
        return gaussian_path(
            along(self.knob, values),
            rss=rss[:, 0] if one else rss,
            df=df + self.fit_intercept,
            n=problem.centering.n,
            weight=problem.centering.weight,
            log_weights=problem.log_weights,
            coef=coef[:, 0] if one else coef,
            **judged,
        )

    def _predictions(
        self,
        work: DecomposedProblem,
        settings: Sequence[Mapping[str, Any]],
        X_new: Any,
        method: str,
    ) -> Array:
        values = np.array([setting[self.knob] for setting in settings])
        coef, intercept = work.centering.original(self._scaled_coef(work, values))
        found = (X_new @ coef.reshape(-1, coef.shape[-1]).T).reshape(-1, *intercept.shape)
        found += intercept
        return np.asarray(found if work.y_ndim == 2 else found[:, :, 0])

    def _scaled_coef(self, work: DecomposedProblem, values: Array) -> FloatArray:
        """Return the coefficients (m, q, p) of the mapped columns at values of the knob."""
        return work.spectrum.coef_keeping(self._kept(work, values))


def _outer(left: Any, right: Any) -> FloatArray:
    return np.asarray(np.multiply.outer(left, right))


def _sums_of_chunks(
    problem: DecomposedProblem, lost: FloatArray, df: float
) -> tuple[FloatArray, float]:
    """Return the products of the residuals, and the mean square of those of rows left out.

    Of more than a million rows the latter is that of generalised cross-validation, for which no
    further pass is needed: leverages are so small that both are the same to four digits and more.
    """
    rotated, n = problem.spectrum.rotated, problem.centering.n
    if problem.outside is not None and n > MOST_ORDERED:
        products = problem.outside + (lost * rotated).T @ (lost * rotated)
        loo = np.diag(products).mean() / problem.centering.weight / (1 - df / n) ** 2
        return products, float(loo)

    def of_block(block: RowBlock) -> AddedSums:
        (residuals, room), w = block.residuals(rotated, lost), block.weight
        products = (residuals if w is None else residuals * w[:, None]).T @ residuals
        with np.errstate(divide="ignore", invalid="ignore"):
            left_out = residuals**2 / room[:, None] ** 2
        losses = LossSums().update(left_out.mean(axis=1, keepdims=True), w)
        return AddedSums((products, losses))

    products, losses = problem.reduce(of_block).values
    return products, float(losses.mean_and_se()[0][0])
