"""From the answers of a procedure on its parts to what they say together."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.folds import Fold, fold_of_rows
from bottega.core.typing import Array, FloatArray
from bottega.risk.estimate import nested_interval
from bottega.risk.estimate.judged_rows import JudgedRows, RowLosses
from bottega.risk.estimate.nested_engine import Answer
from bottega.risk.estimate.nested_result import NestedCV


def put_together(
    answers: dict[Any, Answer],
    partitions: list[list[Fold]],
    rows: JudgedRows,
    row_losses: RowLosses,
    *,
    n_train: FloatArray,
    interval: str,
    delta: float,
    select: str | None,
    fit_all: Callable[[], Any],
) -> NestedCV:
    """Return what the answers of one procedure say together.

    Of one partition some folds may be missing: those that are there are what is judged.
    """
    n, k = len(rows), len(partitions[0])
    done = tuple(i for i in range(k) if (0, (i,)) in answers)
    if len(done) < k:
        partitions = [[partitions[0][i] for i in done]]
        n_train, interval = n_train[:, done], "nadeau_bengio"
    tests = [[test for _, test in folds] for folds in partitions]
    alone = [[answers[r, (i,)] for i in done] for r in range(len(partitions))]
    flat = [answer for line in alone for answer in line]
    units = [
        [rows.units(test, answer.losses[0]) for test, answer in zip(*each, strict=True)]
        for each in zip(tests, alone, strict=True)
    ]
    losses = [[of_fold for of_fold, _ in line] for line in units]
    weights = [[weight for _, weight in line] for line in units]
    pairs = nested_interval.pairs_of(k)
    if not all((r, pair) in answers for r in range(len(tests)) for pair in pairs):
        interval = "nadeau_bengio" if interval == "nested" else interval  # interrupted
    if interval == "nested":
        inside: list[dict[tuple[int, int], Any]] = []
        for r, folds in enumerate(tests):
            inside.append({})
            for i, j in pairs:
                of_i, of_j = answers[r, (i, j)].losses
                inside[r][j, i] = rows.units(folds[i], of_i)[0]
                inside[r][i, j] = rows.units(folds[j], of_j)[0]
        limits = nested_interval.nested(losses, inside, delta, weights)
    elif interval == "nadeau_bengio":
        limits = nested_interval.nadeau_bengio(losses, n_train, delta, weights)
    else:
        limits = nested_interval.naive(losses, delta, weights)
    means = [nested_interval.fold_means(*each) for each in zip(losses, weights, strict=True)]
    every = np.concatenate([part for line in losses for part in line])
    largest = row_losses.loss.largest
    if largest is not None and np.ptp(every) == 0:
        size = nested_interval.effective_size(np.concatenate(weights[0]))
        ends = nested_interval.limits_of_equal(float(every[0]), 0.0, largest, size, delta)
        limits = nested_interval.ErrorInterval(float(every[0]), np.nan, *ends, 1.0)
    negative = any(part.min() < 0 for line in losses for part in line)
    estimate, lower, upper = np.clip(
        [limits.estimate, limits.lower, limits.upper],
        -np.inf if negative else 0.0,
        1.0 if row_losses.loss.bounded else np.inf,
    ).tolist()
    sizes = np.array([[(len(train), len(test)) for train, test in folds] for folds in partitions])
    shape = sizes.shape[:2]
    numbers = np.append(done, -1)  # of the folds; -1 for rows that were never tested
    probabilities = None
    if all(answer.probabilities is not None for answer in flat):
        probabilities = _by_row([each.probabilities for each in flat], tests, n, np.nan)
    return NestedCV(
        fold_errors=np.array([mean for mean, _, _ in means]),
        shares=np.array([share for _, share, _ in means]),
        settings=[answer.setting for answer in flat],
        inner_least=np.array([answer.least for answer in flat]).reshape(shape),
        n_train=sizes[:, :, 0],
        n_test=sizes[:, :, 1],
        seconds=np.array([answer.seconds for answer in flat]).reshape(shape),
        fold=np.array([numbers[fold_of_rows(folds, n)] for folds in partitions]),
        folds=done,
        losses=_by_row([answer.losses[0] for answer in flat], tests, n, np.nan),
        predictions=_by_row([answer.predicted for answer in flat], tests, n, 0),
        probabilities=probabilities,
        estimate=estimate,
        std_error=limits.std_error,
        lower=lower,
        upper=upper,
        inflation=limits.inflation,
        delta=delta,
        interval=interval,
        select=select,
        loss=row_losses.title,
        rows=rows,
        models=[answer.model for answer in flat if answer.model is not None],
        final=answers.get((0, ())),
        fit_all=fit_all,
        largest=largest,
    )


def _by_row(parts: list[Any], tests: list[list[Array]], n: int, nothing: Any) -> Array:
    """Put what is known fold by fold in the order of the rows, one line per partition."""
    found = np.full((len(tests), n, *parts[0].shape[1:]), nothing, dtype=np.result_type(*parts))
    places = [(r, test) for r, folds in enumerate(tests) for test in folds]
    for (r, test), values in zip(places, parts, strict=True):
        found[r, test] = values
    return found
