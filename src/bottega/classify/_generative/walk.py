"""The path of classifiers with normal classes: every setting from one decomposition of moments."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from bottega.classify._generative.base import Generative, checked_priors, normalized, shifted
from bottega.classify._generative.gaussian import Gaussians
from bottega.classify._generative.held_out import FoldedClasses
from bottega.classify._generative.moments import ClassMoments, class_moments, row_blocks
from bottega.core.added_sums import AddedSums
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.classes import check_classes, decided
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.folds import fold_of_rows
from bottega.core.judge import judge_held_out
from bottega.core.losses import Loss
from bottega.core.path import Path
from bottega.core.results import term_names
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.core.validate import check_columns

__all__ = ["GaussianWork", "NormalClasses", "Reduce", "Scorer", "no_rows", "standard_frame"]

Scorer = Callable[[FloatArray], FloatArray]  # rows to scores: (m, settings, classes that were seen)

Reduce = Callable[[Callable[..., Any]], Any]

_MOST = 2**24  # numbers in the moments of all folds
_EXACT = 1e-26  # variance against the squared mean of a column that is constant but for rounding


@dataclass
class GaussianWork:
    """Moments of the classes, what was made of them, and the rows they came from.

    `reduce` gives what a function makes of inputs, codes and weights, merged over all rows; `folds`
    are the moments of the folds of chunks, and what does so for rows with their folds.
    """

    moments: ClassMoments
    reduce: Reduce
    rows: Rows | None = None
    folds: Any = None
    solved: Any = field(default=None)


def no_rows(_: Callable[..., Any]) -> Any:
    """Refuse a pass over rows: a fit from moments alone has none."""
    raise AssertionError("the rows of these moments are not kept")


def _over(chunks: CheckedChunks, function: Callable[..., Any]) -> Any:
    return chunks.reduce(lambda X, codes, w, _: function(X, codes, w))


def standard_frame(moments: ClassMoments) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return centre and scale of each column, and which columns vary within classes.

    The scale is the standard deviation within classes, one for columns that do not vary.
    """
    weight = moments.weight
    center = weight @ moments.mean / weight.sum()
    divisor = moments.divisor()
    squares = np.diag(moments.within()) / (divisor if divisor > 0 else 1.0)
    size = np.max(np.abs(moments.mean), axis=0, initial=0.0)
    check_columns(squares, mean=size)
    varies = squares > _EXACT * size**2
    return center, np.sqrt(np.where(varies, squares, 1.0)), varies


