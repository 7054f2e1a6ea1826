"""Classification and regression by the k nearest neighbours."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.likelihood import gaussian_criteria, residual_scale
from bottega.core.params import AnyOf, Anything, Choice, Function, OrNone, Parameter
from bottega.core.path import Rule
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.neighbors._kernels.votes import neighbor_means, neighbor_votes, winners
from bottega.neighbors._search.base import (
    N_NEIGHBORS,
    SEARCH_PARAMS,
    NearestNeighborsBase,
    Training,
)
from bottega.neighbors._search.default_label import default_code
from bottega.neighbors._search.weighting import SCHEMES, NeighborLists, means_by, shares_by

__all__ = ["NearestNeighborsClassifier", "NearestNeighborsRegressor"]

_SHARED_CARD: dict[str, Any] = {
    "method": "neighbors",
    "title": "Nearest neighbours",
    "strengths": (
        "Assumes only that near rows have near responses; any shape of the truth can be found.",
        "Nothing to optimise, and one search scores every k by exact leave-one-out.",
        "Works on whatever has a distance, strings and objects included.",
    ),
    "weaknesses": (
        "Keeps every training row, and each prediction searches among them.",
        "In many dimensions the nearest rows are far, and columns that do not matter hide "
        "those that do.",
        "Depends on the scale of the columns; a k too small follows the noise.",
    ),
    "assumptions": (
        "Rows that are near by the chosen distance have similar responses.",
        "The columns are on comparable scales, and most of them matter.",
    ),
    "cost": "n^2 p by brute force, near n log n in few dimensions",
    "source": "M103-M143, A19-A25, C02-C07, D96",
    "standardize": True,
    "most_rows": 100_000,
    "wide": True,
}


class NearestNeighborsClassifier(ClassifierMixin, NearestNeighborsBase):
    r"""Classify by the vote of the nearest training rows.

    .. math:: \hat p(c \mid x) = \frac{\sum_{i \in N_k(x)} w_i\, [y_i = c]}
                                     {\sum_{i \in N_k(x)} w_i}

    The neighbourhood :math:`N_k(x)` holds every training row no farther than the k-th nearest:
    rows at the same distance as the k-th all vote, so the order of the rows does not matter.
    Equal votes go to `default_label` if it is among the tied classes, else to the first of them
    in sorted order.

    Parameters
    ----------
    n_neighbors : int or "auto"
        Number k of neighbours; larger is simpler. ``"auto"`` takes it from the path.
    weights : {"uniform", "distance", "balanced"}, callable or None
        One row one vote (None too); votes by inverse distance (rows at distance 0 then vote
        alone); votes of class c times ``n_largest / n_c``, which lets a rare class speak as loud
        as a frequent; or a function of an array of distances, a row per point, that returns
        weights.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        Has no influence on the answer: every search is exact, and takes the fastest way it knows.
    leaf_size : int
        Has no influence on the answer.
    p : float
        Power of the Minkowski distance: 1 is Manhattan's, 2 Euclid's, infinity Chebyshev's.
    metric : str, callable or DistanceMetric
        Distance, see `NeighborSearch`; ``"minkowski"`` by default, which is Euclid's with
        ``p=2``. With ``"precomputed"`` X is a table of distances to the training rows.
    metric_params : dict, optional
        Further parameters of the distance.
    n_jobs : int, optional
        Threads that work side by side; None or -1 for all cores.
    max_neighbors : int or "auto"
        Largest k of the path; ``"auto"`` is a third of the rows, within 50 and the larger of 200
        and ``sqrt(n)``. Always below n.
    default_label : object, optional
        Class that wins equal votes.
    select : {"min", "one_se"}
        Rule that picks k from the path.

    Attributes
    ----------
    n_neighbors_ : int
        The number of neighbours in use.
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    outputs_2d_ : bool
        Whether y had several columns; ``classes_`` is a list then, an entry per column.
    search_ : NeighborSearch
        The stored rows.
    n_samples_fit_ : int
        Number of stored rows.
    effective_metric_ : str, callable or DistanceMetric
        The distance in use: ``"minkowski"`` by its plainer name where it has one.
    effective_metric_params_ : dict
        The parameters of the distance in use.
    path_ : Path
        Exact leave-one-out misclassification for every k; with ``n_neighbors="auto"`` only.
    df_ : float
        Equivalent degrees of freedom, the sum over rows of 1 / (size of their neighbourhood);
        with ``weights="distance"`` a row is predicted by its exact matches alone.
    n_features_in_ : int
        Number of columns seen in `fit` (not for objects).

    See Also
    --------
    ParzenClassifier : votes by a smooth kernel instead of a fixed number of neighbours.
    edit, condense : drop training rows that harm, or that are not needed.

    Notes
    -----
    Inputs are not put on one scale here: standardise them first, or use
    ``metric="mahalanobis"``. Leave-one-out counts each neighbour list once for all k; the class
    frequencies of ``"balanced"`` leave the row out too, the covariance of ``"mahalanobis"`` does
    not.

    Not for many columns that do not matter, nor where predictions must be cheap.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> model = NearestNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> model.predict([[1.5], [9.0]])
    array(['low', 'high'], dtype='<U4')
    >>> words = NearestNeighborsClassifier(n_neighbors=1, metric="edit").fit(["cat", "dog"], [0, 1])
    >>> words.predict(["cut"])
    array([0])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_neighbors": N_NEIGHBORS,
        "weights": OrNone(
            AnyOf(Choice("uniform", "distance", "balanced"), Function()),
            help="how much each neighbour's vote counts",
        ),
        **SEARCH_PARAMS,
        "default_label": Anything(help="class that wins equal votes; the first class by default"),
        "select": Choice("min", "one_se", help="rule that picks k from the path"),
    }
    card: ClassVar[Card] = Card(task="classification", **_SHARED_CARD)

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        max_neighbors: int | str = "auto",
        default_label: Any = None,
        select: str = "one_se",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.max_neighbors = max_neighbors
        self.default_label = default_label
        self.select = select

    def predict(self, X: Any) -> Array:
        """Return the class that wins the vote for each row of X, a column per response.

        With ``X=None`` each training row is predicted from the others.
        """
        codes = self._predict(X)
        if not self.outputs_2d_:
            return self.classes_[codes]
        columns = zip(self.classes_, codes.T, strict=True)
        return np.column_stack([classes[column] for classes, column in columns])

    def predict_proba(self, X: Any) -> Any:
        """Return the share of the (weighted) votes of each class, one column per class.

        With several responses a list of such tables; with ``X=None`` each training row is
        predicted from the others.
        """
        shares = self._predict(X, "predict_proba")
        if not self.outputs_2d_:
            return shares
        return [shares[:, q, : len(classes)] for q, classes in enumerate(self.classes_)]

    def _prepare(self, rows: Rows) -> Training:
        default_code(self)  # refuses a label that is none
        return super()._prepare(rows)

    def _settle(self, work: Training, setting: Mapping[str, Any]) -> None:
        super()._settle(work, setting)
        self.outputs_2d_ = work.y.ndim == 2

    def _from_lists(
        self, lists: NeighborLists, y: Array, ks: IntArray, method: str, response: int | None
    ) -> Array:
        n_classes = len(self.classes_ if response is None else self.classes_[response])
        default, wanted = default_code(self, response), method == "predict_proba"
        if callable(self.weights):
            shares = shares_by(self.weights, lists, y, ks, n_classes)
            return shares if wanted else winners(shares, default)
        counts = np.bincount(y, minlength=n_classes)
        scheme = SCHEMES[self.weights]
        places, codes = lists.places, (y[lists.rows], y, lists.copies)
        table = np.empty((0, n_classes)) if places is None else places.table(y, n_classes)
        near = lists.distances, lists.indices, lists.left_out
        labels, shares = neighbor_votes(*near, *codes, table, ks, scheme, counts, default, wanted)
        return shares if wanted else labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@documented_like(NearestNeighborsClassifier, without=("classes_", "outputs_2d_"))
