"""The inputs of a tree as one byte per value: what is kept of rows that came in chunks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.lazy import cached_property
from bottega.core.rows import split_rows
from bottega.core.scratch import scratch_array
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.tree._grow.bins import MISSING, Bins
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels.walk import apply

_BLOCK = 1 << 15  # rows whose numbers are there at once


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """Training inputs as codes of bins; otherwise as `bottega.tree._grow.columns.Columns`.

    The rows that a tree is grown on fall where their values would: a threshold lies between bins.
    Rows that it was not grown on may have values in between, where a node had none: they are taken
    for the upper end of their bin.

    `given` yields the columns as they were, where they can be read again.
    """

    bins: Bins
    codes: Array
    n_levels: IntArray
    given: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what other processes need: the codes, and no rows to be read again."""
        return {"bins": self.bins, "codes": self.codes, "n_levels": self.n_levels, "given": None}

    @property
    def categorical(self) -> BoolArray:
        """Which columns hold codes of levels."""
        return self.bins.categorical

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, index: Any) -> "BinnedColumns":
        """Return some of the rows (also repeatedly), in the same bins."""
        index = np.asarray(index)
        if index.dtype == bool:
            index = np.flatnonzero(index)
        codes = scratch_array((len(index), self.codes.shape[1]), np.uint8)
        np.take(self.codes, index, axis=0, out=codes)
        return BinnedColumns(self.bins, codes, self.n_levels)

    __getitem__ = rows

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield numbers that stand for the codes, block by block of the rows."""
        for block in split_rows(len(self), _BLOCK):
            yield block, self.bins.decode(self.codes[block])

    @cached_property
    def X(self) -> FloatArray:  # noqa: N802
        """All of these numbers."""
        found = scratch_array(self.codes.shape, np.float64)
        for block, part in self.blocks():
            found[block] = part
        return found

    def iter_columns(self) -> Iterator[Array]:
        """Yield the columns: as they were given, or else by their bins."""
        if self.given is not None:
            yield from self.given.iter_columns()
        else:
            for j in range(self.codes.shape[1]):
                yield np.where(self.codes[:, j] == MISSING, np.nan, self.codes[:, j])


def leaves_of(columns: Any, tree: Tree) -> IntArray:
    """Return the leaf of each row of columns."""
    leaf: IntArray = np.empty(len(columns), dtype=np.int32)
    for block, X in columns.blocks():
        leaf[block] = apply(X, *tree.walk)
    return leaf
