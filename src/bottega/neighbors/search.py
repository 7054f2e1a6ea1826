"""Exact search for nearest neighbours, whatever the distance."""

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import ThreadpoolController

from bottega.core.chunks import split_rows
from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.neighbors._kernels.distances import EUCLIDEAN, listed_distances
from bottega.neighbors._kernels.votes import TIE
from bottega.neighbors._search.coordinates import Coordinates
from bottega.neighbors._search.distance import SAME_DIRECTION, scaled
from bottega.neighbors._search.metrics import METRIC, METRIC_PARAMS, POWER, effective_metric
from bottega.neighbors._search.resolve import make_distance
from bottega.neighbors._search.tables import GivenDistance

__all__ = ["NeighborSearch"]

# Entries of a table of distances that is held at once (64 MB with its indices).
_ENTRIES = 4_000_000
# Pairs of rows from which brute force is spread over the cores (measured).
_PAIRS_TO_SPREAD = 50_000_000
# scikit-learn's names of the kernel's distances.
_BRUTE_NAMES = ("euclidean", "manhattan", "chebyshev", "hamming")

_controller = cache(ThreadpoolController)


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
        return _count(self.points)

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
        points = self.points if own else self.distance.encode(X)
        distances = np.empty((_count(points), k))
        indices = np.empty((_count(points), k), dtype=np.intp)
        for rows, listed, named in self._lists(points, np.arange(_count(points)), k + own):
            # Equal up to rounding is equal here too, or rounding would choose among ties.
            keys = (named, _rounded(listed))
            order = np.lexsort((*keys, named == rows[:, None]) if own else keys, axis=1)[:, :k]
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
        points = self.points if X is None else self.distance.encode(X)
        yield from self._lists(points, np.arange(_count(points)), k)

    def distances(self, X: Any) -> FloatArray:
        """Return the distance from each row of X to each stored row."""
        return self.distance.table(self.distance.encode(X), self.points)

    def distances_from(self, row: int) -> FloatArray:
        """Return the distance from a stored row to each stored row."""
        found: FloatArray = self.distance.table(self.points[[row]], self.points)[0]
        return found

    def _lists(
        self, points: Any, rows: IntArray, k: int, width: int = 0
    ) -> Iterator[tuple[IntArray, FloatArray, IntArray]]:
        exhaustive = self._tree is None and self._brute is None
        width = self.n if exhaustive else min(max(width, k + 1), self.n)
        for part in split_rows(len(rows), max(1, _ENTRIES // width)):
            block = rows[part]
            if exhaustive:
                yield (block, *_nearest(self.distance.table(points[block], self.points), k))
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
        assert isinstance(self.distance, Coordinates)
        code = self.distance.code
        if self._tree is not None:
            bound, indices = self._tree.query(points, width, p=self.distance.power)
            bound, indices = bound.reshape(-1, width), indices.reshape(-1, width)
        else:
            # Work too small is slower on several threads than on one, and a search inside a worker
            # thread has others beside it that want the cores.
            alone = threading.current_thread() is threading.main_thread()
            spread = alone and len(points) * self.n >= _PAIRS_TO_SPREAD
            with _controller().limit(limits=None if spread else 1, user_api="openmp"):
                bound, indices = self._brute.kneighbors(points - self._center, width)
        distances = bound
        if code is not None:
            distances = listed_distances(points, self.points, indices, code)
        order = np.argsort(distances, axis=1, kind="stable")
        distances = np.take_along_axis(distances, order, axis=1)
        indices = np.take_along_axis(indices, order, axis=1)
        radius = distances[:, k - 1] * (1 + 2 * TIE)
        if self.metric in ("cosine", "correlation"):
            radius = np.maximum(radius, np.sqrt(2 * SAME_DIRECTION))
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
        return scaled(distances, self.metric), indices, final

    def _build(self) -> None:
        self._tree: Any = None
        self._brute: Any = None
        if not isinstance(self.distance, Coordinates):
            return
        code, power = self.distance.code, self.distance.power
        n, p = self.points.shape
        # A tree pays when it has many more leaves than a ball has directions (measured).
        if power is not None and power >= 1 and (p <= 6 or n >= 128 * 2.0**p):
            self._tree = cKDTree(self.points, leafsize=32)
        elif code is not None:
            # Products of centred rows cancel less; distances do not change.
            self._center = self.points.mean(axis=0) if code == EUCLIDEAN else np.zeros(p)
            self._brute = NearestNeighbors(algorithm="brute", metric=_BRUTE_NAMES[code])
            self._brute.fit(self.points - self._center)

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


def _count(points: Any) -> int:
    return int(points.shape[0])


def _nearest(table: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return lists out of a table of all distances, long enough for all ties at the k-th."""
    limit = np.partition(table, k - 1, axis=1)[:, k - 1] * (1 + 2 * TIE)
    inside = table <= limit[:, None]
    if np.isinf(limit).any():
        fewest = int(np.isfinite(table).sum(axis=1).min())
        raise InputError(
            f"{k} neighbors per samples are required, but some samples have only {fewest} at a "
            "known distance. Ask for fewer, or give distances to more rows."
        )
    width = int(np.max(np.sum(inside, axis=1)))
    indices = np.sort(np.argpartition(table, width - 1, axis=1)[:, :width], axis=1)
    distances = np.take_along_axis(table, indices, axis=1)
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(indices, order, axis=1)


def _rounded(distances: FloatArray) -> FloatArray:
    """Return ascending distances with those that only rounding tells apart made equal."""
    found = distances.copy()
    for j in range(1, found.shape[1]):
        same = found[:, j] <= found[:, j - 1] * (1 + TIE)
        found[same, j] = found[same, j - 1]
    return found
