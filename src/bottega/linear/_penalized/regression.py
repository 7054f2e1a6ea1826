"""What the estimators of the lasso family share: parameters, folds, path, fit."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import ConvergenceWarning, InputError, warn_caller
from bottega.core.folds import Folds
from bottega.core.likelihood import gaussian_path
from bottega.core.lists import Alphas, alphas_of
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
)
from bottega.core.path import Path, Rule
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray
from bottega.linear._decomposition.fold_moments import FoldMoments, judge_linear
from bottega.linear._penalized.constraint import ConstraintForm
from bottega.linear._penalized.work import GramWork, PenaltySettings, RowsWork, uses_gram
from bottega.linear._selected.coefficients import AllTerms, SelectedCoefficients
from bottega.optimize.coordinate import Descent, alpha_grid, check_penalty_weights

PenalizedWork = GramWork | RowsWork
_ADVICE = ", or omit the smallest penalties (a larger eps)"

SHARED: Mapping[str, Parameter] = {
    "alpha": Auto(Real(0, None, log=True), help="strength of the penalty"),
    "l1_ratio": Auto(Real(0, 1), help="share of the absolute values in the penalty"),
    "weights": Anything(help="penalty weight of each column; 0: free, inf: left out"),
    "adaptive": Boolean(help="divide the penalty of each column by a pilot's coefficient"),
    "relax": Boolean(help="refit the columns picked at each alpha by least squares"),
    "standardize": Boolean(help="penalise each input on its own scale"),
    "fit_intercept": Boolean(help="have an intercept, free of penalty"),
    "select": Rule(),
    "alphas": Alphas(),
    "eps": Auto(
        Real(0, 1, open_low=True, open_high=True, log=True),
        help="weakest penalty of the path, as a share of the strongest",
    ),
    "cv": OrNone(Folds(), help="number of folds that judge the path, or the folds"),
    "tol": Real(0, 1, open_low=True, log=True, help="largest relative duality gap"),
    "max_iter": Integer(1, None, help="sweeps of coordinate descent for each penalty"),
    "positive": Boolean(help="admit no negative coefficients"),
    "warm_start": Boolean(help="start the descent at the coefficients of the fit before"),
    "precompute": AnyOf(Boolean(), Anything(), help="for scikit-learn's sake: chosen by shape"),
    "copy_X": Boolean(help="for scikit-learn's sake: X is never changed"),
    "random_state": Seed(help="for scikit-learn's sake: nothing is random"),
    "selection": Choice("cyclic", "random", help="for scikit-learn's sake: always in cycles"),
}
# Parameters that only scikit-learn's namesakes have.
THEIRS = ("warm_start", "precompute", "copy_X", "random_state", "selection")


def without(*names: str) -> Mapping[str, Parameter]:
    """Return the shared parameters but for those that a class fixes."""
    return {name: declared for name, declared in SHARED.items() if name not in names}


CARD: dict[str, Any] = {
    "task": "regression",
    "cost": "n p min(n, p) at most; with few inputs that matter, n p per penalty",
    "wide": True,
}


class PenalizedResults(AllTerms):
    """What all penalised models tell: of all terms, and where the descent did not converge."""

    tol: float

    def _warn(self, fits: Any, steps: str, advice: str, places: Any = slice(None)) -> None:
        """Warn of fits (all, or those at some places) whose gap is above the tolerance."""
        gap, alphas, n_iter = (each[places] for each in (fits.gap, fits.alphas, fits.n_iter))
        late = np.flatnonzero(~(gap <= self.tol))
        if len(late):
            k = late[np.argmax(gap[late])]
            warn_caller(
                f"{type(self).__name__}: {len(late)} of {len(gap)} penalties did not converge; the "
                f"worst is alpha={alphas[k]:.4g} with a relative duality gap of {gap[k]:.2g} after "
                f"{n_iter[k]} {steps}, above tol={self.tol:g}. Increase max_iter{advice}.",
                ConvergenceWarning,
            )

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class PenalizedRegression(
    ConstraintForm, PenalizedResults, SelectedCoefficients, RegressorMixin, Tuned, Chunked
):
    """What the lasso and the elastic net share: the walk, its folds, the fit that is picked."""

    knob: ClassVar[str] = "alpha"
    walks_chunks: ClassVar[bool] = True
    alpha: float | str
    l1_ratio: float | str
    weights: Any
    adaptive: bool
    relax: bool
    standardize: bool
    alphas: Any
    eps: float | str
    cv: Any
    max_iter: int
    positive: bool
    warm_start: bool = False

    def _forget(self) -> None:
        start = getattr(self, "coef_", None) if self.warm_start else None
        super()._forget()
        if start is not None:
            self._start = start

    def _settings(self, n: int | None) -> PenaltySettings:
        folds = int(self.cv) if isinstance(self.cv, Integral) else 1
        return PenaltySettings(
            check_penalty_weights(self.weights, self.n_features_in_),
            bool(self.adaptive),
            {"standardize": bool(self.standardize), "fit_intercept": bool(self.fit_intercept)},
            Descent(float(self.tol), int(self.max_iter), bool(self.relax)),
            folds if n is None else min(folds, n),
            bool(self.positive),
        )

    def _prepare(self, rows: Rows) -> PenalizedWork:
        settings = self._settings(len(rows))
        return (GramWork if uses_gram(*rows.X.shape) else RowsWork)(rows, settings)

    def _folds_of_chunks(self) -> int:
        if self._given(None) is not None:
            return 1
        if self.cv is not None and not isinstance(self.cv, Integral):
            raise InputError("A fit in chunks has folds of its own: give cv= their number.")
        return self._settings(None).folds

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Any:
        return FoldMoments(X, y, w, self._folds_of_chunks(), fold)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> PenalizedWork:
        return GramWork(chunks, self._settings(None), statistics)

    def _settle(self, work: PenalizedWork, setting: Mapping[str, Any]) -> None:
        ratio = self._ratio(setting)
        work.prepare_folds(needed=False)
        start = self.__dict__.pop("_start", None)
        if start is not None and np.shape(start) != (self.n_features_in_,):
            start = None  # of other inputs
        fits = work.walk(np.array([float(setting["alpha"])]), ratio, start)
        self.alpha_ = float(setting["alpha"])
        if "l1_ratio" in self.knobs:
            self.l1_ratio_ = ratio
        self.coef_ = fits.coef[0].copy()
        self.intercept_ = float(fits.intercept[0])
        self.n_iter_ = int(fits.n_iter[0])
        self.dual_gap_ = float(fits.gap[0]) * fits.half
        self.converged_ = bool(fits.gap[0] <= self.tol)
        self.solver_ = work.solver
        if hasattr(self, "path_"):
            self.gap_path_ = work.gap_path
        df = int(np.count_nonzero(self.coef_)) + self.fit_intercept
        self._keep_totals(work.totals, rss=float(fits.mse[0]) * work.totals["weight"], df=df)
        self._warn(fits, "sweeps", _ADVICE)

    def _ratio(self, setting: Mapping[str, Any]) -> float:
        return float(setting.get("l1_ratio", self.l1_ratio))

    def _in_units_of(self, work: PenalizedWork, ratio: float) -> float:
        """Return the share that is `ratio` where the response has unit standard deviation.

        Absolute values are in units of the response and squares in units of its square: with the
        same share, another unit would be another compromise, and the path would depend on it.
        """
        if not self.standardize or not 0 < ratio < 1:
            return ratio
        spread = np.sqrt(work.totals["tss"] / work.totals["weight"])
        return float(ratio / (ratio + (1 - ratio) / spread)) if spread > 0 else ratio

    @property
    def _folds_by(self) -> Any:
        return 10 if self.cv is None else self.cv

    def _ratios(self) -> tuple[float, ...]:
        """Return the shares of absolute values that a path goes over."""
        return (float(self.l1_ratio),)

    def _path(self, work: PenalizedWork, values: Any, loss: Loss | None) -> Path:
        own = loss is not None and isinstance(self.cv, Integral)
        if own:
            work.prepare_folds()
        if values is None and not isinstance(self.alpha, str):
            values = [self.alpha] if isinstance(self.l1_ratio, str) else None
        values = alphas_of(values, self.alphas)
        walks, folds, settings, n = [], [], [], work.totals["n"]
        for stated in self._ratios():
            ratio = self._in_units_of(work, stated)
            if values is None:
                if ratio == 0:
                    raise InputError(
                        "With l1_ratio=0 no penalty is strong enough to leave all inputs out: give "
                        "alphas= their values, or use Ridge."
                    )
                top = work.strongest(ratio)
                alphas = alpha_grid(top, self.alphas, self.eps, n, self.n_features_in_)
            else:
                alphas = np.sort(np.asarray(values, dtype=np.float64))[::-1]
            fits, without_fold = (
                work.walk_folds(alphas, ratio) if own else (work.walk(alphas, ratio), [])
            )
            self._warn(fits, "sweeps", _ADVICE)
            walks.append(fits)
            folds.append(without_fold)
            both = {"l1_ratio": ratio} if "l1_ratio" in self.knobs else {}
            settings += [{"alpha": float(alpha), **both} for alpha in alphas]
        coef = np.concatenate([fits.coef for fits in walks])
        # A column may leave on the way down; the path counts what has been looked at so far.
        sizes = [np.count_nonzero(fits.coef, axis=1) + self.fit_intercept for fits in walks]
        df = np.concatenate([np.maximum.accumulate(size) for size in sizes]).astype(np.float64)
        order = np.argsort(df, kind="stable")
        rss = np.concatenate([fits.mse for fits in walks]) * work.totals["weight"]
        work.gap_path = np.concatenate([fits.gap for fits in walks])[order]
        judged: dict[str, Any] = {}
        if own:
            assert loss is not None
            judged = judge_linear(work.reduce, _joined(folds), loss)
            judged = {name: found[..., order] for name, found in judged.items()}
            judged["estimate"] = "cv"
        elif self.cv is None and loss == SQUARED_ERROR:
            judged = {"error": "gcv"}
        return gaussian_path(
            [settings[i] for i in order],
            rss=rss[order],
            df=df[order],
            n=n,
            weight=work.totals["weight"],
            log_weights=work.totals["log_weights"],
            loss="squared error" if loss is None else loss.title,
            coef=coef[order],
            **judged,
        )

    def _predictions(
        self, work: PenalizedWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        ratios = np.array([self._ratio(setting) for setting in settings])
        alphas = np.array([float(setting["alpha"]) for setting in settings])
        predicted = np.empty((X_new.shape[0], len(settings)))
        for ratio in np.unique(ratios):
            places = np.flatnonzero(ratios == ratio)
            places = places[np.argsort(-alphas[places], kind="stable")]
            fits = work.walk(alphas[places], float(ratio))
            predicted[:, places] = X_new @ fits.coef.T + fits.intercept
        return predicted

    def _penalty_at(self, work: PenalizedWork, alpha: float) -> float:
        ratio = self._ratios()[0]
        coef = work.walk(np.array([alpha]), ratio).coef[0]
        used = np.flatnonzero(coef)
        size = np.abs(coef[used] / work.inverse_scale[used])
        weights = work.penalty(ratio).weights[used]
        return float(weights @ (ratio * size + (1 - ratio) / 2 * size**2))

    def _strongest(self, work: PenalizedWork) -> float:
        return work.strongest(self._ratios()[0])

    @property
    def sparse_coef_(self) -> Any:
        """Coefficients as a sparse matrix of one row."""
        check_is_fitted(self)
        return csr_array(np.atleast_2d(self.coef_))


def _joined(folds: list[Any]) -> list[tuple[FloatArray, FloatArray] | None]:
    """Return coefficients and intercepts without each fold, of all walks one after the other."""
    found: list[Any] = []
    for fits in zip(*folds, strict=True):
        parts = None if fits[0] is None else [(fit.coef, fit.intercept) for fit in fits]
        found.append(parts and tuple(np.concatenate(each) for each in zip(*parts, strict=True)))
    return found
