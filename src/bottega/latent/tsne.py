"""t-distributed stochastic neighbour embedding: a map in which near rows stay near."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.manifold import TSNE as PEER
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.estimator import Unweighted
from bottega.core.parallel import spare_threads
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Choice,
    Integer,
    Jobs,
    Parameter,
    Real,
    Seed,
)
from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse
from bottega.core.threads import openmp_in
from bottega.core.typing import FloatArray

__all__ = ["TSNE"]

_FEW_ROWS = 1_000  # whose steps are too small to share: threads would wait for one another
_LARGE = 1e15  # numbers beyond it, or below 1 over it, are brought to size one first


class TSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unweighted):
    r"""t-distributed stochastic neighbour embedding: few coordinates that keep neighbourhoods.

    Minimises over the points of the map the divergence :math:`\sum_{i \ne j} p_{ij} \log (p_{ij} /
    q_{ij})`, where :math:`p` are Gaussian similarities of the rows, each row with a width of its
    own for which it has as many neighbours as the perplexity says, and :math:`q` similarities
    :math:`(1 + \lVert y_i - y_j \rVert^2)^{-1}` of the points, both scaled to sum to one.

    The work is that of scikit-learn's class of the same name; here a fit is the same each time
    unless `random_state` says otherwise, and the input is checked for what makes a map misleading.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    perplexity : float, default=30.0
        About how many neighbours each row has; less than the number of rows. Larger shows coarser
        structure.
    early_exaggeration : float, default=12.0
        Factor on the similarities in the first iterations; larger sets clusters further apart.
    learning_rate : float or "auto", default="auto"
        Length of the steps; ``"auto"`` is n / early_exaggeration / 4, but at least 50.
    max_iter : int, default=1000
        The most iterations, at least 250.
    n_iter_without_progress : int, default=300
        Iterations without progress after which it stops.
    min_grad_norm : float, default=1e-7
        Norm of the gradient at which it stops.
    metric : str or callable, default="euclidean"
        Distance between rows; with ``"precomputed"`` X is the matrix of distances.
    metric_params : dict or None, default=None
        Arguments of the distance.
    init : {"pca", "random"} or ndarray of shape (n, n_components), default="pca"
        Start of the map. With ``"precomputed"`` it is ``"random"``.
    verbose : bool or int, default=0
        Whether progress is written to standard output.
    random_state : int, generator or None, default=None
        Seed of the start; None is the seed 0.
    method : {"barnes_hut", "exact"}, default="barnes_hut"
        Approximate or exact gradients; exact ones for small tables and more than three dimensions.
    angle : float, default=0.5
        How far apart points are put together in ``"barnes_hut"``; larger is faster and coarser.
    n_jobs : int or None, default=None
        Threads for the distances.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        The map, a point per row.
    kl_divergence_ : float
        The divergence that is left.
    perplexity_ : float
        The perplexity that was used: a third of the other rows, where the one given is too large.
    learning_rate_ : float
        Length of the steps that was used.
    n_iter_ : int
        Iterations taken.

    Notes
    -----
    About n log n per iteration, or n² with ``"exact"``. There is no map for new rows.

    The map depends on the order of the rows: the divergence has many local minima, and sums of
    forces taken in another order round differently, which the iterations amplify. So it does on the
    processor. Compare maps by which rows are neighbours, not by places.

    It has no path: divergences of different perplexities or dimensions compare different
    distributions, and say nothing about which map is better.

    Neither the sizes of clusters on the map nor the distances between them mean anything. Do not
    use it to measure, to find outliers, or as input of another method; look at several perplexities
    before believing a cluster.

    References
    ----------
    .. [1] van der Maaten, L. and Hinton, G. (2008). Visualizing data using t-SNE. Journal of
       Machine Learning Research 9, 2579-2605.
    .. [2] van der Maaten, L. (2014). Accelerating t-SNE using tree-based algorithms. Journal of
       Machine Learning Research 15, 3221-3245.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0)
    >>> X = X + np.random.default_rng(0).normal(size=X.shape)
    >>> points = TSNE(perplexity=5, method="exact").fit_transform(X)
    >>> between = np.linalg.norm(points[:20].mean(axis=0) - points[20:].mean(axis=0))
    >>> bool(between > points[:20].std(axis=0).max())
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Integer(1, help="dimensions of the map"),
        "perplexity": Real(0, open_low=True, help="about how many neighbours each row has"),
        "early_exaggeration": Real(1, help="factor on the similarities at first"),
        "learning_rate": Auto(Real(0, open_low=True), help="length of the steps"),
        "max_iter": Integer(250, help="the most iterations"),
        "n_iter_without_progress": Integer(-1, help="iterations without progress to stop after"),
        "min_grad_norm": Real(0, help="norm of the gradient at which it stops"),
        "metric": Anything(help="distance between rows, or 'precomputed'"),
        "metric_params": Anything(help="arguments of the distance"),
        "init": AnyOf(Choice("pca", "random"), Anything(), help="start of the map"),
        "verbose": Anything(help="whether progress is written"),
        "random_state": Seed(help="seed of the start"),
        "method": Choice("barnes_hut", "exact", help="approximate or exact gradients"),
        "angle": Real(0, 1, help="how far apart points are put together"),
        "n_jobs": Jobs(),
    }
    card: ClassVar[Card] = Card(
        method="tsne",
        title="t-SNE",
        task="decomposition",
        strengths=(
            "Shows clusters of any shape in two dimensions.",
            "Keeps the nearest rows of each row near.",
        ),
        weaknesses=(
            "Distances on the map, and sizes of clusters, mean nothing.",
            "Another perplexity may show another picture.",
            "New rows have no place on the map.",
        ),
        assumptions=("Inputs are on one scale.", "Only the nearest neighbours of a row matter."),
        cost="n log n for each iteration",
        source="D220",
        wide=True,
        standardize=True,
        most_rows=50_000,
    )
    _least_rows: ClassVar[int] = 2

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        early_exaggeration: float = 12.0,
        learning_rate: float | str = "auto",
        max_iter: int = 1000,
        n_iter_without_progress: int = 300,
        min_grad_norm: float = 1e-7,
        metric: Any = "euclidean",
        metric_params: Any = None,
        init: Any = "pca",
        verbose: int = 0,
        random_state: Any = None,
        method: str = "barnes_hut",
        angle: float = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = True
        return tags

    def _check_params(self) -> None:
        super()._check_params()
        if self.n_components > 3 and self.method == "barnes_hut":
            raise ParameterError(
                f"TSNE: n_components={self.n_components} is too many for method='barnes_hut': it "
                "takes at most 3; use method='exact'."
            )

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        X = work.X.tocsr() if is_sparse(work.X) else work.X
        self.perplexity_ = float(self.perplexity)
        if self.perplexity >= len(work):
            self.perplexity_ = (len(work) - 1) / 3
            warn_caller(
                f"TSNE: perplexity={self.perplexity:g} must be less than the number of rows, "
                f"{len(work)}; {self.perplexity_:.3g} is used, a third of the other rows.",
                DataWarning,
            )
        entries = X.data if is_sparse(X) else X
        size = float(np.max(np.abs(entries), initial=0.0))
        if size and not 1 / _LARGE < size < _LARGE:  # some squares are in single precision
            X = X / size
        words = {**self.get_params(deep=False), "verbose": int(self.verbose)}
        words["perplexity"] = self.perplexity_
        words["random_state"] = 0 if self.random_state is None else self._plain_seed()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        start = self.init
        if isinstance(start, str) and start == "pca":
            flat = min(X.shape) < self.n_components or _all_alike(X)
            start = "random" if precomputed or flat else start
        peer = PEER(**{**words, "init": start})
        with openmp_in(spare_threads(self.n_jobs) if len(work) > _FEW_ROWS else 1):
            self.embedding_ = np.asarray(peer.fit_transform(X), dtype=np.float64)
        if not np.all(np.isfinite(self.embedding_)):
            raise InputError(
                "The map has no finite coordinates: bring the inputs to one scale first, or use a "
                "smaller learning_rate."
            )
        self.kl_divergence_ = float(peer.kl_divergence_)
        self.learning_rate_ = float(peer.learning_rate_)
        self.n_iter_ = int(peer.n_iter_)

    def _plain_seed(self) -> Any:
        seed = self.random_state
        return int(seed.integers(2**31)) if isinstance(seed, np.random.Generator) else seed

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Fit the map and return it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, p)
            Rows, or their distances with ``metric="precomputed"``.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n, n_components)
            The map.
        """
        return self.fit(X, y).embedding_

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def plot(self, labels: Any = None, *, names: Any = None) -> Any:
        """Draw the map.

        Parameters
        ----------
        labels : array-like of shape (n,), optional
            Groups of the rows, which give their colours; see `bottega.plot.latent_map_chart`.
        names : array-like of shape (n,), optional
            What each row is called.

        Returns
        -------
        altair.LayerChart
            A point per row.
        """
        from bottega.plot import latent_map_chart

        check_is_fitted(self)
        note = f"t-SNE, perplexity {self.perplexity_:.3g}: only who is near whom means something."
        return latent_map_chart(self.embedding_, labels, names=names, subtitle=note)


def _all_alike(X: Any) -> bool:
    """Return True if all rows are the same."""
    if is_sparse(X):
        return bool(np.all(X.max(axis=0).toarray() == X.min(axis=0).toarray()))
    return bool(np.all(X[0] == X))
