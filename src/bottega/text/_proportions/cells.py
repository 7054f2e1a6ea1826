"""Stems in random blocks: which of the 2^m patterns of its m stems a text has, block by block."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray

__all__ = ["Ones", "StemCells", "presence"]


def presence(S: Any) -> Any:
    """Return which stems each text has, as a sparse matrix of ones."""
    found = sparse.csr_array(S)
    found.eliminate_zeros()
    return sparse.csr_array((np.ones(found.nnz), found.indices, found.indptr), shape=found.shape)


@stored
@dataclass(frozen=True, eq=False)
class Ones:
    """A sparse matrix of zeros and ones as arrays, which a model file can hold."""

    indices: IntArray
    indptr: IntArray
    n_columns: int

    @classmethod
    def of(cls, S: Any) -> "Ones":
        """Return the places of the ones."""
        return cls(S.indices, S.indptr, int(S.shape[1]))

    @property
    def matrix(self) -> Any:
        """The matrix."""
        shape = (len(self.indptr) - 1, self.n_columns)
        return sparse.csr_array(
            (np.ones(len(self.indices)), self.indices, self.indptr), shape=shape
        )


@stored
@dataclass(frozen=True, eq=False)
class StemCells:
    """Blocks of m stems, each with the 2^m patterns of stems that a text may have.

    A text is in one cell of every block. Most texts have no stem of a block, so the cell of that
    pattern is left out of tables of texts, and what is in it follows from the others.

    Attributes
    ----------
    blocks : ndarray of shape (R, m)
        The columns in each block.
    n_stems : int
        Number of columns.
    """

    blocks: IntArray
    n_stems: int

    @classmethod
    def drawn(
        cls, stems: IntArray, n_stems: int, size: int, count: int, rng: np.random.Generator
    ) -> "StemCells":
        """Return `count` random blocks of `size` stems, every stem about equally often."""
        size = min(size, len(stems))
        passes = -(-count * size // len(stems))
        order = np.concatenate([rng.permutation(stems) for _ in range(passes)])
        return cls(order[: count * size].reshape(count, size), n_stems)

    @property
    def patterns(self) -> int:
        """StemCells of a block, 2^m."""
        return 1 << int(self.blocks.shape[1])

    def indicators(self, S: Any) -> Any:
        """Return which cells each text is in, a sparse matrix (n, R 2^m) without empty patterns."""
        count, size = self.blocks.shape
        bits = np.tile(1 << np.arange(size), count)
        columns = np.repeat(np.arange(count), size)
        shape = (self.n_stems, count)
        codes = presence(S) @ sparse.csr_array((bits, (self.blocks.ravel(), columns)), shape=shape)
        cells = codes.indices.astype(np.int64) * self.patterns + codes.data.astype(np.int64)
        shape = (codes.shape[0], count * self.patterns)
        return sparse.csr_array((np.ones(codes.nnz), cells, codes.indptr), shape=shape)

    def completed(self, shares: FloatArray) -> FloatArray:
        """Return shares of texts by cell, along the last axis, with those of the empty patterns."""
        by_block = shares.reshape(*shares.shape[:-1], len(self.blocks), self.patterns).copy()
        by_block[..., 0] = 1.0 - by_block[..., 1:].sum(axis=-1)
        return by_block.reshape(shares.shape)

    def mean_of(self, table: FloatArray, indicators: Any) -> FloatArray:
        """Return per text the mean over the blocks of a table (R 2^m, K) in its cells."""
        empty = table[:: self.patterns]  # of each block, the pattern without stems
        above = table - np.repeat(empty, self.patterns, axis=0)
        return np.asarray((indicators @ above + empty.sum(axis=0)) / len(self.blocks))
