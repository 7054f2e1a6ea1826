"""Weights of neighbours by a function of their distances."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.neighbors._kernels.votes import BALANCED, INVERSE, TIE, UNIFORM
from bottega.neighbors._search.places import Places

SCHEMES = {None: UNIFORM, "uniform": UNIFORM, "distance": INVERSE, "balanced": BALANCED}


class NeighborLists(NamedTuple):
    """Neighbours of some points, nearest first, and what each point leaves out."""

    distances: FloatArray
    indices: IntArray  # rows, or places where many rows are equal
    left_out: IntArray  # the row or place that a point leaves out a row of, -1: none
    rows: IntArray  # the training row that is left out, -1: none
    places: Places | None = None  # None: each row is its own

    @classmethod
    def of(cls, distances: FloatArray, indices: IntArray, places: Any = None) -> "NeighborLists":
        """Return lists that leave nothing out."""
        nobody = np.full(len(indices), -1)
        return cls(distances, indices, nobody, nobody, places)

    @property
    def copies(self) -> IntArray:
        """Number of rows at each place; empty where it is one."""
        return np.empty(0, dtype=np.intp) if self.places is None else self.places.copies

    def members(self, points: IntArray) -> tuple[IntArray, Any]:
        """Return the training rows that the points of the lists are, and the list of each."""
        return (points, slice(None)) if self.places is None else self.places.rows(points)

    def take(self, which: Any, left_out: IntArray, rows: IntArray) -> "NeighborLists":
        """Return some of the lists, which leave out training rows."""
        return NeighborLists(
            self.distances[which], self.indices[which], left_out, rows, self.places
        )


def weights_by(function: Callable[[Any], Any], lists: NeighborLists, k: int) -> FloatArray:
    """Return the weight of each listed row in the neighbourhood for k, 0 outside it.

    The function sees the distances of whole neighbourhoods, those of equally many rows together.
    Rows of infinite weight count alone.
    """
    inside = _inside(lists, k)
    sizes = inside.sum(axis=1)
    found = np.zeros(inside.shape)
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        chosen = inside[some]
        near = lists.distances[some][chosen].reshape(len(some), size)
        given = np.asarray(function(near), dtype=np.float64)
        if given.shape != near.shape or not np.all(given >= 0):
            raise InputError(
                "The function of `weights` must return a number at least 0 for each distance; it "
                f"got distances of shape {near.shape} and returned shape {given.shape}."
            )
        infinite = np.isinf(given)
        given = np.where(infinite.any(axis=1, keepdims=True), infinite, given)
        block = np.zeros(chosen.shape)
        block[chosen] = given.ravel()
        found[some] = block
    if not np.all(found.sum(axis=1) > 0):
        raise InputError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to "
            "avoid this case if you are using a user-defined function."
        )
    return found


def _inside(lists: NeighborLists, k: int) -> BoolArray:
    others = np.where(lists.indices == lists.left_out[:, None], np.inf, lists.distances)
    limit = np.partition(others, k - 1, axis=1)[:, k - 1] * (1 + TIE)
    return np.asarray(others <= limit[:, None])


def means_by(
    function: Callable[[Any], Any], lists: NeighborLists, y: FloatArray, ks: IntArray
) -> FloatArray:
    """Return the weighted mean response of the neighbourhoods, one column per value of `ks`."""
    found = np.empty((len(lists.indices), len(ks)))
    for j, k in enumerate(ks):
        weights = weights_by(function, lists, int(k))
        found[:, j] = np.sum(weights * y[lists.indices], axis=1) / weights.sum(axis=1)
    return found


def shares_by(
    function: Callable[[Any], Any],
    lists: NeighborLists,
    codes: IntArray,
    ks: IntArray,
    n_classes: int,
) -> FloatArray:
    """Return the share of each class in the weighted votes: (points, values of `ks`, classes)."""
    found = np.empty((len(lists.indices), len(ks), n_classes))
    for j, k in enumerate(ks):
        weights = weights_by(function, lists, int(k))
        for c in range(n_classes):
            found[:, j, c] = np.sum(weights, axis=1, where=codes[lists.indices] == c)
    return np.asarray(found / found.sum(axis=2, keepdims=True))


def own_weights_by(
    function: Callable[[Any], Any], lists: NeighborLists, rows: IntArray, ks: IntArray
) -> FloatArray:
    """Return the sum over training rows of the weight each has in its own neighbourhood."""
    own = lists.indices == rows[:, None]
    found = []
    for k in ks:
        weights = weights_by(function, lists, int(k))
        found.append(np.sum(weights[own] / weights.sum(axis=1)[own.any(axis=1)]))
    return np.array(found)
