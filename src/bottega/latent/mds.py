"""Multidimensional scaling: points whose distances are those that are given."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.manifold import smacof
from sklearn.metrics import pairwise_distances
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import InputError, ParameterError
from bottega.core.estimator import Unweighted
from bottega.core.params import (
    AnyOf,
    Anything,
    Boolean,
    Choice,
    Integer,
    Jobs,
    Parameter,
    Real,
    Seed,
)
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.latent._entries.range import refuse_out_of_range
from bottega.latent._scaling.classical import classical_scaling

__all__ = ["MDS"]

_PLAIN = 1e100  # inputs from 1 over this to this have distances as they are


class MDS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unweighted):
    r"""Multidimensional scaling: a map whose distances are near those of the rows.

    ``method="classical"`` takes the eigenvectors of the doubly centred squared distances: the
    points whose inner products are nearest. ``method="smacof"`` minimises the stress

    .. math:: \sum_{i<j} \bigl(d_{ij} - \lVert y_i - y_j \rVert\bigr)^2

    by majorisation from there, so it never rises; with ``metric_mds=False`` (nonmetric) for
    disparities that have the order of the distances and are otherwise free.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    method : {"smacof", "classical"}, default="smacof"
        How the map is found.
    metric_mds : bool, default=True
        Whether distances themselves are to be met, or their order alone (nonmetric).
    n_init : int, default=1
        Starts, of which the one with the least stress is kept, where `init` is ``"random"``.
    init : {"classical_mds", "random"} or ndarray, default="classical_mds"
        Start of ``"smacof"``; an array has shape (n, n_components).
    max_iter : int, default=300
        The most iterations.
    verbose : bool or int, default=0
        Whether progress is written to standard output.
    eps : float, default=1e-6
        Fall of the stress, as a share of the squared distances on the map, at which it stops.
        Larger stops earlier.
    n_jobs : int or None, default=None
        Threads, if there are several starts.
    random_state : int, generator or None, default=None
        Seed of random starts; None is the seed 0.
    metric : str or callable, default="euclidean"
        Distance between rows; with ``"precomputed"`` X is the matrix of distances.
    metric_params : dict or None, default=None
        Arguments of the distance.
    normalized_stress : bool or "auto", default="auto"
        Whether `stress_` is Kruskal's stress-1; ``"auto"``: for nonmetric scaling.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        The map, a point per row.
    stress_ : float
        What the distances on the map miss.
    dissimilarity_matrix_ : ndarray of shape (n, n)
        The distances of the rows.
    eigenvalues_ : ndarray of shape (n,)
        Of classical scaling (``method="classical"`` only), from the largest; negative ones show
        distances that no points have.
    goodness_of_fit_ : float
        Share of the absolute eigenvalues that the map has (``method="classical"`` only).
    n_iter_ : int
        Iterations taken.

    Notes
    -----
    n² numbers are kept; classical scaling costs n³, an iteration of the other n² times the
    dimensions. There is no map for new rows.

    It has no path: the stress falls with every dimension, nothing is held out that could judge a
    map, and a map is drawn in two dimensions or three. To see how many dimensions the distances
    have, look at `eigenvalues_` of ``method="classical"``.

    Classical scaling of Euclidean distances gives the principal components of the rows.

    References
    ----------
    .. [1] Borg, I. and Groenen, P. (2005). Modern Multidimensional Scaling, second edition.
       Springer.
    .. [2] Kruskal, J. B. (1964). Multidimensional scaling by optimizing goodness of fit to a
       nonmetric hypothesis. Psychometrika 29, 1-27.

    Examples
    --------
    >>> import numpy as np
    >>> D = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> model = MDS(method="classical", metric="precomputed").fit(D)
    >>> bool(model.stress_ < 1e-12)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Integer(1, help="dimensions of the map"),
        "method": Choice("smacof", "classical", help="how the map is found"),
        "metric_mds": Boolean(help="whether distances themselves are to be met"),
        "n_init": Integer(1, help="random starts"),
        "init": AnyOf(Choice("classical_mds", "random"), Anything(), help="start of the map"),
        "max_iter": Integer(1, help="the most iterations"),
        "verbose": Anything(help="whether progress is written"),
        "eps": Real(0, help="fall of the stress at which it stops"),
        "n_jobs": Jobs(),
        "random_state": Seed(help="seed of random starts"),
        "metric": Anything(help="distance between rows, or 'precomputed'"),
        "metric_params": Anything(help="arguments of the distance"),
        "normalized_stress": AnyOf(Choice("auto"), Boolean(), help="whether stress is stress-1"),
    }
    card: ClassVar[Card] = Card(
        method="mds",
        title="Multidimensional scaling",
        task="decomposition",
        strengths=(
            "Keeps distances, so the map can be measured.",
            "Needs nothing but distances, of whatever kind.",
            "Nonmetric scaling needs only their order.",
        ),
        weaknesses=(
            "Keeps a matrix of all distances.",
            "Large distances count most: near rows may be misplaced.",
            "New rows have no place on the map.",
        ),
        assumptions=("Inputs are on one scale.", "Few dimensions can hold the distances."),
        cost="n cubed, or n squared for each iteration",
        source="D220",
        wide=True,
        standardize=True,
        most_rows=5_000,
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "smacof",
        metric_mds: bool = True,
        n_init: int = 1,
        init: Any = "classical_mds",
        max_iter: int = 300,
        verbose: int = 0,
        eps: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
        metric: Any = "euclidean",
        metric_params: Any = None,
        normalized_stress: bool | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.metric_mds = metric_mds
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.metric = metric
        self.metric_params = metric_params
        self.normalized_stress = normalized_stress

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _check_params(self) -> None:
        super()._check_params()
        if isinstance(self.metric, bool):
            raise ParameterError(
                f"MDS: metric={self.metric} is no distance between rows; whether distances "
                f"themselves are to be met is metric_mds={self.metric}."
            )
        if self.method == "classical" and not self.metric_mds:
            raise ParameterError(
                "MDS: method='classical' takes distances as they are; for their order alone "
                "(metric_mds=False) use method='smacof'."
            )

    def _prepare(self, rows: Rows) -> FloatArray:
        if isinstance(self.metric, str) and self.metric == "precomputed":
            D = _checked(rows.X)
            refuse_out_of_range(float(D.max(initial=0.0)), "X")
            return D
        size = float(np.max(np.abs(rows.X), initial=0.0))
        by_size = isinstance(self.metric, str) and self.metric == "euclidean"
        unit = size if by_size and size and not 1 / _PLAIN < size < _PLAIN else 1.0
        D = pairwise_distances(rows.X / unit, metric=self.metric, **self.metric_params or {}) * unit
        if not np.all(np.isfinite(D)):
            raise InputError(
                "Some distances are not finite: measure the inputs in larger units, or use another "
                "metric."
            )
        refuse_out_of_range(float(D.max(initial=0.0)), "the distances")
        return np.asarray(D)

    def _settle(self, D: FloatArray, setting: Mapping[str, Any]) -> None:
        self.dissimilarity_matrix_ = D
        unit = float(np.max(D, initial=0.0)) or 1.0  # the stress of any unit is found alike
        scaled, k = D / unit, int(self.n_components)
        relative = (
            not self.metric_mds if self.normalized_stress == "auto" else self.normalized_stress
        )
        if self.method == "classical":
            found = classical_scaling(scaled, k)
            points, self.n_iter_ = found.points, 1
            self.eigenvalues_ = found.eigenvalues * unit**2
            sizes = np.abs(found.eigenvalues)
            share = np.maximum(found.eigenvalues[:k], 0).sum() / (sizes.sum() or 1.0)
            self.goodness_of_fit_ = float(share)
            stress = _stress(scaled, points, bool(relative))
        else:
            points, stress, self.n_iter_ = self._by_majorisation(scaled, k, bool(relative), unit)
        self.embedding_ = np.asarray(points) * unit
        self.stress_ = float(stress) * (1.0 if relative else unit**2)

    def _by_majorisation(
        self, D: FloatArray, k: int, relative: bool, unit: float
    ) -> tuple[Any, float, int]:
        start, starts = None, int(self.n_init)
        if isinstance(self.init, str) and self.init == "classical_mds":
            start, starts = classical_scaling(D, k).points, 1
        elif not isinstance(self.init, str):
            start, starts = np.asarray(self.init, dtype=np.float64) / unit, 1
            if start.shape != (len(D), k):
                raise InputError(
                    f"init has shape {start.shape}; the map needs ({len(D)}, {k}): a row per row."
                )
        if not np.any(D):  # all rows are one point
            return np.zeros((len(D), k)), 0.0, 0
        seed = 0 if self.random_state is None else self.random_state
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(2**31))
        points, stress, n_iter = smacof(
            D,
            metric=bool(self.metric_mds),
            n_components=k,
            init=start,
            n_init=starts,
            n_jobs=self.n_jobs,
            max_iter=int(self.max_iter),
            verbose=int(self.verbose),
            eps=float(self.eps),
            random_state=seed,
            return_n_iter=True,
            normalized_stress=relative,
        )
        return points, stress, int(n_iter)

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Fit the map and return it.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
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
        note = f"Multidimensional scaling, stress {self.stress_:.4g}."
        return latent_map_chart(self.embedding_, labels, names=names, subtitle=note)


