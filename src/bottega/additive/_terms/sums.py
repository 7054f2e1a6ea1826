"""Sums over the rows that the blocks are built from: crossproducts and distinct points."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.additive._penalized.bins import Binning
from bottega.additive._terms.blocks import Block
from bottega.additive._terms.resolve import PlacedTerm
from bottega.core.added_sums import AddedSums
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray

__all__ = ["RowSums", "binned_sets"]

_STEP = 20_000  # rows at a time


def binned_sets(terms: Sequence[PlacedTerm]) -> list[tuple[int, ...]]:
    """Return the sets of inputs that the terms want binned: alone, or several together."""
    found: list[tuple[int, ...]] = []
    for placed in terms:
        if placed.term.word in ("offset", "linear"):
            continue
        found.append(placed.columns)
        if placed.term.word == "tensor":  # a pure interaction has centred margins
            found += [(j,) for j in placed.columns]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class RowSums:
    """The rows in one part or in chunks, and the bins of their columns.

    Attributes
    ----------
    reduce : callable
        Returns what a function of (X, y, weight) gives for the rows, or for each chunk, merged.
    binning : Binning
        The bins of all `binned_sets` of the terms.
    """

    reduce: Callable[[Callable[..., Any]], Any]
    binning: Binning

    def points(self, columns: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """Return the distinct (binned) points of some columns, and their weights."""
        bins = self.binning.bins(columns)
        seen = bins.weight > 0
        return bins.values[seen], bins.weight[seen]

    def gram(self, block: Block) -> FloatArray:
        """Return the weighted crossproducts of a block's columns, the column of ones before."""
        if all(margin.size > 1 for margin in block.margins):
            columns = tuple(dict.fromkeys(block.columns))
            values, weight = self.points(columns)
            at = [values[:, [columns.index(j) for j in margin.columns]] for margin in block.margins]
            return _gram(block.rows(at), weight)

        def of_rows(X: FloatArray, _: Any, weight: FloatArray | None) -> AddedSums:
            total: Any = 0.0
            for part in split_rows(len(X), _STEP):
                rows = block.design(X[part])
                total = total + _gram(rows, np.ones(len(rows)) if weight is None else weight[part])
            return AddedSums((np.asarray(total),))

        found: FloatArray = self.reduce(of_rows).values[0]
        return found


def _gram(rows: FloatArray, weight: FloatArray) -> FloatArray:
    table = np.column_stack([np.ones(len(rows)), rows])
    return np.asarray((table * weight[:, None]).T @ table)
