"""Rows in chunks, of which sums are made wherever the rows are, and only sums travel."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.added_sums import AddedSums
from bottega.core.chunks import CheckedChunks
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.multinomial import Block, LikelihoodRows

__all__ = ["ChunkedRows", "UsedRows", "weights_of"]


def weights_of(factor: FloatArray, codes: IntArray, w: Any) -> FloatArray:
    """Return the weights of rows times the factors of their classes."""
    return factor[codes] if w is None else factor[codes] * w


@dataclass(frozen=True, eq=False)
class UsedRows:
    """The rows of chunks that a fit uses: all, or those that a fold leaves.

    `factor` are the weights of the classes, `number` their codes among those that are present.
    """

    folds: int
    part: int | None
    factor: FloatArray
    number: IntArray

    def of(self, X: Any, codes: Any, w: Any, fold: Any) -> tuple[FloatArray, IntArray, Any]:
        """Return inputs, codes and weights of the rows of a chunk."""
        v = weights_of(self.factor, codes, w)
        if self.part is not None:
            X, codes, v = (all_of[fold != self.part] for all_of in (X, codes, v))
        return X, self.number[codes], v


class ChunkedRows(LikelihoodRows):
    """Rows that are read again for every sum."""

    def __init__(
        self,
        chunks: CheckedChunks,
        rows: UsedRows,
        shift: FloatArray,
        factor: FloatArray,
        K: int,
        weight: float,
        ordinary: float,
    ) -> None:
        super().__init__(K, weight, ordinary)
        self._chunks, self._rows_of = chunks, rows
        self.shift, self.factor = shift, factor

    def block_of(self, W: IntArray, *chunk: Any) -> Block:
        """Return the standardised columns W of a chunk, with codes and weights."""
        X, codes, v = self._rows_of.of(*chunk)
        return np.asfortranarray((X[:, W] - self.shift[W]) * self.factor[W]), codes, v

    def _each(self, sums: Callable[[Block], Any], W: IntArray) -> Iterable[Any]:
        found = self._chunks.reduce(
            lambda *chunk: _over_rows(sums(self.block_of(W, *chunk))), self._rows_of.folds
        )
        return [found.values]


def _over_rows(sums: tuple[Any, ...]) -> AddedSums:
    """Return sums in which what is per row becomes its sum, which is all that is used of it."""
    first, *others = sums
    if isinstance(first, tuple):  # what the likelihood has of each row
        first = np.zeros(0), np.zeros(0), first[2].sum(axis=1, keepdims=True)
    return AddedSums((first, *others))
