"""The rows that an evaluation judges, and the losses of predictions for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from bottega.core.classes import spread
from bottega.core.errors import InputError
from bottega.core.folds import Fold, fold_of_rows
from bottega.core.lazy import cached_property
from bottega.core.losses import get_loss
from bottega.core.parts import RowSource
from bottega.core.rows import check_weight
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.data.table import Table
from bottega.risk.estimate.nested_interval import effective_size, mean_and_variance

_INDEPENDENT = (
    "The {rows}, and the {rows} to come, are independent draws from one and the same source{more}."
)
_IN_TIME = (
    "The rows to come are like the later rows of these, and the losses are taken as independent of "
    "one another: neither a drift nor runs of similar errors are allowed for."
)


def task_of(model: Any) -> str:
    """Return "classification" or "regression"."""
    if isinstance(model, Mapping | list | tuple):
        raise InputError(
            "One estimator is judged at a time; several side by side are judged by "
            "nested_cv({'a name': estimator, ...}, X, y)."
        )
    return "classification" if is_classifier(model) else "regression"


def check_rows(X: Any, y: Any) -> tuple[Any, Array]:
    """Return X as it is and y with one entry per row of X."""
    responses = np.asarray(y)
    if responses.ndim == 2 and responses.shape[1] == 1:
        responses = responses[:, 0]
    if responses.ndim != 1:
        raise InputError(
            f"One response at a time is evaluated; got y of shape {responses.shape}: take each "
            "column alone."
        )
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if n != len(responses):
        raise InputError(f"X has {n} rows and y has {len(responses)}.")
    if n == 0:
        raise InputError("There are no rows to evaluate on; give at least one.")
    return X, responses


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Responses that predictions are compared with, and what is known about their rows."""

    y: Array  # numbers or labels, as they came
    task: str  # "regression" or "classification"
    weight: FloatArray | None = None  # how much each row counts; a row of weight zero does not
    groups: Array | None = None  # rows of one group depend on each other: no fold divides a group
    time: Array | None = None  # models are judged on what comes after their training rows

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "weight", check_weight(self.weight, len(self.y)))
        for name in ("groups", "time"):
            values = getattr(self, name)
            if values is None:
                continue
            if np.shape(values) != self.y.shape:
                raise InputError(
                    f"{name} must have one entry per row; for {len(self.y)} rows it has shape "
                    f"{np.shape(values)}."
                )
            put(self, name, np.asarray(values))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def assumption(self) -> str:
        """What an interval for the risk takes for granted about the rows."""
        return assumption(self.groups is not None, self.time is not None)

    @cached_property
    def classes(self) -> Array | None:
        """The labels, sorted; None for numbers."""
        return np.unique(self.y) if self.task == "classification" else None

    @cached_property
    def codes(self) -> IntArray | None:
        """The position of each label among the classes; None for numbers."""
        return None if self.classes is None else np.searchsorted(self.classes, self.y)

    def weight_of(self, rows: Array) -> FloatArray | None:
        """Return the weights of some rows, None where all rows count the same."""
        return None if self.weight is None else self.weight[rows]

    def units(self, rows: Array, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the losses of the independent units that some rows are, and their weights."""
        groups = None if self.groups is None else self.groups[rows]
        return independent_units(losses, self.weight_of(rows), groups)

    def mean_and_se(self, rows: Array, losses: FloatArray) -> tuple[float, float]:
        """Return the mean loss of some rows and its standard error, the units independent."""
        mean, variance = mean_and_variance(*self.units(rows, losses))
        return mean, float(np.sqrt(variance))

    def n_units(self, rows: Array) -> float:
        """Return how many independent units of equal weight some rows are worth."""
        return effective_size(self.unit_weights(rows))

    def fold_of(self, folds: list[Fold]) -> IntArray:
        """Return the fold in which each row is tested; folds that cannot be judged are refused."""
        fold = fold_of_rows(folds, len(self))
        for k, (_, test) in enumerate(folds):
            if self.weight is not None and not self.weight[test].any():
                raise InputError(f"No row of fold {k} has a positive weight; give fewer folds.")
        return fold

    def unit_weights(self, rows: Array) -> FloatArray:
        """Return the weights of the independent units that some rows are."""
        return self.units(rows, np.zeros(len(rows)))[1]


def assumption(grouped: bool, in_time: bool) -> str:
    """Return the sentence on what an interval for the risk takes for granted about its rows."""
    if in_time:
        return _IN_TIME
    more = "; nothing is assumed about the rows of one group" if grouped else ""
    return _INDEPENDENT.format(rows="groups of rows" if grouped else "rows", more=more)


def finite_losses(losses: Any) -> FloatArray:
    """Return the losses of at least one row, one finite number each."""
    values = np.asarray(losses, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values)):
        raise InputError(
            "Give the losses of at least one row, one number each, all finite; got shape "
            f"{values.shape}. Leave out rows without a loss, and say so."
        )
    return values


def independent_units(
    losses: FloatArray, weight: FloatArray | None, groups: Array | None
) -> tuple[FloatArray, FloatArray]:
    """Return losses of independent units and their weights.

    A unit is a row of positive weight, or a group of them: its loss is the mean of its rows'
    losses, its weight the sum of their weights.
    """
    weight = np.ones(len(losses)) if weight is None else weight
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        total: FloatArray = np.bincount(codes, weight).astype(np.float64)
        sums = np.bincount(codes, weight * losses)
        losses, weight = np.divide(sums, total, out=sums, where=total > 0), total
    return losses[weight > 0], weight[weight > 0]


def read_rows(
    X: Any, y: Any, task: str, *, weight: Any = None, groups: Any = None, time: Any = None
) -> tuple[Any, JudgedRows]:
    """Return inputs and judged rows, from arrays or from a Table with its roles."""
    if isinstance(X, RowSource):
        raise InputError(
            "A source gives its rows in chunks, and all of them are wanted in memory here: draw a "
            "sample of them (source.sample), or judge the source by cross_validate, nested_cv or "
            "compare."
        )
    if not isinstance(X, Table):
        if y is None:
            raise InputError("The responses are missing: give y, or a Table with a target.")
        X, y = check_rows(X, y)
        return X, JudgedRows(y, task, weight, groups, time)
    if any(given is not None for given in (y, weight, groups, time)):
        raise InputError(
            "A Table brings its responses, weights, groups and time: set them as its roles."
        )
    if X.y is None:
        raise InputError("The table has no target to predict; name it.")
    return X.X, JudgedRows(X.y, task, X.weight, X.units, X.time)


class RowLosses:
    """The loss of each row: ``RowLosses(loss, task)(y, predicted)``, a loss as `get_loss` takes.

    With `classes` a loss that names others is refused at once.
    """

    def __init__(self, loss: Any, task: str, classes: Array | None = None) -> None:
        self.loss = get_loss(loss, task)
        if classes is not None:
            self.loss = self.loss.naming(classes)
        self.task = task
        self.title = self.loss.title
        self.zero_one = self.loss.name == "zero_one"
        self.of_probabilities = self.loss.method == "predict_proba"

    def check(self, rows: JudgedRows) -> None:
        """Refuse a user's loss that gives no number even where the truth is predicted."""
        if self.loss.name == "own":
            self(rows.y, rows.y, rows.classes)

    def predictions(self, model: Any, X: Any, classes: Array | None) -> Array:
        """Return what the loss judges: numbers or labels, or one probability per class."""
        if not self.of_probabilities:
            return np.asarray(model.predict(X))
        return class_probabilities(model, X, classes, self.title)

    def of_model(self, model: Any, X: Any, y: Array) -> tuple[FloatArray, Array]:
        """Return the loss of each row by a fitted model, and what it judges."""
        classes = None
        if self.task == "classification":
            classes = np.union1d(y, getattr(model, "classes_", y))
        judged = self.predictions(model, X, classes)
        return self(y, judged, classes), judged

    def __call__(self, y: Array, predicted: Any, classes: Array | None = None) -> FloatArray:
        """Return the loss of each row, all of them finite."""
        predicted = np.asarray(predicted)
        if self.task == "classification" and not self.zero_one:
            if classes is None:
                classes = np.union1d(y, predicted)
            y = np.searchsorted(classes, y)
            if not self.of_probabilities:
                predicted = np.searchsorted(classes, predicted)
            losses = self.loss.for_classes(classes).of_rows(y, predicted)
        else:
            losses = self.loss.of_rows(y, predicted)
        if losses.shape != (len(y),):
            raise InputError(
                f"The loss must be one number per row; for {len(y)} rows it has shape "
                f"{losses.shape}. Take one response at a time."
            )
        if not np.all(np.isfinite(losses)):
            bad = int(np.flatnonzero(~np.isfinite(losses))[0])
            raise InputError(
                f"The loss of row {bad} is {losses[bad]}: the response or its prediction is "
                "missing or infinite."
            )
        return losses


def class_probabilities(model: Any, X: Any, classes: Array | None, what: str) -> FloatArray:
    """Return one probability per class; a class that the model has not seen has probability 0."""
    if classes is None or not hasattr(model, "predict_proba"):
        raise InputError(
            f"The {what} judges probabilities of classes, and {type(model).__name__} has none to "
            "give; choose another loss, or a classifier with predict_proba."
        )
    return spread(model.predict_proba(X), model.classes_, classes)
