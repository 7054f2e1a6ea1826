"""Inputs of a network in chunks: what stands in the place of a matrix, and is read in passes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from bottega.core.chunked import NO_ROWS
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.gathered import joined_responses
from bottega.core.passes import ShuffledPasses, pass_in_order
from bottega.core.rows import check_weight
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["ChunkInputs"]

_HELD = 50_000  # rows that judge the epochs, at most: they are kept in memory


class ChunkInputs:
    """The inputs of rows in chunks, or of some of the rows.

    Parameters
    ----------
    passes : ShuffledPasses
        The rows in any order.
    checked : CheckedChunks
        The rows in theirs.
    count : int
        How many there are.
    index : ndarray of int, optional
        The numbers of those that are meant; all by default.
    """

    def __init__(
        self,
        passes: ShuffledPasses,
        checked: CheckedChunks,
        count: int,
        index: IntArray | None = None,
    ) -> None:
        self._passes, self._checked, self._count, self._index = passes, checked, count, index

    @classmethod
    def of(
        cls, checked: CheckedChunks, factor: FloatArray | None
    ) -> tuple["ChunkInputs", Array, FloatArray | None]:
        """Return the inputs, and the responses and weights that a first pass has kept.

        `factor` is that of each class on its weights, or None.
        """
        responses: list[Array] = []
        weights: list[FloatArray | None] = []
        for _, y, w in checked:
            responses.append(y)
            weights.append(w)
        if not responses:
            raise InputError(NO_ROWS)
        y, weight = joined_responses(responses, weights, factor)
        inputs = cls(ShuffledPasses(checked), checked, len(y))
        return inputs, y, None if weight is None else check_weight(weight, len(y))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (self._count if self._index is None else len(self._index)), self._checked.n_features

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> "ChunkInputs":
        """Return some of the rows, each once."""
        index = np.arange(self._count)[rows] if self._index is None else self._index[rows]
        return ChunkInputs(self._passes, self._checked, self._count, index)

    @property
    def held_share(self) -> float:
        """Share of the rows that judges the epochs."""
        return min(0.2, _HELD / len(self))

    def drawn_part(self, share: float) -> tuple[IntArray, IntArray]:
        """Return places to train on, and a share of them at random to hold out."""
        n = len(self)
        held = np.zeros(n, dtype=bool)
        held[np.random.default_rng(0).choice(n, max(round(share * n), 1), replace=False)] = True
        return np.flatnonzero(~held), np.flatnonzero(held)

    def blocks(
        self, rng: np.random.Generator | None = None
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield places among these rows and their inputs: as they come, or shuffled."""
        numbered = pass_in_order(self._checked) if rng is None else self._passes.drawn(rng)
        index = self._index
        if index is None:
            for number, X, _, _ in numbered:
                yield number, X
            return
        order = np.argsort(index)
        for number, X, _, _ in numbered:
            at = np.minimum(np.searchsorted(index, number, sorter=order), len(index) - 1)
            here = index[order[at]] == number
            if here.any():
                yield order[at[here]], X[here]

    def matrix(self) -> FloatArray:
        """Return all of them in memory."""
        found = np.empty(self.shape)
        for place, X in self.blocks():
            found[place] = X
        return found

    def iter_columns(self) -> Iterator[FloatArray]:
        """Yield the columns, a few with each pass."""
        return self._checked.iter_columns() if self._index is None else iter(self.matrix().T)