class NormalClasses(Chunked, Generative, Tuned):
    """A classifier with a normal distribution per class and a path over its covariances."""

    cv: Any
    priors: Any
    densities_: Gaussians

    walks_chunks: ClassVar[bool] = True
    _pooled: ClassVar[bool]  # whether one scatter serves all classes

    @abstractmethod
    def _solved(self, work: GaussianWork) -> Any:
        """Return the decomposition of the moments that every setting follows from."""

    @abstractmethod
    def _scorer(self, work: GaussianWork, settings: Sequence[Mapping[str, Any]]) -> Scorer:
        """Return what gives the scores of rows under each setting."""

    @abstractmethod
    def _settings(self, work: GaussianWork, values: Any) -> list[dict[str, Any]]:
        """Return the settings of the path, the simplest first."""

    @abstractmethod
    def _complexity(self, settings: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Return what orders the settings."""

    @property
    def _by_moments(self) -> bool:
        """Whether the moments are all that a fit needs of the rows."""
        return True

    def _prepare(self, rows: Rows) -> GaussianWork:
        check_classes(self.classes_)
        X, y, w = rows.X, rows.y, rows.weight
        moments = class_moments(X, y, w, len(self.classes_), pooled=self._pooled)
        return self._worked(GaussianWork(moments, lambda function: function(X, y, w), rows))

    def _worked(self, work: GaussianWork) -> GaussianWork:
        work.solved = self._solved(work)
        return work

    def _folds_of_chunks(self) -> int:
        if self._given_settings() or not self._by_moments:
            return 1
        if not isinstance(self.cv, Integral):
            raise InputError(
                f"cv={self.cv!r} needs all rows at once, and a fit in chunks has folds of its own: "
                f"give cv= a number of folds, or {self.knob}= a number."
            )
        return int(self.cv)

    def _given_settings(self) -> bool:
        return not any(getattr(self, name) == "auto" for name in self.knobs)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Any:
        count, K = self._folds_of_chunks(), len(self.classes_)
        return FoldedClasses(X, y, w, K, pooled=self._pooled, count=count, fold=fold)

    def _prepare_merged(self, statistics: FoldedClasses, chunks: CheckedChunks) -> GaussianWork:
        check_classes(self.classes_)
        folds = None
        if len(statistics.parts) > 1:
            folds = statistics, partial(chunks.reduce, folds=len(statistics.parts))
        reduce = partial(_over, chunks)
        return self._worked(GaussianWork(statistics.total(), reduce, folds=folds))

    def _folds_in_memory(self, work: GaussianWork) -> Any:
        """Return moments of the folds of rows in memory, and what passes over the folded rows.

        None where core holds the rows out: where folds are given, moments do not suffice, or those
        of wide tables would take more memory or time than the rows.
        """
        rows = work.rows
        if rows is None or not isinstance(self.cv, Integral) or not self._by_moments:
            return None
        if work.moments.scatter.size * int(self.cv) > _MOST or len(rows) < rows.X.shape[1]:
            return None
        folds = self._held_out(rows, self.cv)[0]
        fold = fold_of_rows(folds, len(rows))
        X, y, w, K = rows.X, rows.y, rows.weight, len(self.classes_)
        parts = FoldedClasses(X, y, w, K, pooled=self._pooled, count=len(folds), fold=fold)
        return parts, lambda function: function(X, y, w, fold)

    def _path(self, work: GaussianWork, values: Any, loss: Loss | None) -> Path:
        settings = self._settings(work, values)
        judged: dict[str, Any] = {}
        if loss is not None:
            folds = work.folds or self._folds_in_memory(work)
            if folds is not None:
                judged = self._judged(folds, settings, loss)
        return Path(
            settings,
            complexity=self._complexity(settings),
            train_error=self._training_error(work, settings),
            **({"loss": "misclassification"} | judged),
        )

    def _judged(self, folds: Any, settings: Any, loss: Loss) -> dict[str, Any]:
        """Return the cross-validated error of each setting, by one more pass over the rows."""
        parts, reduce = folds

        def predictor(moments: ClassMoments | None) -> Any:
            if moments is None:
                return None
            work = self._worked(GaussianWork(moments, no_rows))
            return partial(self._predict_block, self._scorer(work, settings), work, loss.method)

        predictors = [predictor(moments) for moments in parts.training()]
        errors = judge_held_out(reduce, predictors, loss)
        return {"estimate": "cv", "loss": loss.title, **errors}

    def _training_error(self, work: GaussianWork, settings: Any) -> FloatArray:
        missed = partial(self._missed, self._scorer(work, settings), work, len(settings))
        wrong, weight = work.reduce(missed).values
        return np.asarray(wrong / weight)

    def _missed(
        self, score: Scorer, work: GaussianWork, count: int, X: Any, y: Any, w: Any
    ) -> AddedSums:
        """Return the weight of the rows that each setting misclassifies, and of all."""
        wrong, weight = np.zeros(count), 0.0
        for part in row_blocks(len(X), X.shape[1]):
            missed = self._predict_block(score, work, "predict", X[part]) != y[part, None]
            wrong += missed.sum(axis=0) if w is None else w[part] @ missed
            weight += len(missed) if w is None else float(w[part].sum())
        return AddedSums((wrong, weight))

    def _predictions(
        self, work: GaussianWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        score = self._scorer(work, settings)
        parts = [
            self._predict_block(score, work, method, X_new[part])
            for part in row_blocks(*X_new.shape)
        ]
        return np.concatenate(parts)

    def _predict_block(
        self, score: Scorer, work: GaussianWork, method: str, X: FloatArray
    ) -> Array:
        """Return codes, or probabilities, of one block of rows under each setting."""
        present = np.flatnonzero(work.moments.count)
        scores, log_prior = score(X), self._log_priors(work)
        if method == "predict":
            return present[decided(shifted(scores, log_prior))]
        found = np.zeros((*scores.shape[:2], len(self.classes_)))
        found[..., present] = normalized(scores, log_prior)
        return found

    def _log_priors(self, work: GaussianWork) -> FloatArray:
        """Return log-probabilities of the classes that were seen."""
        weight = work.moments.weight
        priors = checked_priors(self.priors, self.classes_, weight)
        return np.asarray(np.log(priors[work.moments.count > 0]))

    def _keep(self, work: GaussianWork, densities: Gaussians) -> None:
        """Set what all normal classes have."""
        moments = work.moments
        self._present = np.flatnonzero(moments.count)
        self.priors_ = np.zeros(len(self.classes_))
        self.priors_[self._present] = np.exp(self._log_priors(work))
        self.means_ = np.where((moments.count > 0)[:, None], moments.mean, np.nan)
        self.class_count_ = moments.weight.copy()
        self.densities_ = densities

    def _choice_row(self) -> dict[str, Any]:
        """Return the knobs in use, and the honest error of the path there."""
        row: dict[str, Any] = {name: getattr(self, f"{name}_") for name in self.knobs}
        path = getattr(self, "path_", None)
        error = error_se = np.nan
        if path is not None:
            place = path.settings.index({name: row[name] for name in path.knobs})
            error, error_se = float(path.error[place]), float(path.error_se[place])
        return row | {"error": error, "error_se": error_se}

    def _refuse_constant(self, varies: BoolArray) -> None:
        if not varies.any():
            raise InputError(
                "No input varies within the classes, so there is no covariance to fit: give more "
                "rows per class, or other inputs."
            )

    def _warn_separating(self, moments: ClassMoments, varies: BoolArray) -> None:
        """Warn of columns that differ between classes and not within them."""
        seen = moments.mean[moments.count > 0]
        apart = ~varies & (np.ptp(seen, axis=0) > 1e-12 * np.max(np.abs(seen), axis=0))
        if apart.any():
            name = term_names(self, intercept=False)[int(np.argmax(apart))]
            warn_caller(
                f"{type(self).__name__}: input {name!r} does not vary within the classes but "
                "differs between them: it separates classes by itself, and is left out, because a "
                "normal distribution has no such limit. Check whether it tells the target.",
                DataWarning,
            )

    def _log_joint(self, X: FloatArray) -> FloatArray:
        log_density = self.densities_.log_marginal(X)
        return log_density + self._log_prior()

    def _drawn(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        return self.densities_.drawn(codes, rng)

    def _filled(self, X: FloatArray, shares: FloatArray) -> FloatArray:
        return self.densities_.filled(X, shares)
