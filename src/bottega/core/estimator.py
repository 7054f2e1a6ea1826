"""What every estimator shares: one fit, one path, one way to read rows.

``fit`` is the same for all: forget the earlier fit, check the parameters, read the rows,
`_prepare` what all settings share, `_choose` a setting (along the path, unless the knob is given),
and `_settle` it. A fit in chunks differs only in how the prepared work is made. A method writes the
hooks; nobody writes another ``fit``.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from bottega.core.cards import Card
from bottega.core.chunks import CheckedChunks, Mergeable
from bottega.core.errors import InputError
from bottega.core.folds import Fold, make_folds
from bottega.core.frames import backend_of, is_frame, make_frame
from bottega.core.judge import judge_by_folds, row_losses
from bottega.core.losses import Loss, get_loss
from bottega.core.params import Parameter, check_params
from bottega.core.path import Path
from bottega.core.rows import Rows, check_weight
from bottega.core.typing import Array, FloatArray

__all__ = ["Chunked", "Estimator", "Tuned", "Unweighted", "Walk", "tune"]

# What scikit-learn keeps on an instance between fits: routing requests, output formats, and the
# callbacks of the pipeline or search that the fit is part of.
_KEPT = (
    "_metadata_request",
    "_sklearn_output_config",
    "_skl_callbacks",
    "_parent_callback_ctx",
    "_callback_fit_ctx",
)


@dataclass(frozen=True)
class Walk:
    """How a path is walked and picked from, where it is not as the estimator would do it itself.

    Attributes
    ----------
    values : array-like, optional
        Values of the knob.
    cv : int, float, splitter or list of (train, test), optional
        What holds rows out, instead of the method's own estimate.
    loss : str, Loss or callable, optional
        What rows are judged by; the loss of the task by default.
    rule : str, optional
        Rule that picks; the estimator's `select` by default.
    """

    values: Any = None
    cv: Any = None
    loss: Any = None
    rule: str | None = None


_AS_IT_IS = Walk()


class Estimator(BaseEstimator):
    """A scikit-learn estimator with declared parameters and a card."""

    params: ClassVar[Mapping[str, Parameter]] = {}
    card: ClassVar[Card]

    _least_rows: ClassVar[int] = 1

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "card" in cls.__dict__:
            cls.card = replace(cls.card, estimator=cls)

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,), or (n, q) where the method takes several responses
            Responses, or class labels.
        sample_weight : array-like of shape (n,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, walk: Walk = _AS_IT_IS) -> Self:
        self._forget()
        self._check_params()
        rows = self._read(X, y, sample_weight)
        work = self._prepare(rows)
        self._finish(work, rows, self._choose(work, rows, walk))
        return self

    def _forget(self) -> None:
        """Delete whatever an earlier fit left."""
        stay = {*self.get_params(deep=False), *_KEPT}
        for name in [name for name in vars(self) if name not in stay]:
            delattr(self, name)

    def _check_params(self) -> None:
        check_params(self)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return the rows that count, checked; classes as codes."""
        self._remember_frame(X)
        X, y = self._check_rows(X, y)
        n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        rows = Rows.of(X, y, check_weight(sample_weight, n))
        if len(rows) < self._least_rows:
            raise InputError(
                f"{type(self).__name__} requires at least {self._least_rows} rows with positive "
                f"weight; found {len(rows)}."
            )
        if is_classifier(self):
            self.classes_, codes = np.unique(rows.y, return_inverse=True)
            rows = replace(rows, y=codes)
        return rows

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return inputs and responses as arrays that the method can take."""
        tags = get_tags(self)
        if y is None and not tags.target_tags.required:
            return self._check_width(validate_data(self, X, **self._input_options())), None
        X, y = validate_data(
            self,
            X,
            y,
            multi_output=tags.target_tags.multi_output,
            y_numeric=is_regressor(self),
            **self._input_options(),
        )
        if is_classifier(self):
            check_classification_targets(y)
        elif is_regressor(self):
            y = np.asarray(y, dtype=np.float64)
        return self._check_width(X), y

    def _check_new(self, X: Any) -> Any:
        """Return the inputs of rows to predict, checked."""
        X = validate_data(self, X, reset=False, **self._input_options(new=True))
        return self._check_width(X)

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        tags = get_tags(self).input_tags
        return {
            "dtype": np.float64,
            "accept_sparse": ("csr", "csc") if new and tags.sparse else tags.sparse and "csc",
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
            "ensure_min_samples": 1 if new else self._least_rows,
        }

    def _check_width(self, X: Any) -> Any:
        """Return X, or refuse it where it has more columns than the method takes."""
        most = self.card.n_inputs
        if most is not None and X.shape[1] > most:
            inputs = "one input" if most == 1 else f"at most {most} inputs"
            raise InputError(
                f"{type(self).__name__} takes {inputs}; X has {X.shape[1]} columns. Give it "
                f"{'one column' if most == 1 else 'fewer columns'}, or use a method for several."
            )
        return X

    def _prepare(self, rows: Rows) -> Any:
        """Return what all settings share: a decomposition, a Gram matrix, bins, distances."""
        return rows

    def _choose(self, work: Any, rows: Rows | None, walk: Walk) -> dict[str, Any]:
        """Return the setting to settle on; a method without a knob has none."""
        return {}

    @abstractmethod
    def _settle(self, work: Any, setting: Mapping[str, Any]) -> None:
        """Set the learned attributes of one setting, from the prepared work alone."""

    def _finish(self, work: Any, rows: Rows | None, setting: Mapping[str, Any]) -> None:
        self._settle(work, setting)
        if rows is not None and rows.given is not None:
            self._restore(rows)

    def _restore(self, rows: Rows) -> None:
        """Extend what was learned per row to the rows of weight zero; most methods keep none."""

    # ---- frames ---------------------------------------------------------------------------------

    def _remember_frame(self, X: Any) -> None:
        """Keep which frame library the data came in: results are shown in the same."""
        self._frame = backend_of(X) if is_frame(X) else None

    def _make_frame(self, columns: Mapping[str, Any]) -> Any:
        return make_frame(columns, like=self._frame)

    def _unnamed(self, X: Any) -> Any:
        """Return a copy that takes inputs read before as they are, whatever they were named."""
        model = copy(self)
        model.__dict__.pop("feature_names_in_", None)
        if hasattr(model, "n_features_in_") and getattr(X, "ndim", 0) == 2:
            model.n_features_in_ = int(X.shape[1])
        return model


class Unweighted(Estimator):
    """An estimator that has no meaning for row weights."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,), or (n, q) where the method takes several responses
            Responses, or class labels.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, y, None)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        if sample_weight is not None:
            raise InputError(
                f"{type(self).__name__} takes no sample_weight: leave it out, or repeat rows."
            )
        return super()._read(X, y, None)


