"""Blocks of rows in whatever form they come: arrays, sparse matrices, data frames."""

import math
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import is_classifier

from bottega.core.errors import InputError
from bottega.core.frames import is_frame
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray

_A_DECADE = 8  # checkpoints from one power of ten to the next


def as_block(X: Any) -> Any:
    """Return rows as a frame, a CSR matrix or an array of two dimensions."""
    if is_frame(X):
        return X
    if is_sparse(X):
        return X.tocsr()
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise InputError(
            f"X must be a table of rows and columns; got {rows.ndim} dimensions. Give a single "
            "row as [[...]]."
        )
    return rows


def classifies(learner: Any) -> bool:
    """Return True if a learner is a classifier: then its first block names all classes."""
    return hasattr(learner, "__sklearn_tags__") and bool(is_classifier(learner))


def take(X: Any, rows: slice) -> Any:
    """Return some rows that follow one another."""
    if is_frame(X):
        return nw.from_native(X, eager_only=True)[rows, :].to_native()
    return X[rows]


def dense_rows(X: Any, constant: bool) -> FloatArray:
    """Return rows as a dense array, with the constant 1 last where it is asked for."""
    if is_frame(X):
        X = nw.from_native(X, eager_only=True).to_numpy()
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return np.column_stack([dense, np.ones(len(dense))]) if constant else dense


def next_checkpoint(rows: int) -> int:
    """Return the next of the numbers 1, 2, 3, 4, 5, 6, 8, 10, 14, 18, 24, 32, ... above `rows`.

    They grow in equal proportion, so a stream of any length has few of them.

    Examples
    --------
    >>> next_checkpoint(10), next_checkpoint(1_000_000)
    (14, 1333522)
    """
    k = max(0, math.floor(_A_DECADE * math.log10(max(rows, 1))) - 1)
    while _checkpoint(k) <= rows:
        k += 1
    return _checkpoint(k)


def _checkpoint(k: int) -> int:
    return math.ceil(10 ** (k / _A_DECADE) * (1 - 1e-12))
