"""Exact search for nearest neighbours, whatever the distance."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.errors import InputError
from bottega.core.loaded import insist
from bottega.core.rows import split_rows
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray
from bottega.neighbors._kernels.votes import TIE
from bottega.neighbors._search.coordinates import Coordinates
from bottega.neighbors._search.index import ENTRIES, Lists, PointIndex
from bottega.neighbors._search.metrics import METRIC, METRIC_PARAMS, POWER, effective_metric
from bottega.neighbors._search.places import Places, find_places
from bottega.neighbors._search.resolve import make_distance
from bottega.neighbors._search.tables import GivenDistance

__all__ = ["NeighborSearch"]


@stored
class NeighborSearch:
    r"""Finds the nearest of the stored rows, exactly.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p), or a sequence of n strings or objects
        Rows to search among. Objects need ``metric="edit"`` (strings) or a callable.
    metric : str, callable or DistanceMetric
        ``"minkowski"`` (with the power `p`), ``"euclidean"`` (or ``"l2"``), ``"manhattan"``
        (``"cityblock"``, ``"l1"``), ``"chebyshev"`` (the largest difference), ``"hamming"``
        (share of the coordinates that differ), ``"cosine"`` (1 minus the cosine of the angle; a
        row of zeros is at right angles to all others), ``"correlation"`` (the same of rows less
        their means), ``"mahalanobis"`` (with the covariance of X, or its pseudo-inverse where it
        is singular), ``"seuclidean"`` (columns over their standard deviations), ``"sqeuclidean"``,
        ``"nan_euclidean"`` (over the columns that two rows both have), ``"edit"`` (fewest
        insertions, deletions and replacements of characters), ``"precomputed"`` (X is the n by n
        table of distances; what a sparse one does not hold is infinitely far), another name of
        `sklearn.metrics.pairwise_distances`, a `sklearn.metrics.DistanceMetric`, or any
        ``metric(a, b) -> float``, at least 0, which is called with the rows of a table or with the
        entries of any other sequence.
    p : float
        Power of the Minkowski distance, infinity included.
    metric_params : dict, optional
        Further parameters of the distance: ``p`` and ``w`` of ``"minkowski"``, ``V`` or ``VI`` of
        ``"mahalanobis"``, ``V`` of ``"seuclidean"``, those of the library for its own, and keyword
        arguments of a callable.

    Notes
    -----
    Few columns, or very many rows for their number, are searched by SciPy's k-d tree, the rest by
    scikit-learn's brute force. Both only name candidates: their distances are computed again from
    differences, so that duplicates are at distance exactly 0, and a list is taken as final only
    when nothing outside it can belong to it, ties and the rounding of matrix products considered.

    Sparse rows, strings, callables and the distances of the library are compared with every row:
    n distances per query.

    Examples
    --------
    >>> search = NeighborSearch(["cat", "cart", "dog"], metric="edit")
    >>> distances, indices = search.query(["car"], k=2)
    >>> distances, indices
    (array([[1., 1.]]), array([[0, 1]]))
    """

    def __init__(
        self,
        X: Any,
        metric: str | Callable[[Any, Any], float] = "euclidean",
        *,
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
    ) -> None:
        METRIC.check("NeighborSearch", "metric", metric)
        POWER.check("NeighborSearch", "p", p)
        METRIC_PARAMS.check("NeighborSearch", "metric_params", metric_params)
        self.metric, params = effective_metric(metric, p, metric_params)
        if self.metric == "precomputed" and not is_sparse(X):
            X = np.atleast_2d(np.asarray(X))
        self.distance = make_distance(X, self.metric, params)
        self.points = self.distance.encode(X)
        if isinstance(self.distance, GivenDistance):
            self.points = self.distance.with_diagonal(self.points)
        self._build()

    @property
    def n(self) -> int:
        """Number of stored rows."""
        return int(self.points.shape[0])

    @property
    def rows(self) -> Any:
        """The stored rows as they were given; None where only what they became is kept."""
        return self.points if self.distance.plain else None

    def query(self, X: Any, k: int) -> tuple[FloatArray, IntArray]:
        """Return the k nearest stored rows of each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p), a sequence of m objects, or None
            Points; None stands for the stored rows, each of which then leaves itself out.
        k : int
            How many; of rows at the same distance the first are taken.

        Returns
        -------
        distances, indices : ndarray of shape (m, k)
            By distance, then by row.
        """
        own = X is None
        if not 1 <= k <= self.n - own:
            raise InputError(
                f"k={k} neighbours were asked for among {self.n - own} rows; give 1 to "
                f"{self.n - own}."
            )
        points = None if own else self.distance.encode(X)
        m = self.n if points is None else int(points.shape[0])
        distances, indices = np.empty((m, k)), np.empty((m, k), dtype=np.intp)
        leading = None if self.places is None else self.places.leading(k + own)
        for block, listed, named in self._lists(points, k + own):
            rows, at = self.rows_at(block) if own else (block, slice(None))
            # Equal up to rounding is equal here too, or rounding would choose among ties.
            near = _rounded(listed)
            copies = 1 if leading is None else leading.shape[1]
            for part in split_rows(len(rows), max(1, ENTRIES // (named.shape[1] * copies))):
                which = part if isinstance(at, slice) else at[part]
                found = named[which] if leading is None else _spread(leading[named[which]])
                last = found < 0
                if own:
                    last |= found == rows[part][:, None]
                keys = found, np.repeat(near[which], copies, axis=1), last
                order = np.lexsort(keys, axis=1)[:, :k]
                indices[rows[part]] = np.take_along_axis(found, order, axis=1)
                distances[rows[part]] = np.take_along_axis(listed[which], order // copies, axis=1)
        return distances, indices

    def neighborhoods(self, X: Any, k: int) -> Lists:
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
        index = self._index if self.places is None else PointIndex(self.distance, self.points)
        yield from index.lists(self.points if X is None else self.distance.encode(X), k)

    def near_places(self, X: Any, k: int) -> Lists:
        """Yield what `neighborhoods` does, of distinct rows where many are equal.

        Parameters
        ----------
        X : array-like, sequence of objects, or None
            Points; None stands for the places themselves.
        k : int
            Number of rows in the neighbourhood, at most n.

        Yields
        ------
        points, distances, indices
            Which rows of X, or which places, and the places near them: those of ``places``, the
            stored rows themselves where it is None.
        """
        yield from self._lists(None if X is None else self.distance.encode(X), k)

    def rows_at(self, places: IntArray) -> tuple[IntArray, Any]:
        """Return the rows at some places, and for each which of the places it is at."""
        return (places, slice(None)) if self.places is None else self.places.rows(places)

    def distances(self, X: Any) -> FloatArray:
        """Return the distance from each row of X to each stored row."""
        return self.distance.table(self.distance.encode(X), self.points)

    def distances_from(self, row: int) -> FloatArray:
        """Return the distance from a stored row to each stored row."""
        found: FloatArray = self.distance.table(self.points[[row]], self.points)[0]
        return found

    def _lists(self, points: Any, k: int) -> Lists:
        index = self._index
        return index.lists(index.points if points is None else points, min(k, len(index)))

    def _build(self) -> None:
        self.places: Places | None = None
        points = self.points
        if isinstance(self.distance, Coordinates):
            self.places = find_places(points)
            points = points if self.places is None else points[self.places.first]
        self._index = PointIndex(self.distance, points)

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        if isinstance(self.distance, Coordinates):
            fits = self.points.ndim == 2 and self.points.shape[1] == self.distance.width
            insist(fits, "stored rows of another width")
            insist(np.isfinite(self.points), "stored rows that are not numbers")

    def __getstate__(self) -> dict[str, Any]:
        points = self.points
        if is_sparse(points):  # as arrays, which every model file takes
            points = (points.data, points.indices, points.indptr, points.shape)
        return {"metric": self.metric, "distance": self.distance, "points": points}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self.points, tuple):
            *parts, shape = self.points
            self.points = sparse.csr_array(tuple(parts), shape=shape)
        self._build()


def _spread(members: IntArray) -> IntArray:
    """Return the rows at listed places, those of one point in one row."""
    return members.reshape(len(members), -1)


def _rounded(distances: FloatArray) -> FloatArray:
    """Return ascending distances with those that only rounding tells apart made equal."""
    found = distances.copy()
    for j in range(1, found.shape[1]):
        same = found[:, j] <= found[:, j - 1] * (1 + TIE)
        found[same, j] = found[same, j - 1]
    return found
