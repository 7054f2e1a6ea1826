"""The inputs of a tree, in memory: columns of numbers and codes, and their sorted order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.parallel import in_threads
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.tree._grow.bins import Bins
from bottega.tree._kernels.order import filter_order

_THREADED = 200_000  # sorting fewer numbers is over before a pool of threads has started
_NEAR = 2_048  # rows that are turned at once, while they are in the cache of a processor's core


@dataclass(frozen=True, eq=False)
class Columns:
    """Training inputs and, once it has been asked for, the sorted order of each column.

    X holds numbers and, in the `categorical` columns, codes below `n_levels` (0 for numbers); NaN
    is missing. The values of a column stand together in memory, unless they were read as given.

    Examples
    --------
    >>> columns = Columns.numeric([[3.0], [1.0], [2.0]])
    >>> columns.order().tolist()
    [[1, 2, 0]]
    >>> columns.rows([0, 2]).order().tolist()
    [[1, 0]]
    """

    X: FloatArray
    categorical: BoolArray
    n_levels: IntArray
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def numeric(cls, X: Any) -> "Columns":
        """Return columns of numbers alone."""
        X = by_column(np.asarray(X, dtype=np.float64))
        return cls(X, np.zeros(X.shape[1], dtype=bool), np.zeros(X.shape[1], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.X)

    def order(self) -> IntArray:
        """Return the row numbers of each column from its least value up, missing last: (p, n)."""
        if "order" not in self._cache:
            whole, index = self._cache.pop("taken_from", (None, None))
            if whole is not None and "order" in whole._cache:
                start = np.zeros(len(whole) + 1, dtype=np.int64)
                np.cumsum(np.bincount(index, minlength=len(whole)), out=start[1:])
                place = np.argsort(index, kind="stable").astype(np.int32)
                order = filter_order(whole._cache["order"], start, place, len(index))
            else:
                order = self._sorted()
            self._cache["order"] = order
        return self._cache["order"]

    def _sorted(self) -> IntArray:
        order: IntArray = np.empty(self.X.shape[::-1], dtype=np.int32)

        def sort(j: int) -> None:
            order[j] = np.argsort(self.X[:, j])

        columns = range(len(order))
        if order.size >= _THREADED:
            in_threads(sort, columns)
        else:
            for j in columns:
                sort(j)
        return order

    def has_missing(self) -> BoolArray:
        """Return which columns have missing values."""
        if "has_missing" not in self._cache:
            # One NaN makes a sum NaN, and finite numbers do not: no array of flags is needed.
            with np.errstate(over="ignore"):
                sums = np.array([column.sum() for column in self.X.T])
            self._cache["has_missing"] = np.isnan(sums)
        return self._cache["has_missing"]

    def ranges(self) -> tuple[FloatArray, FloatArray, BoolArray, IntArray]:
        """Return the ends, missing values and numbers of levels of the columns: what trees know.

        The ends of a column without any value are 0.
        """
        low, high = (np.nan_to_num(of.reduce(self.X, axis=0)) for of in (np.fmin, np.fmax))
        return low, high, self.has_missing(), self.n_levels

    def are_marks(self, at: IntArray) -> BoolArray:
        """Return which of some columns hold nothing but 0, 1 and missing values."""
        columns = (self.X[:, j] for j in at)
        found = [bool(np.all((x == 0) | (x == 1) | np.isnan(x))) for x in columns]
        return np.array(found, dtype=np.bool_)

    def learn_bins(self, rows: IntArray | None = None) -> Bins:
        """Return bins of the columns, learnt from (some of) the rows."""
        return Bins.learn(self.X, self.categorical, self.n_levels, rows)

    def encode(self, bins: Bins, order: IntArray | None = None) -> Array:
        """Return the bins of the rows as bytes (in the given order)."""
        return bins.encode(self.X, order)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the matrix block by block of its rows; here there is one."""
        yield slice(0, len(self)), self.X

    def rows(self, index: Any) -> "Columns":
        """Return some of the rows (also repeatedly); no column that is sorted is sorted again."""
        index = np.asarray(index)
        if index.dtype == bool:
            index = np.flatnonzero(index)
        X = np.take(self.X.T, index, axis=1).T
        return Columns(X, self.categorical, self.n_levels, {"taken_from": (self, index)})

    __getitem__ = rows


def by_column(X: FloatArray) -> FloatArray:
    """Return a matrix whose columns stand together in memory, the same if they do.

    One of many rows is turned in pieces: column after column every line of memory would be read
    once for each of the columns that share it.

    Examples
    --------
    >>> by_column(np.ones((3, 2))).flags.f_contiguous
    True
    """
    if X.flags.f_contiguous or len(X) <= _NEAR:
        return np.asfortranarray(X)
    out = np.empty(X.shape, dtype=X.dtype, order="F")
    for start in range(0, len(X), _NEAR):
        out[start : start + _NEAR] = X[start : start + _NEAR]
    return out
