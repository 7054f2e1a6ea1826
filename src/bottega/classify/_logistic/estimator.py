"""What logistic regression does with its rows: settings, fits, path, warnings."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from bottega.classify._logistic.chunked import ChunkedLikelihood, FoldClassMoments
from bottega.classify._logistic.inference import covariance_of, is_flat, separation
from bottega.classify._logistic.results import LogisticResults
from bottega.classify._logistic.walk import (
    Works,
    in_order,
    joined,
    judge_chunks,
    judge_folds,
    predicted,
    train_errors,
    walks_in,
)
from bottega.classify._logistic.work import LogisticDescent, MemoryLikelihood
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.classes import check_classes
from bottega.core.errors import (
    ConvergenceWarning,
    DataWarning,
    InputError,
    ParameterError,
    warn_caller,
)
from bottega.core.likelihood import information_criteria
from bottega.core.lists import alphas_of
from bottega.core.losses import Loss
from bottega.core.path import Path
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array
from bottega.optimize.coordinate import alpha_grid
from bottega.optimize.logistic_path import FreedomKind, LogisticSolution

_SHOWN = 5  # columns named in a warning
# Shares of absolute values that l1_ratio="auto" tries.
_RATIOS = (0.0, 0.1, 0.5, 0.9, 1.0)


class LogisticEstimator(LogisticResults, ClassifierMixin, Tuned, Chunked):
    """The hooks of logistic regression; the public class has its parameters and its card."""

    penalty: str | None
    C: float | str
    alpha: float | str | None
    l1_ratio: float | str | None
    standardize: bool | str
    relax: bool
    alphas: Any
    cv: Any
    tol: float
    max_iter: int
    class_weight: Any
    warm_start: bool

    def _check_params(self) -> None:
        super()._check_params()
        fixed = self.alpha is None and not isinstance(self.C, str)
        if self.penalty is not None and isinstance(self._ratio(), str) and fixed:
            raise ParameterError(
                "LogisticRegression: l1_ratio='auto' is chosen along a path of penalties; give "
                "alpha='auto' (or a number) with it."
            )
        if self.penalty is None and self.alpha not in (None, 0):
            raise ParameterError(
                f"LogisticRegression: penalty=None and alpha={self.alpha!r} contradict each other; "
                "leave one of them out."
            )

    def _forget(self) -> None:
        start = None
        if self.warm_start and hasattr(self, "coef_"):
            start = self.classes_, self.coef_, self.intercept_
        super()._forget()
        if start is not None:
            self._start = start

    # ---- settings --------------------------------------------------------------------------------

    def _ratio(self) -> float | str:
        """Return the share of absolute values in the penalty; "auto" where the path chooses."""
        fixed = {"l1": 1.0, "l2": 0.0}
        own = self.l1_ratio if isinstance(self.l1_ratio, str) else float(self.l1_ratio or 0.0)
        return fixed.get(str(self.penalty), own)

    def _ratios(self) -> tuple[float, ...]:
        """Return the shares that a path goes over."""
        ratio = self._ratio()
        return _RATIOS if isinstance(ratio, str) else (ratio,)

    def _descent(self, setting: Mapping[str, Any]) -> LogisticDescent:
        """Return how to fit a setting; one given by C is scikit-learn's."""
        scaled = "C" not in setting if isinstance(self.standardize, str) else self.standardize
        ratio = 0.0 if setting.get("alpha") == 0 else setting.get("l1_ratio", self._ratio())
        return LogisticDescent(
            float(ratio),
            bool(scaled),
            bool(self.fit_intercept),
            float(self.tol),
            int(self.max_iter),
            bool(self.relax) and ratio > 0,
        )

    def _given(self, work: Works) -> dict[str, Any] | None:
        if self.penalty is None:
            return {"alpha": 0.0}
        if self.alpha is not None:
            walks = isinstance(self.alpha, str) or isinstance(self._ratio(), str)
            return None if walks else {"alpha": float(self.alpha)}
        if isinstance(self.C, str):
            return None
        if np.isinf(self.C):
            return {"alpha": 0.0}
        return {"alpha": 1 / (float(self.C) * work.weight), "C": float(self.C)}

    # ---- rows ------------------------------------------------------------------------------------

    def _prepare(self, rows: Rows) -> MemoryLikelihood:
        check_classes(self.classes_)
        return MemoryLikelihood(rows)

    def _folds_of_chunks(self) -> int:
        fixed = not any(isinstance(each, str) for each in (self.alpha, self._ratio())) and not (
            self.alpha is None and isinstance(self.C, str)
        )
        if self.penalty is None or fixed or self.select not in ("min", "one_se"):
            return 1
        if not isinstance(self.cv, Integral) or int(self.cv) < 2:
            raise InputError("A fit in chunks has folds of its own: give cv= their number.")
        return int(self.cv)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> FoldClassMoments:
        return FoldClassMoments(X, y, w, len(self.classes_), self._folds_of_chunks(), fold)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> ChunkedLikelihood:
        check_classes(self.classes_)
        return ChunkedLikelihood(statistics, chunks, self.class_weight)

    # ---- fits ------------------------------------------------------------------------------------

    def _settle(self, work: Works, setting: Mapping[str, Any]) -> None:
        alpha, descent, start = float(setting["alpha"]), self._descent(setting), None
        kept = self.__dict__.pop("_start", None)
        if kept is not None and np.array_equal(kept[0], self.classes_):
            start = kept[1:] if kept[1].shape[1] == self.n_features_in_ else None
        found = work.fit(descent, alpha, start)
        self.alpha_, self.l1_ratio_ = alpha, descent.l1_ratio
        self.C_ = 1 / (work.weight * alpha) if alpha > 0 else np.inf
        self.coef_, self.intercept_ = found.coef[0].copy(), found.intercept[0].copy()
        self.dual_gap_, self.n_iter_ = float(found.gap[0]), int(found.n_iter[0])
        self.converged_ = bool(self.dual_gap_ <= self.tol)
        self.solver_ = work.solver
        self.df_ = float(found.df[0]) + self._intercepts()
        if hasattr(self, "path_"):
            self.gap_path_ = work.gap_path
        self._totals = {
            "n": float(work.n),
            "null": work.null_deviance,
            "deviance": float(found.deviance[0] * work.weight),
            "train_error": float(train_errors(work, found, len(self.classes_))[0]),
        }
        self._look_without_penalty(work, descent, alpha)
        if not self.separated_:
            self._warn(found)

    def _look_without_penalty(self, work: Works, descent: LogisticDescent, alpha: float) -> None:
        """Look whether the classes can be separated; if not, there are standard errors."""
        self.separated_, self._covariance = None, None
        if alpha > 0:
            return
        prepared = work.whole(descent)
        K = len(self.classes_)
        self.df_ = float((self.coef_.shape[1] - np.sum(prepared.problem.constant)) * max(K - 1, 1))
        self.df_ += self._intercepts()
        if isinstance(work, MemoryLikelihood) and prepared.rotation is None:
            how = separation(prepared) if is_flat(prepared) else None
            self.separated_ = how is not None
            if how is not None:
                names = np.array(term_names(self, intercept=False))[how[1]]
                shown = ", ".join(map(str, names[:_SHOWN]))
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                warn_caller(
                    f"{type(self).__name__}: the inputs ({shown}{more}) separate the classes "
                    f"{how[0]}, so the likelihood has no maximum and the coefficients no limit. "
                    "Use a penalty (alpha > 0, or a finite C), or leave those inputs out.",
                    DataWarning,
                )
                self.converged_ = False
                return
        self._covariance = covariance_of(prepared)

    def _intercepts(self) -> int:
        return (len(self.classes_) - 1) * bool(self.fit_intercept)

    def _warn(self, found: LogisticSolution) -> None:
        late = np.flatnonzero(~(found.gap <= self.tol))
        if len(late):
            k = late[np.argmax(found.gap[late])]
            warn_caller(
                f"{type(self).__name__}: {len(late)} of {len(found.gap)} penalties did not "
                f"converge; the worst is alpha={found.alphas[k]:.4g} with a relative duality gap "
                f"of {found.gap[k]:.2g} after {found.n_iter[k]} Newton steps, above "
                f"tol={self.tol:g}. Increase max_iter or tol, or use a larger alpha.",
                ConvergenceWarning,
            )

    def _path(self, work: Works, values: Any, loss: Loss | None) -> Path:
        values = alphas_of(values, self.alphas)
        if values is None and isinstance(self.alpha, Real) and isinstance(self._ratio(), str):
            values = [self.alpha]
        K, several = len(self.classes_), len(self._ratios()) > 1
        settings: list[dict[str, Any]] = []
        walks, judged = [], []
        for ratio in self._ratios():
            own = {"l1_ratio": ratio} if several else {}
            descent = self._descent(own)
            if values is None:
                p = self.n_features_in_
                alphas = alpha_grid(work.strongest(descent), self.alphas, "auto", work.n, p)
            else:
                alphas = np.sort(np.asarray(values, dtype=np.float64))[::-1]
            # Where a criterion chooses, it reads them; beside errors of rows held out it does not.
            freedom: FreedomKind = "near" if self.select in ("min", "one_se") else "exact"
            found = work.path(descent, alphas, ends=values is None, df=freedom)
            self._warn(found)
            walks.append(found)
            settings += [{"alpha": float(alpha), **own} for alpha in found.alphas]
            if isinstance(work, ChunkedLikelihood) and loss is not None and work.folds > 1:
                judged.append(judge_chunks(work, descent, found.alphas, loss, K))
        sizes = [np.maximum.accumulate(found.df + self._intercepts()) for found in walks]
        df = np.concatenate(sizes)
        order = np.argsort(df, kind="stable") if several else np.arange(len(df))
        df = df[order]
        coef, deviance, gap, wrong = (
            np.concatenate(each)[order]
            for each in (
                [found.coef for found in walks],
                [found.deviance for found in walks],
                [found.gap for found in walks],
                [train_errors(work, found, K) for found in walks],
            )
        )
        work.gap_path = gap
        known = bool(np.all(np.isfinite(df)))  # not of thousands of coefficients
        return Path(
            [settings[i] for i in order],
            df=df if known else None,
            complexity=None if known else np.arange(float(len(df))),  # type: ignore[arg-type]
            train_error=wrong,
            loss="misclassification",
            criteria=information_criteria(deviance * work.weight, df, work.n) if known else {},
            coef=coef if K > 2 else coef[:, 0],
            **joined(judged, order),
        )

    def _judge(self, curve: Path, work: Any, rows: Rows, cv: Any, loss: Loss) -> Path:
        folds, estimate = self._held_out(rows, cv)
        if not folds:
            raise InputError("No fold has rows that count on both sides; give other folds.")
        K = len(self.classes_)
        return judge_folds(curve, work, rows, folds, estimate, loss, self._descent, K)

    def _predictions(
        self, work: Works, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        K, present = len(self.classes_), np.flatnonzero(work.counts)
        parts = []
        for descent, alphas, places in walks_in(settings, self._descent):
            found = work.path(descent, alphas) if len(present) > 1 else None
            guess = predicted(X_new, found, present, K, method)
            shape = len(guess), len(alphas), *guess.shape[2:]
            parts.append((places, np.broadcast_to(guess, shape)))
        return in_order(parts)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
