"""What the regressor and the classifier of projection pursuit share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from bottega.additive._pursuit.coordinates import coordinates_of
from bottega.additive._pursuit.model import Effort, Pursuit, RidgeSum
from bottega.additive._pursuit.parts import RidgeTerms, Scale
from bottega.additive._pursuit.ridge import Projector, Smoothing
from bottega.additive._pursuit.starts import fixed_starts
from bottega.additive._pursuit.targets import Criterion
from bottega.additive._pursuit.walk import TermWalk, row_weights, sizes
from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.folds import Folds
from bottega.core.losses import Loss
from bottega.core.params import Auto, Choice, Integer, Jobs, Parameter, Real, Seed
from bottega.core.path import Path, along
from bottega.core.results import CoefficientResults, glance_row, term_names, tidy_columns
from bottega.core.row_order import own_order
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import with_warning

SEARCH: dict[str, Parameter] = {
    "n_terms": Auto(Integer(0), help="number of ridge functions; 0 leaves the constant"),
    "max_terms": Integer(1, help="terms of the forward walk, from which terms are removed"),
    "smoother": Choice("spline", "supersmoother", help="smoother of the ridge functions"),
    "df": Auto(Real(1, None, open_low=True), help="degrees of freedom of each spline"),
    "gcv_penalty": Real(1, None, help="charge for each degree of freedom where GCV chooses df"),
    "span": Auto(
        Real(0, 1, open_low=True), help="share of the rows in a window of the supersmoother"
    ),
    "bass": Real(0, 10, help="how much smoother than by errors alone the supersmoother is"),
    "optlevel": Integer(0, 3, help="how thoroughly terms are readjusted"),
    "n_starts": Integer(0, help="random directions among the starts of a new term"),
}
WORK: dict[str, Parameter] = {
    "cv": Folds(help="number of folds that judge the path, or folds"),
    "tol": Real(0, 1, open_low=True, log=True, help="relative gain at which backfitting stops"),
    "max_iter": Integer(1, help="passes of backfitting after each change of terms"),
    "random_state": Seed(help="seed of the random directions"),
    "n_jobs": Jobs(),
}


class PursuitEstimator(CoefficientResults, Tuned):
    """Projection pursuit: a subclass gives the criterion and what its predictor predicts."""

    knob: ClassVar[str] = "n_terms"
    _least_rows: ClassVar[int] = 2

    n_terms: Any
    max_terms: int
    smoother: str
    df: Any
    gcv_penalty: float
    span: Any
    bass: float
    optlevel: int
    n_starts: int
    tol: float
    max_iter: int
    random_state: Any
    n_features_in_: int
    terms_: RidgeTerms

    def _check_params(self) -> None:
        super()._check_params()
        name = type(self).__name__
        if self.smoother == "supersmoother" and self.df != "auto":
            raise ParameterError(
                f"{name}: df={self.df!r} is of splines; with smoother='supersmoother' give span."
            )
        if self.smoother == "spline" and self.span != "auto":
            raise ParameterError(
                f"{name}: span={self.span!r} is of smoother='supersmoother'; with splines give df."
            )

    @abstractmethod
    def _criterion(self, rows: Rows, w: FloatArray) -> tuple[Criterion, Scale]:
        """Return what is minimised, and how responses were scaled for it."""

    @abstractmethod
    def _free(self) -> int:
        """Return the number of free predictors."""

    def _prepare(self, rows: Rows) -> TermWalk:
        # The order of the rows decides on rounding alone, and on which rows are looked at first.
        rows = rows.take(own_order(rows.X, rows.y, rows.weight))
        coordinates = coordinates_of(rows.X, rows.weight)
        Z = coordinates.of(rows.X)
        w, size = row_weights(rows)
        criterion, scale = self._criterion(rows, w)
        smoothing = Smoothing(
            self.smoother == "spline",
            0.0 if self.df == "auto" else float(self.df),
            float(self.gcv_penalty),
            0.0 if self.span == "auto" else float(self.span),
            float(self.bass),
        )
        rng = np.random.default_rng(seed_of(self.random_state, type(self).__name__))
        starts = fixed_starts(coordinates, int(self.n_starts), rng)
        effort = Effort(int(self.optlevel), int(self.max_iter), float(self.tol), starts)
        counted = 0.0 if criterion.steps else size
        pursuit = Pursuit(Projector(Z, w, counted, smoothing), criterion, effort)
        limit = max(int(size - 1) // (Z.shape[1] + 1), 1)
        return TermWalk(rows, coordinates, pursuit, int(self.max_terms), limit, scale)

    def _path(self, work: TermWalk, values: Any, loss: Loss | None) -> Path:
        counts = sizes(work, values)
        models = [work.model(count) for count in counts]
        df = np.maximum.accumulate([work.df(model, self._free()) for model in models])
        return self._curve_of(work, along(self.knob, counts), models, np.asarray(df))

    @abstractmethod
    def _curve_of(
        self, work: TermWalk, settings: Any, models: Sequence[RidgeSum], df: FloatArray
    ) -> Path:
        """Return the path of models, with its training errors and criteria."""

    def _predictions(
        self,
        work: TermWalk,
        settings: Sequence[Mapping[str, Any]],
        X_new: FloatArray,
        method: str,
    ) -> Array:
        found = [
            self._predicted(work.kept(int(setting["n_terms"])).predictor(X_new), method)
            for setting in settings
        ]
        return np.stack(found, axis=1)

    @abstractmethod
    def _predicted(self, eta: FloatArray, method: str) -> Array:
        """Return what linear predictors predict: numbers, codes of classes, probabilities."""

    def _settle(self, work: TermWalk, setting: Mapping[str, Any]) -> None:
        count = int(setting["n_terms"])
        model = work.model(count)
        self.terms_ = work.kept(count)
        self.n_terms_ = len(model.terms)
        self.directions_ = self.terms_.directions
        self.ridge_functions_ = list(self.terms_.functions)
        self.importance_ = np.abs(self.terms_.beta).sum(axis=1)
        self.df_ = work.df(model, self._free())
        self.n_iter_, self.converged_ = model.n_iter, model.converged
        self._count = len(work.rows)
        self._keep(work, model)
        if not model.converged:
            warn_caller(
                f"{type(self).__name__}: backfitting of {self.n_terms_} terms still gained more "
                f"than tol={self.tol:g} after {self.max_iter} passes; give more max_iter, or a "
                "larger tol.",
                ConvergenceWarning,
            )

    @abstractmethod
    def _keep(self, work: TermWalk, model: RidgeSum) -> None:
        """Set what the class learns beside its terms."""

    def _predictor(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        return self.terms_.predictor(X)

    def ridge_values(self, X: Any) -> FloatArray:
        """Return the value of each ridge function at each row.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray of shape (m, n_terms_)
            Each has mean zero and variance one over the rows of the fit.
        """
        check_is_fitted(self)
        return with_warning(self.terms_.values(self._check_new(X)))

    def directions(self) -> Any:
        """Return the directions as a data frame: a row per input, a column per term."""
        check_is_fitted(self)
        columns = {"input": term_names(self, intercept=False)}
        for m, direction in enumerate(self.directions_):
            columns[f"f{m + 1}"] = direction
        return self._make_frame(columns)

    def _names_of_predictors(self) -> Any:
        return None

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        estimate = np.vstack([self.terms_.intercept, self.terms_.beta])
        names = ["(Intercept)", *self.terms_.names(term_names(self, intercept=False))]
        if estimate.shape[1] == 1:
            return tidy_columns(names, estimate[:, 0], level=level)
        return tidy_columns(names, estimate, response=self._names_of_predictors(), level=level)

    def _glance_row(self) -> dict[str, Any]:
        row = {"n_terms": self.n_terms_, "train_error": self._train, "error": np.nan}
        row["error_se"] = np.nan
        path = getattr(self, "path_", None)
        if path is not None:
            place = path.settings.index({"n_terms": self.n_terms_})
            row |= {"error": float(path.error[place]), "error_se": float(path.error_se[place])}
        return glance_row({"nobs": self._count, "df": self.df_, **self._numbers}, **row)

    def _notes(self) -> tuple[str, ...]:
        return (
            "Each estimate is the share of a ridge function, whose variance is one; directions() "
            "has what it is a function of. Directions and functions were chosen by looking at the "
            "response, so no tests hold.",
        )

    def plot(self, X: Any = None, y: Any = None) -> Any:
        """Draw the ridge functions, with rows about them where they are given.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p), optional
            Rows to draw as points.
        y : array-like of shape (m,), optional
            Their response, of a regression of one response: what the model leaves of it is added.

        Returns
        -------
        altair.ConcatChart
            One panel per term, the most important first, named by the inputs that count most.
        """
        from bottega.plot import ridge_functions_chart

        check_is_fitted(self)
        rows = None if X is None else self._check_new(X)
        residual = None
        if y is not None:
            if rows is None or not is_regressor(self):
                raise InputError("y is drawn for the rows X of a regression; give X alone.")
            residual = np.asarray(y, dtype=np.float64) - self._predicted(
                self.terms_.predictor(rows), "predict"
            )
        names = term_names(self, intercept=False)
        return ridge_functions_chart(self.terms_, names, rows=rows, residual=residual)
