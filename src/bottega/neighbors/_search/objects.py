"""Distances between strings, and between whatever a function compares."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.neighbors._kernels.distances import edit_distances
from bottega.neighbors._search.distance import Distance


def as_objects(X: Any, metric: Any) -> Array:
    """Return rows for a callable: a numeric table as it is, anything else as a list of objects.

    A table (frame or array) with one column that is not numeric stands for its entries. The edit
    distance takes nothing but strings.
    """
    if hasattr(X, "columns") or (isinstance(X, np.ndarray) and X.ndim == 2):
        X = np.asarray(X)
        X = X[:, 0] if X.shape[1] == 1 and X.dtype.kind not in "biuf" else X
    elif is_sparse(X):
        rows = X.tocsr()
        X = [rows[[i]] for i in range(rows.shape[0])]
    elif isinstance(X, str) or not hasattr(X, "__len__"):
        raise InputError(f"X must be a table or a sequence of objects; got {type(X).__name__}.")
    elif callable(metric):
        X = _rows_of_numbers(X)
    table = isinstance(X, np.ndarray) and X.ndim == 2
    if metric == "edit":
        strange = next((repr(item) for item in X if not isinstance(item, str)), None)
        if strange is not None:
            raise InputError(
                "metric='edit' compares strings: X must be a sequence of strings or a table with "
                f"one column of them; got {'a table of several columns' if table else strange}."
            )
    if table:
        return X
    found = np.empty(len(X), dtype=object)
    for i, item in enumerate(X):
        found[i] = item
    return found


def _rows_of_numbers(X: Any) -> Any:
    """Return lists of equally many numbers as a table, anything else as it is."""
    if not len(X) or not all(isinstance(row, list | tuple) for row in X):
        return X
    try:
        table = np.asarray(X)
    except ValueError:  # lists of different lengths
        return X
    return table if table.ndim == 2 and table.dtype.kind in "biuf" else X


@stored
class EditDistance(Distance):
    """Fewest insertions, deletions and replacements of characters."""

    def encode(self, X: Any) -> Array:
        """Return the strings."""
        return as_objects(X, "edit")

    def table(self, points: Array, stored: Array) -> FloatArray:
        """Return all distances."""
        return edit_distances(*_letters(points), *_letters(stored))


def _letters(strings: Array) -> tuple[IntArray, IntArray]:
    """Return the code points of all strings in a row, and where each string starts."""
    starts = np.cumsum([0, *map(len, strings)])
    joined = "".join(strings).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype=np.int32).astype(np.intp), starts


@stored
class CalledDistance(Distance):
    """What a function returns for two rows, or two objects."""

    def __init__(self, metric: Callable[..., float], params: Mapping[str, Any]) -> None:
        self.metric, self.params = metric, dict(params)

    def encode(self, X: Any) -> Array:
        """Return the rows of a table, or the objects."""
        return as_objects(X, self.metric)

    def table(self, points: Array, stored: Array) -> FloatArray:
        """Return all distances."""
        found: FloatArray = np.array(
            [[self.metric(a, b, **self.params) for b in stored] for a in points], dtype=np.float64
        ).reshape(len(points), len(stored))
        if not np.all(found >= 0) or np.any(np.isinf(found)):
            raise InputError(
                f"The metric {self.metric!r} gave a value that is not a distance (negative, "
                "infinite or not a number); it must return a number at least 0."
            )
        return found
