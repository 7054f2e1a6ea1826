"""Estimators with a complexity knob: the path, the choice along it, and its judgement by folds."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier

from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import Estimator, Walk
from bottega.core.folds import Fold, folds_that_count
from bottega.core.judge import judge_by_folds, row_losses
from bottega.core.losses import ROW_LOSSES, Loss, get_loss
from bottega.core.parallel import at_most
from bottega.core.params import without_words
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray

__all__ = ["Tuned", "bare_path", "tune"]


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

    # Whether "one_se" finds a simpler model along the path: more trees of a forest, or rounds of
    # boosting, make no model that is harder to read, so there it picks the least error.
    simplifies: ClassVar[bool] = True

    # Parameters with which the path chooses, where the defaults (scikit-learn's) fix the knob.
    walks: ClassVar[Mapping[str, Any]] = {}

    # Other parameters that fix the knob: they are None in a model taken from the path.
    _instead: ClassVar[tuple[str, ...]] = ()

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
        rule = walk.select or self.select
        if rule == "one_se" and not self.simplifies:
            rule = "min"
        # A criterion is computed from the rows of the fit: nothing need be held out for it.
        curve = self._curve(work, rows, walk, honest=rule in ("min", "one_se"))
        self.path_ = replace(curve, select=rule)
        return dict(self.path_.settings[self.path_.best(rule)])

    def _own_loss(self, work: Any) -> Loss | None:
        """Return the loss that the path is judged by unless another is asked for.

        A task without responses has none: its paths are judged by criteria of their own.
        """
        return get_loss(None, self.card.task) if self.card.task in ROW_LOSSES else None

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

    def _curve(self, work: Any, rows: Rows | None, walk: Walk, honest: bool = True) -> Path:
        """Return the path, judged by the method's own estimate or, where `honest`, by folds."""
        if walk.values is not None:
            walk = replace(walk, values=self._check_values(walk.values))
        own = self._own_loss(work)
        loss = own if walk.loss is None else get_loss(walk.loss, self.card.task)
        if loss is None:
            return self._path(work, walk.values, None)
        if is_classifier(self):
            loss = loss.for_classes(self.classes_)
        if walk.bare and honest and walk.cv is not None and rows is not None:
            skeleton = self._bare_path(work, walk.values)
            if skeleton is not None:
                return self._judge(skeleton, work, rows, walk.cv, loss)
        curve = self._path(work, walk.values, loss if walk.cv is None else None)
        if walk.cv is not None or (honest and curve.estimate is None):
            if rows is None:
                raise InputError(
                    f"A fit in chunks cannot hold out rows of its own for {type(self).__name__}; "
                    f"give {self.knob}."
                )
            cv = self._folds_by if walk.cv is None else walk.cv
            curve = self._judge(curve, work, rows, cv, loss)
        if loss != own and rows is not None:
            train_error = self._train_error(work, rows, curve.settings, loss)
            curve = replace(curve, train_error=train_error, loss=loss.title)
        return curve

    def _check_values(self, values: Any) -> Array:
        """Return the values of the knob that a user gave, each of them one that it may have."""
        owner, allowed = type(self).__name__, without_words(self.params[self.knob])
        try:
            found = np.asarray(values)
        except ValueError:  # lists of several lengths
            found = np.empty(0)
        if found.ndim != 1 or not len(found):
            raise ParameterError(
                f"{owner}: values={values!r} is not allowed; give a list of values of {self.knob}."
            )
        for value in found.tolist():
            allowed.check(owner, self.knob, value)
        return found

    def _judge(self, curve: Path, work: Any, rows: Rows, cv: Any, loss: Loss) -> Path:
        """Return the path with the error of rows that folds hold out.

        A method whose folds share some of the prepared `work` overrides it.
        """

        def predict(train: Rows, X_test: Any) -> Array:
            worker = copy(self)
            return worker._predictions(worker._prepare(train), curve.settings, X_test, loss.method)

        folds, estimate = self._held_out(rows, cv)
        return judge_by_folds(curve, rows, folds, loss, predict, estimate=estimate)

    def _held_out(self, rows: Rows, cv: Any) -> tuple[list[Fold], str]:
        """Return the folds, as positions among the rows that count, and the estimate's name."""
        n = len(rows)
        if n < 2:
            raise InputError(
                f"Choosing {', '.join(self.knobs)} needs rows to hold out; got n_samples = {n}. "
                "Give a value, or more rows."
            )
        estimate = "cv"
        if isinstance(cv, str) and cv == "loo":
            estimate = "loo"
        elif isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2:
            cv = min(int(cv), len(rows))
        elif isinstance(cv, Real) and not isinstance(cv, bool):
            estimate = "validation"
        strata = rows.y if is_classifier(self) else None
        return folds_that_count(cv, rows, strata=strata), estimate

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
        with at_most(getattr(self, "n_jobs", None)):
            rows = worker._read(X, y, sample_weight)
            work = worker._prepare(rows)
            curve: Path = worker._curve(work, rows, Walk(values, cv, loss))
        return replace(curve, select=worker.select, refit=_Refit(worker, work, rows))


@dataclass(frozen=True)
class _Refit:
    """Settles the estimator of a path at one of its settings, from the work done already."""

    worker: Any
    work: Any
    rows: Rows

    def __call__(self, setting: Mapping[str, Any]) -> Any:
        model = copy(self.worker)
        model.set_params(**setting, **dict.fromkeys(model._instead))
        model._finish(self.work, self.rows, setting)
        return model


def tune(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    select: str | None = None,
    cv: Any = None,
    loss: Any = None,
    values: Any = None,
    bare: bool = False,
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
    select : str, optional
        Rule that picks from the path.
    cv, loss, values
        As in `Tuned.path`.
    bare : bool
        Whether the path may do without training errors and criteria, which saves time where the
        model is fitted for its predictions alone.
    """
    return clone(estimator)._fit(X, y, sample_weight, Walk(values, cv, loss, select, bare))


def bare_path(
    estimator: Any, X: Any, y: Any = None, *, sample_weight: Any = None, values: Any = None
) -> Path:
    """Return the path of an estimator without an honest estimate of its errors.

    Parameters
    ----------
    estimator : Tuned
        Not changed.
    X, y, sample_weight : array-like
        The rows.
    values : array-like, optional
        Values of the knob; the method's own by default.
    """
    worker = clone(estimator)
    worker._check_params()
    with at_most(getattr(worker, "n_jobs", None)):
        rows = worker._read(X, y, sample_weight)
        found: Path = worker._path(worker._prepare(rows), values, None)
    return found
