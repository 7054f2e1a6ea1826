"""Hierarchical clustering: rows joined pair by pair into a tree, which is cut."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from scipy.cluster.hierarchy import cophenet, fcluster, leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist, squareform
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from bottega.cluster._kmeans.problem import RowMap
from bottega.cluster._shown import sizes_by_cluster
from bottega.cluster.silhouette import silhouette
from bottega.core.cards import Card
from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import Unweighted
from bottega.core.losses import Loss
from bottega.core.params import Auto, Boolean, Choice, Integer, OrNone, Parameter, Real
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.tables import Section, Summary
from bottega.core.tuned import Tuned
from bottega.core.typing import FloatArray, IntArray

__all__ = ["Hierarchical"]

_METHODS = ("ward", "average", "complete", "single", "weighted", "centroid", "median")
_METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "correlation", "precomputed")
_SQUARED = ("ward", "centroid", "median")  # whose formulas are of Euclidean distances
_MOST_ROWS = 30_000  # whose distances take 3.6 GB


@dataclass
class _MergeTree:
    """The tree of a table, and the distances it was made of."""

    distances: FloatArray  # of all pairs, condensed
    merges: FloatArray  # SciPy's linkage matrix
    unit: float

    @property
    def n(self) -> int:
        return len(self.merges) + 1

    @cached_property
    def square(self) -> FloatArray:
        """The distances as a square table."""
        return np.asarray(squareform(self.distances))


class Hierarchical(ClusterMixin, Unweighted, Tuned):
    r"""Agglomerative hierarchical clustering.

    Every row starts as a cluster, and the two clusters at the least distance are joined until one
    is left. The distance between clusters is the `method`: ``"single"`` the least and
    ``"complete"`` the largest distance between their rows, ``"average"`` the mean, ``"weighted"``
    the mean of the distances of the two parts that were joined last, ``"centroid"`` and
    ``"median"`` that of their centres, and ``"ward"``

    .. math:: d(A, B) = \sqrt{\frac{2 |A| |B|}{|A| + |B|}} \lVert \bar a - \bar b \rVert_2

    whose squares are twice what the join adds to the sum of squares within clusters.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default="auto"
        Clusters that the tree is cut into; more are smaller. ``"auto"`` picks from the path over 2
        to `max_clusters` by the largest mean silhouette. None where `height` is given.
    height : float or None, default=None
        Height at which the tree is cut, instead of a number of clusters; higher gives fewer.
    method : {"ward", "average", "complete", "single", "weighted", "centroid", "median"}
        Distance between clusters.
    metric : str, default="euclidean"
        Distance between rows: ``"euclidean"``, ``"cityblock"``, ``"chebyshev"``, ``"cosine"``,
        ``"correlation"``, or ``"precomputed"`` where X is the table of all distances.
    standardize : bool, default=False
        Whether columns are divided by their standard deviations first.
    select : {"silhouette"}, default="silhouette"
        Rule that picks the number of clusters.
    max_clusters : int, default=10
        The largest number of clusters of the path.
    optimal_order : bool, default=False
        Whether neighbouring leaves of the tree are made as near to one another as the tree admits;
        it takes longer than the tree.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each row, numbered in the order of their first rows.
    n_clusters_ : int
        Number of clusters.
    merges_ : ndarray of shape (n - 1, 4)
        The joins: the two clusters (rows are 0 to n - 1, the cluster of join i is n + i), the
        height, and the number of rows; SciPy's linkage matrix.
    height_ : float
        A height at which the cut gives these clusters: half way between two joins.
    leaves_ : ndarray of shape (n,)
        The rows in the order of the leaves.
    cophenetic_correlation_ : float
        Correlation between the distances of rows and the heights at which the tree joins them: how
        much of the distances the tree shows. NaN where all distances are equal.
    path_ : Path
        The whole curve, when `n_clusters` is ``"auto"``.

    Notes
    -----
    The distances of all pairs are kept: 4 n^2 bytes, so more than 30,000 rows are refused; cluster
    a sample, or use `KMeans`. The tree costs n^2. With ``"centroid"`` and ``"median"`` a join may
    be lower than the one before it (an inversion), and a cut by height is then not always a cut of
    the tree; a number of clusters always is.

    Equal distances are joined in the order of the rows, so where there are ties another order of
    the rows may give another tree. There is no prediction for new rows: the tree has none.

    Do not use ``"single"`` where noise lies between clusters: it chains them.

    References
    ----------
    .. [1] Ward, J. H. (1963). Hierarchical grouping to optimize an objective function. Journal of
       the American Statistical Association 58, 236-244.
    .. [2] Muellner, D. (2011). Modern hierarchical, agglomerative clustering algorithms.
       arXiv:1109.2378.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5], [20.0]])
    >>> model = Hierarchical(n_clusters=3, method="single").fit(X)
    >>> model.labels_, model.merges_[:, 2]
    (array([0, 0, 1, 1, 2]), array([ 1. ,  1.5,  4. , 13.5]))
    """

    knob: ClassVar[str] = "n_clusters"
    _instead: ClassVar[tuple[str, ...]] = ("height",)
    _least_rows: ClassVar[int] = 2
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": OrNone(Auto(Integer(1)), help="clusters that the tree is cut into"),
        "height": OrNone(Real(0), help="height at which the tree is cut"),
        "method": Choice(*_METHODS, help="distance between clusters"),
        "metric": Choice(*_METRICS, help="distance between rows"),
        "standardize": Boolean(help="divide columns by their standard deviations first"),
        "select": Choice("silhouette", help="rule that picks the number of clusters"),
        "max_clusters": Integer(2, help="the largest number of clusters of the path"),
        "optimal_order": Boolean(help="put near leaves beside one another"),
    }
    card: ClassVar[Card] = Card(
        method="hierarchical",
        title="Hierarchical clustering",
        task="clustering",
        strengths=(
            "One tree shows clusters of every size, and how they contain one another.",
            "No start and no randomness: the same rows give the same tree.",
            "Takes any table of distances.",
        ),
        weaknesses=(
            "Distances of all pairs are needed: tables of tens of thousands of rows at most.",
            "A join is never undone, so an early one may spoil the tree.",
            "New rows get no cluster.",
        ),
        assumptions=(
            "Distances between rows mean something: columns are on one scale.",
            "The method suits the shape: Ward's for round clusters, single for chains.",
        ),
        cost="n^2 p for the distances, n^2 for the tree",
        source="N174",
        wide=True,
        standardize=True,
        most_rows=10_000,
    )

    def __init__(
        self,
        n_clusters: int | str | None = "auto",
        *,
        height: float | None = None,
        method: str = "ward",
        metric: str = "euclidean",
        standardize: bool = False,
        select: str = "silhouette",
        max_clusters: int = 10,
        optimal_order: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.height = height
        self.method = method
        self.metric = metric
        self.standardize = standardize
        self.select = select
        self.max_clusters = max_clusters
        self.optimal_order = optimal_order

    def _check_params(self) -> None:
        super()._check_params()
        if self.method in _SQUARED and self.metric not in ("euclidean", "precomputed"):
            raise ParameterError(
                f"method={self.method!r} is defined for Euclidean distances; got "
                f"metric={self.metric!r}. Use method='average', 'complete' or 'single'."
            )
        if self.standardize and self.metric == "precomputed":
            raise ParameterError(
                "standardize=True divides columns of numbers, and metric='precomputed' takes "
                "distances: leave standardize=False, or give the columns."
            )
        if self.n_clusters is None and self.height is None:
            raise ParameterError("Give n_clusters= or height=: the tree must be cut somewhere.")
        if isinstance(self.n_clusters, int) and self.height is not None:
            raise ParameterError(
                f"n_clusters={self.n_clusters} and height={self.height} cut it twice: give one."
            )

    def _prepare(self, rows: Rows) -> _MergeTree:
        X = rows.X
        if len(X) > _MOST_ROWS:
            raise InputError(
                f"The distances of all pairs of {len(X):,} rows do not fit: Hierarchical takes at "
                f"most {_MOST_ROWS:,}. Cluster a sample, or use KMeans."
            )
        distances, unit = self._distances(X)
        merges = linkage(distances, cast(Any, self.method))
        if self.optimal_order:
            merges = optimal_leaf_ordering(merges, distances)
        return _MergeTree(distances, np.asarray(merges), unit)

    def _distances(self, X: FloatArray) -> tuple[FloatArray, float]:
        """Return the distances of all pairs, and the unit in which they are."""
        if self.metric == "precomputed":
            return _checked_distances(X), 1.0
        if self.standardize:
            X = RowMap.of(X, None, standardize=True, sphere=False).to(X)
        if self.metric in ("cosine", "correlation"):
            found = np.asarray(pdist(X, cast(Any, self.metric)))
            if not np.all(np.isfinite(found)):
                raise InputError(
                    f"A row that is constant has no direction, which metric={self.metric!r} "
                    "compares: leave such rows out, or use another metric."
                )
            return np.maximum(found, 0.0), 1.0
        middle = X.min(axis=0) / 2 + X.max(axis=0) / 2
        reach = float(np.max(np.abs(X - middle)))
        unit = 2.0 ** np.floor(np.log2(reach)) if reach > 0 else 1.0
        scaled = X / unit - middle / unit  # squares neither overflow nor vanish
        return np.asarray(pdist(scaled, cast(Any, self.metric))), unit

    def _given(self, work: Any) -> dict[str, Any] | None:
        if self.height is not None:
            below = int(np.sum(work.merges[:, 2] * work.unit <= self.height))
            return {"n_clusters": work.n - below}
        return super()._given(work)

    def _own_loss(self, work: Any) -> Loss | None:
        return None

    def _path(self, work: _MergeTree, values: Any, loss: Loss | None) -> Path:
        most = min(self.max_clusters, work.n - 1)
        counts = np.arange(min(2, most), most + 1) if values is None else np.unique(values)
        _check_count(int(counts[-1]), work.n)
        judged, within = np.full(len(counts), np.nan), np.empty(len(counts))
        for i, K in enumerate(counts):
            labels = _cut(work.merges, int(K))
            within[i] = _mean_within(work.square, labels) * work.unit
            if 1 < K < work.n:
                judged[i] = silhouette(work.square, labels, metric="precomputed").mean
        return Path(
            along("n_clusters", counts),
            train_error=within,
            loss="mean distance to the rows of the same cluster",
            complexity=counts.astype(np.float64),
            criteria={"silhouette": 1 - judged},
            measured={"silhouette": judged},
        )

    def _choose(self, work: Any, rows: Rows | None, walk: Any) -> dict[str, Any]:
        if work.n == 2 and walk.values is None and self._given(work) is None:
            return {"n_clusters": 2}  # nothing to choose among
        return super()._choose(work, rows, walk)

    def _settle(self, work: _MergeTree, setting: Mapping[str, Any]) -> None:
        K = int(setting["n_clusters"])
        _check_count(K, work.n)
        self.n_clusters_ = K
        self.merges_ = work.merges.copy()
        self.merges_[:, 2] *= work.unit
        self.labels_ = _cut(work.merges, K)
        self.leaves_ = np.asarray(leaves_list(work.merges), dtype=np.int64)
        heights = np.concatenate([[0.0], self.merges_[:, 2]])
        above = heights[work.n - K + 1] if K > 1 else heights[-1]
        self.height_ = float(heights[work.n - K] / 2 + above / 2)
        tree = np.asarray(cophenet(work.merges))
        constant = np.ptp(work.distances) == 0 or np.ptp(tree) == 0
        self.cophenetic_correlation_ = (
            float("nan") if constant else float(np.corrcoef(work.distances, tree)[0, 1])
        )

    def summary(self) -> Summary:
        """Return the clusters and their sizes as a table, with what is known of the tree."""
        check_is_fitted(self)
        notes = (
            f"joined by {self.method} of {self.metric} distances, cut at height {self.height_:.4g}",
            f"cophenetic correlation {self.cophenetic_correlation_:.4g}",
        )
        section = Section("", sizes_by_cluster(self.labels_))
        return Summary("Hierarchical clustering", (section,), notes)

    def plot(self, most: int = 40, names: Any = None) -> Any:
        """Draw the tree, coloured by cluster, with the cut.

        Parameters
        ----------
        most : int
            Leaves to draw; the lowest joins of a larger tree are drawn as one leaf each.
        names : sequence of str, optional
            Names of the rows.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import dendrogram_chart

        return dendrogram_chart(
            self.merges_, cut=self.height_, labels=self.labels_, most=most, names=names
        )


