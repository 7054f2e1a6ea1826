"""Random forests: bagged trees that try a few columns, drawn anew, at each split."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.classes import decided
from bottega.core.documents import documented_like
from bottega.core.params import AnyOf, Choice, ClassWeight, Parameter
from bottega.core.rows import check_weight
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._forest.inspection import ForestReading
from bottega.ensemble._forest.listed import tree_options
from bottega.ensemble._forest.parameters import CARD, GROWTH, N_ESTIMATORS, REST
from bottega.tree import TreeClassifier, TreeRegressor
from bottega.tree._grow.options import CRITERIA
from bottega.tree._kernels import grow_binned as kernels

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]


class RandomForestClassifier(ClassifierMixin, ForestReading):
    r"""Classify by the mean class shares of trees grown on resampled rows.

    .. math:: \hat p(k \mid x) = \frac{1}{B} \sum_{b=1}^B \hat p_b(k \mid x)

    Each tree is grown, without pruning, on rows drawn with replacement; at each split
    `max_features` columns are drawn and the best split on one of them is made. A column that is
    constant in the node does not count as drawn. Columns are cut into at most 255 bins.

    Parameters
    ----------
    n_estimators : int
        Number of trees. The error falls to a limit with them and does not rise again.
    criterion : {"gini", "entropy", "log_loss", "deviance", "sqrt", "error"}
        Impurity by which splits are chosen; ``"log_loss"`` is the entropy.
    max_depth : int, optional
        Most tests above a leaf.
    min_samples_split : int or float
        Fewest rows in a node that is split, or their share of the rows drawn.
    min_samples_leaf : int or float
        Fewest rows (drawn rows, copies counted) in a leaf, or their share.
    min_weight_fraction_leaf : float
        Least share of the weight of the drawn rows in a leaf.
    max_features : int, float, "sqrt", "log2", "auto" or None
        Columns tried at each split, or their share of all p columns in (0, 1]: fewer make the
        trees differ more, more make each of them better. ``"sqrt"`` and ``"log2"`` are the root
        and the logarithm of p, rounded down; None is p. ``"auto"`` compares log2 p, sqrt p, p/3,
        p/2 and p by the out-of-bag error of the first 50 trees (of all, if they are fewer), and of
        all trees where that is least; where no row is left out, and for whole trees (see Notes),
        it is sqrt p.
    max_leaf_nodes : int, optional
        Most leaves of a tree; the best splits are then made first.
    min_impurity_decrease : float
        Least decrease of the mean impurity that a split must bring.
    categorical_features : "auto" or sequence of str, int or bool
        Columns that are categories besides the texts and categories of a frame.
    bootstrap : bool
        Draw rows with replacement. Without, each tree is grown on all rows, or on `max_samples` of
        them drawn without replacement.
    oob_score : "auto", bool or callable
        Whether the rows that trees have not drawn judge the forest. ``"auto"`` and True do, and
        True warns of rows that all trees have drawn; a function of responses and predictions gives
        `oob_score_` in place of the accuracy.
    n_jobs : int, optional
        Threads; all cores by default.
    random_state : int, RandomState, Generator or None
        Seed. None draws anew in every fit.
    verbose : int
        Whether the progress of the fit is written to standard output.
    warm_start : bool
        Keep the trees of the last fit, and grow those that are lacking to `n_estimators`.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None
        Weight of each class, which multiplies that of its rows; ``"balanced"`` makes the classes
        weigh alike, ``"balanced_subsample"`` in each sample.
    ccp_alpha : float
        Penalty per leaf by which each tree is pruned; 0 leaves them as they are grown.
    max_samples : int, float or None
        Rows drawn for a tree, or their share of all; None is as many as there are.
    monotonic_cst : array-like of {-1, 0, 1}, optional
        One entry per column, for two classes: the share of the second may only fall (-1) or rise
        (1) with it.
    select : {"min", "one_se"}
        Rule that picks `max_features` from the path.

    Attributes
    ----------
    max_features_ : int
        Columns tried at each split.
    classes_ : ndarray of shape (K,), or a list of them
        The classes, sorted; of each response, where there are several.
    n_classes_, n_outputs_ : int, or list of int
        How many classes and responses there are.
    forest_ : Forest
        The packed trees (see Notes).
    estimators_ : list of TreeClassifier
        The trees as estimators; packed ones are grown again when they are asked for.
    estimators_samples_ : list of ndarray
        The rows that each tree has drawn, repeated as often as they were.
    oob_score_ : float
        Accuracy on the training rows, each judged by the trees that have not drawn it.
    oob_decision_function_ : ndarray of shape (n, K)
        Their class shares; NaN for a row that every tree has drawn (or of weight 0).
    oob_path_ : Path
        Training and out-of-bag error after 1, 2, ... trees.
    path_ : Path
        Out-of-bag error over `max_features`: of the first 50 trees (of all, if they are fewer), and
        of all trees where it is least, which is the last of `oob_path_`. With
        ``max_features="auto"`` only.
    feature_importances_ : ndarray of shape (p,)
        Share of the splits on each column in the decrease of the impurity, mean over the trees. It
        favours columns with many distinct values; see `permutation_importance`.
    columns_in_ : ColumnReader
        Names and levels of the columns.

    See Also
    --------
    RandomForestRegressor : the same for numbers.
    BaggingClassifier : the same with any base model.

    Notes
    -----
    Missing values go, at each split, to the side where they help most; levels that a node has not
    seen go with its heavier part. With more than two classes the levels of a category are
    ordered by the first principal component of their class shares. The draws
    depend on what is in the rows, not on their order nor on their units. Whole weights count as
    copies of the row; others multiply the copies that a sample has drawn. Equal shares go to the
    first class.

    Trees are packed into eight bytes per node. Several responses, pruning, monotone columns, and
    weights with `min_weight_fraction_leaf` take whole trees on exact thresholds, which cost more.

    Cost: ``n_estimators * max_features * n log n``, on one byte per value, side by side in threads.
    Not for data that one small tree or a straight line describes: they can be read.

    References
    ----------
    Breiman, L. (2001). Random forests. *Machine Learning*, 45, 5-32.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 4))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = RandomForestClassifier(n_estimators=100).fit(X, y)
    >>> model.predict([[0.5, 0.5, 0, 0], [0.5, -0.5, 0, 0]])
    array(['same', 'other'], dtype='<U5')
    >>> sorted(model.permutation_importance().nlargest(2, "z")["column"])
    ['x0', 'x1']
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_estimators": N_ESTIMATORS,
        "criterion": Choice(
            *("gini", "entropy", "log_loss", "deviance", "sqrt", "error"),
            help="impurity that splits lower",
        ),
        **GROWTH,
        "class_weight": AnyOf(
            Choice("balanced_subsample"),
            ClassWeight(several=True),
            help="weight of each class: a dict, 'balanced', or 'balanced_subsample'",
        ),
        **REST,
    }
    card: ClassVar[Card] = Card(task="classification", **CARD)

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "auto",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        categorical_features: Any = "auto",
        bootstrap: bool = True,
        oob_score: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        select: str = "min",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.categorical_features = categorical_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.select = select

    @property
    def n_classes_(self) -> Any:
        """Number of classes; a list of numbers with several responses."""
        check_is_fitted(self)
        several = isinstance(self.classes_, list)
        return [len(one) for one in self.classes_] if several else len(self.classes_)

    def predict(self, X: Any) -> Array:
        """Return the class with the largest mean share for each row of X."""
        listed = self._outputs(X)
        if listed is None:
            return self.classes_[self._predicted(self._means(X), "predict")]
        codes = np.column_stack([decided(shares) for shares in listed])
        return self._shown(codes if self.n_outputs_ > 1 else codes[:, 0])

    def predict_proba(self, X: Any) -> Any:
        """Return the mean over the trees of the class shares in the leaf, one column per class.

        With several responses a list of such arrays.
        """
        listed = self._outputs(X)
        if listed is None:
            return self._predicted(self._means(X), "predict_proba")
        return listed if self.n_outputs_ > 1 else listed[0]

    def _class_weighted(self, y: Any, weight: Any) -> Any:
        if not isinstance(self.class_weight, str) or self.class_weight != "balanced_subsample":
            return super()._class_weighted(y, weight)
        if self.bootstrap:  # each tree weighs the classes of its own sample
            return weight
        factor = compute_sample_weight("balanced", y)
        return check_weight(factor if weight is None else factor * weight, len(factor))

    def _template(self, max_features: int) -> TreeClassifier:
        return TreeClassifier(
            prune_by="impurity", criterion=self.criterion, **tree_options(self, max_features)
        )

    def _predicted(self, means: FloatArray, method: str) -> Array:
        K = len(self.classes_)
        if means.shape[1] != K or K == 1:  # leaves hold the share of the second class
            means = np.hstack([1 - means, means])[:, :K]
        return means if method == "predict_proba" else decided(means)

    def _criterion(self, n_classes: int) -> int:
        by_sums = self.criterion == "gini" and n_classes <= 2
        return kernels.SUMS if by_sums else CRITERIA[self.criterion]


