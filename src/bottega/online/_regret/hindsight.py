"""What is kept of a stream, and the best fixed predictor in hindsight that is found from it.

Squared error needs a triangle of numbers, however long the stream. Other losses need the rows:
all of them as long as they are few, then a uniform sample of fixed size.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import take_rows
from bottega.core.losses import HINGE, SQUARED_ERROR
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.online._regret.setting import RegretSetting
from bottega.online._stream.blocks import dense_rows
from bottega.online.regret.comparator import Comparator
from bottega.online.regret.mistake_bound import MistakeBound, best_mistake_bound, mistake_bound
from bottega.optimize.constrained import least_loss_in, least_squares_in


class SquareSums:
    """The triangle R of ``[X, y] = Q R``: all that squared error needs of the rows.

    R holds the same as X'X, X'y and y'y, with twice the digits. Rows are gathered and turned in
    together at fixed places of the stream, so the numbers do not depend on how it was cut.
    """

    def __init__(self, width: int) -> None:
        self.rows = 0
        self._triangle: FloatArray = np.zeros((0, width + 1))
        self._gathered: FloatArray = np.empty((max(256, 4 * width), width + 1))
        self._filled = 0

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Take in dense rows."""
        done = 0
        while done < len(X):
            part = slice(done, done + len(self._gathered) - self._filled)
            stop = self._filled + len(X[part])
            self._gathered[self._filled : stop, :-1] = X[part]
            self._gathered[self._filled : stop, -1] = y[part]
            done, self._filled = done + stop - self._filled, stop
            if self._filled == len(self._gathered):
                self._triangle, self._filled = self.triangle, 0
        self.rows += len(X)

    @property
    def triangle(self) -> FloatArray:
        """R, of at most d + 1 rows."""
        rows = np.vstack([self._triangle, self._gathered[: self._filled]])
        return np.asarray(np.linalg.qr(rows, mode="r"))


class KeptRows:
    """The first rows of a stream up to a number, afterwards a uniform sample of that many.

    Row t replaces a kept one at random with probability size / t (reservoir sampling). Which rows
    are kept depends on the seed and their places alone, not on how the stream was cut.
    """

    def __init__(self, size: int, width: int, targets: int, seed: int) -> None:
        self.rows = 0
        self.size = size
        self._X: FloatArray = np.empty((min(size, 256), width))
        self._targets: FloatArray = np.empty((min(size, 256), targets + 1))  # and the charged loss
        self._random = np.random.default_rng(seed)

    def places(self, count: int) -> tuple[IntArray, IntArray]:
        """Return which of the next rows are kept, and where."""
        first = max(0, min(count, self.size - self.rows))
        ordinal = np.arange(self.rows + first, self.rows + count)
        drawn = (self._random.random(len(ordinal)) * (ordinal + 1)).astype(np.intp)
        taken = np.flatnonzero(drawn < self.size)
        which = np.concatenate([np.arange(first), first + taken])
        where = np.concatenate([self.rows + np.arange(first), drawn[taken]])
        return which, where

    def put(
        self, where: IntArray, X: FloatArray, targets: Array, charged: FloatArray, count: int
    ) -> None:
        """Keep rows and what was charged at their places; `count` rows have gone by."""
        needed = int(where.max(initial=-1)) + 1
        if needed > len(self._X):
            self._grow(min(self.size, max(needed, 2 * len(self._X))))
        self._X[where] = X  # of two rows for one place the later one stays
        self._targets[where] = np.column_stack([targets, charged])
        self.rows += count

    def _grow(self, size: int) -> None:
        for name in ("_X", "_targets"):
            old = getattr(self, name)
            new = np.empty((size, old.shape[1]))
            new[: len(old)] = old
            setattr(self, name, new)

    @property
    def kept(self) -> int:
        """How many rows are kept."""
        return min(self.rows, self.size)

    @property
    def times(self) -> float:
        """How many rows of the stream each kept row stands for."""
        return self.rows / self.kept

    @property
    def X(self) -> FloatArray:  # noqa: N802 - the name every method knows
        """The kept rows."""
        return self._X[: self.kept]

    @property
    def targets(self) -> FloatArray:
        """Their truths, one column per target."""
        return self._targets[: self.kept, :-1]

    @property
    def charged(self) -> FloatArray:
        """What the learner was charged for them."""
        return self._targets[: self.kept, -1]

    def standard_error(self, losses: FloatArray) -> float:
        """Return the standard error of the stream's summed loss, from the losses of kept rows."""
        if self.kept == self.rows or self.kept < 2:
            return 0.0
        # A sample without replacement: what was not drawn is all that is unknown.
        spread = float(np.std(losses, ddof=1)) / np.sqrt(self.kept)
        return self.rows * spread * float(np.sqrt(1 - self.kept / self.rows))


