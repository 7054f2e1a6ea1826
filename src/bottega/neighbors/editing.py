"""Fewer rows to store: drop those that mislead, or those that are not needed."""

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from bottega.core.errors import InputError
from bottega.core.params import Integer
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray, IntArray
from bottega.neighbors._kernels.votes import TIE, UNIFORM, neighbor_votes
from bottega.neighbors._search.weighting import NeighborLists
from bottega.neighbors.search import NeighborSearch

__all__ = ["condense", "edit"]


def edit(X: Any, y: Any, *, n_neighbors: int = 3, metric: Any = "euclidean") -> IntArray:
    """Return the rows whose k nearest others vote for their own class (Wilson's editing).

    Parameters
    ----------
    X : array-like of shape (n, p), or a sequence of n objects
        Inputs.
    y : array-like of shape (n,)
        Class labels.
    n_neighbors : int
        Number k of neighbours that vote, the row itself left out; below n.
    metric : str or callable
        Distance, see `NeighborSearch`.

    Returns
    -------
    ndarray of int
        Rows to keep, ascending. All rows are judged by the full set, so the order of the rows
        does not matter. Votes and ties are those of `NearestNeighborsClassifier`.

    Notes
    -----
    It removes noisy labels and smooths the boundary between classes; 1-NN on what is left comes
    near the Bayes rule. A class with at most k/2 rows disappears: do not edit very rare classes.

    Examples
    --------
    >>> edit([[0.0], [1.0], [2.0], [3.0], [4.0]], ["blue", "blue", "red", "blue", "blue"])
    array([0, 1, 3, 4])
    """
    Integer(1).check("edit", "n_neighbors", n_neighbors)
    search, codes, counts = _prepare(X, y, metric)
    n = len(codes)
    if n_neighbors >= n:
        raise InputError(
            f"n_neighbors={n_neighbors} others cannot vote on a row of {n}; give at most {n - 1}."
        )
    kept = np.zeros(n, dtype=np.bool_)
    ks = np.array([n_neighbors])
    table = np.empty((0, len(counts)))
    if search.places is not None:
        table = search.places.table(codes, len(counts))
    for places, distances, indices in search.near_places(None, n_neighbors + 1):
        lists = NeighborLists.of(distances, indices, search.places)
        rows, at = lists.members(places)
        near = distances[at], indices[at], places[at], codes[rows], codes, lists.copies
        labels, _ = neighbor_votes(*near, table, ks, UNIFORM, counts, -1, False)
        kept[rows] = labels[:, 0] == codes[rows]
    return np.flatnonzero(kept)


def condense(X: Any, y: Any, *, metric: Any = "euclidean", random_state: Any = 0) -> IntArray:
    """Return rows by which 1-NN labels every row right (Hart's condensed set).

    Parameters
    ----------
    X : array-like of shape (n, p), or a sequence of n objects
        Inputs.
    y : array-like of shape (n,)
        Class labels.
    metric : str or callable
        Distance, see `NeighborSearch`.
    random_state : int, RandomState, Generator or None
        For the order in which the rows are visited; the set depends on it.

    Returns
    -------
    ndarray of int
        Rows to keep, ascending.

    Notes
    -----
    The rows are visited until a whole round adds none; a row is added when the rows kept so
    far give it a wrong label. The set is small, not the smallest. Of equal rows with different
    labels all are kept, and of these no rule can label every one right.

    Noise is kept too, because it is labelled wrong by its neighbours: `edit` first. Costs
    (kept rows) times n distances.

    Examples
    --------
    >>> condense([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]], [0, 0, 0, 1, 1, 1])
    array([2, 3])
    """
    search, codes, counts = _prepare(X, y, metric)
    order = np.random.default_rng(seed_of(random_state, "condense")).permutation(len(codes))
    nearest: FloatArray = np.full(len(codes), np.inf)
    votes = np.zeros((len(codes), len(counts)), dtype=np.int64)
    kept = np.zeros(len(codes), dtype=np.bool_)
    changed = True
    while changed:
        changed = False
        for i in order:
            # A row with no votes yet (the very first) is labelled by nobody.
            if kept[i] or (votes[i].any() and votes[i].argmax() == codes[i]):
                continue
            kept[i] = changed = True
            distances = search.distances_from(i)
            votes[distances < nearest * (1 - TIE)] = 0
            votes[distances <= nearest * (1 + TIE), codes[i]] += 1
            nearest = np.minimum(nearest, distances)
    return np.flatnonzero(kept)


def _prepare(X: Any, y: Any, metric: Any) -> tuple[NeighborSearch, IntArray, IntArray]:
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    search = NeighborSearch(X, metric)
    check_consistent_length(search.points, y)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return search, codes, counts
