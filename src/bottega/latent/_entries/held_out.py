"""Folds of the entries of a table: what judges a factorisation of it.

A row that is held out whole says little about a factorisation, which fits a code to each row. An
entry that is held out is filled in from the rest of its row and of its column.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bottega.core import progress
from bottega.core.errors import InputError
from bottega.core.folds import Fold, make_folds
from bottega.core.judge import errors_of_folds
from bottega.core.parallel import in_threads, spare_threads
from bottega.core.path import Path
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray, IntArray

__all__ = ["entry_folds", "judge_entries", "judge_table", "observed_places", "without_entries"]

_MOST = 100_000  # entries in a fold of a table; more hardly make the estimate more exact
_LISTED = 10_000_000  # entries of a table that folds can be given for


def entry_folds(cv: Any, count: int, seed: int) -> list[Fold]:
    """Return folds of `count` entries, by their position; no more folds than entries."""
    if isinstance(cv, Integral) and not isinstance(cv, bool) and int(cv) >= 2:
        cv = min(int(cv), count)
    return make_folds(cv, count, random_state=seed)


def judge_entries(
    curve: Path,
    folds: Sequence[Fold],
    losses: Callable[[Fold], FloatArray],
    weight: FloatArray | None = None,
) -> Path:
    """Return the path with the mean loss of the entries that folds hold out.

    Parameters
    ----------
    curve : Path
        The settings.
    folds : sequence of (train, test)
        Positions of entries.
    losses : callable
        Fits all settings to the training entries of a fold and returns the losses at the entries
        held out, of shape (entries, settings).
    weight : ndarray, optional
        Weight of each entry.
    """
    # With fewer folds than threads a fit uses the threads itself.
    if len(folds) >= spare_threads() > 1:
        parts = in_threads(losses, folds, stage="folds")
    else:
        parts = []
        for fold in folds:
            parts.append(losses(fold))
            progress.report("folds", len(parts), len(folds))
    return replace(curve, estimate="entries", **errors_of_folds(folds, parts, weight))


def judge_table(
    curve: Path,
    X: Any,
    cv: Any,
    seed: int,
    losses: Callable[[Any, IntArray, IntArray], FloatArray],
) -> Path:
    """Return the path with the mean loss of the entries of a table that folds hold out.

    ``losses(X_rest, rows, columns)`` fits all settings to the table without some entries, and
    returns the losses at these rows and columns, (entries, settings). Folds that are given count
    the observed entries row after row.
    """
    places = observed_places(X, cv, seed)
    if len(places) < 2:
        raise InputError(
            f"There are {len(places)} observed entries, too few to hold some out: give a number "
            "instead of 'auto', or more rows."
        )
    p = int(X.shape[1])

    def judge(fold: Fold) -> FloatArray:
        train, test = fold
        hidden = np.ones(len(places), dtype=bool)
        hidden[train] = False
        rest = without_entries(X, places[hidden] // p, places[hidden] % p)
        return losses(rest, places[test] // p, places[test] % p)

    return judge_entries(curve, entry_folds(cv, len(places), seed), judge)


def observed_places(X: Any, cv: Any, seed: int) -> IntArray:
    """Return positions of observed entries (row times p plus column), rising.

    Of a large table it is a random sample: as many as folds of 100,000 entries take.
    """
    n, p = (int(size) for size in X.shape)
    number = float(cv) if isinstance(cv, Real) and not isinstance(cv, bool) else 0.0
    if number > 0:
        most = int(min(_MOST * number if number >= 1 else _MOST / number, _LISTED // 4))
    elif n * p <= _LISTED:
        most = _LISTED
    else:
        raise InputError(
            f"cv={cv!r} names single entries, which takes a table of at most {_LISTED:,} of them; "
            f"X has {n * p:,}. Give a number of folds, or the share of the entries to hold out."
        )
    rng = np.random.default_rng(seed)
    if n * p <= 4 * most:
        places = np.arange(n * p)
    else:
        places = np.unique(rng.integers(n * p, size=2 * most))
    if is_sparse(X):
        table = csr_array(X)
        lost = np.isnan(table.data)
        rows = np.repeat(np.arange(n), np.diff(table.indptr))[lost]
        gone = rows.astype(np.int64) * p + table.indices[lost]
        places = places[~np.isin(places, gone)]
    else:
        places = places[~np.isnan(X[places // p, places % p])]
    if len(places) > most:
        places = np.sort(rng.choice(places, most, replace=False))
    return places


def without_entries(X: Any, rows: IntArray, columns: IntArray) -> Any:
    """Return a table in which some more entries are missing."""
    if is_sparse(X):
        gaps = csr_array((np.full(len(rows), np.nan), (rows, columns)), shape=X.shape)
        return csr_array(csr_array(X) + gaps)
    found = X.copy()
    found[rows, columns] = np.nan
    return found
