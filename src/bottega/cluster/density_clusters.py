"""Clusters as dense regions: of any shape, with rows that belong nowhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.cluster._kmeans.problem import RowMap
from bottega.cluster._shown import sizes_by_cluster
from bottega.cluster.silhouette import silhouette
from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.estimator import Unweighted
from bottega.core.losses import Loss
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    Integer,
    Jobs,
    OrNone,
    Parameter,
    Real,
)
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse, small_as_dense
from bottega.core.tables import Section, Summary
from bottega.core.tuned import Tuned
from bottega.core.typing import FloatArray

__all__ = ["DensityClusters"]

# Distances that grow with the units of the columns, the same whatever the origin.
_IN_UNITS = ("euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "minkowski")
_METRICS = Choice(*_IN_UNITS, "cosine", "precomputed")
_JUDGED = {"l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock"}  # names of SciPy's
_GRID = 30  # radii of the path


@dataclass(frozen=True)
class _Neighborhoods:
    """The (scaled) rows, and the distance of each to its neighbour number `min_samples`."""

    X: Any
    unit: float
    reach: FloatArray  # sorted, ascending
    given: Any  # the rows as they came


class DensityClusters(ClusterMixin, Unweighted, Tuned):
    r"""Density-based clusters: DBSCAN and HDBSCAN.

    A row is a core row if at least `min_samples` rows, itself included, are within the radius
    `eps`. Core rows within `eps` of one another are in one cluster, with all rows within `eps` of
    them; the other rows are noise, with the label -1. ``method="hdbscan"`` looks at all radii at
    once and keeps the clusters that last longest, so clusters may differ in density. The work is
    done by scikit-learn's classes.

    Parameters
    ----------
    eps : float or "auto", default="auto"
        The radius; larger gives fewer and larger clusters and less noise. ``"auto"`` picks from the
        path by the rule `select`. ``"hdbscan"`` has none.
    min_samples : int, default=5
        Rows within the radius that make a core row; more gives fewer clusters and more noise.
    method : {"dbscan", "hdbscan"}, default="dbscan"
        The algorithm.
    min_cluster_size : int or None, default=None
        Least rows of a cluster of ``"hdbscan"``; `min_samples` by default.
    metric : str or callable, default="euclidean"
        Distance between rows: ``"euclidean"`` (``"l2"``), ``"manhattan"`` (``"cityblock"``,
        ``"l1"``), ``"chebyshev"``, ``"minkowski"``, ``"cosine"``, a function of two rows, or
        ``"precomputed"``: X is a matrix of distances.
    metric_params : dict or None, default=None
        Further arguments of the distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How neighbours are searched for; the answer is the same.
    leaf_size : int, default=30
        Rows in a leaf of the trees of that search; it changes the time only.
    p : float or None, default=None
        Power of ``"minkowski"``; 2 by default.
    standardize : bool, default=False
        Whether columns are divided by their standard deviations first; `eps` is then in those.
    select : {"knee", "silhouette"}, default="knee"
        Rule that picks the radius: the knee of the k-distance curve (distances of the rows to their
        neighbour number `min_samples`, sorted), or the largest mean silhouette, in which rows of
        noise count as zero.
    n_jobs : int or None, default=None
        Threads of the search for neighbours.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each row, -1 for noise.
    n_clusters_ : int
        Number of clusters, noise not counted.
    n_noise_ : int
        Rows of noise.
    eps_ : float
        The radius in use; NaN for ``"hdbscan"``.
    core_sample_indices_ : ndarray of int
        The core rows; none for ``"hdbscan"``.
    components_ : ndarray of shape (m, p)
        The core rows themselves.
    probabilities_ : ndarray of shape (n,)
        How firmly each row belongs to its cluster: 0 for noise, and for DBSCAN 1 for all others.
    k_distances_ : ndarray of shape (n,)
        The k-distance curve.
    path_ : Path
        The whole curve, when `eps` is ``"auto"``: the share of noise for each radius.

    Notes
    -----
    In few columns a fit costs about n log n, in many n^2. A border row near two clusters goes to
    the one found first, so there another order of the rows may give another label. There is no
    prediction for new rows.

    Do not use it with many columns: distances become alike, and no radius tells dense from sparse.

    References
    ----------
    .. [1] Ester, M., Kriegel, H.-P., Sander, J. and Xu, X. (1996). A density-based algorithm for
       discovering clusters in large spatial databases with noise. KDD, 226-231.
    .. [2] Campello, R., Moulavi, D. and Sander, J. (2013). Density-based clustering based on
       hierarchical density estimates. PAKDD, 160-172.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.vstack([ring, 4 * ring, [[10.0, 10.0]]])
    >>> model = DensityClusters(eps=0.6, min_samples=3).fit(X)
    >>> model.n_clusters_, model.n_noise_
    (2, 1)
    """

    knob: ClassVar[str] = "eps"
    _least_rows: ClassVar[int] = 2
    params: ClassVar[Mapping[str, Parameter]] = {
        "eps": Auto(Real(0, open_low=True, log=True), help="radius of a neighbourhood"),
        "min_samples": Integer(1, help="rows within the radius that make a core row"),
        "method": Choice("dbscan", "hdbscan", help="the algorithm"),
        "min_cluster_size": OrNone(Integer(2), help="least rows of a cluster of 'hdbscan'"),
        "metric": AnyOf(_METRICS, Anything(), help="distance between rows, or 'precomputed'"),
        "metric_params": OrNone(Anything(), help="arguments of the distance"),
        "algorithm": Choice("auto", "ball_tree", "kd_tree", "brute", help="search of neighbours"),
        "leaf_size": Integer(1, help="rows in a leaf of the trees of the search"),
        "p": OrNone(Real(0, open_low=True), help="power of 'minkowski'"),
        "standardize": Boolean(help="divide columns by their standard deviations first"),
        "select": Choice("knee", "silhouette", help="rule that picks the radius"),
        "n_jobs": Jobs(),
    }
    card: ClassVar[Card] = Card(
        method="density_clusters",
        title="Density-based clusters",
        task="clustering",
        strengths=(
            "Finds clusters of any shape, and how many there are.",
            "Rows that belong nowhere are named noise instead of being forced into a cluster.",
        ),
        weaknesses=(
            "DBSCAN has one radius for all: clusters of different densities are cut or joined.",
            "In many columns distances become alike, and everything is noise or one cluster.",
            "New rows get no cluster.",
        ),
        assumptions=(
            "Clusters are dense and separated by sparse regions.",
            "Distances between rows mean something: columns are on one scale.",
        ),
        cost="n log n in few columns, n^2 in many; times the radii of the path",
        source="N174, N180",
        wide=True,
        standardize=True,
        most_rows=100_000,
    )

    def __init__(
        self,
        eps: float | str = "auto",
        *,
        min_samples: int = 5,
        method: str = "dbscan",
        min_cluster_size: int | None = None,
        metric: Any = "euclidean",
        metric_params: Any = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        standardize: bool = False,
        select: str = "knee",
        n_jobs: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.method = method
        self.min_cluster_size = min_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.standardize = standardize
        self.select = select
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._named("precomputed")
        return tags

    def _named(self, *names: str) -> bool:
        return isinstance(self.metric, str) and self.metric in names

    def _check_params(self) -> None:
        super()._check_params()
        if not callable(self.metric):
            _METRICS.check(type(self).__name__, "metric", self.metric)
        if self.standardize and self._named("precomputed"):
            raise ParameterError(
                "DensityClusters: distances cannot be standardised; with metric='precomputed' "
                "leave standardize=False."
            )

    def _prepare(self, rows: Rows) -> _Neighborhoods:
        X, unit = small_as_dense(rows.X), 1.0
        if self._named("precomputed"):
            self._check_distances(rows.X)
        elif not is_sparse(X):
            X, unit = self._scaled(X)
        elif self.standardize:
            raise InputError("A large sparse table is not standardised here: scale it before.")
        from sklearn.neighbors import NearestNeighbors

        k = min(self.min_samples, X.shape[0])
        how = {"n_jobs": self.n_jobs, "p": self._power(), **self._distance()}
        search = NearestNeighbors(n_neighbors=k, **how).fit(X)
        return _Neighborhoods(X, unit, np.sort(search.kneighbors(X)[0][:, -1]), rows.X)

    def _check_distances(self, D: Any) -> None:
        if D.shape[0] != D.shape[1] or is_sparse(D):
            raise InputError(
                f"metric='precomputed' takes a square array of distances; X has shape {D.shape}"
                f"{' and is sparse' if is_sparse(D) else ''}."
            )

    def _scaled(self, X: FloatArray) -> tuple[FloatArray, float]:
        """Return rows in units in which no distance overflows, and the unit."""
        if self._named("cosine") and not np.all(np.any(X != 0, axis=1)):
            raise InputError(
                "A row of zeros has no direction, which metric='cosine' compares: leave such rows "
                "out, or use another metric."
            )
        if self.standardize:
            X = RowMap.of(X, None, standardize=True, sphere=False).to(X)
        if not self._named(*_IN_UNITS):
            return X, 1.0
        middle = X.min(axis=0) / 2 + X.max(axis=0) / 2
        reach = float(np.max(np.abs(X - middle)))
        unit = 2.0 ** np.floor(np.log2(reach)) if reach > 0 else 1.0
        return X / unit - middle / unit, unit

    def _distance(self) -> dict[str, Any]:
        """Return how distances are taken and neighbours searched for, in scikit-learn's words."""
        return {
            "metric": self.metric,
            "metric_params": self.metric_params,
            "algorithm": self.algorithm,
            "leaf_size": self.leaf_size,
        }

    def _power(self) -> float | None:
        given = "p" in (self.metric_params or {})
        return 2.0 if self.p is None and self._named("minkowski") and not given else self.p

    def _given(self, work: Any) -> dict[str, Any] | None:
        return {"eps": None} if self.method == "hdbscan" else super()._given(work)

    def _own_loss(self, work: Any) -> Loss | None:
        return None

    def _path(self, work: _Neighborhoods, values: Any, loss: Loss | None) -> Path:
        if self.method == "hdbscan":
            raise ParameterError("method='hdbscan' looks at all radii at once: it has no path.")
        radii = self._grid(work) if values is None else np.unique(values)[::-1]
        noise, judged = np.empty(len(radii)), np.full(len(radii), np.nan)
        for i, eps in enumerate(radii):
            labels = self._dbscan(work, float(eps))[1]
            noise[i] = np.mean(labels == -1)
            if len(np.unique(labels[labels >= 0])) > 1 and self._can_judge(work):
                metric = _JUDGED.get(self.metric, self.metric)
                found = silhouette(work.X, labels, metric=metric).mean
                judged[i] = found * (1 - noise[i])
        criteria = {"knee": _knee(work.reach * work.unit, radii), "silhouette": 1 - judged}
        if not np.any(np.isfinite(judged)):  # one cluster at every radius
            criteria["silhouette"] = criteria["knee"]
        return Path(
            along("eps", radii),
            train_error=noise,
            loss="share of noise",
            complexity=np.arange(len(radii), dtype=np.float64),
            criteria=criteria,
            measured={"silhouette": judged},
        )

    def _can_judge(self, work: _Neighborhoods) -> bool:
        if self.metric_params or is_sparse(work.X):
            return False
        return self._named("cosine", *_IN_UNITS) and not self._named("minkowski")

    def _grid(self, work: _Neighborhoods) -> FloatArray:
        """Return radii along the k-distance curve, from the largest."""
        places = np.linspace(0, len(work.reach) - 1, _GRID).round().astype(np.int64)
        knee = work.reach[np.argmin(_knee(work.reach, work.reach))]
        found = np.unique([*work.reach[places], knee])
        found = found[found > 0]
        return (found[::-1] if len(found) else np.ones(1)) * work.unit

    def _dbscan(self, work: _Neighborhoods, eps: float) -> tuple[Any, Any]:
        """Return the core rows, and the cluster of each row."""
        from sklearn.cluster import dbscan

        # Rounding of the scale must not push a neighbour just outside of the radius.
        radius = eps / work.unit * (1 + 1e-12)
        how = {"min_samples": self.min_samples, "n_jobs": self.n_jobs, **self._distance()}
        return dbscan(work.X, radius, p=self._power(), **how)

    def _settle(self, work: _Neighborhoods, setting: Mapping[str, Any]) -> None:
        if self.method == "dbscan":
            self.eps_ = float(setting["eps"])
            self.core_sample_indices_, labels = self._dbscan(work, self.eps_)
            self.probabilities_ = (labels >= 0).astype(np.float64)
        else:
            from sklearn.cluster import HDBSCAN

            size = max(self.min_cluster_size or self.min_samples, 2)
            how = self._distance()
            if self._named("minkowski"):
                how["metric_params"] = {"p": self._power(), **(self.metric_params or {})}
            found = HDBSCAN(
                min_cluster_size=size,
                min_samples=min(self.min_samples, work.X.shape[0]),
                n_jobs=self.n_jobs,
                copy=True,
                **how,
            ).fit(work.X)
            labels, self.eps_ = found.labels_, float("nan")
            self.core_sample_indices_ = np.empty(0, dtype=np.int64)
            self.probabilities_ = np.nan_to_num(found.probabilities_)
        self.components_ = small_as_dense(work.given[self.core_sample_indices_])
        self.labels_ = np.asarray(labels, dtype=np.int64)
        self.k_distances_ = work.reach * work.unit
        self.n_noise_ = int(np.sum(self.labels_ == -1))
        self.n_clusters_ = len(np.unique(self.labels_[self.labels_ >= 0]))
        if self.n_clusters_ == 0:
            cure = "a larger eps=" if self.method == "dbscan" else "a smaller min_cluster_size="
            warn_caller(
                f"DensityClusters: all rows are noise; give {cure} or fewer min_samples=.",
                DataWarning,
            )

    def summary(self) -> Summary:
        """Return the clusters and their sizes as a table, noise last."""
        check_is_fitted(self)
        radius = "all radii" if np.isnan(self.eps_) else f"radius {self.eps_:.4g}"
        share = self.n_noise_ / len(self.labels_)
        notes = (
            f"{self.method}: {radius}, at least {self.min_samples} rows around a core row",
            f"{self.n_noise_:,} rows are noise ({share:.1%})",
        )
        section = Section("", sizes_by_cluster(self.labels_))
        return Summary("Density-based clusters", (section,), notes)

    def plot(self) -> Any:
        """Draw the k-distance curve, with the radius in use."""
        from bottega.plot import k_distance_chart

        return k_distance_chart(self.k_distances_, eps=self.eps_, min_samples=self.min_samples)


def _knee(reach: FloatArray, radii: FloatArray) -> FloatArray:
    """Return how far the k-distance curve is above its chord at each radius; least at the knee.

    Both axes of the sorted curve run from 0 to 1; the knee is where it sags farthest below the
    straight line between its ends.
    """
    n = len(reach)
    low, high = reach[0], reach[-1]
    if n < 2 or not high > low:
        return np.zeros(len(radii))
    share = np.searchsorted(reach, radii * (1 + 1e-12), side="right") / n
    return np.clip((radii - low) / (high - low), 0.0, 1.0) - share
