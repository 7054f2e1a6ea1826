"""An order of the rows that depends on what is in them alone.

Rows are sorted by their response, then by their columns, and the ranks are shuffled once and for
all. So a data set gives the same samples and the same folds whatever order its rows come in and
whatever units it is measured in. Usually the responses tell the rows apart, and no column is read.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.frames import is_frame
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, IntArray

__all__ = ["columns_of_table", "own_order"]


def own_order(X: Any, y: Any, weight: Any = None, *, apart: bool = False) -> IntArray:
    """Return the rows in an order that depends on what is in them alone.

    `X`, `y` and `weight` may each be None. Rows that are equal in all they hold can take each
    other's place. They stand together, or, with `apart`, each of them anywhere: folds that are
    dealt along the order then hold as many copies of a row as chance would have it.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array(["a", "b", "a"])
    >>> ahead, behind = own_order(X, y), own_order(X[::-1], y[::-1])
    >>> bool(np.array_equal(X[ahead], X[::-1][behind]))
    True
    >>> bool(np.array_equal(own_order(1000 * X, y), ahead))
    True
    """
    place = _sorted_places(chain.from_iterable(map(columns_of_table, (y, X, weight))))
    n = len(place)
    found = np.zeros(n, dtype=np.bool_)
    found[place] = True
    distinct = int(np.count_nonzero(found))
    if distinct < n and apart:
        place[np.argsort(place, kind="stable")] = np.arange(n)
    elif distinct < n:
        shuffled = np.random.default_rng(0).permutation(distinct)
        return np.argsort(shuffled[(np.cumsum(found) - 1)[place]], kind="stable")
    order = np.empty(n, dtype=np.intp)
    order[np.random.default_rng(0).permutation(n)[place]] = np.arange(n)
    return order


def _sorted_places(columns: Iterator[Array]) -> IntArray:
    """Return where each row comes in the sorted rows; equal rows come at the same place."""
    values = next(columns)
    if values.dtype != np.float64 or np.isnan(values).any():
        values = _sortable(values)
    place = np.zeros(len(values), dtype=np.intp)
    tied = np.argsort(values)
    values = values[tied]
    if np.all(values[1:] > values[:-1]):  # the first column tells all rows apart
        place[tied] = np.arange(len(tied))
        return place
    place[tied], tied = _ranked(values, place[tied], tied)
    while len(tied) > 1:
        column = next(columns, None)
        if column is None:
            break
        values = _sortable(column[tied])
        by = np.lexsort((values, place[tied]))
        sorted_rows = tied[by]
        place[sorted_rows], tied = _ranked(values[by], place[sorted_rows], sorted_rows)
    return place


def _ranked(values: Array, before: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places of rows that are sorted, given those so far, and the rows still tied."""
    new_group = np.r_[True, before[1:] != before[:-1]]
    new_run = new_group | np.r_[True, values[1:] > values[:-1]]
    steps = np.arange(len(rows))
    first_of_group = np.maximum.accumulate(np.where(new_group, steps, 0))
    first_of_run = np.maximum.accumulate(np.where(new_run, steps, 0))
    alone = new_run & np.r_[new_run[1:], True]
    return before + first_of_run - first_of_group, rows[~alone]


def _sortable(values: Array) -> Array:
    """Return numbers that sort as the values do; texts and mixtures by their spelling."""
    if values.dtype.kind in "biuf":
        # Missing values come last, as one: no comparison with them is true.
        return np.nan_to_num(values.astype(np.float64), nan=np.inf, posinf=np.finfo(float).max)
    words: Any = values
    if values.dtype.kind != "U":
        words = [value if isinstance(value, str) else repr(value) for value in values.tolist()]
    return np.unique(words, return_inverse=True)[1]


def columns_of_table(data: Any) -> Iterator[Array]:
    """Yield the columns of a frame, a sparse matrix, an array or a list of objects, as arrays.

    Of inputs that a method has read into an object of its own these are the columns of its matrix
    `X`, or what its `iter_columns` yields. None has no columns.
    """
    if data is None:
        return
    if is_frame(data):
        for series in nw.from_native(data, eager_only=True).iter_columns():
            yield series.to_numpy()
    elif is_sparse(data):
        by_column = data.tocsc()
        for j in range(by_column.shape[1]):
            yield by_column[:, [j]].toarray()[:, 0]
    elif hasattr(data, "iter_columns"):
        yield from data.iter_columns()
    else:
        plain = hasattr(data, "__array__") or isinstance(data, list | tuple)
        try:
            array = np.asarray(data if plain else data.X)
        except ValueError:  # objects of several lengths
            array = np.array([repr(each) for each in data])
        yield from array.reshape(len(array), -1).T
