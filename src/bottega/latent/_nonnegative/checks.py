"""What a factorisation without negative numbers refuses."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse

__all__ = ["refuse_empty", "refuse_negative"]


def refuse_negative(X: Any, owner: str) -> None:
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
        f"{i}, column {j} (counted from 0). Shift or split such columns, or use a method that "
        "takes negative numbers, such as principal components."
    )


def refuse_empty(X: Any, *, columns: bool = True) -> None:
    """Refuse rows (and columns) in which nothing is observed."""
    n, p = X.shape
    if is_sparse(X):
        places = X.tocoo()
        lost = np.isnan(places.data)
        by_row = np.bincount(places.row[lost], minlength=n)
        by_column = np.bincount(places.col[lost], minlength=p)
    else:
        lost = np.isnan(X)
        by_row, by_column = lost.sum(axis=1), lost.sum(axis=0)
    sides = [("Row", by_row, p)] + [("Column", by_column, n)] * columns
    for name, gone, all_of_them in sides:
        if np.any(gone == all_of_them):
            raise InputError(
                f"{name} {int(np.argmax(gone == all_of_them))} of X (counted from 0) has no "
                "observed entry, so nothing can be said about it: leave it out."
            )