def _check_count(K: int, n: int) -> None:
    if n < K:
        raise InputError(
            f"n_clusters={K} is more than the rows to cluster (n_samples = {n}): give at most {n}."
        )


def _cut(merges: FloatArray, K: int) -> IntArray:
    """Return the clusters before the last K - 1 joins, numbered by their first rows."""
    n = len(merges) + 1
    # The joins are numbered, so that equal heights and inversions do not matter.
    numbered = merges.copy()
    numbered[:, 2] = np.arange(1, n)
    labels = np.asarray(fcluster(numbered, n - K + 0.5, "distance"))
    first = np.sort(np.unique(labels, return_index=True)[1])
    place = np.empty(labels.max() + 1, dtype=np.int64)
    place[labels[first]] = np.arange(len(first))
    return place[labels]


def _mean_within(square: FloatArray, labels: IntArray) -> float:
    """Return the mean distance of rows to the other rows of their cluster; 0 of those alone."""
    total = 0.0
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if len(rows) > 1:
            total += float(square[np.ix_(rows, rows)].sum()) / (len(rows) - 1)
    return total / len(labels)


def _checked_distances(X: FloatArray) -> FloatArray:
    """Return a square table of distances condensed, or refuse it."""
    if X.shape[0] != X.shape[1]:
        raise InputError(f"Distances of all pairs are a square table; X has shape {X.shape}.")
    if np.any(X < 0) or np.any(np.diag(X) != 0):
        raise InputError("Distances must not be negative, and those of a row to itself zero.")
    if not np.allclose(X, X.T, rtol=1e-8, atol=1e-10 * float(np.max(X, initial=0.0))):
        raise InputError("The table of distances is not symmetric; give (D + D.T) / 2.")
    return np.asarray(squareform((X + X.T) / 2, checks=False))
