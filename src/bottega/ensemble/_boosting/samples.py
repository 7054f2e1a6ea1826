"""The error along the rounds on the rows that bootstrap samples leave out."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.judge import LossSums
from bottega.core.losses import Loss
from bottega.core.parallel import in_threads
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._resampling.draws import draw_rows


def judge_by_samples(
    rows: Rows, seeds: list[int], loss: Loss, predict: Callable[[Rows, Any], Array]
) -> tuple[FloatArray, FloatArray]:
    """Return the mean loss of each setting on the left-out rows, and its standard error.

    ``predict(drawn_rows, X)`` gives the predictions of all settings: (rows, settings, ...).
    """
    n = len(rows)

    def judge(seed: int) -> tuple[FloatArray, IntArray]:
        counts = draw_rows(n, n, seed, weight=rows.weight)
        drawn, left_out = np.flatnonzero(counts), np.flatnonzero(counts == 0)
        if not len(left_out):
            return np.zeros((0, 1)), left_out
        sample = rows.take(drawn)
        held = rows.take(left_out)
        predicted = predict(Rows(sample.X, sample.y, counts[drawn].astype(np.float64)), held.X)
        return loss.of_rows(held.y, predicted), left_out

    sums = LossSums()
    for losses, left_out in in_threads(judge, seeds, stage="samples"):
        if len(left_out):
            sums.update(losses, None if rows.weight is None else rows.weight[left_out])
    if not sums.count:
        raise InputError(
            f"Choosing the rounds takes rows to judge by, and samples of {n} rows leave none out "
            f"(n_samples = {n}). Give n_rounds, or more rows."
        )
    return sums.mean_and_se()


def check_rounds(values: Any) -> IntArray:
    """Return the numbers of rounds for a path, ascending."""
    rounds = np.unique(np.asarray(values))
    if not len(rounds) or rounds.dtype.kind not in "iu" or rounds[0] < 1:
        raise InputError(f"values={values!r} is not allowed; rounds are whole numbers from 1 up.")
    return rounds.astype(np.intp)
