"""What is kept of a stream to find the best fixed predictor afterwards.

Squared error needs a triangle of numbers, however long the stream. Other losses need the rows:
all of them as long as they are few, then a uniform sample of fixed size.
"""

import numpy as np

from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["KeptRows", "SquareSums"]


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
