"""The main job: every method that fits the task, on one data set, judged by nested folds."""

import os
import platform
import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from bottega._jit import beside
from bottega.core.baseline import BaselineRegressor
from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, did_you_mean
from bottega.core.estimator import Estimator
from bottega.core.losses import Loss, get_loss
from bottega.core.params import Integer, Real
from bottega.core.path import check_rule
from bottega.core.progress import Stopwatch
from bottega.core.seeds import seed_of
from bottega.data import LockedPart, Table, folds
from bottega.registry import methods as methods_for
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested import run_procedures
from bottega.risk.estimate.procedures import EstimatorProcedure
from bottega.workbench.comparison import Comparison
from bottega.workbench.inputs import encoded_inputs, n_encoded
from bottega.workbench.results import MethodResult
from bottega.workbench.tables import as_table

__all__ = ["compare"]

_LIBRARIES = ("bottega", "numpy", "scipy", "scikit-learn", "numba")
_INNER = 10  # folds that choose a knob where rows depend on each other


def compare(
    data: Any,
    target: Any = None,
    *,
    methods: Sequence[str] | None = None,
    loss: Any = None,
    select: str = "one_se",
    outer: int = 5,
    interval: str = "nadeau_bengio",
    random_state: Any = 0,
    test_size: float = 0.25,
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
    loss : str, Loss or callable, optional
        What each row is judged by, in tuning and in ranking: ``"squared_error"`` (the default for
        regression), ``"absolute_error"``, ``"huber"``; ``"zero_one"`` (the default for
        classification), ``"log_loss"``, ``"brier_score"``, a `Cost` matrix; or a function of truth
        and prediction. Under costs, classifiers with probabilities predict the class of least
        expected cost, in the folds and in the models that are returned.
    select : {"one_se", "min", ...}
        Rule that picks from each path.
    outer : int
        Number of outer folds.
    interval : {"nadeau_bengio", "nested", "auto"}
        How standard errors and intervals allow for the training rows that the folds share, see
        `bottega.risk.nested_cv`. ``"nested"`` measures it, by outer (outer - 1) / 2 more fits of
        each method.
    random_state : int, RandomState, Generator or None
        Seed of the split and the folds; the same seed gives the same answer.
    test_size : float
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
    The cost is ``outer + 1`` fits of each method, each with its whole path. Weights, groups and the
    time order of a Table are respected by the split, the outer folds, the folds that tune, the
    errors and the certificate; without these roles rows that depend on each other make the error
    too low.

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
    check_rule(select)
    Integer(2).check("compare", "outer", outer)
    Real(0, 1, open_high=True).check("compare", "test_size", test_size)
    seed = seed_of(random_state, "compare")
    table = as_table(data, target, task)
    if table.groups is not None and table.time is not None:
        raise InputError(
            "The table has a group and a time column, and rows are held out by whole groups or by "
            "what comes later, not both; make the table with one of them."
        )
    row_loss = get_loss(loss, str(table.task))
    if table.classes is not None:
        row_loss = row_loss.naming(table.classes)
    train, locked = _lock(table, float(test_size), seed)
    chosen, skipped = _choose(str(table.task), methods, train, row_loss, select)
    rows = JudgedRows(np.asarray(train.y), str(train.task), train.weight, train.groups, train.time)
    inputs = encoded_inputs({name: each.card for name, each in chosen.items()}, train)
    # A method's own estimate of error would divide groups, or look ahead in time.
    inner = None if train.groups is None and train.time is None else _INNER
    procedures = {
        name: EstimatorProcedure(
            _unfitted(each, select, row_loss),
            inputs[name],
            rows,
            select=select,
            inner=inner,
            loss=None if loss is None else row_loss,
        )
        for name, each in chosen.items()
    }
    with warnings.catch_warnings(), beside(n_jobs), Stopwatch() as watch:
        # The levels of a category are collinear with the intercept by their very encoding.
        warnings.simplefilter("ignore", DataWarning)
        nested = run_procedures(
            procedures,
            rows,
            loss=row_loss,
            select=select,
            outer=folds(train, outer, random_state=seed),
            interval=interval,
            random_state=seed,
            final=True,
            probabilities=True,
            n_jobs=n_jobs,
            stage="comparing",
        )
    return Comparison(
        table=table,
        train=train,
        test=locked,
        results={name: MethodResult(chosen[name].card, found) for name, found in nested.items()},
        nested=nested,
        skipped=nested.failures | skipped,
        select=select,
        outer=outer,
        random_state=seed,
        row_loss=row_loss,
        command=command
        or _python_call(
            data,
            target,
            methods=None if methods is None else list(methods),
            loss=None if loss is None else loss if isinstance(loss, str) else row_loss,
            select=select,
            outer=outer,
            interval=None if interval == "nadeau_bengio" else interval,
            random_state=seed,
            test_size=test_size,
        ),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        seconds=time.perf_counter() - start - watch.aside,
        preparing_seconds=watch.aside,
    )


def _unfitted(estimator_class: type[Estimator], select: str, loss: Loss) -> Estimator:
    """Return an unfitted estimator that tunes its own knob by the rule `select`."""
    if estimator_class is BaselineRegressor:
        return BaselineRegressor(loss=loss)  # what is to be beaten is the best constant
    model = estimator_class()
    if "select" in model.get_params(deep=False):
        model.set_params(select=select)
    return model


def _lock(table: Table, test_size: float, seed: int) -> tuple[Table, LockedPart | None]:
    if test_size == 0:
        return table, None
    split = table.split(
        train_size=1 - test_size, validation_size=0, test_size=test_size, random_state=seed
    )
    return split.train, split.test


def _choose(
    task: str, wanted: Sequence[str] | None, train: Table, loss: Loss, select: str
) -> tuple[dict[str, type[Estimator]], dict[str, str]]:
    """Return the classes to compare, the baseline first, and why others are skipped."""
    known = methods_for(task)
    for name in wanted or ():
        if name not in known:
            raise InputError(
                f"There is no method {name!r} for {task}; there are {', '.join(known)}."
                + did_you_mean(name, known)
            )
    if wanted is None:
        known = {name: each for name, each in known.items() if each.card.twin_of is None}
    else:
        known = {name: known[name] for name in known if name in wanted or name == "baseline"}
    skipped = {}
    for name, each in known.items():
        reason = _reason_to_skip(each.card, train, loss, by_name=wanted is not None)
        rules = each.params.get("select")
        if not reason and rules is not None and not rules.accepts(select):
            reason = f"its path has no criterion {select!r}"
        if reason:
            skipped[name] = f"skipped: {reason}"
    return {name: each for name, each in known.items() if name not in skipped}, skipped


def _reason_to_skip(card: Card, train: Table, loss: Loss, *, by_name: bool) -> str:
    """Return why a method cannot take part, or should not unless it is asked for by name."""
    if "number" not in card.takes:
        return f"takes {', '.join(sorted(card.takes))}, not the columns of a table"
    if loss.method == "predict_proba" and not card.probabilities:
        return f"gives no class probabilities, which {loss.title} needs"
    if by_name:
        return ""
    if card.most_rows is not None and train.n_rows > card.most_rows:
        return f"slow on more than {card.most_rows:,} rows; name it to include it"
    if card.n_inputs is not None and n_encoded(card, train) > card.n_inputs:
        return f"takes at most {card.n_inputs} input{'' if card.n_inputs == 1 else 's'}"
    return ""


def _python_call(data: Any, target: Any, **options: Any) -> str:
    """Return the Python call that repeats the comparison, as far as it can be written down."""
    shown = repr(str(data)) if isinstance(data, str | os.PathLike) else "data"
    goal = repr(target) if isinstance(target, str) else ("target" if target is not None else None)
    arguments = [shown] + ([goal] if goal else [])
    given = {name: value for name, value in options.items() if value is not None}
    arguments += [f"{name}={value!r}" for name, value in given.items()]
    return f"bottega.compare({', '.join(arguments)})"
