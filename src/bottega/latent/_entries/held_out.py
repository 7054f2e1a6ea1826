"""Folds of the entries of a table: what judges a factorisation of it.

A row that is held out whole says little about a factorisation, which fits a code to each row. An
entry that is held out is filled in from the rest of its row and of its column.
"""

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bottega.core import progress
from bottega.core.errors import InputError, ParameterError
from bottega.core.path import Path
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray, IntArray

__all__ = ["entry_folds", "judge_entries", "without_entries"]

_MOST = 100_000  # entries in a fold; more hardly make the estimate more exact

Entries = tuple[IntArray, IntArray]


def entry_folds(X: Any, cv: Any, seed: int) -> list[Entries]:
    """Return the rows and columns of the entries that each fold holds out.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, p)
        The table; missing entries (NaN) are in no fold.
    cv : int or float
        Number of folds, or the share of the entries that is held out once.
    seed : int
        Of the order in which entries are dealt.
    """
    if isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2:
        folds, share = int(cv), 1 / int(cv)
    elif isinstance(cv, Real) and not isinstance(cv, Integral | bool) and 0 < float(cv) < 1:
        folds, share = 1, float(cv)
    else:
        raise ParameterError(
            f"cv={cv!r} is not allowed: entries of the table are held out, so give a number of "
            "folds of at least 2, or the share of the entries that is held out once."
        )
    order = _shuffled(X, seed, folds * _MOST)
    size = min(_MOST, int(share * len(order)) if folds == 1 else -(-len(order) // folds))
    parts = [order[f * size : (f + 1) * size] for f in range(folds)]
    parts = [part for part in parts if len(part)]
    if not parts or len(order) < 2:
        raise InputError(
            f"There are {len(order)} observed entries, too few to hold some out: give a number "
            "instead of 'auto', or more rows."
        )
    return [(part // X.shape[1], part % X.shape[1]) for part in parts]


def _shuffled(X: Any, seed: int, most: int) -> IntArray:
    """Return places of observed entries in random order, all of them or some more than `most`."""
    n, p = (int(size) for size in X.shape)
    rng = np.random.default_rng(seed)
    if n * p <= 4 * most:
        places = rng.permutation(n * p)
    else:
        places = np.unique(rng.integers(n * p, size=2 * most))
        places = rng.permutation(places)
    if is_sparse(X):
        table = csr_array(X)
        lost = np.isnan(table.data)
        rows = np.repeat(np.arange(n), np.diff(table.indptr))[lost]
        gone = rows.astype(np.int64) * p + table.indices[lost]
        return places[~np.isin(places, gone)]
    return places[~np.isnan(X[places // p, places % p])]


def without_entries(X: Any, rows: IntArray, columns: IntArray) -> Any:
    """Return a table in which some more entries are missing."""
    if is_sparse(X):
        gaps = csr_array((np.full(len(rows), np.nan), (rows, columns)), shape=X.shape)
        return csr_array(csr_array(X) + gaps)
    found = X.copy()
    found[rows, columns] = np.nan
    return found


def judge_entries(
    curve: Path,
    X: Any,
    cv: Any,
    seed: int,
    losses: Callable[[Any, int, IntArray, IntArray], FloatArray],
) -> Path:
    """Return the path with the mean loss of the entries that folds hold out.

    ``losses(X_rest, k, rows, columns)`` fits k components to the rest and returns the losses at
    the entries held out.
    """
    folds = entry_folds(X, cv, seed)
    found: list[list[FloatArray]] = []
    for f, (rows, columns) in enumerate(folds):
        rest = without_entries(X, rows, columns)
        found.append([losses(rest, int(k), rows, columns) for k in curve.values])
        progress.report("folds", f + 1, len(folds))
    together = [np.concatenate([fold[i] for fold in found]) for i in range(len(curve))]
    return replace(
        curve,
        estimate="entries",
        error=np.array([each.mean() for each in together]),
        error_se=np.array([each.std(ddof=1) / np.sqrt(len(each)) for each in together]),
        fold_error=np.array([[each.mean() for each in fold] for fold in found]),
    )