@documented_like(
    RandomForestClassifier,
    without=("class_weight", "classes_", "oob_decision_function_"),
)
class RandomForestRegressor(RegressorMixin, ForestReading):
    r"""Predict by the mean of trees grown on resampled rows.

    .. math:: \hat f(x) = \frac{1}{B} \sum_{b=1}^B \hat f_b(x)

    The trees are grown as in `RandomForestClassifier`, by squared error.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}
        Loss by which splits are chosen; ``"friedman_mse"`` makes the same splits as the squared
        error. The last two take whole trees.
    min_samples_leaf : int or float
        Fewest rows (drawn rows, copies counted) in a leaf, or their share; larger makes smoother
        and smaller trees, and pays where the noise is strong.
    max_features : int, float, "sqrt", "log2", "auto" or None
        As in `RandomForestClassifier`; where ``"auto"`` cannot compare, it is p, or p/3 without
        bootstrap.
    monotonic_cst : array-like of {-1, 0, 1}, optional
        One entry per column: the response may only fall (-1) or rise (1) with it.

    Attributes
    ----------
    oob_score_ : float
        R squared of the training rows, each predicted by the trees that have not drawn it.
    estimators_ : list of TreeRegressor
        The trees as estimators; packed ones are grown again when they are asked for.
    oob_prediction_ : ndarray of shape (n,)
        Mean of the trees that have not drawn the row; NaN for a row that every tree has drawn (or
        of weight 0).

    See Also
    --------
    RandomForestClassifier : the same for classes.
    BaggingRegressor : the same with any base model, and all columns.

    Notes
    -----
    Missing values, levels, draws, weights, cost and memory are as in `RandomForestClassifier`. Not
    for extrapolation: beyond the data the prediction stays flat.

    References
    ----------
    Breiman, L. (2001). Random forests. *Machine Learning*, 45, 5-32.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 3))
    >>> y = X[:, 0] + X[:, 1] ** 2
    >>> model = RandomForestRegressor(n_estimators=100).fit(X, y)
    >>> bool(abs(model.predict([[0.5, 0.5, 0.0]])[0] - 0.75) < 0.1)
    True
    >>> bool(model.oob_score_ > 0.9)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_estimators": N_ESTIMATORS,
        "criterion": Choice(
            *("squared_error", "friedman_mse", "absolute_error", "poisson"),
            help="loss that splits lower",
        ),
        **GROWTH,
        **REST,
    }
    card: ClassVar[Card] = Card(task="regression", **CARD)

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 2,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "auto",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        categorical_features: Any = "auto",
        bootstrap: bool = True,
        oob_score: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        select: str = "min",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.categorical_features = categorical_features
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.select = select

    def predict(self, X: Any) -> FloatArray:
        """Return the mean prediction of the trees for each row of X."""
        listed = self._outputs(X)
        if listed is None:
            return self._means(X)[:, 0]
        return np.hstack(listed) if self.n_outputs_ > 1 else listed[0][:, 0]

    def _template(self, max_features: int) -> TreeRegressor:
        return TreeRegressor(criterion=self.criterion, **tree_options(self, max_features))

    def _predicted(self, means: FloatArray, method: str) -> Array:
        return means[:, 0]

    def _criterion(self, n_classes: int) -> int:
        return kernels.SUMS
