"""The main job: every method that fits the task, on one data set, judged by nested folds."""

import os
import platform
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path as FilePath
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.base import Estimator
from bottega.core.cards import Card
from bottega.core.errors import (
    BottegaError,
    DataWarning,
    InputError,
    ParameterError,
    did_you_mean,
)
from bottega.core.frames import is_frame, make_frame
from bottega.core.losses import get_loss
from bottega.core.parallel import run_tasks
from bottega.core.params import Integer, Real
from bottega.core.path import RULES, Path
from bottega.core.typing import Array, FloatArray
from bottega.data import LockedPart, Table, folds, read
from bottega.data.prepare import encoder_for
from bottega.registry import methods as methods_for
from bottega.workbench.comparison import Comparison
from bottega.workbench.procedure import Encoded, as_pipeline, make_model
from bottega.workbench.results import MethodResult

__all__ = ["compare"]

_LIBRARIES = ("bottega", "numpy", "scipy", "scikit-learn", "numba")


def compare(
    data: Any,
    target: Any = None,
    *,
    methods: Sequence[str] | None = None,
    select: str = "one_se",
    outer: int = 5,
    seed: int = 0,
    test: float = 0.25,
    task: str | None = None,
    n_jobs: int | None = None,
    command: str | None = None,
) -> Comparison:
    """Compare methods on one data set by nested cross-validation.

    In each outer fold every method tunes its knob along its own path on the fold's training rows
    alone, so the error is that of the whole procedure, tuning included. Each method is then
    refitted to all training rows. A share of the rows is locked away before anything is looked at,
    for `Comparison.certify`.

    Parameters
    ----------
    data : Table, data frame, array, or path of a file
        The rows; whatever `bottega.read` takes, or an array of inputs.
    target : str or array-like
        Name of the column to predict, or the responses themselves.
    methods : sequence of str, optional
        Short names from the catalogue; all that fit the task by default. The baseline is always
        among them.
    select : {"one_se", "min", ...}
        Rule that picks from each path.
    outer : int
        Number of outer folds.
    seed : int
        Seed of the split and the folds; the same seed gives the same answer.
    test : float
        Share of the rows that is locked away; 0 for none.
    task : {"regression", "classification"}, optional
        What the target is, where its values do not say.
    n_jobs : int, optional
        Number of threads; all cores by default.
    command : str, optional
        The call that the report should show; the Python call by default.

    Returns
    -------
    Comparison
        With `leaderboard`, `best`, `certify()`, `report(path)` and `save(path)`.

    Notes
    -----
    The cost is ``outer + 1`` fits of each method, each with its whole path. Rows that belong to
    groups or follow a time order need those roles set on the Table, or the error is too low.

    Examples
    --------
    >>> import bottega
    >>> found = bottega.compare("iris", outer=3)
    >>> found.best_method in {"neighbors", "parzen"}
    True
    >>> bool(found.leaderboard["error"].iloc[0] < 0.1)
    True
    """
    start = time.perf_counter()
    if select not in RULES:
        raise ParameterError(f"select={select!r} is not allowed; use one of {', '.join(RULES)}.")
    Integer(2).check("compare", "outer", outer)
    Integer(0).check("compare", "seed", seed)
    Real(0, 1, open_high=True).check("compare", "test", test)
    table = _as_table(data, target, task)
    train, locked = _lock(table, float(test), seed)
    chosen, left_out = _choose(str(table.task), methods, train)
    outer_folds = folds(train, outer, seed=seed)
    with warnings.catch_warnings():
        # The levels of a category are collinear with the intercept by their very encoding.
        warnings.simplefilter("ignore", DataWarning)
        answers, complete = run_tasks(
            _tasks(chosen, train, outer_folds, select), n_jobs=n_jobs, stage="comparing"
        )
    results, failures = _collect(chosen, train, outer_folds, answers)
    failures |= left_out
    if not results:
        if not complete:  # stopped before any method was done: there is nothing to show
            raise KeyboardInterrupt
        reasons = "; ".join(f"{method}: {reason}" for method, reason in failures.items())
        raise BottegaError(f"No method could be compared. {reasons}")
    return Comparison(
        table=table,
        train=train,
        test=locked,
        results=results,
        failures=failures,
        select=select,
        outer=len(outer_folds),
        seed=seed,
        loss=get_loss(None, str(table.task)).title,
        command=command or _python_call(data, target, methods, select, outer, seed, test),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        seconds=time.perf_counter() - start,
        interrupted=not complete,
    )