class Hindsight:
    """What a tracker keeps of the stream, and what is computed from it."""

    def __init__(self, learner: Any, setting: RegretSetting, max_rows: int, seed: int) -> None:
        self.learner, self.setting = learner, setting
        self.max_rows, self.seed = max_rows, seed
        self.memory: SquareSums | KeptRows | None = None

    def update(self, X: Any, y: Array, losses: FloatArray) -> None:
        """Take in rows that the learner has learned, and what it was charged for them."""
        if self.setting.kind not in ("linear", "perceptron"):
            return
        targets, constant = self._targets(y), self.setting.constant
        if self.memory is None:
            width, count = X.shape[1] + constant, targets.shape[1]
            exact = self.setting.loss == SQUARED_ERROR and count == 1
            if exact:
                self.memory = SquareSums(width)
            else:
                self.memory = KeptRows(self.max_rows, width, count, self.seed)
        if isinstance(self.memory, SquareSums):
            self.memory.update(dense_rows(X, constant), targets[:, 0])
            return
        which, where = self.memory.places(len(y))
        X = take_rows(X, which) if len(which) < len(y) else X
        self.memory.put(where, dense_rows(X, constant), targets[which], losses[which], len(y))

    def _targets(self, y: Array) -> FloatArray:
        """Return truths as the loss takes them: one column, or one per class against the rest."""
        classes = getattr(self.learner, "classes_", None)
        if classes is None:
            return np.asarray(y, dtype=np.float64)[:, None]
        if len(classes) == 2:
            return np.where(y == classes[1], 1.0, -1.0)[:, None]
        return np.where(y[:, None] == np.asarray(classes)[None, :], 1.0, -1.0)

    @property
    def estimated(self) -> bool:
        """Whether only a sample of the rows is left."""
        return isinstance(self.memory, KeptRows) and self.memory.kept < self.memory.rows

    def comparator(self, rows: int, charged: float) -> Comparator:
        """Return the best comparator of `rows` rows on which the learner was charged so much."""
        setting = self.setting
        if setting.kind == "experts":
            totals = self.learner.expert_losses_
            u = (np.arange(len(totals)) == self.learner.best_expert_).astype(np.float64)
            words = f"{len(totals)} experts"
            return Comparator(u, float(totals.min()), 0.0, rows, rows, 0.0, words)
        if setting.kind == "perceptron":
            raise InputError(
                "The best linear classifier under the zero-one loss cannot be computed (the "
                "problem is NP-hard); see mistake_bound()."
            )
        if setting.kind == "alone":
            raise InputError("There is no comparator: comparator=None was asked for.")
        assert setting.region is not None
        ridge = rows * setting.row_penalty + 2 * setting.penalty
        words = setting.region.words + (" (penalised)" if ridge else "")
        if isinstance(self.memory, SquareSums):
            u, total, gap = least_squares_in(self.memory.triangle, setting.region, ridge)
            return Comparator(u, total, gap, rows, rows, 0.0, words)
        return self._from_rows(rows, charged, ridge, words)

    def _from_rows(self, rows: int, charged: float, ridge: float, words: str) -> Comparator:
        setting, memory = self.setting, self.memory
        assert isinstance(memory, KeptRows)
        assert setting.region is not None
        assert setting.loss is not None
        found = [
            least_loss_in(setting.loss, memory.X, target, setting.region, ridge / memory.times)
            for target in memory.targets.T
        ]
        u = np.array([each[0] for each in found])
        total, se = sum(each[1] for each in found), 0.0
        if memory.kept < rows:
            # The learner's loss is known on all rows, and comes and goes with the comparator's: the
            # mean of their difference is far better known from a sample than either.
            ahead = memory.charged - setting.row_penalty / 2 * float(np.sum(u**2))
            for target, weights in zip(memory.targets.T, u, strict=True):
                ahead = ahead - setting.loss(target, memory.X @ weights)
            total = charged - memory.times * float(ahead.sum())
            se = memory.standard_error(ahead)
        gap = memory.times * sum(each[2] for each in found)
        return Comparator(u[0] if len(u) == 1 else u, total, gap, rows, memory.kept, se, words)

    def mistake_bound(self, u: Any) -> MistakeBound:
        """Return the perceptron's mistake bound by a given u."""
        X, y, stream = self._for_mistakes()
        return self._with_error(mistake_bound(u, X, y, **stream))

    def best_mistake_bound(self, tol: float, start: float) -> MistakeBound:
        """Return the least mistake bound, up to a share `tol` of it."""
        X, y, stream = self._for_mistakes()
        return self._with_error(best_mistake_bound(X, y, tol=tol, start=start, **stream))

    def _for_mistakes(self) -> tuple[FloatArray, FloatArray, dict[str, float]]:
        memory = self.memory
        assert isinstance(memory, KeptRows)
        if memory.targets.shape[1] > 1:
            raise InputError(
                f"The mistake bound is for two classes; there are {memory.targets.shape[1]}."
            )
        stream = {"times": memory.times, "max_norm": float(self.learner.max_norm_)}
        return memory.X, memory.targets[:, 0], stream

    def _with_error(self, found: MistakeBound) -> MistakeBound:
        assert isinstance(self.memory, KeptRows)
        losses = HINGE(self.memory.targets[:, 0], self.memory.X @ found.u)
        return replace(found, se=self.memory.standard_error(losses))
