"""Nested cross-validation: the error of a whole procedure, its tuning included."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from bottega.core.errors import BottegaError, InputError, ParameterError
from bottega.core.folds import Fold, is_partition, make_folds
from bottega.core.params import Integer, Real
from bottega.core.path import check_rule
from bottega.core.seeds import seed_of
from bottega.risk.estimate import nested_interval
from bottega.risk.estimate.judged_rows import JudgedRows, RowLosses, task_of
from bottega.risk.estimate.nested_engine import (
    Control,
    FittedProcedure,
    Judge,
    Part,
    Procedure,
    parts_of,
    run_parts,
)
from bottega.risk.estimate.nested_result import NestedComparison, NestedCV
from bottega.risk.estimate.nested_together import put_together
from bottega.risk.estimate.source_procedure import procedure_for
from bottega.risk.estimate.source_rows import inputs_of_rows, read_judged

__all__ = ["nested_cv", "run_procedures"]

# With more rows than this the fits without two folds cost more than their interval is worth.
AFFORDABLE_ROWS = 2_000


def nested_cv(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
    loss: Any = None,
    select: str = "one_se",
    outer: Any = 5,
    inner: Any = 10,
    values: Any = None,
    interval: str = "auto",
    n_repeats: int | None = None,
    delta: float = 0.05,
    random_state: Any = 0,
) -> NestedCV | NestedComparison:
    r"""Estimate the risk of a procedure that tunes itself, with an interval.

    In each outer fold the knob is chosen by inner cross-validation on the fold's training rows
    alone, :math:`\theta_i = \arg\min_\theta \ell^{cv}_{S_{-i}}(A_\theta)`, or by another rule;
    the losses of :math:`A_{\theta_i}(S_{-i})` on the fold's rows are averaged over all rows.

    Parameters
    ----------
    estimator : estimator, or dict of str to estimator
        One of bottega's with its knob at ``"auto"``; one without a knob, or with it fixed (then
        nothing is chosen); or any of scikit-learn's, a pipeline or a `GridSearchCV` included,
        which does its own choosing. Several in a dict are judged over the same folds; one that
        fails does not stop the others.
    X : array-like or data frame of shape (n, p), Table, or source
        Inputs; a `Table` brings its responses, weights, groups and time, a source
        (`bottega.scale.source`) its responses, weights and groups.
    y : array-like of shape (n,), optional
        Responses.
    sample_weight : array-like of shape (n,), optional
        How much each row counts, in the fits (where the method has a meaning for weights) and in
        the errors.
    groups : array-like of shape (n,), optional
        Rows of one group stay in one fold, outside and inside; the groups are the independent
        units of the interval. Of a source also the name of a column, as for `time`.
    time : array-like of shape (n,), optional
        Order of the rows: models are fitted to what comes before the rows they are judged on.
    loss : str, Loss or callable, optional
        What procedures are judged by, outside and inside: a name of `bottega.risk.LOSSES`, a
        `Loss` such as `Cost`, or a function of truth and prediction; misclassification or squared
        error by default. Log loss and Brier score judge probabilities. Under a `Cost` classifiers
        with probabilities predict the class of least expected cost (`CostSensitiveClassifier`).
    select : {"one_se", "min", "aic", ...}
        Rule of the inner choice, see `Path.best`.
    outer : int, splitter or list of (train, test)
        Outer folds: their number, or the folds themselves.
    inner : int, splitter or None
        Inner folds; None lets the path be judged by the method's own estimate, which for many is
        exact leave-one-out and cheaper.
    values : array-like, optional
        Values of the knob; the method's own grid, anew in each fold, by default.
    interval : {"auto", "nested", "nadeau_bengio", "naive"}
        How the interval is made; see the notes. ``"auto"`` is ``"nested"`` for up to 2,000 rows
        where the folds allow it, else ``"nadeau_bengio"``.
    n_repeats : int, optional
        Random partitions into outer folds. By default 1,000 / n, at least one and at most ten:
        with few rows one partition says little about the variance. Folds that are given, and
        folds that follow time, stand for one.
    delta : float
        Probability with which the interval may miss the risk.
    random_state : int, RandomState, Generator or None
        Seed of the partitions.

    Returns
    -------
    NestedCV
        Errors and choices by fold, interval, optimism, and `refit` to fit to all rows.
    NestedComparison
        For a dict: a mapping of names to `NestedCV`, with the paired differences of the errors.

    Notes
    -----
    The losses of different folds are not independent, since their models share training rows;
    the naive interval, which takes them so, is too narrow. ``"nested"`` is the interval of
    Bates, Hastie and Tibshirani [1]_: models fitted without two folds at a time measure the mean
    square error of cross-validation itself. With K outer folds it costs K + K (K - 1) / 2 runs of
    the procedure for each repetition; the other two cost K. It needs a partition, so folds that
    follow time cannot have it. ``"nadeau_bengio"`` takes two folds as correlated by the share of
    rows they test on [2]_: with K equal folds the variance of the fold means is multiplied by
    :math:`1/K + n_{test}/n_{train}`, with unequal ones the sizes of each fold count. It is a rule
    of thumb that is usually wider.

    Least squares on noise with 60 or 100 rows and 5 or 20 inputs, 5 folds, delta = 0.05: in 3,000
    samples the naive interval missed in 9 to 24 %, the nested one of a single partition in 6 to
    7 %, of two in 4 to 6 %; Nadeau and Bengio's in 3 to 6 %, and that of the difference to the mean
    of the responses in 3 to 6 %. With 200 rows, of unequal weights or in 40 groups, the nested
    interval missed in 4 to 6 % and Nadeau and Bengio's in 2 % (``python -m benchmarks.coverage``).

    The inputs of a source stay where they are, and folds are dealt by the numbers of its rows. In
    each fold a method chooses its knob over chunks as its ``fit`` does, by `select` and, where its
    own estimate is by folds, by `inner` of them; `values` are for rows in memory. See also the
    notes of `cross_validate`.

    References
    ----------
    .. [1] Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it
       estimate and how well does it do it? Journal of the American Statistical Association 119,
       1434-1445.
    .. [2] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281.

    Examples
    --------
    >>> from bottega.data import make
    >>> from bottega.linear import LeastSquares, Ridge
    >>> sample = make.sparse_linear(100, n_features=10)
    >>> found = nested_cv(Ridge(), sample.X, sample.y)
    >>> found.fold_errors.shape, found.lower < found.estimate < found.upper
    ((10, 5), True)
    >>> found.refit().n_features_in_
    10
    >>> both = nested_cv({"ridge": Ridge(), "ols": LeastSquares()}, sample.X, sample.y)
    >>> gap = both.difference("ridge", "ols")
    >>> gap.lower < gap.difference < gap.upper
    True
    """
    check_rule(select)
    several = isinstance(estimator, Mapping)
    estimators: dict[str, Any] = dict(estimator) if several else {"": estimator}
    tasks = {task_of(each) for each in estimators.values()}
    if len(tasks) != 1:
        raise InputError("Give estimators of one task: all classifiers, or all regressors.")
    X, rows = read_judged(X, y, tasks.pop(), weight=sample_weight, groups=groups, time=time)
    row_losses = RowLosses(loss, rows.task, rows.classes)
    how: Any = {"select": select, "inner": inner, "values": values, "loss": row_losses.loss}
    procedures: dict[str, Procedure] = {}
    for name, each in estimators.items():
        try:
            procedures[name] = procedure_for(each, X, rows, **how)
        except BottegaError as error:  # the others can be judged all the same
            if not several:
                raise
            procedures[name] = _Refused(error)
    if n_repeats is None and isinstance(outer, Integral) and rows.time is None:
        n_repeats = int(np.clip(1000 // len(rows), 1, 10))
    found = run_procedures(
        procedures, rows, loss=loss, select=select, outer=outer, interval=interval,
        n_repeats=n_repeats, delta=delta, random_state=random_state, raise_errors=not several,
        X=inputs_of_rows(X),
    )  # fmt: skip
    return found if several else found[""]


@dataclass(frozen=True)
class _Refused:
    """A procedure that these rows do not allow, among others that they do."""

    error: BottegaError

    def fit(self, part: Part) -> FittedProcedure:
        raise self.error


def run_procedures(
    procedures: Mapping[str, Procedure],
    rows: JudgedRows,
    *,
    loss: Any = None,
    select: str | None = None,
    outer: Any = 5,
    interval: str = "auto",
    n_repeats: int | None = None,
    delta: float = 0.05,
    random_state: Any = 0,
    final: bool = False,
    probabilities: bool = False,
    keep_models: bool = False,
    raise_errors: bool = False,
    n_jobs: int | None = None,
    stage: str = "outer folds",
    X: Any = None,
    control: Control | None = None,
) -> NestedComparison:
    """Judge procedures by cross-validation over the same outer folds.

    `nested_cv` calls it for estimators; procedures of any kind can be given here. The folds respect
    classes, groups and time of the rows. After Ctrl-C the procedures whose folds are done are
    returned; those that lack fits without two folds get Nadeau and Bengio's interval.

    `loss`, `outer`, `interval`, `n_repeats` (1 by default), `delta` and `random_state` are those of
    `nested_cv`; `select` is for the record. With `final` each procedure is run on all rows too;
    with `probabilities` and `keep_models` those of each fold are kept. `raise_errors` raises what a
    procedure raises, instead of going on with the others. `stage` is what the work is called where
    its progress is shown, and `X` is for an `outer` splitter that looks at it. `control` sets the
    order and the end of the work; where it allows it, procedures that lack some folds are returned
    too.
    """
    if interval not in nested_interval.INTERVALS:
        raise ParameterError(
            f"interval={interval!r} is not allowed; use one of "
            f"{', '.join(nested_interval.INTERVALS)}."
        )
    Real(0, 1, open_low=True, open_high=True).check("nested_cv", "delta", delta)
    seed = seed_of(random_state, "nested_cv")
    row_losses = RowLosses(loss, rows.task, rows.classes)
    row_losses.check(rows)
    partitions = _partitions(outer, rows, X, n_repeats, seed)
    interval = _which_interval(interval, partitions, rows)
    sizes = [
        np.array([[rows.n_units(pair[i]) for pair in folds] for folds in partitions])
        for i in (0, 1)
    ]
    parts = [part for r, folds in enumerate(partitions) for part in parts_of(r, folds, pairs=False)]
    everything = Part((0, ()), np.arange(len(rows)), ())
    if final:
        parts.append(everything)
    if interval == "nested":
        for r, folds in enumerate(partitions):
            parts += parts_of(r, folds, pairs=True)
    judge = Judge(rows, row_losses, probabilities, keep_models)
    control = Control() if control is None else control
    runs = run_parts(
        procedures,
        parts,
        judge,
        raise_errors=raise_errors,
        n_jobs=n_jobs,
        stage=stage,
        control=control,
    )
    needed = [part.key for part in parts if len(part.tests) < 2]
    alone = [key for key in needed if key[1]]
    few = control.least_folds
    results = {}
    for name, answers in runs.answers.items():
        lacking = [key for key in needed if key not in answers]
        if lacking and (few is None or sum(key in answers for key in alone) < few):
            continue
        try:
            results[name] = put_together(
                answers,
                partitions,
                rows,
                row_losses,
                n_train=sizes[0],
                interval=interval,
                delta=delta,
                select=select,
                fit_all=partial(_model_of, procedures[name], everything),
            )
        except Exception as error:  # the others can be judged all the same
            if raise_errors:
                raise
            runs.failures[name] = f"failed with {type(error).__name__}: {error}"
    if not results:
        if not runs.complete:  # stopped before any procedure was done: there is nothing to show
            raise KeyboardInterrupt
        reasons = "; ".join(f"{name}: {reason}" for name, reason in runs.failures.items())
        raise BottegaError(
            f"No procedure could be judged. {reasons or 'None had the time for enough folds.'}"
        )
    return NestedComparison(results, runs.failures, runs.complete, *sizes)


def _model_of(procedure: Procedure, part: Part) -> Any:
    return procedure.fit(part).model


def _partitions(
    outer: Any, rows: JudgedRows, X: Any, n_repeats: int | None, seed: int
) -> list[list[Fold]]:
    """Return the outer folds of each repetition."""
    given = {"strata": rows.codes, "groups": rows.groups, "time": rows.time, "X": X, "y": rows.y}
    n = len(rows)
    if isinstance(outer, Integral) and rows.time is None:
        n_repeats = 1 if n_repeats is None else n_repeats
        Integer(1).check("nested_cv", "n_repeats", n_repeats)
        seeds = np.random.SeedSequence(seed).generate_state(n_repeats).tolist()
        partitions = [make_folds(outer, n, random_state=each, **given) for each in seeds]
    else:
        if n_repeats not in (None, 1):
            raise ParameterError(
                f"n_repeats={n_repeats!r} has no meaning with folds that are given or follow time; "
                "give the number of folds, or leave n_repeats out."
            )
        partitions = [make_folds(outer, n, **given)]
    for folds in partitions:
        if len(folds) < 2:
            raise InputError("An interval needs at least 2 outer folds.")
        rows.fold_of(folds)  # refuses rows that are tested twice
    return partitions


def _which_interval(interval: str, partitions: list[list[Fold]], rows: JudgedRows) -> str:
    """Return the interval to make, or refuse one that the folds do not allow."""
    if interval in ("nadeau_bengio", "naive"):
        return interval
    try:
        if not all(is_partition(folds, len(rows)) for folds in partitions):
            raise InputError(
                "The nested interval leaves out two folds of a partition at once, and these folds "
                "are none (each row tested once and trained on otherwise): give "
                "interval='nadeau_bengio'."
            )
        nested_interval.check_folds(
            [[len(rows.unit_weights(test)) for _, test in folds] for folds in partitions]
        )
    except InputError:
        if interval == "nested":
            raise
        return "nadeau_bengio"
    return "nested" if interval == "nested" or len(rows) <= AFFORDABLE_ROWS else "nadeau_bengio"
