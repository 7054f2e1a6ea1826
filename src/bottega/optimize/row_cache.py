"""Rows of a kernel matrix, computed when they are asked for and kept while there is room."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, Self

import numpy as np

from bottega.core.parallel import spare_threads
from bottega.core.threads import one_thread
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.optimize._kernels.smo import keep_columns, place_rows, subtract_rows

__all__ = ["Gram", "RowCache"]

_TILE = 2**18  # entries computed at once: they stay in the processor's cache
_SHARED = 2**20  # entries from which threads are worth their start


class Gram(Protocol):
    """A kernel matrix of n rows, known by its blocks."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def dtype(self) -> Any:
        """Precision of the entries."""

    def block(self, rows: Any, columns: Any) -> Array:
        """Return the entries of these rows and columns (indices, or slices)."""

    def take(self, rows: IntArray) -> Self:
        """Return the matrix of some of the rows."""


class RowCache:
    """The most recently used rows of a kernel matrix, in one array of a given size.

    Where all rows fit it is the whole matrix, filled as rows are asked for. The rows may be cut to
    some of their columns (`shrink`), which makes room for more of them.

    Parameters
    ----------
    gram : Gram
        The matrix.
    megabytes : float
        Size of the array.
    least : int
        Rows for which there must be room, whatever the size.
    """

    def __init__(self, gram: Gram, megabytes: float, least: int) -> None:
        self.gram = gram
        size = int(megabytes * 2**20) // np.dtype(gram.dtype).itemsize
        self._store = np.empty(min(gram.n**2, max(size, least * gram.n)), gram.dtype)
        self._pool: ThreadPoolExecutor | None = None
        self._threads = 1
        self._forget()

    def _forget(self) -> None:
        n = self.gram.n
        slots = min(n, len(self._store) // n)
        self.whole = slots == n
        self._slot_of = np.full(n, -1, dtype=np.int64)
        self._row_in = np.full(slots, -1, dtype=np.int64)
        self._used = np.full(slots, -1, dtype=np.int64)
        self._clock = 0

    @contextmanager
    def working(self) -> Iterator[None]:
        """Keep threads at hand for the time of the block, where they are worth it."""
        self._threads = spare_threads() if self.gram.n**2 > _SHARED else 1
        if self._threads == 1:
            yield
            return
        with one_thread(), ThreadPoolExecutor(self._threads) as self._pool:
            try:
                yield
            finally:
                self._pool = None

    def fetch(self, rows: IntArray) -> IntArray:
        """Return the slots of some rows; those that are missing are computed."""
        self._clock += 1
        missing = rows[self._slot_of[rows] < 0]
        self._used[self._slot_of[rows[self._slot_of[rows] >= 0]]] = self._clock
        if len(missing):
            oldest = np.argpartition(self._used, len(missing) - 1)[: len(missing)]
            slots = np.sort(oldest)
            replaced = self._row_in[slots]
            self._slot_of[replaced[replaced >= 0]] = -1
            self._row_in[slots], self._slot_of[missing] = missing, slots
            self._used[slots] = self._clock
            self._fill(missing, slots)
        return self._slot_of[rows]

    def _fill(self, rows: IntArray, slots: IntArray) -> None:
        n, width = self.gram.n, max(1, _TILE // len(rows))

        def fill(first: int, last: int) -> None:
            for start in range(first, last, width):
                block = self.gram.block(rows, slice(start, min(start + width, last)))
                place_rows(block, self._store, n, slots, start)

        self._split(fill, len(rows))

    def _split(self, work: Callable[[int, int], None], rows: int) -> None:
        """Do the work on all columns, in parts side by side where there is enough of it."""
        n = self.gram.n
        if self._pool is None or rows * n < _SHARED:
            work(0, n)
            return
        ends = np.linspace(0, n, self._threads + 1).astype(int)
        list(self._pool.map(work, ends[:-1], ends[1:]))

    def subtract(self, slots: IntArray, step: FloatArray, r: FloatArray) -> None:
        """Subtract rows, times their steps, from `r`."""

        def subtract(first: int, last: int) -> None:
            subtract_rows(self._store, self.gram.n, slots, step, r, first, last)

        self._split(subtract, len(slots))

    def product(self, gram: Gram, rows: IntArray, coef: FloatArray, among: IntArray) -> FloatArray:
        """Return the products of another matrix's rows `among` with coefficients of `rows`.

        They are computed in tiles and not kept.
        """
        found = np.zeros(len(among))
        tall = max(1, _TILE // max(1, len(rows)))

        def multiply(first: int, last: int) -> None:
            for start in range(first, last, tall):
                part = among[start : min(start + tall, last)]
                found[start : start + len(part)] = gram.block(part, rows) @ coef

        if self._pool is None or len(among) * len(rows) < _SHARED:
            multiply(0, len(among))
        else:
            ends = np.linspace(0, len(among), self._threads + 1).astype(int)
            list(self._pool.map(multiply, ends[:-1], ends[1:]))
        return found

    def shrink(self, kept: IntArray) -> None:
        """Keep some of the rows and columns alone."""
        slots = np.flatnonzero(np.isin(self._row_in, kept) & (self._row_in >= 0))
        rows = np.searchsorted(kept, self._row_in[slots])
        keep_columns(self._store, self.gram.n, slots, kept)
        self.gram = self.gram.take(kept)
        self._forget()
        places = np.arange(len(slots))
        self._slot_of[rows], self._row_in[places], self._used[places] = places, rows, 0

    def renew(self, gram: Gram) -> None:
        """Start again with another matrix."""
        self.gram = gram
        self._forget()
