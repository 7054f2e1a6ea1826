"""Rows that the workers of an engine hold: sums are made there, and only sums travel."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.chunks import CheckedChunks
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.multinomial import Block, ChunkedRows

__all__ = ["ChunkRows", "HeldRows"]


@dataclass(frozen=True, eq=False)
class ChunkRows:
    """The rows of chunks that a fit uses: all, or those that a fold leaves.

    `factor` are the weights of the classes, `number` their codes among those that are present.
    """

    folds: int
    part: int | None
    factor: FloatArray
    number: IntArray

    def of(self, X: Any, codes: Any, w: Any, fold: Any) -> tuple[FloatArray, IntArray, Any]:
        """Return inputs, codes and weights of the rows of a chunk."""
        v = self.factor[codes] * (1.0 if w is None else w)
        if self.part is not None:
            X, codes, v = (all_of[fold != self.part] for all_of in (X, codes, v))
        return X, self.number[codes], v


class HeldRows(ChunkedRows):
    """Rows in chunks; where an engine holds them, its workers make the sums."""

    def __init__(self, chunks: CheckedChunks, rows: ChunkRows, *scaling: Any) -> None:
        super().__init__(self._read, *scaling)
        self._chunks, self._rows_of = chunks, rows

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_again"}

    def _read(self) -> Iterator[tuple[FloatArray, IntArray, Any]]:
        for block in self._chunks.dealt(self._rows_of.folds):
            yield self._rows_of.of(*block)

    def blocks(self, W: IntArray) -> Any:
        return _Blocks(self, W)

    def block_of(self, W: IntArray, *chunk: Any) -> Block:
        """Return the standardised columns W of a chunk, with codes and weights."""
        X, codes, v = self._rows_of.of(*chunk)
        return np.asfortranarray((X[:, W] - self.shift[W]) * self.factor[W]), codes, v

    def _each(self, sums: Callable[[Block], Any], blocks: Iterable[Block]) -> Iterable[Any]:
        if not self._chunks.are_held:
            return super()._each(sums, blocks)
        assert isinstance(blocks, _Blocks)
        W = blocks.W
        found = self._chunks.reduce(
            lambda *chunk: _Sums(sums(self.block_of(W, *chunk))), self._rows_of.folds
        )
        return [found.values]


class _Blocks:
    """The blocks of some columns, read when they are iterated over."""

    def __init__(self, rows: HeldRows, W: IntArray) -> None:
        self.rows, self.W = rows, W

    def __iter__(self) -> Iterator[Block]:
        return ChunkedRows.blocks(self.rows, self.W)


class _Sums:
    """Sums over rows; what is per row becomes its sum, which is all that is used of it."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        first, *others = values
        if isinstance(first, tuple):  # what the likelihood has of each row
            nothing = np.zeros(0)
            first = nothing, nothing, first[2].sum(axis=1, keepdims=True)
        self.values = (first, *others)

    def merge(self, other: Self) -> Self:
        """Take in the sums over other rows."""
        self.values = tuple(_plus(a, b) for a, b in zip(self.values, other.values, strict=True))
        return self


def _plus(one: Any, other: Any) -> Any:
    if isinstance(one, tuple):
        return tuple(_plus(a, b) for a, b in zip(one, other, strict=True))
    return one + other
