"""The rows of a fit, pass after pass: all of them at once, or chunk after chunk."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from bottega.core.chunked import NO_ROWS
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.passes import ShuffledPasses, pass_in_order
from bottega.core.rows import Rows, check_weight
from bottega.core.seeds import seed_of
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray, IntArray

Block = tuple[IntArray, Rows]  # the numbers of rows, and the rows


class Epochs(Protocol):
    """What a learner goes over again and again; `rows` is None where they are not in memory."""

    rows: Rows | None

    def passes(self, model: Any) -> Iterator[Iterable[Block]]:
        """Yield the blocks of each pass, in the order in which they are learned."""

    def blocks(self) -> Iterable[Block]:
        """Return all rows in their own order."""


class RowEpochs:
    """Rows in memory, as one block."""

    def __init__(self, rows: Rows) -> None:
        self.rows: Rows | None = rows
        self._rows = rows

    def passes(self, model: Any) -> Iterator[Iterable[Block]]:
        """Yield the rows in their order, or in a new one for each pass."""
        rng = _drawn_by(model)
        for _ in range(getattr(model, "max_iter", 1)):
            if rng is None:
                yield self.blocks()
            else:
                order = rng.permutation(len(self._rows))
                yield [(order, self._rows.take(order))]

    def blocks(self) -> Iterable[Block]:
        """Return the rows."""
        return [(np.arange(len(self._rows)), self._rows)]


class ChunkEpochs:
    """Rows in chunks, with the factor of each class on its weights, or None.

    In their own order a pass is that over the same rows in memory. In a new order rows stay in
    their chunk (`bottega.core.passes.ShuffledPasses`).
    """

    rows: Rows | None = None

    def __init__(self, checked: CheckedChunks, factor: FloatArray | None) -> None:
        self._checked, self._factor = checked, factor

    def passes(self, model: Any) -> Iterator[Iterable[Block]]:
        """Yield the chunks in their order, or in a new one for each pass."""
        rng = _drawn_by(model)
        shuffled = ShuffledPasses(self._checked)
        for _ in range(getattr(model, "max_iter", 1)):
            yield self.blocks() if rng is None else self._blocks(shuffled.drawn(rng))

    def blocks(self) -> Iterable[Block]:
        """Return the chunks in their order."""
        return self._blocks(pass_in_order(self._checked))

    def _blocks(self, chunks: Iterable[tuple[IntArray, FloatArray, Any, Any]]) -> Iterator[Block]:
        empty = True
        for number, X, y, w in chunks:
            y = np.ascontiguousarray(y if self._checked.classes is not None else y[:, 0])
            if self._factor is not None:
                w = self._factor[y] if w is None else self._factor[y] * w
            if w is not None and not np.any(w):
                continue
            X = X if is_sparse(X) else np.ascontiguousarray(X)
            rows = Rows.of(X, y, check_weight(w, len(y)))
            empty = False
            yield number if rows.kept is None else number[rows.kept], rows
        if empty:
            raise InputError(NO_ROWS)


def _drawn_by(model: Any) -> np.random.Generator | None:
    """Return what draws the orders of the rows; None keeps theirs."""
    if not getattr(model, "shuffle", False):
        return None
    return np.random.default_rng(seed_of(getattr(model, "random_state", None)))
