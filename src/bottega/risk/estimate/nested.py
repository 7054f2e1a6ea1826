"""Nested cross-validation: the error of a whole procedure, its tuning included."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Integer, Real
from bottega.core.path import RULES
from bottega.core.typing import Array, FloatArray
from bottega.risk.estimate import nested_interval
from bottega.risk.estimate.held_out import (
    Fold,
    RowLosses,
    check_rows,
    fold_of_rows,
    is_partition,
    make_folds,
    rows_of,
    run_fits,
    task_of,
)
from bottega.risk.estimate.inner_choice import Chosen, choose, is_chosen_here
from bottega.risk.estimate.nested_result import NestedCV

__all__ = ["nested_cv"]


def nested_cv(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    rule: str = "one_se",
    outer: Any = 5,
    inner: Any = 10,
    values: Any = None,
    interval: str = "nested",
    repeats: int | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> NestedCV:
    r"""Estimate the risk of a procedure that tunes itself, with an interval.

    In each outer fold the knob is chosen by inner cross-validation on the fold's training rows
    alone, :math:`\theta_i = \arg\min_\theta \ell^{cv}_{S_{-i}}(A_\theta)`, or by another rule;
    the error of :math:`A_{\theta_i}(S_{-i})` on the fold is averaged over the folds (A51).

    Parameters
    ----------
    estimator : estimator
        One of bottega's with its knob at ``"auto"``; one without a knob, or with it fixed (then
        nothing is chosen); or any of scikit-learn's, a pipeline or a `GridSearchCV` included,
        which does its own choosing.
    X : array-like or data frame of shape (n, p)
        Inputs.
    y : array-like of shape (n,)
        Responses.
    rule : {"one_se", "min", "aic", ...}
        Rule of the inner choice, see `Path.best`.
    outer : int, splitter or list of (train, test)
        Outer folds: their number, or the folds themselves (for groups, or for time).
    inner : int, splitter or None
        Inner folds; None lets the path be judged by the method's own estimate, which for many is
        exact leave-one-out and cheaper.
    values : array-like, optional
        Values of the knob; the method's own grid, anew in each fold, by default.
    interval : {"nested", "nadeau_bengio", "naive"}
        How the interval is made; see the notes.
    repeats : int, optional
        Random partitions into outer folds. By default 1,000 / n, at least one and at most ten:
        with few rows one partition says little about the variance. Folds that are given stand
        for one.
    delta : float
        Probability with which the interval may miss the risk.
    seed : int
        Seed of the partitions.

    Returns
    -------
    NestedCV
        Errors and choices by fold, interval, optimism, and `refit` to fit to all rows.

    Notes
    -----
    The losses of different folds are not independent, since their models share training rows;
    the naive interval, which takes them so, is too narrow. ``"nested"`` is the interval of
    Bates, Hastie and Tibshirani [1]_: models fitted without two folds at a time measure the mean
    square error of cross-validation itself. With K outer folds it costs K + K (K - 1) / 2 runs of
    the procedure for each repetition; the other two cost K. It needs a partition, so folds that
    follow time cannot have it. ``"nadeau_bengio"`` widens the variance of the fold means by
    :math:`1/K + n_{test}/n_{train}` [2]_, a rule of thumb that is usually wider.

    Least squares on noise with 60 or 100 rows and 5 or 20 inputs, 5 folds, delta = 0.05: in 3,000
    samples the naive interval missed in 9 to 24 %, the nested one of a single partition in 6 to
    7 %, of two in 4 to 6 %; Nadeau and Bengio's in 3 to 6 % (``python -m benchmarks.coverage``).

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
    >>> from bottega.linear import Ridge
    >>> sample = make.sparse_linear(100, features=10)
    >>> found = nested_cv(Ridge(), sample.X, sample.y)
    >>> found.fold_errors.shape, found.lower < found.estimate < found.upper
    ((10, 5), True)
    >>> found.refit().n_features_in_
    10
    """
    X, y = check_rows(X, y)
    _check(rule, interval, delta, seed)
    is_chosen_here(estimator, values)  # refuses values that nothing could be done with
    task = task_of(estimator)
    partitions = _partitions(outer, X, y, task == "classification", interval, repeats, seed)
    procedure = _Procedure(estimator, X, y, rule, inner, values)
    pairs = []
    if interval == "nested":
        nested_interval.check_folds([[len(test) for _, test in folds] for folds in partitions])
        pairs = nested_interval.pairs_of(len(partitions[0]))
    tasks = [
        (folds, left_out)
        for folds in partitions
        for left_out in [*((i,) for i in range(len(folds))), *pairs]
    ]
    answers = iter(run_fits(procedure.without, tasks, estimator, "outer folds"))
    row_losses = RowLosses(None, task)
    every = [_one_partition(folds, pairs, answers, y, row_losses) for folds in partitions]
    losses, inside = [each.losses for each in every], [each.inside for each in every]
    sizes = np.array([[(len(train), len(test)) for train, test in folds] for folds in partitions])
    if interval == "nested":
        limits = nested_interval.nested(losses, inside, delta)
    elif interval == "nadeau_bengio":
        limits = nested_interval.nadeau_bengio(losses, sizes[:, :, 0].tolist(), delta)
    else:
        limits = nested_interval.naive(losses, delta)
    # Neither loss is negative, and misclassification is at most 1.
    estimate, lower, upper = np.clip(
        [limits.estimate, limits.lower, limits.upper],
        0.0,
        1.0 if task == "classification" else np.inf,
    ).tolist()
    return NestedCV(
        fold_errors=np.array([[rows.mean() for rows in folds] for folds in losses]),
        values=[chosen.value for each in every for chosen in each.chosen],
        inner_least=np.array([[chosen.least for chosen in each.chosen] for each in every]),
        n_train=sizes[:, :, 0],
        n_test=sizes[:, :, 1],
        losses=_by_row([each.losses for each in every], partitions, len(y), np.nan),
        predictions=_by_row([each.said for each in every], partitions, len(y), 0),
        estimate=estimate,
        std_error=limits.std_error,
        lower=lower,
        upper=upper,
        inflation=limits.inflation,
        delta=delta,
        interval=interval,
        rule=rule,
        loss=row_losses.name,
        fit_all=procedure.on_all_rows,
    )


@dataclass(frozen=True)
class _Procedure:
    """An estimator with its data and the way its knob is chosen."""

    estimator: Any
    X: Any
    y: Array
    rule: str
    inner: Any
    values: Any

    def on_all_rows(self) -> Any:
        """Return the model that the procedure makes of all rows."""
        return self._fit(self.X, self.y).model

    def without(self, task: tuple[list[Fold], tuple[int, ...]]) -> tuple[Chosen, list[Array]]:
        """Fit without one fold or two, and predict what was left out."""
        folds, left_out = task
        train = folds[left_out[0]][0]
        for other in left_out[1:]:
            train = np.intersect1d(train, folds[other][0], assume_unique=True)
        found = self._fit(rows_of(self.X, train), self.y[train])
        said = [np.asarray(found.model.predict(rows_of(self.X, folds[i][1]))) for i in left_out]
        return Chosen(None, found.value, found.least), said  # the models are not kept

    def _fit(self, X: Any, y: Array) -> Chosen:
        return choose(self.estimator, X, y, rule=self.rule, inner=self.inner, values=self.values)


@dataclass(frozen=True)
class _Partition:
    """What the models of one partition chose and predicted.

    `inside` has the losses of fold j, by the model without folds k and j, under ``(k, j)``.
    """

    chosen: list[Chosen]
    said: list[Array]
    losses: list[FloatArray]
    inside: dict[tuple[int, int], FloatArray]


def _one_partition(
    folds: list[Fold],
    pairs: list[tuple[int, int]],
    answers: Iterator[tuple[Chosen, list[Array]]],
    y: Array,
    row_losses: RowLosses,
) -> _Partition:
    """Take the answers of one partition: those of its folds, then those of its pairs."""
    alone = [next(answers) for _ in folds]
    said = [predicted[0] for _, predicted in alone]
    losses = [row_losses(y[test], each) for (_, test), each in zip(folds, said, strict=True)]
    inside = {}
    for i, j in pairs:
        of_i, of_j = next(answers)[1]
        inside[j, i] = row_losses(y[folds[i][1]], of_i)
        inside[i, j] = row_losses(y[folds[j][1]], of_j)
    return _Partition([chosen for chosen, _ in alone], said, losses, inside)


def _by_row(parts: list[list[Array]], partitions: list[list[Fold]], n: int, nothing: Any) -> Array:
    """Put what is known fold by fold in the order of the rows, one line a partition."""
    dtype = np.result_type(*[each for folds in parts for each in folds])
    found = np.full((len(parts), n), nothing, dtype=dtype)
    for line, each, folds in zip(found, parts, partitions, strict=True):
        for (_, test), values in zip(folds, each, strict=True):
            line[test] = values
    return found


def _check(rule: str, interval: str, delta: float, seed: int) -> None:
    if rule not in (*RULES, "srm"):
        raise ParameterError(f"rule={rule!r} is not allowed; use one of {', '.join(RULES)}.")
    if interval not in nested_interval.INTERVALS:
        raise ParameterError(
            f"interval={interval!r} is not allowed; use one of "
            f"{', '.join(nested_interval.INTERVALS)}."
        )
    Real(0, 1, open_low=True, open_high=True).check("nested_cv", "delta", delta)
    Integer(0).check("nested_cv", "seed", seed)


def _partitions(
    outer: Any,
    X: Any,
    y: Array,
    classifier: bool,
    interval: str,
    repeats: int | None,
    seed: int,
) -> list[list[Fold]]:
    """Return the outer folds of each repetition."""
    n = len(y)
    if isinstance(outer, Integral):
        if repeats is None:
            repeats = int(np.clip(1000 // n, 1, 10))
        Integer(1).check("nested_cv", "repeats", repeats)
        seeds = np.random.SeedSequence(seed).generate_state(repeats).tolist()
        return [make_folds(outer, X, y, classifier=classifier, seed=each) for each in seeds]
    folds = make_folds(outer, X, y, classifier=classifier)
    if repeats not in (None, 1):
        raise ParameterError(
            f"repeats={repeats!r} has no meaning with folds that are given; give their number, "
            "or leave repeats out."
        )
    if len(folds) < 2:
        raise InputError("An interval needs at least 2 outer folds.")
    fold_of_rows(folds, n)  # refuses rows that are tested twice
    if interval == "nested" and not is_partition(folds, n):
        raise InputError(
            "The nested interval leaves out two folds of a partition at once, and these folds are "
            "none (each row tested once and trained on otherwise): give "
            "interval='nadeau_bengio'."
        )
    return [folds]
