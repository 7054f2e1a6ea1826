"""A sample of rows that come in chunks, whatever their order and wherever the chunks end."""

from typing import Any, Self

import numpy as np

from bottega.cluster._kernels.rows import add_bits
from bottega.core.deal import scramble
from bottega.core.typing import FloatArray

__all__ = ["ChunkSample"]

_MOST_ROWS = 2**16
_MOST_NUMBERS = 2**22


class ChunkSample:
    """Up to 65,536 rows (fewer of a wide table), those whose scrambled content comes first.

    Attributes
    ----------
    count : int
        Rows that were seen.
    X, w : ndarray
        The sampled rows and their weights.
    weighted : bool
        Whether any chunk had weights.
    """

    def __init__(self) -> None:
        self.count = 0
        self.X: FloatArray = np.empty((0, 0))
        self.w: FloatArray = np.empty(0)
        self.weighted = False
        self._key: Any = np.empty(0, dtype=np.uint64)

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        odd = scramble(np.arange(rows.shape[1], dtype=np.uint64)) | np.uint64(1)
        key = np.zeros(len(rows), dtype=np.uint64)
        add_bits(rows.view(np.uint64), odd, key)
        weight = np.ones(len(rows)) if w is None else np.array(w)
        self._absorb(len(rows), rows, weight, scramble(key), w is not None)
        self.X = self.X + 0.0  # a copy: the chunk may be overwritten by the next one
        return self

    def merge(self, other: Self) -> Self:
        """Take in the sample of other rows."""
        return self._absorb(other.count, other.X, other.w, other._key, other.weighted)

    def _absorb(self, count: int, X: FloatArray, w: FloatArray, key: Any, weighted: bool) -> Self:
        most = max(min(_MOST_ROWS, _MOST_NUMBERS // X.shape[1]), 2048)
        if self.count:
            if len(self.X) == most:  # few of many rows can still come in
                first = key < self._key.max()
                X, w, key = X[first], w[first], key[first]
            X, w = np.concatenate([self.X, X]), np.concatenate([self.w, w])
            key = np.concatenate([self._key, key])
        if len(X) > most:
            rows = np.argpartition(key, most - 1)[:most]
            X, w, key = X[rows], w[rows], key[rows]
        self.count, self.X, self.w, self._key = self.count + count, X, w, key
        self.weighted = self.weighted or weighted
        return self
