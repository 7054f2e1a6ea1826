"""How large the cells of a tree are."""

from collections.abc import Iterable

import numpy as np

from bottega.core.typing import FloatArray, IntArray
from bottega.tree._read.column_conditions import Term

__all__ = ["cell_diameters"]


def cell_diameters(
    terms: Iterable[Term], low: FloatArray, high: FloatArray, n_levels: IntArray
) -> FloatArray:
    """Return the diameter of each cell, columns measured by the range of the training rows.

    The side of a cell in a column of numbers is its share of the range (cells are cut to the
    range); in a category it is 0 with one level and 1 with more. The diameter is the root of the
    sum of the squared sides.
    """
    span = high - low
    whole = np.where(n_levels > 0, n_levels > 1, span > 0).astype(np.float64)
    found = []
    for term in terms:
        side = whole.copy()
        for j, condition in term.items():
            if condition.levels is not None:
                side[j] = len(condition.levels) > 1
            elif span[j] > 0:
                inside = min(condition.high, high[j]) - max(condition.low, low[j])
                side[j] = max(0.0, inside) / span[j]
        found.append(float(np.sqrt(np.sum(side**2))))
    return np.array(found)
