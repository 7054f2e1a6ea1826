"""What the estimators of the lasso family share: parameters, folds, path, fit."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import Tuned
from bottega.core.errors import ConvergenceWarning, InputError
from bottega.core.folds import deal_folds
from bottega.core.params import AnyOf, Anything, Auto, Boolean, Integer, Parameter, Real
from bottega.core.path import Path, Rule
from bottega.core.smoother import gaussian_criteria
from bottega.core.typing import Array, FloatArray
from bottega.core.weights import check_weight
from bottega.linear._penalized.chunks import moments_of_chunks
from bottega.linear._penalized.folds import check_folds
from bottega.linear._penalized.paths import (
    FoldPaths,
    PenaltySettings,
    paths_from_moments,
    paths_from_rows,
    uses_gram,
)
from bottega.linear.chunked import CheckedChunks
from bottega.linear.selected_report import SelectedReport, log_weights
from bottega.optimize.coordinate import (
    Descent,
    PenalizedFits,
    Penalty,
    check_alphas,
    check_penalty_weights,
)
from bottega.optimize.coordinate_columns import is_sparse

__all__ = ["CARD", "SHARED", "PenalizedRegression", "without"]

SHARED: Mapping[str, Parameter] = {
    "alpha": Auto(Real(0, None, log=True), help="strength of the penalty"),
    "l1_ratio": Real(0, 1, open_low=True, help="share of the absolute values in the penalty"),
    "weights": Anything(help="penalty weight of each column; 0: free, inf: left out"),
    "adaptive": Boolean(help="divide the penalty of each column by a pilot's coefficient"),
    "relax": Boolean(help="refit the columns picked at each alpha by least squares"),
    "standardize": Boolean(help="penalise each input on its own scale"),
    "fit_intercept": Boolean(help="have an intercept, free of penalty"),
    "select": Rule(),
    "n_alphas": Integer(2, None, help="number of penalties on the path"),
    "eps": Auto(
        Real(0, 1, open_low=True, open_high=True, log=True),
        help="weakest penalty of the path, as a share of the strongest",
    ),
    "cv": AnyOf(Integer(2), Anything(), help="number of folds that judge the path, or the folds"),
    "tol": Real(0, 1, open_low=True, log=True, help="largest relative duality gap"),
    "max_iter": Integer(1, None, help="sweeps of coordinate descent for each penalty"),
}


def without(*names: str) -> Mapping[str, Parameter]:
    """Return the shared parameters but for those that a class fixes."""
    return {name: declared for name, declared in SHARED.items() if name not in names}


CARD: dict[str, Any] = {
    "task": "regression",
    "knob": "alpha",
    "cost": "n p min(n, p) at most; with few inputs that matter, n p a penalty",
    "wide": True,
    "weights": True,
    "chunks": True,
}


class PenalizedRegression(SelectedReport, RegressorMixin, Tuned):
    """What the lasso and the elastic net share: the walk, its folds, the fit that is picked."""

    knob: ClassVar[str] = "alpha"
    alpha: float | str
    l1_ratio: float
    weights: Any
    adaptive: bool
    relax: bool
    standardize: bool
    fit_intercept: bool
    n_alphas: int
    eps: float | str
    cv: Any
    tol: float
    max_iter: int

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Response.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        PenalizedRegression
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, weight = self._validate(X, y, sample_weight)
        self.__dict__.pop("gap_path_", None)  # of an earlier fit
        alpha = self._resolve_knob(X, y, weight)
        X, y, weight = _with_weight(X, y, weight)
        settings = self._settings(X.shape[1])
        found = paths_from_rows(X, y, weight, None, np.array([float(alpha)]), settings)
        self.solver_ = "gram" if uses_gram(*X.shape) else "rows"
        self._totals = {
            "n": float(len(y)),
            "weight": found.weight,
            "tss": float(np.cov(y, aweights=weight, ddof=0) * found.weight),
            "log_weights": log_weights(weight),
        }
        return self._keep(found.solution)

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, from the products of their columns alone.

        Parameters
        ----------
        chunks : re-iterable of (X, y) or (X, y, w)
            Something that can be gone through several times: a list, or an object whose
            ``__iter__`` starts afresh.

        Returns
        -------
        PenalizedRegression
            The fitted estimator, with the penalty that `fit` on all rows together picks, whatever
            the chunks. Memory: one p by p matrix a fold.
        """
        self._check_params()
        first = next(iter(chunks), None)
        if first is None:
            raise InputError("There are no chunks to fit; give at least one (X, y).")
        X, y, *_ = first
        self._remember_frame(X)
        if np.ndim(y) != 1:
            raise InputError(f"y must have one axis; the first chunk's has {np.ndim(y)}.")
        # Sets the number of columns and their names; the rows are checked chunk by chunk.
        validate_data(self, X, skip_check_array=True)
        checked = CheckedChunks(chunks, self.n_features_in_, 1)
        settings = self._settings(self.n_features_in_)
        for name in ("path_", "gap_path_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(self.alpha, str):
            if self.cv is not None and not check_folds(self.cv):
                raise InputError("A fit in chunks has folds of its own: give cv= their number.")
            parts, logs = moments_of_chunks(checked, self.cv or 1)
            found = paths_from_moments(parts, None, settings)
            n = sum(part.count for part in parts)
            self.path_ = self._curve(found, n, logs)
            alpha = float(self.path_.values[self.path_.best(self.select)])
            total = parts[0]
            for part in parts[1:]:
                total.merge(part)
        else:
            alpha = float(self.alpha)
            (total,), logs = moments_of_chunks(checked, 1)
        self.solver_ = "gram"
        self._totals = {
            "n": float(total.count),
            "weight": total.weight,
            "tss": float(total.scatter[-1, -1]),
            "log_weights": logs,
        }
        return self._keep(paths_from_moments([total], np.array([alpha]), settings).solution)

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, FloatArray, FloatArray | None]:
        X, y = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            accept_sparse="csc",
            y_numeric=True,
            ensure_min_samples=2,
        )
        return X, np.asarray(y, dtype=np.float64), check_weight(sample_weight, len(y))

    def _settings(self, p: int) -> PenaltySettings:
        return PenaltySettings(
            Penalty(float(self.l1_ratio), check_penalty_weights(self.weights, p)),
            bool(self.adaptive),
            bool(self.standardize),
            bool(self.fit_intercept),
            Descent(float(self.tol), int(self.max_iter), bool(self.relax)),
            int(self.n_alphas),
            self.eps,
        )

    def _keep(self, solution: PenalizedFits) -> Self:
        self.alpha_ = float(solution.alphas[0])
        self.coef_ = solution.coef[0].copy()
        self.intercept_ = float(solution.intercept[0])
        self.n_iter_ = int(solution.n_iter[0])
        self.dual_gap_ = float(solution.gap[0])
        self.converged_ = bool(self.dual_gap_ <= self.tol)
        self.df_ = float(np.count_nonzero(self.coef_) + self.fit_intercept)
        self._totals |= {"rss": float(solution.mse[0]) * self._totals["weight"], "df": self.df_}
        self._warn(solution)
        return self

    def _warn(self, solution: PenalizedFits) -> None:
        late = np.flatnonzero(~(solution.gap <= self.tol))
        if len(late):
            k = late[np.argmax(solution.gap[late])]
            warnings.warn(
                f"{type(self).__name__}: {len(late)} of {len(solution.gap)} penalties did not "
                f"converge; the worst is alpha={solution.alphas[k]:.4g} with a relative duality "
                f"gap of {solution.gap[k]:.2g} after {solution.n_iter[k]} sweeps, above "
                f"tol={self.tol:g}. Increase max_iter, or do without the smallest penalties "
                "(a larger eps).",
                ConvergenceWarning,
                stacklevel=3,
            )

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        given = X, y, sample_weight
        X, y, weight = _with_weight(X, y, sample_weight)
        alphas = None if values is None else check_alphas(values)
        own = self.cv is None or check_folds(self.cv)
        folds = None
        if own and self.cv is not None:
            folds = deal_folds(len(y), min(self.cv, len(y)))
        found = paths_from_rows(X, y, weight, folds, alphas, self._settings(X.shape[1]))
        curve = self._curve(found, len(y), log_weights(weight))
        return curve if own else self._cross_validate(curve, *given, self.cv)

    def _curve(self, found: FoldPaths, n: int, logs: float) -> Path:
        solution, errors = found.solution, found.fold_errors
        self.gap_path_ = solution.gap
        self._warn(solution)
        size = np.count_nonzero(solution.coef, axis=1) + self.fit_intercept
        # A column may leave on the way down; the path counts what has been looked at so far.
        df = np.maximum.accumulate(size.astype(np.float64))
        # The weights of the criteria's likelihood: rss is the sum of w r^2, as for the smoothers.
        rss = solution.mse * found.weight
        rich = np.flatnonzero((n - df >= 1) & (rss > 0))
        scale = float(np.sqrt(rss[rich[-1]] / (n - df[rich[-1]]))) if len(rich) else None
        criteria = gaussian_criteria(rss, df, n, scale=scale, log_weights=logs)
        if errors is None:  # no folds, or folds of the user's own that judge the path afterwards
            error, error_se, estimate = criteria["gcv"], np.zeros(len(df)), "gcv"
        else:
            error, estimate = errors.mean(axis=0), "cv"
            error_se = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        return Path(
            knob=self.knob,
            values=solution.alphas,
            df=df,
            train_error=solution.mse,
            error=error,
            error_se=error_se,
            estimate=estimate,
            loss="squared error",
            criteria=criteria,
            coef=solution.coef,
        )

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        X, y, weight = _with_weight(X, y, sample_weight)
        alphas = np.asarray(values, dtype=np.float64)
        found = paths_from_rows(X, y, weight, None, alphas, self._settings(X.shape[1])).solution
        return np.asarray(X_new @ found.coef.T + found.intercept)

    # ---- predicting -----------------------------------------------------------------------------

    def predict(self, X: Any) -> FloatArray:
        """Return the fitted mean at each row of X."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse=("csr", "csc"), reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def tidy(self) -> Any:
        """Return one row a term with its estimate, as a data frame.

        There are no standard errors: a coefficient that was picked by the data, and shrunk, has
        no t test.
        """
        check_is_fitted(self)
        return self._make_frame(self._terms(np.arange(self.n_features_in_)))

    def _terms(self, columns: Any = None) -> dict[str, Any]:
        """Return the intercept and the given columns, by default those in the model."""
        columns = np.flatnonzero(self.coef_) if columns is None else columns
        names = getattr(self, "feature_names_in_", None)
        terms = [f"x{j}" if names is None else str(names[j]) for j in columns]
        estimate = self.coef_[columns]
        if self.fit_intercept:
            terms, estimate = ["(Intercept)", *terms], np.append(self.intercept_, estimate)
        return {"term": terms, "estimate": estimate}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_weight(X: Any, y: FloatArray, weight: Any) -> tuple[Any, FloatArray, Any]:
    """Leave out the rows of weight zero."""
    if is_sparse(X) and X.format != "csc":
        X = X.tocsc()
    if weight is not None and np.any(weight == 0):
        rows = np.flatnonzero(weight > 0)
        X, y, weight = X[rows], y[rows], weight[rows]
    if len(y) < 2:
        raise InputError(
            "Only 1 sample has a positive weight, and a fit needs at least 2: give more rows."
        )
    return X, y, weight
