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

from bottega.core.typing import FloatArray, IntArray

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


def vote_weight(error: float, n_classes: int, rate: float) -> float:
    """Return the weight of the vote of a learner with this weighted error."""
    return float(rate * (np.log((1 - error) / error) + np.log(n_classes - 1)))


def boost(
    learn: Callable[[FloatArray], tuple[Any, IntArray]],
    codes: IntArray,
    weight: FloatArray | None,
    n_classes: int,
    rounds: int,
    rate: float = 1.0,
) -> Boost:
    """Run the rounds; `learn` returns a learner for the weights and what it predicts."""
    # Ones rather than 1/n: sums of weights are then exact in the first round.
    w = np.ones(len(codes)) if weight is None else weight.copy()
    total = w.sum()
    learners: list[Any] = []
    alphas: list[float] = []
    errors: list[float] = []
    stopped = ROUNDS
    for _ in range(rounds):
        learner, predicted = learn(w)
        wrong = predicted != codes
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
            alpha = vote_weight(error, n_classes, rate)
        learners.append(learner)
        alphas.append(alpha)
        errors.append(error)
        if stopped != ROUNDS:
            break
        w[wrong] *= np.exp(alpha)
        w *= total / w.sum()  # the size of the weights has no meaning; it must not overflow
    return Boost(learners, np.array(alphas), np.array(errors), stopped)


def staged_votes(learners: Any, alphas: FloatArray, X: Any, n_classes: int) -> Iterator[FloatArray]:
    """Yield the votes of the first 1, 2, ... learners for each class: (rows, K), one array."""
    n = int(X.shape[0])
    votes = np.zeros((n, n_classes))
    rows = np.arange(n)
    for b, alpha in enumerate(alphas):
        votes[rows, learners.labels(X, b)] += alpha
        yield votes
