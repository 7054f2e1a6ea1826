"""Hierarchical clustering: rows joined pair by pair into a tree, which is cut."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from bottega.cluster._kmeans.problem import RowMap
from bottega.cluster._merging.tree import MergeTree, cut, mean_within, threshold
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

_LINKAGES = ("ward", "average", "complete", "single", "weighted", "centroid", "median")
_METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "correlation", "precomputed")
_ALSO_CALLED = {"l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock"}
_SQUARED = ("ward", "centroid", "median")  # whose formulas are of Euclidean distances
_MOST_ROWS = 30_000  # whose distances take 3.6 GB


class Hierarchical(ClusterMixin, Unweighted, Tuned):
    r"""Agglomerative hierarchical clustering.

    Every row starts as a cluster, and the two clusters at the least distance are joined until one
    is left. The distance between clusters is the `linkage`: ``"single"`` the least and
    ``"complete"`` the largest distance between their rows, ``"average"`` the mean, ``"weighted"``
    the mean of the distances of the two parts that were joined last, ``"centroid"`` and
    ``"median"`` that of their centres, and ``"ward"``

    .. math:: d(A, B) = \sqrt{\frac{2 |A| |B|}{|A| + |B|}} \lVert \bar a - \bar b \rVert_2

    whose squares are twice what the join adds to the sum of squares within clusters.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default="auto"
        Clusters that the tree is cut into; more are smaller. ``"auto"`` picks from the path over 2
        to `max_clusters` by the largest mean silhouette. None where `distance_threshold` is given.
    distance_threshold : float or None, default=None
        Distance at or above which clusters are not joined, instead of their number; larger gives
        fewer.
    linkage : {"ward", "average", "complete", "single", "weighted", "centroid", "median"}
        Distance between clusters.
    metric : str, default="euclidean"
        Distance between rows: ``"euclidean"`` (or ``"l2"``), ``"cityblock"`` (or ``"manhattan"``,
        ``"l1"``), ``"chebyshev"``, ``"cosine"``, ``"correlation"``, or ``"precomputed"`` where X is
        the table of all distances.
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
        The joins: the two clusters, their distance (the height of the join in the tree), and the
        number of rows; SciPy's linkage matrix.
    children_ : ndarray of shape (n - 1, 2)
        The two clusters of each join: rows are 0 to n - 1, the cluster of join i is n + i.
    distances_ : ndarray of shape (n - 1,)
        Their distances.
    n_leaves_ : int
        Leaves of the tree: the rows.
    distance_threshold_ : float
        A threshold that gives these clusters: half way between two joins, or above all of them.
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
    be nearer than the one before it (an inversion), and a cut by distance is then not always a cut
    of the tree; a number of clusters always is.

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
    >>> model = Hierarchical(n_clusters=3, linkage="single").fit(X)
    >>> model.labels_, model.distances_
    (array([0, 0, 1, 1, 2]), array([ 1. ,  1.5,  4. , 13.5]))
    """

    knob: ClassVar[str] = "n_clusters"
    _instead: ClassVar[tuple[str, ...]] = ("distance_threshold",)
    _least_rows: ClassVar[int] = 2
    params: ClassVar[Mapping[str, Parameter]] = {
        "n_clusters": OrNone(Auto(Integer(1)), help="clusters that the tree is cut into"),
        "distance_threshold": OrNone(Real(0), help="distance from which clusters are not joined"),
        "linkage": Choice(*_LINKAGES, help="distance between clusters"),
        "metric": Choice(*_METRICS, *_ALSO_CALLED, help="distance between rows"),
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
            "The linkage suits the shape: Ward's for round clusters, single for chains.",
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
        distance_threshold: float | None = None,
        linkage: str = "ward",
        metric: str = "euclidean",
        standardize: bool = False,
        select: str = "silhouette",
        max_clusters: int = 10,
        optimal_order: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.linkage = linkage
        self.metric = metric
        self.standardize = standardize
        self.select = select
        self.max_clusters = max_clusters
        self.optimal_order = optimal_order

    def _check_params(self) -> None:
        super()._check_params()
        if self.linkage in _SQUARED and self._metric not in ("euclidean", "precomputed"):
            raise ParameterError(
                f"linkage={self.linkage!r} is defined for Euclidean distances; got "
                f"metric={self.metric!r}. Use linkage='average', 'complete' or 'single'."
            )
        if self.standardize and self.metric == "precomputed":
            raise ParameterError(
                "standardize=True divides columns of numbers, and metric='precomputed' takes "
                "distances: leave standardize=False, or give the columns."
            )
        if self.n_clusters is None and self.distance_threshold is None:
            raise ParameterError(
                "Give n_clusters= or distance_threshold=: the tree must be cut somewhere."
            )
        if isinstance(self.n_clusters, int) and self.distance_threshold is not None:
            raise ParameterError(
                f"n_clusters={self.n_clusters} and distance_threshold={self.distance_threshold} "
                "cut the tree twice: give one."
            )

    @property
    def _metric(self) -> str:
        return _ALSO_CALLED.get(self.metric, self.metric)

    def _prepare(self, rows: Rows) -> MergeTree:
        X = rows.X
        if len(X) > _MOST_ROWS:
            raise InputError(
                f"The distances of all pairs of {len(X):,} rows do not fit: Hierarchical takes at "
                f"most {_MOST_ROWS:,}. Cluster a sample, or use KMeans."
            )
        distances, unit = self._distances(X)
        merges = hierarchy.linkage(distances, cast(Any, self.linkage))
        if self.optimal_order:
            merges = hierarchy.optimal_leaf_ordering(merges, distances)
        return MergeTree(distances, np.asarray(merges), unit)

    def _distances(self, X: FloatArray) -> tuple[FloatArray, float]:
        """Return the distances of all pairs, and the unit in which they are."""
        metric = cast(Any, self._metric)
        if metric == "precomputed":
            return _checked_distances(X), 1.0
        if self.standardize:
            X = RowMap.of(X, None, standardize=True, sphere=False).to(X)
        if metric in ("cosine", "correlation"):
            found = np.asarray(pdist(X, metric))
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
        return np.asarray(pdist(scaled, metric)), unit

    def _given(self, work: Any) -> dict[str, Any] | None:
        if self.distance_threshold is not None:
            below = int(np.sum(work.merges[:, 2] * work.unit < self.distance_threshold))
            return {"n_clusters": work.n - below}
        return super()._given(work)

    def _own_loss(self, work: Any) -> Loss | None:
        return None

    def _path(self, work: MergeTree, values: Any, loss: Loss | None) -> Path:
        most = min(self.max_clusters, work.n - 1)
        counts = np.arange(min(2, most), most + 1) if values is None else np.unique(values)
        _check_count(int(counts[-1]), work.n)
        judged, within = np.full(len(counts), np.nan), np.empty(len(counts))
        for i, K in enumerate(counts):
            labels = cut(work.merges, int(K))
            within[i] = mean_within(work.square, labels) * work.unit
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

    def _settle(self, work: MergeTree, setting: Mapping[str, Any]) -> None:
        K = int(setting["n_clusters"])
        _check_count(K, work.n)
        self.n_clusters_ = K
        self.merges_ = work.merges.copy()
        self.merges_[:, 2] *= work.unit
        self.labels_ = cut(work.merges, K)
        self.leaves_ = np.asarray(hierarchy.leaves_list(work.merges), dtype=np.int64)
        self.distance_threshold_ = threshold(self.merges_[:, 2], K)
        tree = np.asarray(hierarchy.cophenet(work.merges))
        constant = np.ptp(work.distances) == 0 or np.ptp(tree) == 0
        self.cophenetic_correlation_ = (
            float("nan") if constant else float(np.corrcoef(work.distances, tree)[0, 1])
        )

    @property
    def children_(self) -> IntArray:
        """The two clusters of each join."""
        check_is_fitted(self)
        return self.merges_[:, :2].astype(np.int64)

    @property
    def distances_(self) -> FloatArray:
        """The distances of the clusters that are joined."""
        check_is_fitted(self)
        return self.merges_[:, 2]

    @property
    def n_leaves_(self) -> int:
        """Leaves of the tree: the rows."""
        check_is_fitted(self)
        return len(self.merges_) + 1

    def summary(self) -> Summary:
        """Return the clusters and their sizes as a table, with what is known of the tree."""
        check_is_fitted(self)
        notes = (
            f"joined by {self.linkage} of {self.metric} distances, "
            f"below the distance {self.distance_threshold_:.4g}",
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
            self.merges_,
            cut=self.distance_threshold_,
            labels=self.labels_,
            most=most,
            names=names,
        )


def _check_count(K: int, n: int) -> None:
    if n < K:
        raise InputError(
            f"n_clusters={K} is more than the rows to cluster (n_samples = {n}): give at most {n}."
        )


def _checked_distances(X: FloatArray) -> FloatArray:
    """Return a square table of distances condensed, or refuse it."""
    if X.shape[0] != X.shape[1]:
        raise InputError(f"Distances of all pairs are a square table; X has shape {X.shape}.")
    if np.any(X < 0) or np.any(np.diag(X) != 0):
        raise InputError("Distances must not be negative, and those of a row to itself zero.")
    if not np.allclose(X, X.T, rtol=1e-8, atol=1e-10 * float(np.max(X, initial=0.0))):
        raise InputError("The table of distances is not symmetric; give (D + D.T) / 2.")
    return np.asarray(squareform((X + X.T) / 2, checks=False))
