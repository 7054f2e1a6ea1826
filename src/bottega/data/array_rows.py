"""Arrays as a source of rows in chunks: of one process, or in parts that are made when needed."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bottega.core.parts import RowSource
from bottega.core.rows import split_rows

__all__ = ["ArrayRows"]


class ArrayRows(RowSource):
    """Chunks ``(X, y)`` or ``(X, y, w)`` of arrays as they are.

    Parameters
    ----------
    blocks : sequence of callable
        Each returns the arrays X, y (or None) and w (or None) of some rows.
    rows : int
        Rows of a chunk.
    """

    def __init__(self, blocks: Sequence[Callable[[], tuple[Any, Any, Any]]], rows: int) -> None:
        self._blocks, self._size = list(blocks), rows

    @classmethod
    def of(cls, X: Any, y: Any, w: Any, rows: int) -> "ArrayRows":
        """Return arrays in memory as a source; its parts are views of them."""
        size = max(rows, -(-len(X) // 64))
        spans = list(split_rows(len(X), size)) or [slice(0, 0)]
        parts = [tuple(None if each is None else each[s] for each in (X, y, w)) for s in spans]
        return cls([_Given(part) for part in parts], rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for make in self._blocks:
            X, y, w = make()
            for part in split_rows(len(X), self._size):
                some = X[part], None if y is None else y[part]
                yield some if w is None else (*some, w[part])
            if not len(X):
                yield (X, y) if w is None else (X, y, w)

    def parts(self) -> "list[ArrayRows]":
        """Return each block by itself."""
        return [ArrayRows([block], self._size) for block in self._blocks]


class _Given:
    """Arrays that are there."""

    def __init__(self, arrays: Any) -> None:
        self._arrays = arrays

    def __call__(self) -> Any:
        return self._arrays
