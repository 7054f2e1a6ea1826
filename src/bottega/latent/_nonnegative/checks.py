"""What a factorisation without negative numbers looks at in a table, and refuses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse

__all__ = ["largest_entry", "refuse_empty", "refuse_negative"]


def largest_entry(X: Any) -> float:
    """Return the largest observed entry of a table without negative ones."""
    entries = X.data if is_sparse(X) else X
    return float(np.max(entries, initial=0.0, where=~np.isnan(entries)))


def refuse_negative(X: Any, owner: str, names: Sequence[str]) -> None:
    """Refuse a table with negative entries, and say where the first one is."""
    data = X.data if is_sparse(X) else X
    with np.errstate(invalid="ignore"):
        wrong = data < 0
    count = int(np.count_nonzero(wrong))
    if not count:
        return
    if is_sparse(X):
        places = X.tocoo()
        at = np.flatnonzero(places.data < 0)
        i, j = min(zip(places.row[at].tolist(), places.col[at].tolist(), strict=True))
    else:
        i, j = (int(each) for each in np.argwhere(wrong)[0])
    raise InputError(
        f"Negative values in data passed to {owner}: X has {count}, the first {X[i, j]:.6g} in row "
        f"{i} (counted from 0), column {names[j]!r}. Shift or split such columns, or use a "
        "method that takes negative numbers, such as principal components."
    )


def refuse_empty(X: Any, names: Sequence[str] | None = None) -> None:
    """Refuse rows, and columns where their names are given, in which nothing is observed."""
    n, p = X.shape
    if is_sparse(X):
        places = X.tocoo()
        lost = np.isnan(places.data)
        by_row = np.bincount(places.row[lost], minlength=n)
        by_column = np.bincount(places.col[lost], minlength=p)
    else:
        lost = np.isnan(X)
        by_row, by_column = lost.sum(axis=1), lost.sum(axis=0)
    empty = None
    if names is not None and np.any(by_column == n):
        empty = f"Column {names[int(np.argmax(by_column == n))]!r} of X"
    if np.any(by_row == p):
        empty = f"Row {int(np.argmax(by_row == p))} of X (counted from 0)"
    if empty is not None:
        raise InputError(
            f"{empty} has no observed entry, so nothing can be said about it: leave it out."
        )
