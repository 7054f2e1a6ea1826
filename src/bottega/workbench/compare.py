"""The main job: every method that fits the task, on one data set, judged by nested folds."""

import platform
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import bottega
from bottega._jit import beside
from bottega.core import interruption
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.folds import Fold, fold_of_rows
from bottega.core.parallel import threads_of
from bottega.core.params import Integer, Real
from bottega.core.path import check_rule
from bottega.core.progress import Stopwatch
from bottega.core.seeds import seed_of
from bottega.data import LockedPart, Table, folds
from bottega.data.ledger import fingerprint
from bottega.risk import NestedComparison
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.workbench.budget import default_budget, read_budget
from bottega.workbench.called import described, name_of, python_call
from bottega.workbench.comparison import Comparison
from bottega.workbench.drawn import SAMPLE, DrawnTable
from bottega.workbench.entrants import LAST, choose_methods, unfitted
from bottega.workbench.folds import FoldModels
from bottega.workbench.inputs import encoded_inputs
from bottega.workbench.job import Job
from bottega.workbench.measures import get_measure
from bottega.workbench.results import MethodResult
from bottega.workbench.resume import Saved, digest_of
from bottega.workbench.streamed import notes_on_drawn, procedure_for_table
from bottega.workbench.tables import as_table

__all__ = ["compare"]

_LIBRARIES = ("bottega", "numpy", "scipy", "scikit-learn", "numba")
_INNER = 10  # folds that choose a knob where rows depend on each other
# Share of the budget after which nothing new is waited for; more is left for the certificate and
# the report where they take long.
_END = {0.0: 0.9, 60.0: 0.85}


