"""Sparse tables: which ones are, which are made dense, and how in parts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from bottega.core.typing import FloatArray

__all__ = ["SMALL", "dense_parts", "is_large_sparse", "is_sparse", "small_as_dense"]

# Numbers in a table up to which it is made dense: what is small is quicker and more exact so.
SMALL = 2**22


def is_sparse(X: Any) -> bool:
    """Return True if X is a sparse matrix or array of SciPy's."""
    return bool(issparse(X))


def is_large_sparse(X: Any) -> bool:
    """Return True if a table is sparse, and too large to be made dense."""
    return is_sparse(X) and X.shape[0] * X.shape[1] > SMALL


def small_as_dense(X: Any) -> Any:
    """Return the table as an array, unless it is a large sparse one."""
    return X.toarray() if is_sparse(X) and not is_large_sparse(X) else X


def dense_parts(X: Any) -> Iterator[tuple[slice, FloatArray]]:
    """Yield rows and what the table has there as an array: all at once unless it is sparse."""
    if not is_sparse(X):
        yield slice(0, X.shape[0]), X
        return
    table, size = X.tocsr(), max(1, SMALL // max(1, X.shape[1]))
    for start in range(0, X.shape[0], size):
        rows = slice(start, min(start + size, X.shape[0]))
        yield rows, np.ascontiguousarray(table[rows].toarray())
