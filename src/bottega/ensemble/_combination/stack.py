"""What stacked classifiers and regressors share: unseen predictions, weights, final estimators."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import TransformerMixin, clone, is_classifier
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import DataWarning, InputError, NotKept, ParameterError, warn_caller
from bottega.core.folds import Fold, Folds, folds_that_count
from bottega.core.frames import take_rows
from bottega.core.judge import mean_and_se
from bottega.core.leave_one_out import loo_by_leverages
from bottega.core.losses import get_loss
from bottega.core.parallel import at_most, in_threads
from bottega.core.params import AnyOf, Anything, Boolean, Choice, Jobs, OrNone, Parameter
from bottega.core.results import glance_row, term_names, tidy_columns
from bottega.core.rows import Rows
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.average import Average
from bottega.ensemble._combination.models import (
    Model,
    Models,
    NamedParts,
    losses_of_rows,
)
from bottega.ensemble._combination.outputs import (
    METHODS,
    beside,
    check_prefit,
    columns_of,
    method_of,
    names_out,
)
from bottega.ensemble._resampling.samples import OrderedRows, fit_weighted
from bottega.optimize.nonnegative import nonnegative_least_squares


@dataclass(frozen=True, eq=False)
class StackWork:
    """The rows in an order of their own, and the folds, as places in that order."""

    rows: OrderedRows
    folds: list[Fold]


class Stacked(NamedParts, TransformerMixin, Average):
    """What the classifier and the regressor share; `_target` is what the sum should be."""

    params: ClassVar[Mapping[str, Parameter]] = {
        "estimators": Models(help="models to combine; None: a pruned tree and a random forest"),
        "final_estimator": Model(help="model of the models' outputs; None: a weighted sum"),
        "cv": OrNone(
            AnyOf(Choice("prefit"), Folds(share=False)),
            help="folds for the unseen predictions; 'loo': one per row; 'prefit'",
        ),
        "stack_method": Choice("auto", *METHODS, help="what a final estimator is given"),
        "n_jobs": Jobs(),
        "passthrough": Boolean(help="give the final estimator the inputs too"),
        "verbose": Anything(help="whether progress is written"),
        "sum_to_one": Boolean(help="make the weights sum to one"),
    }
    _least_rows = 2  # weights are learnt on rows left out of a fit

    def __init__(
        self,
        estimators: Iterable[Any] | None = None,
        final_estimator: Any = None,
        *,
        cv: Any = 5,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        sum_to_one: bool = False,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.sum_to_one = sum_to_one

    def _check_kind(self) -> None:
        if self.final_estimator is None or not is_classifier(self):
            super()._check_kind()

    def _responses(self, rows: Rows) -> Array:
        if is_classifier(self) and rows.y.ndim == 2:
            if self.final_estimator is None:
                raise InputError("Several responses have no weighted sum; give final_estimator.")
            pairs = zip(self.classes_, rows.y.T, strict=True)
            return np.column_stack([classes[codes] for classes, codes in pairs])
        return super()._responses(rows)

    def _prepare(self, rows: Rows) -> StackWork:
        work = super()._prepare(rows)
        n = len(work.y)
        cv = 5 if self.cv is None else self.cv
        if isinstance(cv, str) and cv == "prefit":
            return StackWork(work, [])
        if isinstance(cv, str | Integral):
            strata = None
            if is_classifier(self):
                strata = work.codes if work.codes.ndim == 1 else work.codes[:, 0]
            folds = work.deal(cv if isinstance(cv, str) else min(int(cv), n), strata)
            return StackWork(work, folds)
        place = np.argsort(work.order)
        own = rows if rows.given is not None else replace(rows, y=self._responses(rows))
        folds = folds_that_count(cv, own)
        return StackWork(work, [(place[train], place[test]) for train, test in folds])

    def _settle(self, work: StackWork, setting: Mapping[str, Any]) -> None:
        rows = work.rows
        names, bases = zip(*self._named(), strict=True)
        self.names_ = list(names)
        if isinstance(self.cv, str) and self.cv == "prefit":
            self.estimators_ = check_prefit(list(bases))
        else:
            pairs = list(zip(names, bases, strict=True))
            self.estimators_ = in_threads(
                lambda pair: self._fit_part(pair[0], pair[1], rows), pairs, stage="bases"
            )
        self.stack_method_ = [
            method_of(name, model, self.stack_method)
            for name, model in zip(names, self.estimators_, strict=True)
        ]
        self._nobs = len(rows.y)
        if self.final_estimator is None:
            self._settle_sum(rows, bases, work.folds)
        else:
            self._settle_final(rows, bases, work.folds)

    def _settle_sum(self, rows: OrderedRows, bases: tuple[Any, ...], folds: list[Fold]) -> None:
        """Learn the weights of the sum."""
        if folds:
            held_out = self._held_out_by(rows, bases, folds)
        else:  # fitted before, to other rows
            each = [self._outputs(model, rows.X) for model in self.estimators_]
            held_out = np.stack(each, axis=1)
            folds = rows.deal(min(10, len(rows.y)))
        self._weigh(held_out, rows, folds)
        self.held_out_ = np.empty_like(held_out)
        self.held_out_[rows.order] = held_out

    def _settle_final(self, rows: OrderedRows, bases: tuple[Any, ...], folds: list[Fold]) -> None:
        """Fit the final estimator to what the models give for rows they have not seen."""
        classes = getattr(self, "classes_", None)
        if folds:
            found = self._held_out_columns(rows, bases, folds)
        else:
            found = [
                columns_of(model, method, rows.X, classes)
                for model, method in zip(self.estimators_, self.stack_method_, strict=True)
            ]
        seen = np.flatnonzero(np.isfinite(np.hstack(found)).all(axis=1))
        if folds and len(seen) < len(rows.y) and not _tests_all(folds, len(rows.y)):
            raise ParameterError("The folds of cv must be partitions: hold out each row once.")
        stacked = beside(found, rows.X, self.passthrough)
        final = clone(self.final_estimator)
        if self._routed is None:
            fit_weighted(final, stacked, rows.y, rows.weight)
        else:
            final.fit(stacked, rows.y, sample_weight=rows.of_rows(self._weight_given))
        self.final_estimator_ = final
        self.held_out_ = np.empty((len(rows.y), sum(part.shape[1] for part in found)))
        self.held_out_[rows.order] = np.hstack(found)

    def _held_out_columns(
        self, work: OrderedRows, bases: tuple[Any, ...], folds: list[Fold]
    ) -> list[FloatArray]:
        """Return, for each base, its columns for rows that it was fitted without."""
        tasks = [(m, fold) for m in range(len(bases)) for fold in folds]
        classes = getattr(self, "classes_", None)

        def fit_one(task: tuple[int, Fold]) -> FloatArray:
            m, (train, test) = task
            model = self._fit_part(self.names_[m], bases[m], work, train)
            return columns_of(model, self.stack_method_[m], take_rows(work.X, test), classes)

        fitted = in_threads(fit_one, tasks, stage="folds")
        found: list[Any] = [None] * len(bases)
        for (m, (_, test)), columns in zip(tasks, fitted, strict=True):
            if found[m] is None:
                found[m] = np.full((len(work.y), columns.shape[1]), np.nan)
            found[m][test] = columns
        return found

    def _final_predict(self, X: Any, params: Mapping[str, Any]) -> Any:
        """Return what the final estimator predicts."""
        if params and get_config()["enable_metadata_routing"]:
            params = process_routing(self, "predict", **params)["final_estimator_"].predict
        return self.final_estimator_.predict(self.transform(X), **params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which estimator is given what, for scikit-learn's metadata routing."""
        final = getattr(self, "final_estimator_", self.final_estimator)
        router = super().get_metadata_routing()
        if final is not None:
            mapping = MethodMapping().add(caller="predict", callee="predict")
            router.add(final_estimator_=final, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.final_estimator is not None:  # it and the models judge the responses
            tags.target_tags.multi_output = True
        return tags

    def _held_out_by(
        self, work: OrderedRows, bases: tuple[Any, ...], folds: list[Fold]
    ) -> FloatArray:
        """Return the outputs for each row of fits without it: (rows, bases, ...)."""
        found = np.empty((len(work.y), len(bases), *self._target(work.codes).shape[1:]))
        tasks: list[tuple[int, Fold]] = []
        for m, base in enumerate(bases):
            shortcut = None
            plain = work.weight is None and work.y.ndim == 1 and not is_classifier(self)
            if plain and isinstance(self.cv, str) and self.cv == "loo":
                shortcut, _ = loo_by_leverages(base, work.X, work.y)
            if shortcut is None:
                tasks += [(m, fold) for fold in folds]
            else:
                found[:, m] = shortcut

        def fit_one(task: tuple[int, Fold]) -> FloatArray:
            m, (train, test) = task
            model = self._fit_part(self.names_[m], bases[m], work, train)
            return self._outputs(model, take_rows(work.X, test))

        fitted = in_threads(fit_one, tasks, stage="folds")
        for (m, (_, test)), outputs in zip(tasks, fitted, strict=True):
            found[test, m] = outputs
        return found

    def _weigh(self, held_out: FloatArray, work: OrderedRows, folds: list[Fold]) -> None:
        """Learn the weights and what they are worth."""
        if not np.all(np.isfinite(held_out)):
            raise InputError("A base predicts values that are not finite; look at its fit first.")
        target = self._target(work.codes)
        loss = get_loss(None, self.card.task)
        scale = np.ones(len(target)) if work.weight is None else np.sqrt(work.weight)

        def weights(rows: Any) -> FloatArray:
            # All outputs of a row are rows of one least-squares problem.
            A = np.moveaxis(held_out[rows], 1, -1)
            b, by = target[rows], scale[rows]
            A = (A * by.reshape((-1,) + (1,) * (A.ndim - 1))).reshape(-1, held_out.shape[1])
            b = (b * by.reshape((-1,) + (1,) * (b.ndim - 1))).ravel()
            return nonnegative_least_squares(A, b, sum_to_one=self.sum_to_one)

        def judged(total: FloatArray) -> tuple[float, float]:
            losses = losses_of_rows(loss, work.codes, self._decided(total))
            error, error_se = mean_and_se(losses, work.weight)
            return float(error), float(error_se)

        self.weights_ = weights(slice(None))
        if is_classifier(self) and not np.any(self.weights_):
            warn_caller(
                "All models give a probability of zero to the classes of the rows they were not "
                "fitted to, so no weights can be learnt, and the models weigh alike; give more "
                "rows or other models.",
                DataWarning,
            )
            self.weights_ = np.full(held_out.shape[1], 1 / held_out.shape[1])
        # A row's own part in choosing the weights flatters them: choose them without its fold.
        folds = folds if len(folds) <= 20 else work.deal(10)
        total = np.empty_like(target)
        for train, test in folds:
            total[test] = np.einsum("im...,m->i...", held_out[test], weights(train))
        self.error_, self.error_se_ = judged(total)
        each = [judged(held_out[:, m]) for m in range(held_out.shape[1])]
        self.base_errors_, self.base_errors_se_ = np.array(each).T

    def transform(self, X: Any) -> Any:
        """Return what the models give for each row of X, side by side.

        Probabilities of two classes are one column. With ``passthrough=True`` the inputs follow.
        """
        given, X = X, self._check_new(X)
        classes = getattr(self, "classes_", None)
        with at_most(self.n_jobs):
            found = in_threads(
                lambda pair: columns_of(pair[0], pair[1], X, classes),
                list(zip(self.estimators_, self.stack_method_, strict=True)),
            )
        return beside(found, given if hasattr(given, "format") else X, self.passthrough)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`."""
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        K = 1 if classes is None or isinstance(classes, list) else len(classes)
        widths = [1 if method == "predict" or K == 2 else K for method in self.stack_method_]
        inputs: Any = []
        if self.passthrough:
            inputs = term_names(self, intercept=False) if input_features is None else input_features
        return names_out(type(self).__name__.lower(), self.names_, widths, inputs)

    def _check_sum(self) -> None:
        check_is_fitted(self)
        if self.final_estimator is not None:
            raise NotKept(
                "A final estimator has no weights of the models; look at the model itself."
            )

    def tidy(self) -> Any:
        """Return one row per base: its weight and its error on the rows left out."""
        self._check_sum()
        errors = {"error": self.base_errors_, "error_se": self.base_errors_se_}
        return self._make_frame(tidy_columns(self.names_, self.weights_) | errors)

    def glance(self) -> Any:
        """Return one row about the stack: its error, the best base's, and what stacking gains."""
        self._check_sum()
        best = int(np.argmin(self.base_errors_))
        row = glance_row(
            {"nobs": self._nobs},
            error=self.error_,
            error_se=self.error_se_,
            best_base=self.names_[best],
            best_base_error=float(self.base_errors_[best]),
            improvement=float(self.base_errors_[best] - self.error_),
        )
        return self._make_frame({name: [value] for name, value in row.items()})

    def summary(self) -> Summary:
        """Return the weights and errors as a table that shows itself as text and HTML."""
        self._check_sum()
        table = {
            "base": [*self.names_, "stack"],
            "weight": [*self.weights_, float(self.weights_.sum())],
            "error": [*self.base_errors_, self.error_],
            "se": [*self.base_errors_se_, self.error_se_],
        }
        note = "Errors are on rows left out; the stack's with weights chosen without them too."
        return Summary(type(self).__name__, (Section("", table),), (note,))


def _tests_all(folds: list[Fold], n: int) -> bool:
    return len(np.unique(np.concatenate([test for _, test in folds]))) == n


def final_has(name: str) -> Any:
    """Offer a method where the final estimator has it."""

    def check(self: Any) -> bool:
        final = getattr(self, "final_estimator_", self.final_estimator)
        if final is None:
            return name == "predict_proba"
        getattr(final, name)
        return True

    return available_if(check)
