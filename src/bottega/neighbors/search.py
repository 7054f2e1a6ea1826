"""Exact search for nearest neighbours, whatever the distance."""

import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array
from threadpoolctl import ThreadpoolController

from bottega.core.chunks import split_rows
from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.neighbors._kernels.distances import (
    EUCLIDEAN,
    HAMMING,
    all_distances,
    edit_distances,
    listed_distances,
    project,
)
from bottega.neighbors._kernels.votes import TIE
from bottega.neighbors._search.metrics import (
    BRUTE_NAMES,
    CODES,
    METRIC,
    TREE_POWERS,
    as_objects,
    letters,
    takes_objects,
    whitening,
)

__all__ = ["NeighborSearch"]

# Entries of a table of distances that is held at once (64 MB with its indices).
_ENTRIES = 4_000_000
# Directions closer than this are the same: it is the rounding of their normalisation.
_SAME_DIRECTION = 1e-28
# Pairs of rows from which brute force is spread over the cores (measured).
_PAIRS_TO_SPREAD = 50_000_000

_controller = cache(ThreadpoolController)


@stored
class NeighborSearch:
    r"""Finds the nearest of the stored rows, exactly.

    Parameters
    ----------
    X : array-like of shape (n, p), or a sequence of n strings or objects
        Rows to search among. Objects need ``metric="edit"`` (strings) or a callable.
    metric : str or callable
        ``"euclidean"``, ``"manhattan"``, ``"chebyshev"`` (the largest difference), ``"hamming"``
        (share of the coordinates that differ), ``"cosine"`` (1 minus the cosine of the angle; a
        row of zeros is at right angles to all others), ``"mahalanobis"`` (with the covariance of
        X, or its pseudo-inverse where it is singular), ``"edit"`` (fewest insertions, deletions
        and replacements of characters), or any ``metric(a, b) -> float``, at least 0, which is
        called with the rows of a table or with the entries of any other sequence.

    Notes
    -----
    Few columns, or very many rows for their number, are searched by SciPy's k-d tree, the rest by
    scikit-learn's brute force. Both only name candidates: their distances are computed again from
    differences, so that duplicates are at distance exactly 0, and a list is taken as final only
    when nothing outside it can belong to it, ties and the rounding of matrix products considered.

    Strings and callables are compared with every row: n distances per query.

    Examples
    --------
    >>> search = NeighborSearch(["cat", "cart", "dog"], metric="edit")
    >>> distances, indices = search.query(["car"], k=2)
    >>> distances, indices
    (array([[1., 1.]]), array([[0, 1]]))
    """

    def __init__(self, X: Any, metric: str | Callable[[Any, Any], float] = "euclidean") -> None:
        METRIC.check("NeighborSearch", "metric", metric)
        self.metric = metric
        self.n_columns: int | None = None
        self.directions: FloatArray | None = None
        if metric == "mahalanobis":
            self.directions = whitening(check_array(X, dtype=np.float64))
        self.points = self._encode(X)
        self._build()

    @property
    def n(self) -> int:
        """Number of stored rows."""
        return len(self.points)

    def query(self, X: Any, k: int) -> tuple[FloatArray, IntArray]:
        """Return the k nearest stored rows of each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p), or a sequence of m objects
            Points.
        k : int
            How many; of rows at the same distance the first are taken.

        Returns
        -------
        distances, indices : ndarray of shape (m, k)
            By distance, then by row.
        """
        if not 1 <= k <= self.n:
            raise InputError(f"k={k} neighbours were asked for among {self.n} rows; give 1 to n.")
        points = self._encode(X)
        distances = np.empty((len(points), k))
        indices = np.empty((len(points), k), dtype=np.intp)
        for rows, listed, named in self._lists(points, np.arange(len(points)), k, k + 1):
            # Equal up to rounding is equal here too, or rounding would choose among ties.
            order = np.lexsort((named, _rounded(listed)), axis=1)[:, :k]
            distances[rows] = np.take_along_axis(listed, order, axis=1)
            indices[rows] = np.take_along_axis(named, order, axis=1)
        return distances, indices

    def neighborhoods(self, X: Any, k: int) -> Iterator[tuple[IntArray, FloatArray, IntArray]]:
        """Yield lists that hold everything no farther than the k-th neighbour, ties included.

        Parameters
        ----------
        X : array-like, sequence of objects, or None
            Points; None stands for the stored rows themselves.
        k : int
            Size of the neighbourhood, at most n.

        Yields
        ------
        rows, distances, indices
            Which rows of X, and their lists, by distance; the lists of one table are of one
            length, and may go on beyond the neighbourhood.
        """
        points = self.points if X is None else self._encode(X)
        yield from self._lists(points, np.arange(len(points)), k, k + 1)

    def distances(self, X: Any) -> FloatArray:
        """Return the distance from each row of X to each stored row."""
        return self._all(self._encode(X))

    def distances_from(self, row: int) -> FloatArray:
        """Return the distance from a stored row to each stored row."""
        found: FloatArray = self._all(self.points[row : row + 1])[0]
        return found

    def _lists(
        self, points: Array, rows: IntArray, k: int, width: int
    ) -> Iterator[tuple[IntArray, FloatArray, IntArray]]:
        exhaustive = takes_objects(self.metric)
        width = self.n if exhaustive else min(width, self.n)
        for part in split_rows(len(rows), max(1, _ENTRIES // width)):
            block = rows[part]
            if exhaustive:
                yield (block, *_nearest(self._all(points[block]), k))
                continue
            distances, indices, final = self._candidates(points[block], k, width)
            if final.all():
                yield block, distances, indices
                continue
            if final.any():
                yield block[final], distances[final], indices[final]
            yield from self._lists(points, block[~final], k, 2 * width)

    def _candidates(
        self, points: FloatArray, k: int, width: int
    ) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return lists of `width` neighbours, and which of them are final for k."""
        code = CODES[str(self.metric)]
        if self._tree is not None:
            bound, indices = self._tree.query(points, width, p=TREE_POWERS[code])
            bound, indices = bound.reshape(-1, width), indices.reshape(-1, width)
        else:
            # Work too small is slower on several threads than on one, and a search inside a worker
            # thread has others beside it that want the cores.
            alone = threading.current_thread() is threading.main_thread()
            spread = alone and len(points) * self.n >= _PAIRS_TO_SPREAD
            with _controller().limit(limits=None if spread else 1, user_api="openmp"):
                bound, indices = self._brute.kneighbors(points - self._center, width)
        distances = listed_distances(points, self.points, indices, code)
        order = np.argsort(distances, axis=1, kind="stable")
        distances = np.take_along_axis(distances, order, axis=1)
        indices = np.take_along_axis(indices, order, axis=1)
        radius = distances[:, k - 1] * (1 + 2 * TIE)
        if self.metric == "cosine":
            radius = np.maximum(radius, np.sqrt(2 * _SAME_DIRECTION))
        if width == self.n:
            final = np.ones(len(points), dtype=np.bool_)
        elif self._tree is None and code == EUCLIDEAN:
            # Brute force expands the square, so what it left out may be nearer than it thought,
            # by rounding. Only rows no longer than |x| + radius can be inside the radius.
            length = np.sqrt(np.sum((points - self._center) ** 2, axis=1))
            factor = 4 * (points.shape[1] + 4) * np.finfo(np.float64).eps
            final = radius**2 < bound[:, -1] ** 2 - factor * (2 * length + radius) ** 2
        else:
            final = radius < bound[:, -1]
        return self._scaled(distances), indices, final

    def _all(self, points: Array) -> FloatArray:
        """Return all distances from points in the coordinates of the search."""
        if callable(self.metric):
            found: FloatArray = np.array(
                [[self.metric(a, b) for b in self.points] for a in points], dtype=np.float64
            ).reshape(len(points), self.n)
            if not np.all(found >= 0) or np.any(np.isinf(found)):
                raise InputError(
                    f"The metric {self.metric!r} gave a value that is not a distance "
                    "(negative, infinite or not a number); it must return a number at least 0."
                )
            return found
        if self.metric == "edit":
            return edit_distances(*letters(points), *letters(self.points))
        return self._scaled(all_distances(points, self.points, CODES[str(self.metric)]))

    def _scaled(self, distances: FloatArray) -> FloatArray:
        """Return distances between encoded points as those of the metric."""
        if self.metric != "cosine":
            return distances
        found: FloatArray = distances**2 / 2  # of unit vectors: 1 minus the cosine
        found[found < _SAME_DIRECTION] = 0.0
        return found

    def _encode(self, X: Any) -> Array:
        """Return rows in the coordinates in which they are searched."""
        if takes_objects(self.metric):
            return as_objects(X, self.metric)
        table: FloatArray = check_array(X, dtype=np.float64, order="C")
        if self.n_columns is None:
            self.n_columns = table.shape[1]
        elif table.shape[1] != self.n_columns:
            raise InputError(
                f"X has {table.shape[1]} columns, but the stored rows have {self.n_columns}."
            )
        if self.directions is not None:
            return project(table, self.directions)
        if self.metric == "cosine":
            length = np.sqrt(np.sum(table**2, axis=1))
            # A coordinate of their own makes rows of zeros a direction at right angles to all.
            unit = table / np.where(length > 0, length, 1.0)[:, None]
            return np.column_stack([unit, length == 0])
        return table

    def _build(self) -> None:
        self._tree: Any = None
        self._brute: Any = None
        if takes_objects(self.metric):
            return
        code = CODES[str(self.metric)]
        n, p = self.points.shape
        # A tree pays when it has many more leaves than a ball has directions (measured).
        if code != HAMMING and (p <= 6 or n >= 128 * 2.0**p):
            self._tree = cKDTree(self.points, leafsize=32)
            return
        # Products of centred rows cancel less; distances do not change.
        self._center = self.points.mean(axis=0) if code == EUCLIDEAN else np.zeros(p)
        self._brute = NearestNeighbors(algorithm="brute", metric=BRUTE_NAMES[code])
        self._brute.fit(self.points - self._center)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("metric", "n_columns", "directions", "points")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._build()


def _nearest(table: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return lists out of a table of all distances, long enough for all ties at the k-th."""
    limit = np.partition(table, k - 1, axis=1)[:, k - 1] * (1 + 2 * TIE)
    width = int(np.max(np.sum(table <= limit[:, None], axis=1)))
    indices = np.argsort(table, axis=1, kind="stable")[:, :width]
    return np.take_along_axis(table, indices, axis=1), indices


def _rounded(distances: FloatArray) -> FloatArray:
    """Return ascending distances with those that only rounding tells apart made equal."""
    found = distances.copy()
    for j in range(1, found.shape[1]):
        same = found[:, j] <= found[:, j - 1] * (1 + TIE)
        found[same, j] = found[same, j - 1]
    return found