class NearestNeighborsRegressor(RegressorMixin, NearestNeighborsBase):
    r"""Predict by the mean response of the nearest training rows.

    .. math:: \hat f(x) = \frac{\sum_{i \in N_k(x)} w_i\, y_i}{\sum_{i \in N_k(x)} w_i}

    The neighbourhood :math:`N_k(x)` holds every training row no farther than the k-th nearest,
    rows at the same distance as the k-th included; :math:`w_i` is 1 or the inverse distance.

    Parameters
    ----------
    weights : {"uniform", "distance"}, callable or None
        Plain mean (None too), mean weighted by inverse distance (rows at distance 0 then count
        alone), or weights by a function of an array of distances, a row per point.
    select : {"min", "one_se", "aic", "aicc", "bic", "hq", "gcv", "cp"}
        Rule that picks k from the path.

    Attributes
    ----------
    path_ : Path
        Exact leave-one-out squared error for every k; with ``n_neighbors="auto"`` only.

    See Also
    --------
    NearestNeighborsClassifier : the same for classes.

    Notes
    -----
    It is a linear smoother, but leaving a row out lets another in, so the leverage shortcut does
    not give its leave-one-out error; here the row is taken out of its own list of neighbours,
    which does, for every k from one search. Criteria are given where df < n, Cp with the residual
    scale of the richest fit with df at most n/2: for k = 2 that is the estimate from differences
    between nearest neighbours. A fit that passes through every row has none.

    Inputs are not put on one scale here: standardise them first, or use
    ``metric="mahalanobis"``. Not for extrapolation: beyond the data the prediction stays flat.

    Examples
    --------
    >>> model = NearestNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [4.0]], [0.0, 1.0, 8.0])
    >>> model.predict([[0.4], [3.0]])
    array([0.5, 4.5])
    >>> model.set_params(weights="distance").fit([[0.0], [1.0], [4.0]], [0.0, 1.0, 8.0])
    NearestNeighborsRegressor(n_neighbors=2, weights='distance')
    >>> model.predict([[0.5], [4.0]])
    array([0.5, 8. ])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_neighbors": N_NEIGHBORS,
        "weights": OrNone(
            AnyOf(Choice("uniform", "distance"), Function()), help="how much each neighbour counts"
        ),
        **SEARCH_PARAMS,
        "select": Rule(),
    }
    card: ClassVar[Card] = Card(task="regression", **_SHARED_CARD)

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        max_neighbors: int | str = "auto",
        select: str = "one_se",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.max_neighbors = max_neighbors
        self.select = select

    def predict(self, X: Any) -> FloatArray:
        """Return the mean response of the neighbourhood of each row of X, a column per response.

        With ``X=None`` each training row is predicted from the others.
        """
        return self._predict(X)

    def _from_lists(
        self, lists: NeighborLists, y: Array, ks: IntArray, method: str, response: int | None
    ) -> FloatArray:
        if callable(self.weights):
            return means_by(self.weights, lists, y, ks)
        means = y if lists.places is None else lists.places.means(y)
        near = lists.distances, lists.indices, lists.left_out, y[lists.rows]
        return neighbor_means(*near, means, lists.copies, ks, SCHEMES[self.weights])

    def _criteria(self, train_error: FloatArray, df: FloatArray, n: int) -> dict[str, Any]:
        rss = n * train_error
        scale = residual_scale(rss, df, n)
        # A likelihood without residuals is unbounded: it says nothing about new rows.
        saturated = df > n * (1 - 1e-9)
        found = gaussian_criteria(rss, df[:, None], n, scale=scale)
        criteria = {
            name: np.where(
                saturated, np.inf, each.mean(axis=1) if name == "gcv" else each.sum(axis=1)
            )
            for name, each in found.items()
        }
        return {
            "criteria": criteria,
            "scale": scale if scale is None or len(scale) > 1 else float(scale[0]),
        }
