"""K-means: centres such that each row is near to one of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import Tags

from bottega.cluster._kmeans.answers import CenterAnswers
from bottega.cluster._kmeans.chunk_sample import ChunkSample, sample_chunks
from bottega.cluster._kmeans.declared import KMEANS_PARAMS
from bottega.cluster._kmeans.judging import judged_counts
from bottega.cluster._kmeans.lloyd import Clustering
from bottega.cluster._kmeans.problem import ClusterProblem, KMeansHow, RowMap
from bottega.cluster._kmeans.shown import ShownCenters
from bottega.cluster._kmeans.source import ArraySource, ChunkSource, middle
from bottega.cluster._kmeans.sparse import SparseChunks
from bottega.cluster._kmeans.stream import CenterStream
from bottega.cluster._kmeans.warnings import warn_about
from bottega.core.cards import Card
from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import Walk
from bottega.core.losses import Loss
from bottega.core.params import Parameter
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.sparse import is_sparse, small_as_dense
from bottega.core.typing import FloatArray, IntArray
from bottega.core.unsupervised import Unsupervised
from bottega.core.validate import check_columns

__all__ = ["KMeans"]


class KMeans(
    ClusterMixin,
    CenterAnswers,
    ShownCenters,
    CenterStream,
    Unsupervised,
    Chunked,
):
    r"""K-means: K centres, and each row belongs to the nearest.

    Minimises over centres :math:`\mu_k` and assignments :math:`z_{ik} \in \{0, 1\}` with
    :math:`\sum_k z_{ik} = 1`

    .. math:: J = \sum_i w_i \sum_k z_{ik} \lVert x_i - \mu_k \rVert_2^2

    for row weights :math:`w_i`. Lloyd's algorithm alternates the two closed forms: the nearest
    centre of each row, and the mean of each centre's rows. J never increases, and a local minimum
    is reached that depends on the start.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; more fit closer. ``"auto"`` picks from the path over 1 to
        `max_clusters` by the rule `select`.
    init : {"k-means++", "random"}, array of shape (K, p) or callable, default="k-means++"
        The first centres: greedy k-means++, rows drawn at random, given centres, or a function of
        ``(X, n_clusters, random_state)`` that returns them.
    n_init : int or "auto", default="auto"
        Starts, of which the best is kept; ``"auto"`` is 10 for ``"random"`` and functions, else 1.
        Along a path each number of clusters also starts from the centres of the one before it.
    max_iter : int, default=300
        The most passes over the rows.
    tol : float, default=1e-4
        The passes end when the squared moves of the centres sum to at most this times the mean
        variance of the columns, or when no row changes its cluster.
    verbose : bool or int, default=False
        Whether the progress of the fit is written to standard output.
    random_state : int, generator or None, default=None
        Seed of the starts.
    copy_x : bool, default=True
        For scikit-learn's signature; X is never changed.
    algorithm : {"lloyd", "elkan", "plain", "minibatch"}, default="lloyd"
        ``"lloyd"`` and ``"elkan"`` leave rows alone whose centre, as bounds show, stays the
        nearest; ``"plain"`` looks at all rows in every pass. The answers are the same.
        ``"minibatch"`` moves the centres batch by batch: less exact, for very large tables.
    norm : {2, 1, "cosine"}, default=2
        2: squared distances and means. 1: sums of absolute differences and medians, which
        outliers move less. ``"cosine"``: one less the cosine of the angle; centres have length one.
    standardize : bool, default=False
        Whether columns are divided by their standard deviations first. Inertia is then that of the
        scaled columns; centres are in the units of the data.
    select : {"silhouette", "gap", "stability"}, default="silhouette"
        Rule that picks the number of clusters: the largest mean silhouette (at least two); the rule
        of the gap statistic; or the most clusters that halves of the rows agree on, with a
        prediction strength of at least 0.8.
    max_clusters : int, default=10
        The largest number of clusters of the path.
    batch_size : int, default=1024
        Rows per batch of ``"minibatch"``.
    device : str or None, default=None
        A device of torch, such as ``"cuda"``; None for this package's own code.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (K, p)
        The centres.
    labels_ : ndarray of shape (n,)
        The cluster of each row. Fits in chunks keep those of the rows that count (with a weight
        above zero), where there are up to 33,554,432 of them.
    inertia_ : float
        The objective J; for other norms the weighted sum of what they take for distances.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Whether they ended by `tol`, or because no row changed its cluster.
    n_clusters_ : int
        Number of clusters.
    path_ : Path
        The whole curve, when `n_clusters` is ``"auto"``.
    n_steps_ : int
        Batches taken in by `partial_fit`.

    Notes
    -----
    A pass costs n K p; bounds (Hamerly's, 12 bytes per row) leave most rows alone in later passes.
    The others are compared with all centres in single precision, many rows at a time and in
    threads, and in double precision where that cannot tell which centre is nearest. Starts are
    drawn along an order that depends on what is in the rows alone, so neither the order of up to a
    million rows nor the difference between weights and repeated rows matters.

    An empty cluster starts again at the row farthest from its centre, with a warning. Enumerating
    all :math:`K^n` assignments is out of reach for all but a few rows. The same minimum is that of
    the relaxed problem, whose rows of Z lie in the simplex: J is linear in Z, so a projected
    gradient step that is long enough puts all of a row on its nearest centre.

    `fit_chunks` passes over the chunks as often as `fit` over the rows, in bounded memory, and
    finds the same clusters from the same start. Starts are drawn from a sample of 65,536 rows;
    where there are more, they are moved by passes over it (up to 100) first, so that few passes
    over all rows are left. A large sparse table is taken in the same way: it is made dense in
    blocks, pass after pass.

    Do not use it for clusters of odd shapes or very different sizes (`DensityClusters`), for
    overlapping ones with shapes of their own (`GaussianMixture`), or where some rows belong
    nowhere: every row gets a cluster, noise too.

    References
    ----------
    .. [1] Lloyd, S. P. (1982). Least squares quantization in PCM. IEEE Transactions on Information
       Theory 28, 129-137.
    .. [2] Arthur, D. and Vassilvitskii, S. (2007). k-means++: the advantages of careful seeding.
       Symposium on Discrete Algorithms, 1027-1035.
    .. [3] Hamerly, G. (2010). Making k-means even faster. SIAM International Conference on Data
       Mining, 130-140.
    .. [4] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal
       of Computational and Graphical Statistics 14, 511-528.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(m, 0.3, size=(40, 2)) for m in (0, 3, 6)])
    >>> model = KMeans("auto", random_state=0).fit(X)
    >>> model.n_clusters_, np.sort(model.cluster_centers_[:, 0]).round(1)
    (3, array([0. , 2.9, 5.9]))
    """

    knob: ClassVar[str] = "n_clusters"
    walks: ClassVar[Mapping[str, Any]] = {"n_clusters": "auto"}
    row_loss: ClassVar[str] = "distance to the nearest centre"
    params: ClassVar[Mapping[str, Parameter]] = KMEANS_PARAMS
    card: ClassVar[Card] = Card(
        method="kmeans",
        title="K-means",
        task="clustering",
        strengths=(
            "Fast on tables of any length, in memory, in chunks and as a stream.",
            "Centres are rows that never were: easy to read, and new rows get a cluster at once.",
            "The number of clusters can be judged by silhouettes, gaps or the agreement of halves.",
        ),
        weaknesses=(
            "The answer depends on the start: several starts are tried, none is sure to be best.",
            "Every row gets a cluster, noise and outliers too, and outliers pull centres.",
            "Clusters that are long, bent or of very different sizes are cut wrongly.",
            "Columns count by their spread: standardise them where their units differ.",
        ),
        assumptions=(
            "Clusters are round and of similar size.",
            "Distances between rows mean something: columns are on one scale.",
        ),
        cost="n K p per pass and start",
        source="N174-N180",
        wide=True,
        standardize=True,
    )

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: bool | int = False,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        norm: int | str = 2,
        standardize: bool = False,
        select: str = "silhouette",
        max_clusters: int = 10,
        batch_size: int = 1024,
        device: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.norm = norm
        self.standardize = standardize
        self.select = select
        self.max_clusters = max_clusters
        self.batch_size = batch_size
        self.device = device

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_params(self) -> None:
        super()._check_params()
        if self.norm != 2 and self.device is not None:
            raise ParameterError(f"device={self.device!r} is for norm=2; got norm={self.norm!r}.")
        if self.algorithm == "minibatch" and self.device is not None:
            raise ParameterError(
                f"algorithm='minibatch' runs on this processor; got device={self.device!r}. Use "
                "algorithm='lloyd' with a device, or device=None."
            )
        if self.norm == 1 and self.algorithm == "minibatch":
            raise ParameterError("algorithm='minibatch' moves means; norm=1 has medians.")
        if self.n_clusters == "auto" and not isinstance(self.init, str) and not callable(self.init):
            raise ParameterError("init gives one number of centres; give n_clusters= that number.")

    def _how(self) -> KMeansHow:
        several = 10 if callable(self.init) or np.array_equal(self.init, "random") else 1
        given = not isinstance(self.init, str) and not callable(self.init)
        n_init = several if isinstance(self.n_init, str) else (1 if given else self.n_init)
        return KMeansHow(
            norm=self.norm,
            init=self.init,
            n_init=n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            algorithm=self.algorithm,
            batch_size=self.batch_size,
            device=self.device,
            seed=seed_of(self.random_state),
        )

    def _map_of(self, X: FloatArray, w: FloatArray | None) -> RowMap:
        sphere = self.norm == "cosine"
        return RowMap.of(X, w, standardize=self.standardize, sphere=sphere)

    def _prepare(self, rows: Rows) -> ClusterProblem:
        X = small_as_dense(rows.X)
        if is_sparse(X):
            self._check_passes()
            chunks = CheckedChunks(SparseChunks(X, rows.weight), X.shape[1], 0)
            return self._prepare_merged(sample_chunks(chunks), chunks)
        row_map = self._map_of(X, rows.weight)
        source = ArraySource(row_map.to(X), rows.weight)
        return self._problem(source, source, row_map)

    def _problem(self, source: Any, sample: ArraySource, row_map: RowMap) -> ClusterProblem:
        if self.norm == 2:
            # The objective of one cluster, which no other exceeds, must be a number.
            most = float(np.sum(source.scaling.variance)) * source.scaling.weight
            most = most * float(row_map.unit) * float(row_map.unit)
            if not np.isfinite(most):
                check_columns(most)
        return ClusterProblem(source, sample, self._how(), row_map)

    def _check_passes(self) -> None:
        """Refuse parameters that want all rows in memory."""
        if self.norm == 1 or self.algorithm == "minibatch" or self.device is not None:
            raise InputError(
                "Chunks and large sparse tables are clustered by Lloyd's algorithm with means: "
                "leave norm=2 (or 'cosine'), algorithm='lloyd' and device=None; partial_fit takes "
                "batches one after the other."
            )

    def _first_pass(self, checked: CheckedChunks) -> Any:
        # The passes to come must know how many rows each part has.
        self._check_passes()
        checked.expect_passes()
        return sample_chunks(checked)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> ChunkSample:
        raise AssertionError("rows in chunks are sampled by a pass of its own")

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> ClusterProblem:
        def source_of(row_map: RowMap) -> ChunkSource:
            known = None if row_map.sphere else statistics.scaling(row_map.scale)
            near = middle(row_map.to(X)) if known is None else known
            return ChunkSource(chunks, statistics.sizes, row_map.to, near)

        X, w = statistics.rows()
        row_map = self._map_of(X, w)
        if self.standardize and row_map.scale is not None:  # that of all rows
            spread = np.sqrt(source_of(replace(row_map, sphere=False)).scaling.variance)
            row_map = replace(row_map, scale=row_map.scale * np.where(spread > 0, spread, 1.0))
        sample = ArraySource(row_map.to(X), w if statistics.weighted else None)
        return self._problem(source_of(row_map), sample, row_map)

    def _choose(self, work: Any, rows: Rows | None, walk: Walk) -> dict[str, Any]:
        rule = walk.select or self.select
        same = not np.any(work.source.scaling.variance)
        if same and rule == "silhouette" and self.n_clusters == "auto":
            raise InputError(
                "KMeans: the rows do not differ, and silhouettes compare at least two clusters; "
                "give n_clusters=1."
            )
        work.wanted = (rule if rule in ("silhouette", "gap") else "stability",)
        return super()._choose(work, rows, walk)

    def _path(self, work: ClusterProblem, values: Any, loss: Loss | None) -> Path:
        most = min(self.max_clusters, work.source.n)
        counts = np.arange(1, most + 1) if values is None else np.unique(values)
        runs = work.walk(counts)
        criteria, measured, judged = judged_counts(work, counts, agreement=loss is not None)
        return Path(
            along("n_clusters", counts),
            train_error=self._mean_losses(work, runs),
            loss=self.row_loss if not judged else "disagreement (1 - prediction strength)",
            complexity=counts.astype(np.float64),
            criteria=criteria,
            measured=measured,
            **judged,
        )

    def _mean_losses(self, work: ClusterProblem, runs: list[Clustering]) -> FloatArray:
        unit = work.row_map.unit ** (1 if self.norm == 1 else 2)
        return np.array([run.inertia for run in runs]) * unit / work.source.scaling.weight

    def _inertias(self, X: FloatArray, counts: IntArray) -> FloatArray:
        """Return the inertia of each number of clusters, of several starts."""
        work = self._prepare(Rows.of(X, None, None))
        work.how = replace(work.how, n_init=2)
        return np.array([run.inertia for run in work.walk(counts)])

    def _settle(self, work: ClusterProblem, setting: Mapping[str, Any]) -> None:
        found: Clustering = work.solve(int(setting["n_clusters"]))
        warn_about(self, found)
        self._keep(found, work.row_map)

    def _keep(self, found: Clustering, row_map: RowMap) -> None:
        self._row_map = row_map
        self._centers = found.centers
        self.cluster_centers_ = row_map.back(found.centers)
        if found.labels is not None:
            self.labels_ = found.labels
        self.inertia_ = found.inertia * self._loss_unit
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.n_clusters_ = len(found.centers)

    def _restore(self, rows: Rows) -> None:
        assert rows.given is not None
        self.labels_ = self._nearest_of(rows.given.X)[0]