def _stress(D: FloatArray, points: FloatArray, relative: bool) -> float:
    """Return the stress of a map, or Kruskal's stress-1."""
    found = pairwise_distances(points)
    missed = 0.5 * float(np.sum((D - found) ** 2))
    if not relative:
        return missed
    total = 0.5 * float(np.sum(found**2))
    return float(np.sqrt(missed / total)) if total else 0.0


def _checked(D: FloatArray) -> FloatArray:
    """Return a matrix of distances, or say what is wrong with it."""
    size = float(np.max(np.abs(D), initial=0.0))
    if D.shape[0] != D.shape[1]:
        raise InputError(
            f"metric='precomputed' takes a square matrix of distances; X has shape {D.shape}."
        )
    if D.min() < 0:
        raise InputError(f"Distances are not negative; X holds {D.min():.6g}. Correct it.")
    apart = np.abs(D - D.T) > 1e-10 * size
    if apart.any():
        i, j = (int(each) for each in np.argwhere(apart)[0])
        raise InputError(
            f"Distances are symmetric; X has {D[i, j]:.6g} in row {i}, column {j} and "
            f"{D[j, i]:.6g} in row {j}, column {i}. Use their mean, (X + X.T) / 2."
        )
    if np.any(np.abs(np.diag(D)) > 1e-10 * size):
        raise InputError("The distance of a row from itself is zero; X has others on its diagonal.")
    return 0.5 * (D + D.T)
