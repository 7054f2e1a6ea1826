"""Classification and regression by the k nearest neighbours."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.likelihood import gaussian_criteria, residual_scale
from bottega.core.losses import Loss
from bottega.core.params import Anything, Choice, Parameter
from bottega.core.path import Path, Rule
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.neighbors._kernels.votes import neighbor_means, neighbor_votes
from bottega.neighbors._search.base import (
    MAX_NEIGHBORS,
    N_NEIGHBORS,
    SCHEMES,
    NearestNeighborsBase,
    NeighborLists,
    Training,
    default_code,
)
from bottega.neighbors._search.metrics import METRIC

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
    weights : {"uniform", "distance", "cost"}
        One row one vote; votes by inverse distance (rows at distance 0 then vote alone); or votes
        of class c times ``n_largest / n_c``, which lets a rare class speak as loud as a frequent.
    metric : str or callable
        Distance, see `NeighborSearch`.
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
    search_ : NeighborSearch
        The stored rows.
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
    frequencies of ``"cost"`` leave the row out too, the covariance of ``"mahalanobis"`` does not.

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
        "weights": Choice("uniform", "distance", "cost", help="how much each neighbour's vote is"),
        "metric": METRIC,
        "max_neighbors": MAX_NEIGHBORS,
        "default_label": Anything(help="class that wins equal votes; the first class by default"),
        "select": Choice("min", "one_se", help="rule that picks k from the path"),
    }
    card: ClassVar[Card] = Card(task="classification", **_SHARED_CARD)

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        weights: str = "uniform",
        metric: Any = "euclidean",
        max_neighbors: int | str = "auto",
        default_label: Any = None,
        select: str = "one_se",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.max_neighbors = max_neighbors
        self.default_label = default_label
        self.select = select

    def predict(self, X: Any) -> Array:
        """Return the class that wins the vote for each row of X."""
        codes = self._predict(X)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of the (weighted) votes of each class, one column per class."""
        return self._predict(X, "predict_proba")

    def _prepare(self, rows: Rows) -> Training:
        default_code(self)  # refuses a label that is none
        return super()._prepare(rows)

    def _from_lists(self, lists: NeighborLists, y: Array, ks: IntArray, method: str) -> Array:
        counts = np.bincount(y, minlength=len(self.classes_))
        scheme, wanted = SCHEMES[self.weights], method == "predict_proba"
        labels, shares = neighbor_votes(*lists, y, ks, scheme, counts, default_code(self), wanted)
        return shares if wanted else labels


@documented_like(NearestNeighborsClassifier, without=("classes_",))
class NearestNeighborsRegressor(RegressorMixin, NearestNeighborsBase):
    r"""Predict by the mean response of the nearest training rows.

    .. math:: \hat f(x) = \frac{\sum_{i \in N_k(x)} w_i\, y_i}{\sum_{i \in N_k(x)} w_i}

    The neighbourhood :math:`N_k(x)` holds every training row no farther than the k-th nearest,
    rows at the same distance as the k-th included; :math:`w_i` is 1 or the inverse distance.

    Parameters
    ----------
    weights : {"uniform", "distance"}
        Plain mean, or mean weighted by inverse distance (rows at distance 0 then count alone).
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
        "weights": Choice("uniform", "distance", help="how much each neighbour counts"),
        "metric": METRIC,
        "max_neighbors": MAX_NEIGHBORS,
        "select": Rule(),
    }
    card: ClassVar[Card] = Card(task="regression", **_SHARED_CARD)

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        weights: str = "uniform",
        metric: Any = "euclidean",
        max_neighbors: int | str = "auto",
        select: str = "one_se",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.max_neighbors = max_neighbors
        self.select = select

    def predict(self, X: Any) -> FloatArray:
        """Return the mean response of the neighbourhood of each row of X."""
        return self._predict(X)

    def _from_lists(self, lists: NeighborLists, y: Array, ks: IntArray, method: str) -> FloatArray:
        return neighbor_means(*lists, y, ks, SCHEMES[self.weights])

    def _path(self, work: Training, values: Any, loss: Loss | None) -> Path:
        curve, n = super()._path(work, values, loss), len(work.y)
        rss, df = n * curve.train_error, curve.df
        assert df is not None
        scale = residual_scale(rss, df, n)
        # A likelihood without residuals is unbounded: it says nothing about new rows.
        saturated = df > n * (1 - 1e-9)
        criteria = {
            name: np.where(saturated, np.inf, column)
            for name, column in gaussian_criteria(rss, df, n, scale=scale).items()
        }
        return replace(curve, criteria=criteria, scale=scale)
