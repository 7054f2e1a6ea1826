r"""The sequence of updates of a kernel perceptron.

Symbols
-------
V       vectors: one for two classes, one per class for more
row     training row of each update, in their order
C       change of each update: the sign of its class, or +1 and -1 for two of the vectors
time    rows that were seen before the update
T       rows that were seen in all
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.loaded import insist, insist_on_length
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.kernel._kernels.perceptron import learn_many, learn_two

__all__ = ["Updates", "learn_pass"]

_BLOCK = 512  # rows that are learned before the scores of others are brought up to date
_NUMBERS = 2**22  # in a table of scores after each update


@stored
@dataclass(frozen=True)
class Updates:
    """Updates, one entry each; `used` are the training rows that caused them, without repeats."""

    used: IntArray
    place: IntArray  # of each update's row in `used`
    change: FloatArray  # (M, V)
    time: IntArray
    total: int

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        insist_on_length(self, len(self.place), "change", "time")
        inside = (self.place >= 0) & (self.place < len(self.used))
        insist(inside, "an update at a row that is not there")

    @property
    def last(self) -> FloatArray:
        """Coefficients of the last vectors, (used rows, V)."""
        return self._summed(self.change)

    @property
    def mean(self) -> FloatArray:
        """Coefficients of the mean of the vectors over time."""
        return self._summed(self.change * ((self.total - self.time) / self.total)[:, None])

    def _summed(self, change: FloatArray) -> FloatArray:
        found = np.zeros((len(self.used), change.shape[1]))
        np.add.at(found, self.place, change)
        return found

    def votes(self, K: FloatArray) -> FloatArray:
        """Return the votes for each class of rows with kernels K with the used rows.

        After each update the vectors decide each row, with the weight of the rows they lasted.
        """
        lasted = np.diff(np.append(self.time, self.total)).astype(np.float64)
        vectors = self.change.shape[1]
        found = np.zeros((len(K), max(2, vectors)))
        step = max(1, _NUMBERS // max(1, self.change.size))
        for start in range(0, len(K), step):
            part = K[start : start + step, self.place]
            scores = np.cumsum(part[:, :, None] * self.change, axis=1)
            if vectors == 1:
                second = (scores[:, :, 0] >= 0) @ lasted
                found[start : start + step] = np.column_stack([self.total - second, second])
            else:
                winners = np.argmax(scores, axis=2)
                for k in range(vectors):
                    found[start : start + step, k] = (winners == k) @ lasted
        return found


def learn_pass(
    between: Callable[[Any, Any], FloatArray], y: Array, order: IntArray, A: FloatArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """Go through the rows once, changing the coefficients A (n, V) of all rows.

    ``between(rows, others)`` are kernels of training rows, by their numbers; y are signs, or the
    codes of several classes. Returns the row, the change and the place in the order of each update.
    """
    rows, changes, places = [], [], []
    several = A.shape[1] > 1
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        K = between(block, block)
        used = np.flatnonzero(np.any(A != 0, axis=1))
        F = between(block, used) @ A[used] if len(used) else np.zeros((len(block), A.shape[1]))
        updated = np.empty(len(block), dtype=np.int64)
        if several:
            rivals = np.empty(len(block), dtype=np.int64)
            count = learn_many(K, F, y[block], updated, rivals)
        else:
            count = learn_two(K, F, y[block], updated)
        at = updated[:count]
        change = np.zeros((count, A.shape[1]))
        if several:
            steps = np.arange(count)
            change[steps, y[block[at]]] = 1.0
            change[steps, rivals[:count]] = -1.0
        else:
            change[:, 0] = y[block[at]]
        A[block[at]] += change  # no row is updated twice in a pass
        rows.append(block[at])
        changes.append(change)
        places.append(start + at)
    return np.concatenate(rows), np.concatenate(changes), np.concatenate(places)
