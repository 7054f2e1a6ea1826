"""The rows that k-means passes over again and again: an array, or chunks larger than memory."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bottega.cluster._kernels.rows import column_sums
from bottega.core.chunks import CheckedChunks, parts_of
from bottega.core.parallel import answers_in_turn, in_threads, spare_threads
from bottega.core.rows import split_rows
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray

__all__ = ["NO_WEIGHTS", "ArraySource", "BlockSource", "ChunkSource", "RowPart", "RowScale"]

NO_WEIGHTS: FloatArray = np.empty(0)
_PART = 2**18  # numbers that are summed up together; sums do not depend on the number of threads
_SOME = 63  # rows that are looked at to find where the rows are
_FAR = 100.0  # squared distance to the mean, in variances, at which they are somewhere else
_LARGE = 2**19  # numbers in a block from which on its parts are worth threads of their own


@dataclass(frozen=True)
class RowPart:
    """Some rows: their place among all, their values and weights (none: all one)."""

    start: int
    X: FloatArray
    w: FloatArray

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True)
class RowScale:
    """Where the rows are, and how far apart.

    Attributes
    ----------
    shift : ndarray of shape (p,)
        A number of each column, near to the others, which is subtracted from all rows. So ties of
        distances between round numbers stay ties.
    variance : ndarray of shape (p,)
        Their (weighted) variances, divisor the sum of the weights.
    scale : float
        One over the largest distance of a row to the shift, at most.
    weight : float
        Sum of the weights.
    """

    shift: FloatArray
    variance: FloatArray
    scale: float
    weight: float


class BlockSource(ABC):
    """Rows of numbers to pass over, block by block."""

    n: int
    p: int
    scaling: RowScale

    @abstractmethod
    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the rows with their weights (an empty array where all are one)."""

    def passed(self, work: Callable[[RowPart], Any]) -> Iterator[Any]:
        """Yield what `work` makes of the parts of all rows, in their order."""
        for found in answers_in_turn(partial(self._of_block, work), self._placed_blocks()):
            yield from found

    def _placed_blocks(self) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        start = 0
        for X, w in self.blocks():
            yield start, X, w
            start += len(X)

    def _of_block(
        self, work: Callable[[RowPart], Any], block: tuple[int, FloatArray, FloatArray]
    ) -> list[Any]:
        """Return what `work` makes of the parts of a block; a block alone has all the cores."""
        start, X, w = block
        X = np.ascontiguousarray(X)
        cuts = split_rows(len(X), max(_PART // self.p, 1024))
        parts = [RowPart(start + cut.start, X[cut], w[cut] if len(w) else w) for cut in cuts]
        if X.size < _LARGE or len(parts) == 1 or spare_threads() == 1:
            with one_thread():  # the products are small
                return _each(work, parts)
        # Few tasks: each thread takes neighbouring parts.
        runs = np.array_split(np.arange(len(parts)), 2 * spare_threads())
        groups = [[parts[i] for i in run] for run in runs if len(run)]
        found = in_threads(partial(_each, work), groups)
        return [each for some in found for each in some]

    def _find_scaling(self) -> RowScale:
        """Return where the rows are, from one pass (two, where they are far from the first)."""
        shift = _middle(next(iter(self.blocks()))[0])
        for attempt in range(2):

            def sums_of(part: RowPart, shift: FloatArray = shift) -> tuple[FloatArray, float]:
                out = np.zeros((3, part.X.shape[1]))
                column_sums(part.X, part.w, shift, out)
                return out, float(part.w.sum()) if len(part.w) else float(len(part))

            sums, weight = np.zeros((3, len(shift))), 0.0
            for out, mass in self.passed(sums_of):
                sums[:2] += out[:2]
                sums[2] = np.maximum(sums[2], out[2])
                weight += mass
            mean = sums[0] / weight
            variance = sums[1] / weight - mean**2
            if attempt == 1 or np.all(mean**2 <= _FAR * variance):
                break
            shift = shift + mean
        reach = float(np.sqrt(np.sum(sums[2] ** 2)))
        variance = np.where(sums[2] <= 0, 0.0, np.maximum(variance, 0.0))
        return RowScale(shift, variance, 1.0 / reach if reach > 0 else 1.0, weight)


def _middle(X: FloatArray) -> FloatArray:
    """Return the medians of some rows: numbers of the table, which no outlier moves."""
    some = X[:: max(1, len(X) // _SOME)][:_SOME]
    return np.asarray(np.median(some[: len(some) - 1 + len(some) % 2], axis=0))


def _each(work: Callable[[RowPart], Any], parts: list[RowPart]) -> list[Any]:
    return [work(part) for part in parts]


class ArraySource(BlockSource):
    """Rows in memory."""

    def __init__(self, X: FloatArray, weight: FloatArray | None = None) -> None:
        self.X = np.ascontiguousarray(X)
        self.w = NO_WEIGHTS if weight is None else weight
        self.n, self.p = X.shape
        self.scaling = self._find_scaling()

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield all rows."""
        yield self.X, self.w


class ChunkSource(BlockSource):
    """Rows in chunks, which were checked once and are the same each time.

    `change` is what is done to each block first: scaling of its columns.
    """

    def __init__(
        self,
        checked: CheckedChunks,
        n: int,
        change: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self.n, self.p = n, checked.n_features
        self._checked, self._change = checked, change
        self.scaling = self._find_scaling()

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the rows of each chunk that count."""
        names = self._checked.names
        for chunk in self._checked.chunks:
            X, _, w = parts_of(chunk)
            if names is not None and w is None and list(getattr(X, "columns", ())) == list(names):
                X = np.asarray(X)
            if isinstance(X, np.ndarray) and X.dtype == np.float64 and w is None:
                if len(X):  # it was checked before
                    yield self._changed(X), NO_WEIGHTS
                continue
            for X, _, w in CheckedChunks([chunk], self.p, 0, None, names):
                yield self._changed(X), NO_WEIGHTS if w is None else w

    def _changed(self, X: FloatArray) -> FloatArray:
        return X if self._change is None else self._change(X)
