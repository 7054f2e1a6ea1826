"""What the additive models do with their rows: terms, fits, path, warnings."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bottega.additive._backfitting.work import BackfittedWork, make_terms
from bottega.additive._inference.results import AdditiveResults
from bottega.additive._model.foresight import Foresight
from bottega.additive._model.growing import forward_works, with_interactions
from bottega.additive._model.leave_one_out import class_shares
from bottega.additive._model.predicting import AdditivePredictions
from bottega.additive._model.source import ChunkFacts, ModelRows
from bottega.additive._model.telling import SEPARATION, warn_of_fit
from bottega.additive._model.work import PenalizedWork, make_engine, offset_of
from bottega.additive._penalized.bins import Ranges
from bottega.additive._penalized.design import Design
from bottega.additive._penalized.engine import is_least_squares
from bottega.additive._terms.build import build_blocks
from bottega.additive._terms.facts import TableFacts
from bottega.additive._terms.one_sided import OneSided, one_sided_levels
from bottega.additive._terms.resolve import (
    PlacedTerm,
    check_terms,
    declared_levels,
    place_terms,
)
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.classes import decided
from bottega.core.errors import BottegaError, DataWarning, InputError, ParameterError
from bottega.core.estimator import AS_IT_IS
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
    interactions: int
    n_terms: int | None
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
        self.columns_in_ = MixedInputs(self.categorical_features)
        matrix = self._declared(self.columns_in_.fit(self, X))
        check_consistent_length(matrix, y)
        if len(matrix) < 2:
            raise InputError(
                f"{type(self).__name__} needs at least two rows; got n_samples = {len(matrix)}."
            )
        self._check_response(y)
        return matrix, y

    def _declared(self, X: FloatArray) -> FloatArray:
        """Return X with codes in the columns that a term takes for levels."""
        return self.columns_in_.declare(
            declared_levels(check_terms(self.terms), self.columns_in_), X
        )

    def _check_response(self, y: Array, *, all_rows: bool = True) -> None:
        """Refuse responses that the family cannot have."""

    def _check_new(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        matrix: FloatArray = self.columns_in_.read(self, X)
        return matrix

    @abstractmethod
    def _family_of(self) -> Any:
        """Return the family of the response, or the number of classes."""

    def _prepare(self, rows: Rows) -> Works:
        return self._work(self._source(rows))

    def _source(self, rows: Rows) -> ModelRows:
        facts = TableFacts(rows.X, rows.weight)
        ranges = Ranges(rows.X.shape[1], self._categorical()).update(rows.X, facts)
        return ModelRows(facts.columns(), ranges, rows)

    def _categorical(self) -> list[int]:
        return [j for j, levels in enumerate(self.columns_in_.levels) if levels is not None]

    def _work(self, source: ModelRows) -> Works:
        """Return the prepared work of the terms that are given, or chosen."""
        terms = self._placed(source)
        if self.engine == "backfitting":
            return self._backfitting_work(terms, source)
        make = partial(self._term_work, source)
        work = make(terms)
        if self.n_terms is not None:
            self._refuse_chunks(source, "n_terms")
            work = forward_works(work, make, int(self.n_terms))[-1]
        if self.interactions:
            self._refuse_chunks(source, "interactions")
            about = source.building(work.terms, self.columns_in_, int(self.n_splines))
            work = with_interactions(work, about, make, int(self.interactions))
        return work

    def _one_sided_levels(self, source: ModelRows, terms: Sequence[PlacedTerm]) -> OneSided:
        """Return the levels whose rows are all alike, in a pass over the rows."""
        classes = self.classes_.tolist() if is_classifier(self) else None
        family = self._family_of()
        return one_sided_levels(terms, self.columns_in_, source.reduce, family, classes)

    def _placed(self, source: ModelRows) -> tuple[PlacedTerm, ...]:
        """Return the terms, given or by default, of known columns."""
        self.facts_ = tuple(source.facts)
        family = self._family_of()
        terms = place_terms(
            check_terms(self.terms),
            self.columns_in_,
            source.facts,
            n_splines=int(self.n_splines),
            n_predictors=family - 1 if isinstance(family, int) else 1,
        )
        if isinstance(family, int) and any(placed.term.word == "offset" for placed in terms):
            raise InputError(
                f"offset() is added to one predictor, and {family} classes have several; leave it "
                "out, or fit one class against the rest."
            )
        return terms

    def _refuse_chunks(self, source: ModelRows, name: str) -> None:
        if source.rows is None:
            raise InputError(f"A fit in chunks takes the terms as they are: leave out {name}.")

    def _term_work(self, source: ModelRows, terms: tuple[PlacedTerm, ...]) -> PenalizedWork:
        """Return the prepared work of some terms."""
        family = self._family_of()
        if not isinstance(family, int) and is_least_squares(family):
            source.foresee(terms, self.columns_in_, int(self.n_splines))
        about = source.building(terms, self.columns_in_, int(self.n_splines))
        blocks = build_blocks(terms, about)
        design = Design(blocks, source.binning(terms))
        parts = source.binned(design, terms)
        make = partial(make_engine, design, parts, family, shrink=bool(self.shrink))
        alpha = None if isinstance(self.alpha, str) else float(self.alpha)
        levels = partial(self._one_sided_levels, source, terms)
        return PenalizedWork(terms, blocks, make, levels, self.method, alpha, source.rows)

    def _backfitting_work(self, terms: Any, source: ModelRows) -> BackfittedWork:
        facts, rows = source.facts, source.rows
        for name in ("interactions", "n_terms"):
            if getattr(self, name):
                raise ParameterError(f"{type(self).__name__}: {name} is for engine='penalized'.")
        if rows is None:
            raise InputError(
                "Backfitting goes over the rows again and again: engine='penalized' fits chunks."
            )
        family = self._family_of()
        if isinstance(family, int):
            raise InputError(
                f"Backfitting fits two classes, and y has {family}; use engine='penalized'."
            )
        made = make_terms(terms, self.columns_in_, facts)
        options = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        levels = partial(self._one_sided_levels, source, terms)
        return BackfittedWork(
            terms, made, family, self.columns_in_, rows, options, offset_of(terms, rows.X), levels
        )

    # ---- chunks ----------------------------------------------------------------------------------

    def _reader_of_chunks(self, first: Any) -> Any:
        self.columns_in_ = MixedInputs(self.categorical_features)
        self._declared(self.columns_in_.fit(self, first))
        return self.columns_in_.reader(self)

    def _fit_checked(self, checked: CheckedChunks) -> None:
        guess = self._guess(checked)
        if guess is None:
            super()._fit_checked(checked)
            return
        found: ChunkFacts | None = checked.reduce(partial(self._statistics, guess=guess))
        self._check_count(checked.count or 0)
        assert found is not None
        work = self._prepare_merged(found, checked, guess)
        self._finish(work, None, self._choose(work, None, AS_IT_IS))

    def _guess(self, chunks: CheckedChunks) -> Foresight | None:
        """Return the columns of least squares, where the ends of the inputs tell them."""
        family = self._family_of()
        if self.engine == "backfitting" or isinstance(family, int) or not is_least_squares(family):
            return None
        source = ModelRows.at_first_sight(chunks)
        if source is None:
            return None
        try:
            with warnings.catch_warnings():  # what there is to say is said of all rows
                warnings.simplefilter("ignore", DataWarning)
                terms = self._placed(source)
        except BottegaError:
            return None
        found = source.guess(terms, self.columns_in_, int(self.n_splines))
        return found if found is not None and found.follows_from_ranges else None

    def _statistics(
        self, X: Any, y: Any, w: Any, fold: Any, guess: Foresight | None = None
    ) -> ChunkFacts:
        response = y[:, 0] if np.ndim(y) == 2 else y
        self._check_response(response, all_rows=False)
        return ChunkFacts(X, response, w, self._categorical(), guess)

    def _prepare_merged(
        self, statistics: ChunkFacts, chunks: CheckedChunks, guess: Foresight | None = None
    ) -> Works:
        self._check_response(np.array(statistics.ends))
        source = ModelRows(statistics.facts.columns(), statistics.ranges, None, chunks)
        if guess is not None and statistics.products is not None:
            source.take(guess, statistics.products)
        return self._work(source)

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
        self.separated_ = bool(work.separated)
        levels = work.one_sided()
        self._one_sided = str(levels) if len(levels) else ""
        warn_of_fit(self, work)

    def _notes(self) -> tuple[str, ...]:
        told = [SEPARATION] if self.separated_ else []
        told += [self._one_sided] if getattr(self, "_one_sided", "") else []
        return (*super()._notes(), *told)

    # ---- path ------------------------------------------------------------------------------------

    def _path(self, work: Works, values: Any, loss: Loss | None) -> Path:
        if isinstance(work, BackfittedWork) or work.rows is None:
            raise InputError(
                "The path along a multiplier of the penalties is that of engine='penalized', with "
                "rows in memory."
            )
        if values is None:
            values = self.multipliers
        if isinstance(values, int | np.integer):
            values = 10.0 ** np.linspace(3, -3, int(values))
            values[np.abs(values - 1) < 1e-12] = 1.0
        values = np.unique(np.asarray(values, dtype=np.float64))[::-1]
        pairs = [(work, work.fit(float(value))) for value in values]
        df = np.maximum.accumulate([fit.df for _, fit in pairs])
        return self._curve_of(along(self.knob, values), pairs, loss, df=df)

    def _curve_of(
        self,
        settings: Any,
        pairs: Sequence[tuple[PenalizedWork, Any]],
        loss: Loss | None,
        **more: Any,
    ) -> Path:
        """Return the path of fits; each row is judged by what it is predicted when left out."""
        own = get_loss(None, self.card.task)
        if is_classifier(self):
            own = own.for_classes(self.classes_)
        train, judged = [], []
        for work, fit in pairs:
            rows = work.rows
            assert rows is not None
            seen = self._judged(work.predictors(fit, rows.X), fit, own.method)
            train.append(np.average(own.of_rows(rows.y, seen), weights=rows.weight))
            if loss is not None:
                away = self._judged(work.left_out(fit), fit, loss.method)
                judged.append(mean_and_se(loss.of_rows(rows.y, away), rows.weight))
        fits = [fit for _, fit in pairs]
        df, deviance, loglik = (
            np.array([getattr(fit, name) for fit in fits]) for name in ("df", "deviance", "loglik")
        )
        n = fits[0].n
        criteria = information_criteria(-2 * loglik, df + (not fits[0].scale_known), n)
        left = np.where(df < n, n - df, 1.0)
        criteria["gcv"] = np.where(df < n, n * (deviance / left) / left, np.inf)
        error, error_se = np.array(judged).T if judged else (None, None)
        return Path(
            settings,
            train_error=np.array(train),
            error=error,
            error_se=error_se,
            estimate="loo" if judged else None,
            loss=own.title if loss is None else loss.title,
            criteria=criteria,
            **more,
        )

    def terms_path(self, X: Any, y: Any, *, sample_weight: Any = None, loss: Any = None) -> Path:
        """Return the curve of models with 0, 1, 2, ... terms.

        Each step takes in the term whose score test has the least p-value, and chooses all
        smoothing parameters anew.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Responses, or labels.
        sample_weight : array-like of shape (n,), optional
            Row weights.
        loss : str, Loss or callable, optional
            What rows are judged by when they are left out; squared error or misclassification by
            default.

        Returns
        -------
        Path
            Along `n_terms`; ``at(i)`` is the model with i terms. The errors take the order of the
            terms as given beforehand: they flatter the models in the middle.
        """
        worker = clone(self).set_params(n_terms=None, interactions=0)
        worker._check_params()
        if worker.engine == "backfitting":
            raise InputError("The path over terms is that of engine='penalized'.")
        rows = worker._read(X, y, sample_weight)
        source = worker._source(rows)
        make = partial(worker._term_work, source)
        terms = worker._placed(source)
        works = forward_works(make(terms), make)
        judge = get_loss(loss, self.card.task)
        if is_classifier(self):
            judge = judge.for_classes(worker.classes_)
        counts = np.arange(len(works))
        pairs = [(work, work.fit()) for work in works]
        curve = worker._curve_of(along("n_terms", counts), pairs, judge, complexity=counts)
        return replace(curve, select=self.select, refit=TermsRefit(worker, tuple(works), rows))

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
            if isinstance(work, BackfittedWork):
                model = self._unnamed(X_new)
                model._settle(work, setting)
                found.append(self._judged(model._predictors(X_new), model.fit_, method))
            else:
                fit = work.fit(float(setting[self.knob]))
                found.append(self._judged(work.predictors(fit, X_new), fit, method))
        return np.stack(found, axis=1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class TermsRefit:
    """Settles the estimator of a path over terms at one of its models."""

    worker: Any
    works: tuple[PenalizedWork, ...]
    rows: Rows

    def __call__(self, setting: Mapping[str, Any]) -> Any:
        """Return the estimator with so many terms, fitted."""
        count = int(setting["n_terms"])
        model = copy(self.worker)
        model.set_params(n_terms=count)
        model._finish(self.works[count], self.rows, {"multiplier": 1.0})
        return model


def shares_of(eta: FloatArray, fit: Any) -> FloatArray:
    """Return the probabilities (n, K) of the classes from predictors (n, D)."""
    if eta.shape[1] > 1 or fit.n_predictors > 1:
        return class_shares(eta)
    p = fit.family.mean(eta[:, 0])
    return np.column_stack([1 - p, p])
