"""A grown forest as a few long arrays: eight bytes per node, the values of leaves apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix

from bottega.core.parallel import in_threads
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._kernels import words as kernels

# Rows of a block stay in the cache while all trees go over them.
_BLOCK = 4096


@stored
@dataclass(frozen=True, eq=False)
class Forest:
    """The nodes and leaf values of all trees, one tree behind the other.

    `words` are the nodes (`bottega.ensemble._kernels.words` says how they are packed), `sets` the
    codes that go left of tests on categories (`set_of` says which), and `values` (leaves, V) mean
    responses, shares of the second of two classes, or shares of K classes; `tree_start`,
    `set_start` and `value_start` say where those of each tree start.
    """

    words: Array
    tree_start: IntArray
    set_of: IntArray
    sets: Array
    set_start: IntArray
    values: FloatArray
    value_start: IntArray

    @classmethod
    def join(cls, trees: Sequence[tuple[Array, Array, Array, FloatArray]]) -> Self:
        """Join trees, given as words, set_of, left sets and values each."""
        words, set_of, sets, values = zip(*trees, strict=True)
        all_sets = np.concatenate(sets)
        return cls(
            np.concatenate(words),
            _starts(words),
            np.concatenate(set_of) if len(all_sets) else np.zeros(0, dtype=np.int32),
            all_sets,
            _starts(sets),
            np.concatenate(values),
            _starts(values),
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_start) - 1

    @property
    def n_leaves(self) -> IntArray:
        """Number of leaves of each tree."""
        return (np.diff(self.tree_start) + 1) // 2

    def predict(self, codes: Array, first: int = 0, last: int | None = None) -> FloatArray:
        """Return the mean of the leaf values of the trees ``first .. last - 1``: (rows, V)."""
        last = self.n_trees if last is None else last
        out = np.zeros((len(codes), self.values.shape[1]))

        def predict_block(start: int) -> None:
            block = slice(start, start + _BLOCK)
            kernels.predict(
                codes[block],
                self.words,
                self.tree_start[first : last + 1],
                self.set_of,
                self.sets,
                self.set_start[first:last],
                self.values,
                self.value_start[first:last],
                out[block],
            )

        in_threads(predict_block, range(0, len(codes), _BLOCK))
        out /= last - first
        return out

    def leaves(self, codes: Array) -> IntArray:
        """Return the leaf (number of its node) of each row in each tree: (rows, trees)."""
        return kernels.leaves_of(
            codes, self.words, self.tree_start, self.set_of, self.sets, self.set_start
        )

    @property
    def trees(self) -> list[tuple[Array, Array, Array, FloatArray]]:
        """The trees one by one, as `join` takes them."""
        found = []
        for i in range(self.n_trees):
            first, last = self.tree_start[i : i + 2]
            none = np.full(last - first, -1, dtype=np.int32)
            set_of = self.set_of[first:last] if len(self.set_of) else none
            sets = self.sets[slice(*self.set_start[i : i + 2])]
            values = self.values[slice(*self.value_start[i : i + 2])]
            found.append((self.words[first:last], set_of, sets, values))
        return found

    def decision_path(self, codes: Array) -> tuple[csr_matrix, IntArray]:
        """Return which nodes of which trees each row passes, and where each tree's nodes start."""
        leaves = self.leaves(codes).astype(np.int64) + self.tree_start[:-1]
        parent = np.full(len(self.words), -1, dtype=np.int64)
        inner = np.flatnonzero((self.words >> np.uint64(kernels.LEAF)) == 0)
        root = self.tree_start[np.searchsorted(self.tree_start, inner, side="right") - 1]
        first = root + (self.words[inner] & np.uint64(kernels.LOW)).astype(np.int64)
        parent[first] = parent[first + 1] = inner
        rows, passed = [], []
        at, node = np.repeat(np.arange(len(codes)), self.n_trees), leaves.ravel()
        while len(node):
            rows.append(at)
            passed.append(node)
            node = parent[node]
            at, node = at[node >= 0], node[node >= 0]
        row, column = np.concatenate(rows), np.concatenate(passed)
        shape = (len(codes), len(self.words))
        ones = np.ones(len(row), dtype=np.int64)
        return csr_matrix((ones, (row, column)), shape=shape), self.tree_start

    def of_tree(self, tree: int) -> tuple[Any, ...]:
        """Return words, root, set_of, sets, first set, values, first value: for kernels."""
        return (
            self.words,
            self.tree_start[tree],
            self.set_of,
            self.sets,
            self.set_start[tree],
            self.values,
            self.value_start[tree],
        )


def _starts(parts: Sequence[Array]) -> IntArray:
    return np.cumsum([0, *(len(part) for part in parts)])


def columns_of(words: Array) -> IntArray:
    """Return the columns that the tests among the nodes look at, each once."""
    inner = words[(words >> np.uint64(kernels.LEAF)) == 0]
    columns = (inner >> np.uint64(kernels.FEATURE)) & np.uint64(0xFFFFF)
    return np.unique(columns).astype(np.int64)


def last_bins(words: Array) -> IntArray:
    """Return the last bin that each test of a number sends left."""
    code = (words >> np.uint64(kernels.CODE)) & np.uint64(255)
    return np.asarray(code - ((words >> np.uint64(kernels.MISSING)) & np.uint64(1)), dtype=np.intp)
