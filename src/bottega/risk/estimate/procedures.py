"""An estimator as a procedure: its inputs, its weights, and the choice of its knob."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import Estimator
from bottega.core.folds import make_folds
from bottega.core.frames import take_rows
from bottega.core.losses import Cost, Loss, get_loss
from bottega.core.matrix_columns import MatrixColumns, made_of
from bottega.core.tuned import Tuned, tune
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.risk.cost_sensitive import CostSensitiveClassifier
from bottega.risk.estimate.judged_rows import JudgedRows, class_probabilities
from bottega.risk.estimate.nested_engine import FittedProcedure, Part

_DECIDING = 5  # folds that choose the threshold of a decision


@dataclass(frozen=True, eq=False)
class PlainInputs:
    """Inputs that an estimator takes as they are.

    Other objects with these methods may encode them; several procedures may share one object,
    which then encodes the rows of a part once.
    """

    X: Any

    def train(self, part: Part) -> Any:
        """Return the inputs of the training rows."""
        return self.X if not part.tests else take_rows(self.X, part.train)

    def test(self, part: Part, rows: IntArray) -> Any:
        """Return the inputs of other rows, encoded as the training rows were."""
        return take_rows(self.X, rows)

    def columns(self, part: Part) -> MatrixColumns | None:
        """Return what the columns were made of, where an encoder made them."""
        return None

    def joined(self, part: Part, model: Any) -> Any:
        """Return the fitted model together with what it needs to predict from raw inputs."""
        return model


@dataclass(frozen=True, eq=False)
class EstimatorProcedure:
    """An estimator with its data and the way its knob is chosen.

    It is cloned before each fit, and gets the weights of the rows if its `fit` (or that of the
    last step of a pipeline) takes them. Under a matrix of costs a classifier with probabilities
    predicts the class of least expected cost.
    """

    estimator: Any
    inputs: Any  # what it sees of the rows, by the methods of PlainInputs
    rows: JudgedRows
    select: str | None = None  # that of the estimator by default
    inner: Any = None  # folds that judge the path; None: by the method's own estimate
    values: Any = None  # of the knob; the method's own grid by default
    loss: Any = None  # what the inner folds are judged by
    as_it_is: bool = False  # whatever it chooses, it chooses by itself, as in its `fit`
    class_weight: Any = (
        None  # of classes in the fits, as scikit-learn takes them; not in the errors
    )
    most_rows: int | None = None  # that it learns from: more are drawn from at random
    # Called with a fitted classifier of two classes and with what such a one gives for rows it was
    # not fitted to (whether of the second class, score, weights); returns the one that decides.
    decision: Any = None

    def __post_init__(self) -> None:
        chosen = self.is_chosen_here  # refuses values that nothing could be done with
        if chosen and self.inner is None:
            what = "divides groups" if self.rows.groups is not None else "looks ahead in time"
            if self.rows.groups is not None or self.rows.time is not None:
                raise ParameterError(
                    f"The method's own estimate of error {what}; give inner= a number of folds."
                )

    @property
    def in_threads(self) -> bool:
        """Estimators of others may hold the interpreter or start processes of their own."""
        return isinstance(self.estimator, Estimator)

    @property
    def is_chosen_here(self) -> bool:
        """Whether a knob is left to be chosen along the path."""
        estimator = self.estimator
        if self.as_it_is:
            return False
        if not isinstance(estimator, Tuned):
            if self.values is not None:
                raise ParameterError(
                    f"{type(estimator).__name__} has no knob that is known here, so values= has no "
                    "meaning; search over its parameters with scikit-learn's GridSearchCV, which "
                    "can be given as it is."
                )
            return False
        knobs = [getattr(estimator, knob) for knob in estimator.knobs]
        free = [value for value in knobs if isinstance(value, str) and value == "auto"]
        return self.values is not None or bool(free)

    def fit(self, part: Part) -> FittedProcedure:
        """Fit a copy to the training rows of a part, its knob chosen on them alone.

        Warnings name the columns that the inputs were encoded from. Those about the data are left
        to the fit to all rows.
        """
        X, columns = self.inputs.train(part), self.inputs.columns(part)
        if columns is not None:
            owner = type(self.estimator).__name__
            columns = replace(columns, owner=owner, silent=len(part.train) < len(self.rows))
        with made_of(columns):
            return self._fit(part, X, part.train)

    def _fit(self, part: Part, X: Any, given: IntArray) -> FittedProcedure:
        drawn = self._drawn(part)
        if drawn is not None:
            X, given = take_rows(X, drawn), given[drawn]
        model = self._model(part, X, given)
        cost = self._cost
        told = told_by(model)
        if cost is not None:
            model = CostSensitiveClassifier.of(model, cost)
        if self.decision is not None and hasattr(self.estimator, "predict_proba"):
            model = self._deciding(model, told[0], X, given)
        classes = self.rows.classes

        def probabilities(X: Any) -> FloatArray:
            return class_probabilities(model, X, classes, "loss")

        has_any = classes is not None and hasattr(model, "predict_proba")
        return FittedProcedure(
            partial(self._predicted, model.predict, part),
            partial(self._predicted, probabilities, part) if has_any else None,
            self.inputs.joined(part, model),
            *told,
        )

    def _predicted(self, predict: Callable[[Any], Any], part: Part, rows: IntArray) -> Array:
        """Return what a fitted model predicts for rows, by their positions."""
        return np.asarray(predict(self.inputs.test(part, rows)))

    @property
    def _cost(self) -> Cost | None:
        """The costs by which a classifier with probabilities decides."""
        loss = self._tuned_by
        able = hasattr(self.estimator, "predict_proba")
        return loss if able and isinstance(loss, Cost) else None

    @property
    def _tuned_by(self) -> Loss | None:
        return None if self.loss is None else get_loss(self.loss, self.rows.task)

    def _model(self, part: Part, X: Any, given: IntArray) -> Any:
        """Return a copy fitted to rows in memory, its knob chosen."""
        y, weight = self.rows.y[given], self._weight(given)
        if not self.is_chosen_here:
            return fit_weighted(clone(self.estimator), X, y, weight)
        cost = self._cost
        estimator, folds = self._judged_by(given, X, y)
        return tune(
            estimator,
            X,
            y,
            sample_weight=weight if takes_weights(estimator) else None,
            select=self.select,
            cv=folds,
            loss=self._tuned_by if cost is None else cost.deciding(),
            values=self.values,
            bare=bool(part.tests),  # fitted for its predictions; the model of all rows is kept
        )

    def learns_from(self, n: int) -> int:
        """Return how many rows a fit learns from where there are n to fit to."""
        return n if self.most_rows is None else min(n, self.most_rows)

    def _drawn(self, part: Part) -> IntArray | None:
        """Return the places of the training rows to learn from, None for all of them.

        They are drawn at random, of each class its share; the same rows whenever the part comes up.
        """
        n = len(part.train)
        if self.most_rows is None or n <= self.most_rows:
            return None
        rng = np.random.default_rng([n, *(k + 1 for k in part.key[1])])
        order = rng.permutation(n)
        codes = self.rows.codes
        if codes is None:
            return np.sort(order[: self.most_rows])
        own = codes[part.train[order]]
        # The place of each row within its class, as a share of the class: the least come first.
        rank = np.empty(n)
        for k in np.unique(own):
            members = np.flatnonzero(own == k)
            rank[members] = np.arange(len(members)) / len(members)
        return np.sort(order[np.argsort(rank, kind="stable")[: self.most_rows]])

    def _weight(self, given: IntArray) -> FloatArray | None:
        """Return the weights of training rows: their own, times those of their classes."""
        weight = self.rows.weight_of(given)
        if self.class_weight is None:
            return weight
        try:
            factor = compute_sample_weight(self.class_weight, self.rows.y[given])
        except ValueError as error:
            raise ParameterError(f"class_weight={self.class_weight!r}: {error}") from error
        return factor if weight is None else factor * weight

    def _deciding(self, model: Any, setting: Any, X: Any, given: IntArray) -> Any:
        """Return the model with the threshold that is best for rows it was not fitted to."""
        classes = self.rows.classes
        if classes is None or len(classes) != 2 or len(getattr(model, "classes_", ())) != 2:
            return model
        y, weight = self.rows.y[given], self._weight(given)
        fixed = clone(self.estimator)
        if setting is not None:
            fixed.set_params(**setting)
        groups, time = (
            None if each is None else each[given] for each in (self.rows.groups, self.rows.time)
        )
        score = np.full(len(y), np.nan)
        try:
            folds = make_folds(_DECIDING, len(y), strata=y, groups=groups, time=time, X=X, y=y)
            for train, test in folds:
                part_of = fit_weighted(
                    clone(fixed),
                    take_rows(X, train),
                    y[train],
                    None if weight is None else weight[train],
                )
                shares = class_probabilities(part_of, take_rows(X, test), classes, "threshold")
                score[test] = shares[:, 1]
        except (InputError, ParameterError):  # too few rows, groups or times to hold any out
            return model
        seen = np.isfinite(score)
        own = self.rows.weight_of(given)
        return self.decision(
            model, y[seen] == classes[1], score[seen], None if own is None else own[seen]
        )

    def _judged_by(self, given: IntArray, X: Any, y: Array) -> tuple[Any, Any]:
        """Return the estimator and the folds that judge its path.

        A method that judges its own grid by a number of folds is given this number: it deals them
        just as `make_folds` does, and has faster ways to go through them. Values that were asked
        for are judged by fits at just these values (a tree would let each stand for the stretch of
        penalties that give the same tree).
        """
        if self.inner is None:
            return self.estimator, None
        groups, time = (
            None if each is None else each[given] for each in (self.rows.groups, self.rows.time)
        )
        inner = self.inner
        if isinstance(inner, Integral) and not isinstance(inner, bool):
            most = len(y)
            if groups is not None:
                most = len(np.unique(groups))
            elif time is not None:
                most = len(np.unique(time)) - 1
            inner = min(int(inner), most)
            if inner < 2 and len(y) > 1:  # one group, or too few times for two folds
                return self.estimator, None
            own = self.estimator.params.get("cv") if self.values is None else None
            plain = groups is None and time is None
            if plain and own is not None and own.accepts(inner):
                return clone(self.estimator).set_params(cv=inner), None
        strata = y if is_classifier(self.estimator) else None
        folds = make_folds(inner, len(y), strata=strata, groups=groups, time=time, X=X, y=y)
        return self.estimator, folds


def takes_weights(estimator: Any) -> bool:
    """Return True if the fit of an estimator takes row weights."""
    return bool(has_fit_parameter(estimator, "sample_weight"))


def fit_weighted(estimator: Any, X: Any, y: Array, weight: FloatArray | None) -> Any:
    """Fit an estimator, or a pipeline's last step, with weights where it takes them."""
    if weight is None:
        return estimator.fit(X, y)
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        if takes_weights(last):
            return estimator.fit(X, y, **{f"{name}__sample_weight": weight})
    elif takes_weights(estimator):
        return estimator.fit(X, y, sample_weight=weight)
    return estimator.fit(X, y)


def told_by(model: Any) -> tuple[Mapping[str, Any] | None, float]:
    """Return what a fitted estimator chose itself, and the least error on the way."""
    if hasattr(model, "best_params_"):
        return model.best_params_, _least_of_search(model)
    inside = model.steps[-1][1] if hasattr(model, "steps") else model
    path = getattr(inside, "path_", None)
    if path is None:
        return None, np.nan
    setting = {knob: getattr(inside, f"{knob}_") for knob in inside.knobs}
    return setting, float(np.nanmin(path.error))


def _least_of_search(search: Any) -> float:
    """Return the least error of a search of scikit-learn's, where its score is our loss."""
    scoring = getattr(search, "scoring", None)
    score = float(getattr(search, "best_score_", np.nan))
    if scoring == "neg_mean_squared_error":
        return -score
    if scoring == "accuracy" or (scoring is None and is_classifier(search)):
        return 1 - score
    return np.nan
