"""What the additive models do with their rows: terms, fits, path, warnings."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bottega.additive._backfitting.work import BackfittedWork, make_terms
from bottega.additive._inference.results import AdditiveResults
from bottega.additive._model.chunks import ChunkFacts, ChunkParts
from bottega.additive._model.predicting import AdditivePredictions
from bottega.additive._model.work import PenalizedWork, make_engine, offset_of
from bottega.additive._penalized.bins import Binning, Ranges
from bottega.additive._penalized.design import Design
from bottega.additive._terms.build import Building, build_blocks
from bottega.additive._terms.facts import ColumnFacts, TableFacts
from bottega.additive._terms.resolve import check_terms, declared_levels, place_terms
from bottega.additive._terms.sums import RowSums, binned_sets
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.classes import decided
from bottega.core.errors import ConvergenceWarning, DataWarning, InputError, warn_caller
from bottega.core.judge import mean_and_se
from bottega.core.likelihood import information_criteria
from bottega.core.losses import Loss, get_loss
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import read_response
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["AdditiveEstimator"]

Works = PenalizedWork | BackfittedWork
_CERTAIN = 1e-8  # a fitted probability so near to 0 or 1 is one of a row that is separated


class AdditiveEstimator(AdditivePredictions, AdditiveResults, Tuned, Chunked):
    """The hooks of the additive models; the public classes have their parameters and cards."""

    knob: ClassVar[str] = "multiplier"
    walks: ClassVar[Mapping[str, Any]] = {"multiplier": "auto"}

    terms: Any
    engine: str
    method: str
    alpha: float | str
    multiplier: float | str
    n_splines: int
    shrink: bool
    categorical_features: Any
    multipliers: Any
    tol: float
    max_iter: int

    def _check_params(self) -> None:
        super()._check_params()
        check_terms(self.terms)

    # ---- rows ------------------------------------------------------------------------------------

    def _check_rows(self, X: Any, y: Any) -> tuple[FloatArray, Array]:
        y = read_response(self, y)
        self.inputs_ = MixedInputs(self.categorical_features)
        matrix = self._declared(self.inputs_.fit(self, X))
        check_consistent_length(matrix, y)
        self._check_response(y)
        return matrix, y

    def _declared(self, X: FloatArray) -> FloatArray:
        """Return X with codes in the columns that a term takes for levels."""
        return self.inputs_.declare(declared_levels(check_terms(self.terms), self.inputs_), X)

    def _check_response(self, y: Array) -> None:
        """Refuse responses that the family cannot have."""

    def _check_new(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        matrix: FloatArray = self.inputs_.read(self, X)
        return matrix

    def _family_of(self) -> Any:
        """Return the family of the response, or the number of classes."""
        raise NotImplementedError

    def _prepare(self, rows: Rows) -> Works:
        facts = TableFacts(rows.X, rows.weight).columns()
        ranges = Ranges(rows.X.shape[1], self._categorical()).update(rows.X)
        return self._work(facts, ranges, [(rows.X, rows.weight)], rows)

    def _categorical(self) -> list[int]:
        return [j for j, levels in enumerate(self.inputs_.levels) if levels is not None]

    def _work(
        self,
        facts: Sequence[ColumnFacts],
        ranges: Ranges,
        parts: Iterable[tuple[FloatArray, FloatArray | None]],
        rows: Rows | None,
        chunks: CheckedChunks | None = None,
    ) -> Works:
        """Return the prepared work of rows in memory, or of chunks."""
        terms = place_terms(check_terms(self.terms), self.inputs_, facts)
        self.facts_ = tuple(facts)
        if self.engine == "backfitting":
            return self._backfitting_work(terms, facts, rows)
        binning = Binning(ranges, binned_sets(terms), keep=rows is not None)
        for X, weight in parts:
            binning.update(X, None, weight)
        sums = RowSums(parts, binning)
        about = Building(self.inputs_, facts, sums.gram, sums.points, int(self.n_splines))
        blocks = build_blocks(terms, about)
        design = Design(blocks, binning)
        binned: Any
        if rows is None:
            assert chunks is not None
            binned = ChunkParts(chunks, design, terms)
        else:
            shift = offset_of(terms, rows.X)
            offset = None if np.ndim(shift) == 0 else shift
            binned = [design.rows(rows.X, rows.y, rows.weight, offset)]
        engine = make_engine(design, binned, self._family_of(), shrink=bool(self.shrink))
        alpha = None if isinstance(self.alpha, str) else float(self.alpha)
        return PenalizedWork(terms, engine, self.method, alpha, rows)

    def _backfitting_work(self, terms: Any, facts: Any, rows: Rows | None) -> BackfittedWork:
        if rows is None:
            raise InputError(
                "Backfitting goes over the rows again and again: engine='penalized' fits chunks."
            )
        family = self._family_of()
        if isinstance(family, int):
            raise InputError(
                f"Backfitting fits two classes, and y has {family}; use engine='penalized'."
            )
        made = make_terms(terms, self.inputs_, facts)
        options = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        return BackfittedWork(terms, made, family, rows, options, offset_of(terms, rows.X))

    # ---- chunks ----------------------------------------------------------------------------------

    def _reader_of_chunks(self, first: Any) -> Any:
        self.inputs_ = MixedInputs(self.categorical_features)
        self._declared(self.inputs_.fit(self, first))
        return partial(self.inputs_.read, self, learn=True)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> ChunkFacts:
        self._check_response(y[:, 0] if np.ndim(y) == 2 else y)
        return ChunkFacts(X, w, self._categorical())

    def _prepare_merged(self, statistics: ChunkFacts, chunks: CheckedChunks) -> Works:
        parts = ChunkParts(chunks)
        return self._work(statistics.facts.columns(), statistics.ranges, parts, None, chunks)

    # ---- fits ------------------------------------------------------------------------------------

    def _settle(self, work: Works, setting: Mapping[str, Any]) -> None:
        self.multiplier_ = float(setting["multiplier"])
        fit = work.fit(self.multiplier_)
        self.fit_, self.terms_ = fit, work.terms
        self._pieces = work.made if isinstance(work, BackfittedWork) else None
        self.blocks_ = () if isinstance(work, BackfittedWork) else work.blocks
        self.family_ = fit.family
        self.df_, self.scale_ = float(fit.df), float(fit.scale)
        self.deviance_ = float(fit.deviance)
        self.n_iter_, self.converged_ = int(fit.n_iter), bool(fit.converged)
        self._warn(work)

    def _warn(self, work: Works) -> None:
        fit, owner = self.fit_, type(self).__name__
        if not fit.converged:
            warn_caller(
                f"{owner}: the fit did not converge in {fit.n_iter} steps; look for terms that "
                "say the same (concurvity()), or give fewer of them.",
                ConvergenceWarning,
            )
        dropped = getattr(fit, "dropped", None)
        if dropped is not None and np.any(dropped):
            names = [
                block.name
                for block, part in zip(work.blocks * fit.n_predictors, fit.slices, strict=True)
                if np.any(dropped[part])
            ]
            warn_caller(
                f"{owner}: the rows do not determine all of {', '.join(dict.fromkeys(names))}: "
                "other terms say the same, or a level has no rows. What is not determined is zero.",
                DataWarning,
            )

    # ---- path ------------------------------------------------------------------------------------

    def _path(self, work: Works, values: Any, loss: Loss | None) -> Path:
        if values is None:
            values = self.multipliers
        if isinstance(values, int | np.integer):
            count = int(values)
            values = 10.0 ** np.linspace(3, -3, count)
            values[count // 2] = 1.0 if count % 2 else values[count // 2]
        values = np.unique(np.asarray(values, dtype=np.float64))[::-1]
        fits = [work.fit(float(value)) for value in values]
        df = np.maximum.accumulate([fit.df for fit in fits])
        if isinstance(work, BackfittedWork) or work.rows is None:
            raise InputError("The path needs rows in memory and engine='penalized'.")
        own, rows = get_loss(None, self.card.task), work.rows
        if is_classifier(self):
            own = own.for_classes(self.classes_)
        train, error, error_se = [], [], []
        for fit in fits:
            seen = own.of_rows(rows.y, self._judged(work.predictors(fit, rows.X), fit, own.method))
            train.append(float(np.average(seen, weights=rows.weight)))
            if loss is not None:
                away = self._judged(work.left_out(fit), fit, loss.method)
                mean, se = mean_and_se(loss.of_rows(rows.y, away), rows.weight)
                error.append(float(mean))
                error_se.append(float(se))
        minus_two = np.array([-2 * fit.loglik for fit in fits])
        n, scaled = fits[0].n, not fits[0].scale_known
        criteria = information_criteria(minus_two, df + scaled, n)
        deviance = np.array([fit.deviance for fit in fits])
        with np.errstate(divide="ignore"):
            criteria["gcv"] = np.where(
                df < n, n * deviance / np.maximum(n - df, 1e-300) ** 2, np.inf
            )
        judged = loss is not None
        return Path(
            along(self.knob, values),
            df=df,
            train_error=np.array(train),
            error=np.array(error) if judged else None,
            error_se=np.array(error_se) if judged else None,
            estimate="loo" if judged else None,
            loss=own.title if loss is None else loss.title,
            criteria=criteria,
        )

    def _judged(self, eta: FloatArray, fit: Any, method: str) -> Array:
        """Return what a loss judges of predictors: means, codes of classes, or probabilities."""
        if not is_classifier(self):
            return np.asarray(fit.family.mean(eta[:, 0]))
        share = shares_of(eta, fit)
        return share if method == "predict_proba" else decided(share)

    def _predictions(
        self, work: Works, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        found = []
        for setting in settings:
            fit = work.fit(float(setting[self.knob]))
            if isinstance(work, BackfittedWork):
                model = self._unnamed(X_new)
                model._settle(work, setting)
                eta = model._predictors(X_new)
            else:
                eta = work.predictors(fit, X_new)
            found.append(self._judged(eta, fit, method))
        return np.stack(found, axis=1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def shares_of(eta: FloatArray, fit: Any) -> FloatArray:
    """Return the probabilities (n, K) of the classes from predictors (n, D)."""
    if eta.shape[1] > 1 or fit.n_predictors > 1:
        return np.asarray(softmax(np.column_stack([np.zeros(len(eta)), eta]), axis=1))
    p = fit.family.mean(eta[:, 0])
    return np.column_stack([1 - p, p])
