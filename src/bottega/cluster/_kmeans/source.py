"""The rows that k-means passes over again and again: an array, or chunks larger than memory."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from bottega.cluster._kernels.rows import column_sums
from bottega.core.chunks import CheckedChunks, parts_of
from bottega.core.parallel import answers_in_turn, in_threads, spare_threads
from bottega.core.parts import refuse_other_count
from bottega.core.rows import split_rows
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray

__all__ = [
    "FAR",
    "NO_WEIGHTS",
    "ArraySource",
    "BlockSource",
    "ChunkSource",
    "RowPart",
    "RowScale",
    "in_one_layout",
    "middle",
]

NO_WEIGHTS: FloatArray = np.empty(0)
_SOME = 63  # rows that are looked at to find where the rows are
FAR = 100.0  # squared distance to the mean, in variances, at which they are somewhere else
_LARGE = 2**19  # numbers in a block from which on its parts are worth threads of their own


@dataclass(frozen=True)
class RowPart:
    """Some rows: their place among all, their values and weights (none: all one).

    `memory` is what a process that keeps the rows remembers of them between passes.
    """

    start: int
    X: FloatArray
    w: FloatArray
    memory: dict[Any, Any] | None = None

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
    elsewhere = False  # whether other processes pass over the rows, and keep nothing of their own
    numbers_at_once: ClassVar[int]  # sums do not depend on the number of threads

    @abstractmethod
    def passed(self, work: Callable[[RowPart], Any]) -> Iterator[Any]:
        """Yield what `work` makes of the parts of all rows, in their order."""

    def _of_block(
        self,
        work: Callable[[RowPart], Any],
        block: tuple[int, FloatArray, FloatArray],
        memory: dict[Any, Any] | None = None,
    ) -> list[Any]:
        """Return what `work` makes of the parts of a block; a block alone has all the cores."""
        start, X, w = block
        X = in_one_layout(X)
        cuts = list(split_rows(len(X), max(self.numbers_at_once // self.p, 1024)))
        if len(cuts) == 1:
            with one_thread():  # the products are small
                return [work(RowPart(start, X, w, memory))]
        parts = [
            RowPart(
                start + cut.start, in_one_layout(X[cut], like=X), w[cut] if len(w) else w, memory
            )
            for cut in cuts
        ]
        if X.size < _LARGE or spare_threads() == 1:
            with one_thread():
                return _each(work, parts)
        # Few tasks: each thread takes neighbouring parts.
        runs = np.array_split(np.arange(len(parts)), 2 * spare_threads())
        groups = [[parts[i] for i in run] for run in runs if len(run)]
        found = in_threads(partial(_each, work), groups)
        return [each for some in found for each in some]

    def _find_scaling(self, shift: FloatArray) -> RowScale:
        """Return where the rows are, from one pass (two, where they are far from the shift)."""
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
            if attempt == 1 or np.all(mean**2 <= FAR * variance):
                break
            shift = shift + mean
        reach = float(np.sqrt(np.sum(sums[2] ** 2)))
        variance = np.where(sums[2] <= 0, 0.0, np.maximum(variance, 0.0))
        return RowScale(shift, variance, 1.0 / reach if reach > 0 else 1.0, weight)


def in_one_layout(X: FloatArray, like: FloatArray | None = None) -> FloatArray:
    """Return rows that are contiguous by row or by column, which kernels are compiled for.

    The layout is their own, or that of another array.
    """
    if X.flags.c_contiguous or X.flags.f_contiguous:
        return X
    by_column = like is not None and not like.flags.c_contiguous
    return np.asarray(X, order="F" if by_column else "C")


def middle(X: FloatArray) -> FloatArray:
    """Return the medians of some rows: numbers of the table, which no outlier moves."""
    some = X[:: max(1, len(X) // _SOME)][:_SOME]
    return np.asarray(np.median(some[: len(some) - 1 + len(some) % 2], axis=0))


def _each(work: Callable[[RowPart], Any], parts: list[RowPart]) -> list[Any]:
    return [work(part) for part in parts]


class ArraySource(BlockSource):
    """Rows in memory."""

    numbers_at_once = 2**18

    def __init__(self, X: FloatArray, weight: FloatArray | None = None) -> None:
        self.X = np.ascontiguousarray(X)
        self.w = NO_WEIGHTS if weight is None else weight
        self.n, self.p = X.shape
        self.scaling = self._find_scaling(middle(self.X))

    def passed(self, work: Callable[[RowPart], Any]) -> Iterator[Any]:
        """Yield what `work` makes of the parts of all rows, in their order."""
        yield from self._of_block(work, (0, self.X, self.w))


class ChunkSource(BlockSource):
    """Rows in chunks, which were checked once and are the same each time.

    Parameters
    ----------
    checked : CheckedChunks
        The rows. Their parts are read and worked on side by side, by threads or by the processes
        of an engine.
    sizes : sequence of int
        How many rows of each part count; one number: the rows are passed over as one part.
    change : callable
        What is done to each block first: scaling of its columns.
    scaling : RowScale or ndarray of shape (p,)
        Where the rows are after that; or only a row near to them, and a pass tells the rest.
    """

    numbers_at_once = 2**22

    def __init__(
        self,
        checked: CheckedChunks,
        sizes: Sequence[int],
        change: Callable[[FloatArray], FloatArray],
        scaling: RowScale | FloatArray,
    ) -> None:
        self.n, self.p = sum(sizes), checked.n_features
        self._checked, self._change = checked, change
        self.elsewhere = checked.are_held
        self._starts = [0, *accumulate(sizes)]
        checked.take_count(self.n)
        is_known = isinstance(scaling, RowScale)
        self.scaling: Any = scaling if is_known else self._find_scaling(np.asarray(scaling))

    def passed(self, work: Callable[[RowPart], Any]) -> Iterator[Any]:
        """Yield what `work` makes of the parts of all rows, in their order."""
        numbers = range(len(self._starts) - 1)
        if len(numbers) > 1 or self.elsewhere:
            answers = self._checked.map_parts(partial(self._of_part, work), numbers)
        else:  # its blocks side by side
            blocks = self._placed(self._checked, 0)
            answers = answers_in_turn(partial(self._of_block, work), blocks)
        for found in answers:
            yield from found

    def _of_part(self, work: Callable[[RowPart], Any], part: Iterable[Any], number: int) -> Any:
        """Return what `work` makes of the rows of a part."""
        memory = getattr(part, "memory", None)
        return [
            each
            for block in self._placed(part, number)
            for each in self._of_block(work, block, memory)
        ]

    def _placed(
        self, part: Iterable[Any], number: int
    ) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Yield the rows of a part that count, block by block, with the place of the first one."""
        start, stop = self._starts[number : number + 2]
        for X, w in self._blocks(part):
            # Before the rows are used: they would take the places of others.
            self._check_count(self.n + max(start + len(X) - stop, 0))
            yield start, X, w
            start += len(X)
        self._check_count(self.n + start - stop)

    def _check_count(self, count: int) -> None:
        refuse_other_count(count, self.n, "The chunks have")

    def _blocks(self, part: Iterable[Any]) -> Iterator[tuple[FloatArray, FloatArray]]:
        if not isinstance(part, CheckedChunks):  # a process keeps the rows, checked
            for X, _, w in part:
                yield self._change(X), NO_WEIGHTS if w is None else w
            return
        names = part.names
        for chunk in part.given():
            X, _, w = parts_of(chunk)
            if names is not None and w is None and list(getattr(X, "columns", ())) == list(names):
                X = np.asarray(X)
            if isinstance(X, np.ndarray) and X.dtype == np.float64 and w is None:
                if len(X):  # it was checked before
                    yield self._change(X), NO_WEIGHTS
                continue
            for X, _, w in part.of([chunk]):
                yield self._change(X), NO_WEIGHTS if w is None else w
