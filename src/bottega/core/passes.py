"""Passes over rows in chunks: as they come, or in an order that is drawn anew each time."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from bottega.core.chunks import CheckedChunks, parts_of
from bottega.core.frames import take_rows
from bottega.core.lazy import cached_property
from bottega.core.parts import RowSource
from bottega.core.scratch import FEW_NUMBERS
from bottega.core.typing import FloatArray, IntArray
from bottega.core.validate import refuse_vanishing, size_told

__all__ = ["ShuffledPasses", "kept_if_few", "pass_in_order"]


class ShuffledPasses:
    """Rows in chunks whose parts come in a random order, and the rows of each chunk too.

    A part is what the source can read by itself: a file, a piece of one, a chunk of a list. Rows
    move within their chunk and chunks with their part, which is less than a shuffle of all rows.
    Where the order means something (time, one class after the other) store the rows in another, or
    in many parts.

    Parameters
    ----------
    checked : CheckedChunks
        The rows.
    """

    def __init__(self, checked: CheckedChunks) -> None:
        self._checked = checked

    def drawn(self, rng: np.random.Generator) -> Iterator[tuple[IntArray, FloatArray, Any, Any]]:
        """Yield the numbers of rows that count, ``X``, ``y`` and ``w``, in an order drawn anew."""
        for number in rng.permutation(len(self._parts)):
            start = int(self._starts[number])
            for X, y, w in self._parts[number]:
                order = rng.permutation(X.shape[0])
                of_y, of_w = (None if each is None else each[order] for each in (y, w))
                yield start + order, take_rows(X, order), of_y, of_w
                start += X.shape[0]

    @cached_property
    def _parts(self) -> list[CheckedChunks]:
        return [self._checked.of(part) for part in _parts(self._checked.chunks)]

    @cached_property
    def _starts(self) -> IntArray:
        counts, size = [], 0.0
        for part in self._parts:
            counts.append(0)
            for X, y, _ in part:
                counts[-1] += X.shape[0]
                size = max(size, size_told(y))
        self._checked.check_count(sum(counts))
        refuse_vanishing(size)
        return np.cumsum([0, *counts])


def kept_if_few(checked: CheckedChunks) -> CheckedChunks:
    """Return the chunks in memory where they have few numbers, to be read once for all passes."""
    kept: list[Any] = []
    count = 0
    for chunk in checked.chunks:
        kept.append(chunk)
        count += int(np.prod(np.shape(parts_of(chunk)[0])))
        if count > FEW_NUMBERS:
            return checked
    return checked.of(kept)


def pass_in_order(checked: CheckedChunks) -> Iterator[tuple[IntArray, FloatArray, Any, Any]]:
    """Yield the numbers of rows that count, ``X``, ``y`` and ``w``, as they come."""
    start, size = 0, 0.0
    for X, y, w in checked:
        size = max(size, size_told(y))
        yield np.arange(start, start + X.shape[0]), X, y, w
        start += X.shape[0]
    refuse_vanishing(size)


def _parts(chunks: Iterable[Any]) -> Sequence[Iterable[Any]]:
    """Return what can be read in any order."""
    if isinstance(chunks, RowSource):
        return chunks.parts()
    if isinstance(chunks, Sequence):
        return [[chunk] for chunk in chunks]
    return [chunks]