class Tuned(Estimator):
    """An estimator with a complexity knob, or several.

    A subclass names its `knob` and gives `_path` (the whole curve, with the cheapest honest
    estimate of error the method has). `_predictions` is for speed. From these follow `path`, the
    choice in `fit`, and cross-validation along the path.
    """

    knob: ClassVar[str]
    knobs: ClassVar[tuple[str, ...]]
    select: str
    path_: Path

    def __init_subclass__(cls, **options: Any) -> None:
        if "knob" in cls.__dict__ and "knobs" not in cls.__dict__:
            cls.knobs = (cls.knob,)
        super().__init_subclass__(**options)

    @abstractmethod
    def _path(self, work: Any, values: Any, loss: Loss | None) -> Path:
        """Return the curve over `values` (None: the method's own), simplest first.

        The error is the method's own estimate under `loss`. With `loss` None no estimate is
        wanted; a path that comes without one (``estimate=None``) is judged by folds. The training
        error is under the loss of the task.
        """

    def _predictions(
        self, work: Any, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        """Return what each setting predicts for checked inputs: (rows, settings, ...).

        `method` is ``"predict"`` (numbers, or codes of classes) or ``"predict_proba"``.
        """
        found = []
        for setting in settings:
            model = self._unnamed(X_new)
            model._settle(work, setting)
            predicted = getattr(model, method)(X_new)
            if method == "predict" and is_classifier(self):
                predicted = np.searchsorted(self.classes_, predicted)
            found.append(predicted)
        return np.stack(found, axis=1)

    @property
    def _folds_by(self) -> Any:
        """What judges a path for which the method has no estimate of its own."""
        return getattr(self, "cv", 10)

    def _given(self, work: Any) -> dict[str, Any] | None:
        """Return the setting that the parameters fix, or None where the path must choose."""
        setting = {name: getattr(self, name) for name in self.knobs}
        free = [value for value in setting.values() if isinstance(value, str) and value == "auto"]
        return None if free else setting

    def _choose(self, work: Any, rows: Rows | None, walk: Walk) -> dict[str, Any]:
        if walk.values is None:
            given = self._given(work)
            if given is not None:
                return given
        rule = walk.rule or self.select
        self.path_ = self._curve(work, rows, walk, bare=rule in ("min", "one_se"))
        return dict(self.path_.settings[self.path_.best(rule)])

    def _own_loss(self, work: Any) -> Loss:
        """Return the loss that the path is judged by unless another is asked for."""
        return get_loss(None, self.card.task)

    def _train_error(
        self, work: Any, rows: Rows, settings: Sequence[Mapping[str, Any]], loss: Loss
    ) -> FloatArray:
        """Return the mean loss of each setting on the rows it was fitted to."""
        predicted = self._predictions(work, settings, rows.X, loss.method)
        losses = row_losses(loss, rows.y, predicted)
        return np.asarray(np.average(losses, axis=0, weights=rows.weight))

    def _bare_path(self, work: Any, values: Any) -> Path | None:
        """Return the settings of the path in their order, its training errors NaN.

        It serves where folds judge the path and a rule asks for nothing else. None, the default,
        is for methods whose `_path` costs little beside the folds.
        """
        return None

    def _curve(self, work: Any, rows: Rows | None, walk: Walk, bare: bool = False) -> Path:
        """Return the path, judged by the method's own estimate or by folds."""
        own = self._own_loss(work)
        loss = own if walk.loss is None else get_loss(walk.loss, self.card.task)
        if is_classifier(self):
            loss = loss.for_classes(self.classes_)
        skeleton = self._bare_path(work, walk.values) if bare and walk.cv is not None else None
        if skeleton is not None and rows is not None:
            return self._judge(skeleton, rows, walk.cv, loss)
        curve = self._path(work, walk.values, loss if walk.cv is None else None)
        if walk.cv is not None or curve.estimate is None:
            if rows is None:
                raise InputError(
                    f"A fit in chunks cannot hold out rows of its own for {type(self).__name__}; "
                    f"give {self.knob}."
                )
            curve = self._judge(curve, rows, self._folds_by if walk.cv is None else walk.cv, loss)
        if loss != own and rows is not None:
            train_error = self._train_error(work, rows, curve.settings, loss)
            curve = replace(curve, train_error=train_error, loss=loss.title)
        return curve

    def _judge(self, curve: Path, rows: Rows, cv: Any, loss: Loss) -> Path:
        """Return the path with the error of rows that folds hold out."""
        n = len(rows)
        if n < 2:
            raise InputError(
                f"Choosing {', '.join(self.knobs)} needs rows to hold out; got n_samples = {n}. "
                "Give a value, or more rows."
            )

        def predict(train: Rows, X_test: Any) -> Array:
            worker = copy(self)
            return worker._predictions(worker._prepare(train), curve.settings, X_test, loss.method)

        folds, estimate = self._held_out(rows, cv)
        return judge_by_folds(curve, rows, folds, loss, predict, estimate=estimate)

    def _held_out(self, rows: Rows, cv: Any) -> tuple[list[Fold], str]:
        """Return the folds, as positions among the rows that count, and the estimate's name."""
        estimate = "cv"
        if isinstance(cv, str) and cv == "loo":
            estimate = "loo"
        elif isinstance(cv, Integral) and not isinstance(cv, bool) and cv >= 2:
            cv = min(int(cv), len(rows))
        elif isinstance(cv, Real) and not isinstance(cv, bool):
            estimate = "validation"
        strata = rows.y if is_classifier(self) else None
        if rows.given is None or isinstance(cv, Real | str):
            return make_folds(cv, len(rows), strata=strata, X=rows.X, y=rows.y), estimate
        # Folds that are given speak of the rows as they were given.
        place = np.full(len(rows.given), -1)
        place[rows.kept] = np.arange(len(rows))
        pairs = make_folds(cv, len(rows.given), X=rows.given.X, y=rows.given.y)
        counted = [tuple(place[part][place[part] >= 0] for part in pair) for pair in pairs]
        folds = [(train, test) for train, test in counted if len(train) and len(test)]
        return folds, estimate

    def path(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        values: Any = None,
        cv: Any = None,
        loss: Any = None,
    ) -> Path:
        """Return the whole curve of models along the complexity knob.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights, where the method has a meaning for them.
        values : array-like, optional
            Values of the knob, in any order; the method's own grid by default.
        cv : int, float, splitter or list of (train, test), optional
            Estimate the error on the rows that these folds (or this share of the rows) hold out,
            instead of by the method's own estimate.
        loss : str, Loss or callable, optional
            What rows are judged by, see `bottega.core.losses`; squared error for regression and
            misclassification for classification by default.

        Returns
        -------
        Path
            Ordered from the simplest model to the most complex.
        """
        worker = clone(self)
        worker._check_params()
        rows = worker._read(X, y, sample_weight)
        work = worker._prepare(rows)
        curve: Path = worker._curve(work, rows, Walk(values, cv, loss))
        return replace(curve, refit=_Refit(worker, work, rows))


@dataclass(frozen=True)
class _Refit:
    """Settles the estimator of a path at one of its settings, from the work done already."""

    worker: Any
    work: Any
    rows: Rows

    def __call__(self, setting: Mapping[str, Any]) -> Any:
        model = copy(self.worker).set_params(**setting)
        model._finish(self.work, self.rows, setting)
        return model


def tune(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    rule: str | None = None,
    cv: Any = None,
    loss: Any = None,
    values: Any = None,
) -> Any:
    """Return a copy of an estimator fitted along a path judged in the given way.

    As ``fit`` with the knob at ``"auto"``, but with the rule, the folds, the loss and the values of
    the knob given here. A knob that is fixed stays, unless `values` are given.

    Parameters
    ----------
    estimator : Estimator
        One of bottega's, with a knob or without.
    X, y, sample_weight
        As in ``fit``.
    rule : str, optional
        Rule that picks from the path.
    cv, loss, values
        As in `Tuned.path`.
    """
    return clone(estimator)._fit(X, y, sample_weight, Walk(values, cv, loss, rule))


class Chunked(Estimator):
    """An estimator whose work can be prepared from statistics of blocks of rows."""

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, in memory that does not grow with their number.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, w)
            It may be iterated over more than once: a list, or an object whose ``__iter__`` starts
            afresh (see `bottega.data.chunks`).

        Returns
        -------
        Self
            The same answer as ``fit`` on all rows together. What is per row (leverages, residuals)
            is not kept.
        """
        self._forget()
        self._check_params()
        checked = self._check_chunks(chunks)
        statistics: Any = None
        start = 0
        for X, y, w in checked:
            block = self._statistics(X, y, w, start)
            statistics = block if statistics is None else statistics.merge(block)
            start += len(X)
        if statistics is None:
            raise InputError("The chunks have no rows to fit; give at least one row that counts.")
        if start < self._least_rows:
            raise InputError(
                f"{type(self).__name__} requires at least {self._least_rows} rows with positive "
                f"weight; the chunks have {start}."
            )
        work = self._prepare_merged(statistics, checked)
        self._finish(work, None, self._choose(work, None, _AS_IT_IS))
        return self

    def _check_chunks(self, chunks: Iterable[Any]) -> CheckedChunks:
        if isinstance(chunks, Iterator):
            raise InputError(
                "Chunks are iterated over more than once, and a generator can only be iterated "
                "over once: give a list, or an object whose __iter__ starts afresh."
            )
        first = next(iter(chunks), None)
        if first is None:
            raise InputError("There are no chunks to fit; give at least one (X, y).")
        X, y, *_ = first
        self._remember_frame(X)
        if np.ndim(y) != 1 and not get_tags(self).target_tags.multi_output:
            raise InputError(f"y must have one axis; the first chunk's has {np.ndim(y)}.")
        # Sets the number of columns and their names; the rows are checked chunk by chunk.
        validate_data(self, X, skip_check_array=True)
        return CheckedChunks(chunks, self.n_features_in_, np.ndim(y))

    @abstractmethod
    def _statistics(self, X: Any, y: Any, w: Any, start: int) -> Mergeable:
        """Return the statistics of one block of rows, `start` rows being before it."""

    @abstractmethod
    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        """Return the prepared work from the merged statistics; the chunks may be read again."""