def compare(
    data: Any,
    target: Any = None,
    *,
    methods: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    with_: Sequence[str] = (),
    measure: Any = None,
    select: str = "min",
    class_weight: Any = None,
    outer: int = 5,
    interval: str = "nadeau_bengio",
    budget: Any = None,
    resume: Any = None,
    groups: Any = None,
    time: Any = None,
    weights: Any = None,
    stack: bool = True,
    random_state: Any = 0,
    test_size: float = 0.25,
    task: str | None = None,
    sample: int = SAMPLE,
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
    data : Table, data frame, array, path of files, or source
        The rows; whatever `bottega.read` takes, or an array of inputs. Of a source
        (`bottega.scale.source`), and of files that are too large for memory, `sample` rows are
        drawn.
    target : str or array-like
        Name of the column to predict, or the responses themselves.
    methods : sequence of str, optional
        Short names from the catalogue; all that fit the task by default. The baseline is always
        among them.
    exclude : sequence of str
        Methods to leave out.
    with_ : sequence of str
        Methods to take in besides, although they would sit out, such as near twins of others.
    measure : str, Loss or callable, optional
        What methods are tuned and ranked by: ``"rmse"``, ``"mae"``, ``"r2"``, ``"poisson"``,
        ``"huber"``; ``"accuracy"``, ``"balanced_accuracy"``, ``"f1"``, ``"auc"``, ``"log_loss"``,
        ``"brier"``; a `Cost` matrix or another `Loss`; or a function of truth and prediction. The
        squared error and the misclassification by default. A measure that is no mean over rows
        (AUC, F1) ranks, and the Brier score tunes. Under costs, classifiers with probabilities
        predict the class of least expected cost. For F1, balanced accuracy and costs of two
        classes the threshold is chosen inside the folds, on rows held out there.
    select : {"min", "one_se", ...}
        Rule that picks from each path. ``"one_se"`` prefers simpler models, where the path has
        them.
    class_weight : "balanced" or dict, optional
        Weights of the classes in the fits, not in the errors; set inside each fold.
    outer : int
        Number of outer folds.
    interval : {"nadeau_bengio", "nested", "auto"}
        How standard errors and intervals allow for the training rows that the folds share, see
        `bottega.risk.nested_cv`. ``"nested"`` measures it, by outer (outer - 1) / 2 more fits of
        each method.
    budget : float or str, optional
        Time that the comparison may take, its certificate and report included: seconds, or a text
        such as ``"90s"``, ``"2m"``. Cheap methods come first, expensive ones learn from fewer rows,
        and one that is clearly behind after two folds is stopped; `Comparison.cut` says what was
        cut. By default no limit up to 20,000 rows, and up to ten minutes beyond (of a source as
        long again as sixty passes over it).
    resume : path, optional
        File that keeps what is done, fold by fold; where it is there the work goes on from it.
    groups, time, weights : str or array-like, optional
        Column (or values) of groups whose rows stay together, of the time order, of row weights.
    stack : bool
        Whether the leaders combined are the last entrant, where there are at least three methods.
    random_state : int, RandomState, Generator or None
        Seed of the split and the folds; the same seed gives the same answer, unless a budget cuts.
    test_size : float
        Share of the rows that is locked away; 0 for none.
    task : {"regression", "classification"}, optional
        What the target is, where its values do not say.
    sample : int
        Rows of a source that are drawn and held in memory: all methods are judged on them.
    n_jobs : int, optional
        Number of threads; all cores by default.
    command : str, optional
        The call that the report should show; the Python call by default.

    Returns
    -------
    Comparison
        With `leaderboard`, `best`, `predict`, `certify()`, `explain()`, `report(path)` and
        `save(path)`.

    Notes
    -----
    The cost is ``outer + 1`` fits of each method, each with its whole path; the stack takes no more
    of them. Weights, groups and time order are respected by the split, the outer folds, the folds
    that tune, the errors and the certificate; without these roles rows that depend on each other
    make the error too low. Ctrl-C returns what is done.

    Of a source rows are drawn at random, of each class its share, and compared as those of any
    table. Methods that fit chunks learn from the rows that were not drawn, too, in each fold and at
    last: their paths are judged by their own estimate, whatever the measure. All others learn from
    the drawn rows; `learned_from` in the leaderboard says from how many. Rows of a group that is
    held out, or of a later time, are not learnt from; a knob that must be chosen by folds which
    respect these is chosen, and its method fitted, on the drawn rows. Encoders are learnt from the
    drawn rows: levels that are not among them count as rare ones.

    Examples
    --------
    >>> import bottega
    >>> found = bottega.compare("iris", outer=3, stack=False)
    >>> bool(found.leaderboard["error"].iloc[0] < 0.1)
    True
    >>> found.predict(found.table.frame.head(2)).tolist()
    ['setosa', 'setosa']
    """
    start = perf_counter()
    check_rule(select)
    Integer(2).check("compare", "outer", outer)
    Real(0, 1, open_high=True).check("compare", "test_size", test_size)
    seconds = read_budget(budget)
    seed = seed_of(random_state, "compare")
    threads = threads_of(n_jobs)
    table = as_table(
        data, target, task, group=groups, time=time, weight=weights, sample=sample, seed=seed
    )
    if table.groups is not None and table.time is not None:
        raise InputError(
            "The table has a group and a time column, and rows are held out by whole groups or by "
            "what comes later, not both; make the table with one of them."
        )
    if table.n_rows * (1 - test_size) < outer:
        raise InputError(
            f"The table has {table.n_rows} rows, too few for {outer} folds"
            + (" and a locked part" if test_size else "")
            + ": give fewer folds (outer=2), no locked part (test_size=0), or more rows."
        )
    everything = JudgedRows(np.asarray(table.y), str(table.task), table.weight)
    ranked_by = get_measure(measure, everything)
    train, locked = _lock(table, float(test_size), seed)
    if seconds is None:
        more = table.others if isinstance(table, DrawnTable) else None
        every, a_pass = (0, 0.0) if more is None else (more.count, more.seconds)
        seconds = default_budget(train.n_rows + every, len(train.features), a_pass)
    chosen, skipped = choose_methods(
        str(table.task), methods, train, ranked_by.loss, select, exclude=exclude, added=with_
    )
    # Copies of drawn rows are among the others, too: what is learnt from these is not cut for them.
    is_part = isinstance(table, DrawnTable) and table.others.count > 0
    units = train.groups if is_part else train.units
    rows = JudgedRows(np.asarray(train.y), str(train.task), train.weight, units, train.time)
    inputs = encoded_inputs({name: each.card for name, each in chosen.items()}, train)
    # A method's own estimate of error would divide groups, or look ahead in time.
    inner = None if units is None and train.time is None else _INNER
    procedures: dict[str, Any] = {
        name: procedure_for_table(
            unfitted(each, select, ranked_by.loss),
            inputs[name],
            rows,
            table,
            select=select,
            inner=inner,
            loss=None if measure is None else ranked_by.loss,
            class_weight=class_weight,
            decision=ranked_by.decision,
        )
        for name, each in chosen.items()
    }
    given = {
        "methods": None if methods is None else list(methods),
        "exclude": list(exclude) or None,
        "with_": list(with_) or None,
        "measure": measure if measure is None or isinstance(measure, str) else ranked_by.loss,
        "select": select,
        "class_weight": class_weight,
        "outer": outer,
        "interval": None if interval == "nadeau_bengio" else interval,
        "budget": budget,
        "groups": name_of("groups", groups),
        "time": name_of("time", time),
        "weights": name_of("weights", weights),
        "task": task,
        "sample": sample if isinstance(table, DrawnTable) and sample != SAMPLE else None,
        "stack": None if stack else False,
        "random_state": seed,
        "test_size": test_size,
    }
    parts = folds(train, outer, random_state=seed)
    job = Job(
        train,
        rows,
        ranked_by,
        procedures,
        {name: each.card for name, each in chosen.items()},
        parts,
        None if seconds is None else start + _END[60.0 * (seconds >= 60)] * seconds,
        _saved(resume, table, train, given, rows, parts),
        n_jobs,
        threads,
        seed,
    )
    with (
        warnings.catch_warnings(record=True) as warned,
        interruption.remembered(),
        beside(n_jobs),
        Stopwatch() as watch,
    ):
        warnings.simplefilter("always", DataWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*sklearn.utils.parallel.delayed")
        nested = job.run(select, interval)
        results = {
            name: MethodResult(chosen[name].card, found, ranked_by, job.learned_from(name))
            for name, found in nested.items()
        }
        try:
            nested, results = job.with_winner(nested, results)
        except KeyboardInterrupt:
            nested = _stopped(nested)
        if stack and LAST not in exclude and LAST not in chosen and nested.complete:
            try:
                combined = job.combine(results, nested)
            except KeyboardInterrupt:  # all methods are there, and the user wants no more
                combined, nested = None, _stopped(nested)
                job.why_no_stack = skipped[LAST] = "skipped: stopped before it was done"
            if combined is not None:
                nested = NestedComparison(
                    {**nested.results, LAST: combined},
                    nested.failures,
                    nested.complete,
                    nested.n_train,
                    nested.n_test,
                )
                card = _card_of(LAST, str(table.task))
                members = (results[name] for name in combined.final.setting)
                seen = max(int(each.learned_from or 0) for each in members)
                results[LAST] = MethodResult(card, combined, ranked_by, seen)
                skipped.pop(LAST, None)
            elif LAST in skipped:
                skipped[LAST] = job.why_no_stack
        elif not stack and LAST in skipped:
            skipped[LAST] = "skipped: left out on request"
    notes = _after(warned)
    if is_part:
        done = {name: each for name, each in procedures.items() if name in results}
        notes += notes_on_drawn(done, {name: results[name].card.title for name in done})
    return Comparison(
        table=table,
        train=train,
        test=locked,
        results=results,
        nested=nested,
        skipped=job.not_begun(results) | nested.failures | skipped,
        measure=ranked_by,
        select=select,
        outer=outer,
        random_state=seed,
        command=command or python_call(data, target, **given),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        seconds=perf_counter() - start - watch.aside,
        preparing_seconds=watch.aside,
        fold_models=FoldModels(train, job.folds, job.plan.procedures, job.work.models),
        budget=seconds,
        ends=None if seconds is None else start + seconds,
        cut=tuple(job.cut(nested)),
        notes=tuple(notes),
    )


def _stopped(nested: NestedComparison) -> NestedComparison:
    interruption.forget()
    return replace(nested, complete=False)


def _lock(table: Table, test_size: float, seed: int) -> tuple[Table, LockedPart | None]:
    if test_size == 0:
        return table, None
    split = table.split(
        train_size=1 - test_size, validation_size=0, test_size=test_size, random_state=seed
    )
    return split.train, split.test


def _saved(
    path: Any,
    table: Table,
    train: Table,
    given: dict[str, Any],
    rows: JudgedRows,
    parts: list[Fold],
) -> Saved | None:
    """Return what an earlier run of the same call has done; None where nothing is kept."""
    if path is None:
        return None
    call = {
        "version": bottega.__version__,
        "data": fingerprint(train.frame),
        "target": str(train.target),
        "task": str(train.task),
        "columns": [[each.name, each.kind, each.role] for each in train.columns],
        "weights": digest_of(rows.weight),
        "groups": digest_of(rows.groups),
        "time": digest_of(rows.time),
        "others": table.others.count if isinstance(table, DrawnTable) else 0,
    }
    depends = ("measure", "select", "class_weight", "outer", "random_state", "test_size")
    asked = {name: described(given[name]) for name in depends}
    dealt = {"folds": digest_of(fold_of_rows(parts, len(rows)))}
    return Saved(path, call | asked | dealt, rows.classes, [test for _, test in parts])


def _card_of(method: str, task: str) -> Any:
    from bottega.registry import methods

    return methods(task)[method].card


def _after(warned: list[warnings.WarningMessage]) -> list[str]:
    """Return what did not converge and what methods say of the data, each once.

    Other warnings are passed on.
    """
    alike: dict[str, list[str]] = {}
    for each in warned:
        if issubclass(each.category, ConvergenceWarning | DataWarning):
            text = str(each.message).rstrip(".")
            alike.setdefault(re.sub(r"[\d.e+-]*\d", "0", text), []).append(text)
        else:
            warn_caller(str(each.message), each.category)
    return [
        texts[0] + (f" (in {len(texts)} fits)" if len(texts) > 1 else "")
        for texts in alike.values()
    ]