def _as_table(data: Any, target: Any, task: str | None) -> Table:
    """Return the data as a Table with its target set."""
    if isinstance(data, Table):
        if target is None and data.target is None:
            raise InputError("The table has no target; name the column to predict.")
        if (target is None or target == data.target) and task in (None, data.task):
            return data
        return Table(data.frame, target=target or data.target, task=task, source=data.source)
    if isinstance(data, str | os.PathLike):
        table = read(data, target=target, task=task)
        if table.target is None:
            raise InputError(
                f"{str(data)!r} was read, but which column should be predicted? Name the target: "
                f"one of {', '.join(repr(column.name) for column in table.columns[:8])}."
            )
        return table
    if target is None:
        raise InputError("What should be predicted? Give the responses, or the target's name.")
    if isinstance(target, str):
        return Table(data, target=target, task=task)
    return _joined(data, target, task)


def _joined(X: Any, y: Any, task: str | None) -> Table:
    """Return inputs and responses that came apart as one Table."""
    responses = np.asarray(y)
    if responses.ndim == 2 and responses.shape[1] == 1:
        responses = responses[:, 0]
    if responses.ndim != 1:
        raise InputError(
            f"compare is for one target; got responses of shape {responses.shape}: "
            "compare each column alone."
        )
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        like = X
    else:
        inputs = np.asarray(X)
        if inputs.ndim != 2:
            raise InputError(f"X must have rows and columns; got shape {inputs.shape}.")
        columns = {f"x{j}": inputs[:, j] for j in range(inputs.shape[1])}
        like = None
    rows = {len(column) for column in columns.values()}
    if rows != {len(responses)}:
        raise InputError(f"X has {max(rows, default=0)} rows and y has {len(responses)}.")
    name = str(getattr(y, "name", None) or "target")
    while name in columns:
        name += "_"
    return Table(make_frame({**columns, name: responses}, like), target=name, task=task)


def _n_inputs(card: Card, table: Table) -> int:
    """Return how many columns a method gets to see: a category may become several."""
    encoder = encoder_for(card, table)
    if encoder is None or card.n_inputs is None or len(table.features) > card.n_inputs:
        return len(table.features)
    return int(encoder.fit_transform(table.X).shape[1])


def _choose(
    task: str, wanted: Sequence[str] | None, train: Table
) -> tuple[dict[str, type[Estimator]], dict[str, str]]:
    """Return the classes to compare, the baseline first, and why others were left out."""
    known = methods_for(task)
    if wanted is None:
        known = {name: each for name, each in known.items() if each.card.twin_of is None}
        left_out = {
            name: f"left out, being slow on more than {each.card.most_rows:,} rows; "
            "name it among the methods to include it"
            for name, each in known.items()
            if each.card.most_rows is not None and train.n_rows > each.card.most_rows
        } | {
            name: f"left out of a table with {_n_inputs(each.card, train)} inputs, being for few"
            for name, each in known.items()
            if each.card.n_inputs is not None and _n_inputs(each.card, train) > each.card.n_inputs
        }
        return {name: known[name] for name in known if name not in left_out}, left_out
    for name in wanted:
        if name not in known:
            raise InputError(
                f"There is no method {name!r} for {task}; there are {', '.join(known)}."
                + did_you_mean(name, known)
            )
    return {name: known[name] for name in known if name in wanted or name == "baseline"}, {}


def _lock(table: Table, test: float, seed: int) -> tuple[Table, LockedPart | None]:
    if test == 0:
        return table, None
    split = table.split(train=1 - test, validation=0, test=test, seed=seed)
    return split.train, split.test


@dataclass(frozen=True)
class _FoldAnswer:
    """What one method did in one outer fold (or on all training rows)."""

    model: Any
    predicted: Array
    probability: FloatArray | None
    value: Any
    seconds: float


