r"""The rounds of AdaBoost, whatever the weak learner.

Symbols (Algorithm 5 of the notes; K classes, codes 0, 1, ...)

w       weight of each row; the first ones are given
e_b     sum of w over the rows that learner b gets wrong / sum of w
alpha_b rate * (log((1 - e_b) / e_b) + log(K - 1)), the weight of its vote
w <- w exp(alpha_b [wrong])

With K = 2 this is AdaBoost, with more SAMME. A learner is of use while e_b < 1 - 1/K.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning, InputError, warn_caller
from bottega.core.judge import mean_and_se
from bottega.core.losses import Loss
from bottega.core.parallel import in_threads
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._resampling.draws import draw_rows

ROUNDS, PERFECT, CHANCE = "rounds", "perfect", "chance"


@dataclass(frozen=True)
class Boost:
    """What the rounds gave: learners (a list), the weights of their votes, their errors, the end.

    `stopped` is ``"rounds"`` (all were done), ``"perfect"`` (a learner without error, which is
    the last and outvotes all others) or ``"chance"`` (a learner no better than guessing, which is
    left out, unless it is the first: it then has no vote).
    """

    learners: list[Any]
    alphas: FloatArray
    errors: FloatArray
    stopped: str

    def __len__(self) -> int:
        return len(self.alphas)

    def first(self, rounds: int) -> "Boost":
        """Return what the first rounds gave."""
        if rounds >= len(self):
            return self
        return Boost(self.learners[:rounds], self.alphas[:rounds], self.errors[:rounds], ROUNDS)


def boost(
    learn: Callable[[FloatArray], tuple[Any, IntArray]],
    rows: Rows,
    n_classes: int,
    rounds: int,
    rate: float,
) -> Boost:
    """Run the rounds; `learn` returns a learner for the weights and what it predicts."""
    # Ones rather than 1/n: sums of weights are then exact in the first round.
    w = rows.weights.copy()
    total = w.sum()
    learners: list[Any] = []
    alphas: list[float] = []
    errors: list[float] = []
    stopped = ROUNDS
    for _ in range(rounds):
        learner, predicted = learn(w)
        wrong = predicted != rows.y
        error = float(w[wrong].sum() / w.sum())
        if error == 0:
            stopped = PERFECT
            alpha = 1 + sum(alphas)  # more than all others together
        elif error >= 1 - 1 / n_classes - 1e-12:  # rounding must not hide an error of one half
            stopped = CHANCE
            alpha = 0.0
            if learners:
                break
        else:
            alpha = float(rate * (np.log((1 - error) / error) + np.log(n_classes - 1)))
        learners.append(learner)
        alphas.append(alpha)
        errors.append(error)
        if stopped != ROUNDS:
            break
        with np.errstate(over="ignore", invalid="ignore"):  # 0 times infinity, too
            w[wrong] *= np.exp(alpha)
            overflow = not np.isfinite(w.sum())
        if overflow:
            warn_caller(
                f"Sample weights have reached infinite values in round {len(alphas)}, and the "
                "rounds end; lower the learning rate.",
                ConvergenceWarning,
            )
            break
        w *= total / w.sum()  # the size of the weights has no meaning; it must not overflow
    return Boost(learners, np.array(alphas, dtype=np.float64), np.array(errors), stopped)


def staged_votes(learners: Any, alphas: FloatArray, X: Any, n_classes: int) -> Iterator[FloatArray]:
    """Yield the votes of the first 1, 2, ... learners for each class: (rows, K), one array."""
    n = int(X.shape[0])
    votes = np.zeros((n, n_classes))
    rows = np.arange(n)
    for b, alpha in enumerate(alphas):
        votes[rows, learners.labels(X, b)] += alpha
        yield votes


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
        sample, held = rows.take(drawn), rows.take(left_out)
        predicted = predict(Rows(sample.X, sample.y, counts[drawn].astype(np.float64)), held.X)
        return loss.of_rows(held.y, predicted), left_out

    total: Any = 0.0
    times = np.zeros(n)
    for losses, left_out in in_threads(judge, seeds, stage="samples"):
        if len(left_out):
            spread = np.zeros((n, losses.shape[1]))
            spread[left_out] = losses
            total, times[left_out] = total + spread, times[left_out] + 1
    judged = np.flatnonzero(times)
    if not len(judged):
        raise InputError(
            f"Choosing the rounds takes rows to judge by, and samples of {n} rows leave none out "
            f"(n_samples = {n}). Give n_estimators, or more rows."
        )
    # A row left out by several samples is one row: its losses are averaged first.
    mean_loss = total[judged] / times[judged, None]
    return mean_and_se(mean_loss, None if rows.weight is None else rows.weight[judged])