@dataclass(frozen=True)
class _Task:
    """One method in one fold."""

    estimator_class: type[Estimator]
    encoded: Encoded
    y: Array
    weight: FloatArray | None
    select: str

    def __call__(self) -> _FoldAnswer | str:
        card = self.estimator_class.card
        try:
            start = time.perf_counter()
            encoder, X_train, X_test = self.encoded.get(card)
            model = make_model(self.estimator_class, self.select)
            train, test = self.encoded.train, self.encoded.test
            if self.weight is not None and card.weights:
                model.fit(X_train, self.y[train], sample_weight=self.weight[train])
            else:
                model.fit(X_train, self.y[train])
            seconds = time.perf_counter() - start
            predicted, probability = self.y[:0], None
            if len(test):
                predicted = model.predict(X_test)
                if card.probabilities:
                    probability = model.predict_proba(X_test)
        except Exception as error:  # one method's failure must not take the others down
            return f"failed with {type(error).__name__}: {error}"
        value = None if card.knob is None else getattr(model, f"{card.knob}_")
        return _FoldAnswer(as_pipeline(encoder, model), predicted, probability, value, seconds)


def _tasks(
    chosen: dict[str, type[Estimator]], train: Table, outer_folds: Any, select: str
) -> list[tuple[tuple[str, int], _Task]]:
    """List the tasks method by method, so that stopping early leaves whole methods done."""
    everything = (np.arange(train.n_rows), np.zeros(0, dtype=np.intp))
    parts = [Encoded(train, *rows) for rows in (*outer_folds, everything)]
    y, weight = np.asarray(train.y), train.weight
    return [
        ((method, k), _Task(estimator_class, part, y, weight, select))
        for method, estimator_class in chosen.items()
        for k, part in enumerate(parts)
    ]


def _collect(
    chosen: dict[str, type[Estimator]], train: Table, outer_folds: Any, answers: dict[Any, Any]
) -> tuple[dict[str, MethodResult], dict[str, str]]:
    """Join the answers of the folds into one record a method."""
    results: dict[str, MethodResult] = {}
    failures: dict[str, str] = {}
    for method, estimator_class in chosen.items():
        found = [answers.get((method, k)) for k in range(len(outer_folds) + 1)]
        reasons = [answer for answer in found if isinstance(answer, str)]
        if reasons:
            failures[method] = reasons[0]
        elif all(isinstance(answer, _FoldAnswer) for answer in found):
            results[method] = _join_folds(estimator_class, train, outer_folds, found)
    return results, failures


def _join_folds(
    estimator_class: type[Estimator], train: Table, outer_folds: Any, found: list[Any]
) -> MethodResult:
    card = estimator_class.card
    y = np.asarray(train.y)
    classes = train.classes if card.task == "classification" else None
    predicted = y.copy()
    fold = np.full(len(y), -1)
    probability = None
    if classes is not None and card.probabilities:
        probability = np.full((len(y), len(classes)), np.nan)
    for k, ((_, rows), answer) in enumerate(zip(outer_folds, found, strict=False)):
        predicted[rows] = answer.predicted
        fold[rows] = k
        if probability is not None and classes is not None:
            # A fold's training rows may lack a rare class: its probability is zero there.
            probability[rows] = 0.0
            seen = np.searchsorted(classes, answer.model.classes_)
            probability[np.ix_(rows, seen)] = answer.probability
    final = found[-1]
    model = final.model.steps[-1][1]
    path: Path | None = getattr(model, "path_", None)
    return MethodResult(
        card=card,
        model=final.model,
        loss=get_loss(None, card.task).of_rows(y, predicted),
        weight=train.weight,
        fold=fold,
        predicted=predicted,
        probability=probability,
        classes=classes,
        path=None if path is None else replace(path, refit=None),
        knob_value=final.value,
        fold_values=tuple(answer.value for answer in found[:-1]),
        df=getattr(model, "df_", None),
        seconds=final.seconds,
    )


def _python_call(
    data: Any, target: Any, methods: Any, select: str, outer: int, seed: int, test: float
) -> str:
    """Return the Python call that repeats the comparison, as far as it can be written down."""
    shown = repr(str(data)) if isinstance(data, str | FilePath) else "data"
    goal = repr(target) if isinstance(target, str) else ("target" if target is not None else None)
    arguments = [shown] + ([goal] if goal else [])
    if methods is not None:
        arguments.append(f"methods={list(methods)!r}")
    options = {"select": select, "outer": outer, "seed": seed, "test": test}
    arguments += [f"{name}={value!r}" for name, value in options.items()]
    return f"bottega.compare({', '.join(arguments)})"
