"""Regression by a tree of axis-parallel tests, pruned along its cost-complexity path."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.likelihood import gaussian_criteria, residual_scale
from bottega.core.params import Choice, Parameter
from bottega.core.path import RULES
from bottega.core.typing import Array, FloatArray
from bottega.tree._grow.options import NUMBERS
from bottega.tree._grow.structure import Tree
from bottega.tree._prune import parameters
from bottega.tree._prune.estimator import GrownTree, TreeBase
from bottega.tree.classifier import TreeClassifier

__all__ = ["TreeRegressor"]


@documented_like(TreeClassifier, without=("classes_", "n_classes_"))
class TreeRegressor(RegressorMixin, TreeBase):
    r"""Predict by the mean of a box that a binary tree of tests has found.

    .. math:: \hat f(x) = \sum_{l} \bar y_l\, [x \in R_l]

    The boxes :math:`R_l` come from greedy growth: of all splits of all leaves the one that lowers
    the squared error most is made next. The full tree is then pruned to the subtree that
    minimises

    .. math:: \frac{1}{n} \sum_i (y_i - \hat f(x_i))^2 + \alpha\, |leaves|

    Parameters
    ----------
    ccp_alpha : float or "auto", default="auto"
        Penalty per leaf, in units of the mean squared error (scikit-learn's ``ccp_alpha``; R's
        ``cp`` times the variance of y). Larger is simpler; 0 keeps the tree as it is grown.
        ``"auto"`` picks from the path by the rule `select`, unless `max_depth` or `max_leaf_nodes`
        say how large the tree is: it is then kept as it is grown.
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}
        What splits lower: the squared error of the mean (``"friedman_mse"`` finds the same splits),
        the absolute error of the median, or half the Poisson deviance of the mean, for counts. The
        tree is pruned and judged by the same.
    monotonic_cst : array-like of {-1, 0, 1}, optional
        One entry per column: the response may only fall (-1) or rise (1) with it.
    select : {"one_se", "min", "aic", ..., "cp", "reduced_error"}, default="one_se"
        How the tree is chosen with ``ccp_alpha="auto"``: the simplest within one standard error of
        the least held-out error, the least, or a criterion that counts leaves (``"cp"``: the least
        training error plus 2 sigma^2 / n per leaf). ``"reduced_error"`` grows on one part of the
        rows, cuts every branch that does not lower the error of the other part, and refits the
        leaves on all rows; `ccp_alpha_` is then NaN.

    Attributes
    ----------
    path_ : Path
        Alpha, leaves, training and held-out error of the pruning sequence, and the criteria;
        with ``ccp_alpha="auto"``.

    See Also
    --------
    TreeClassifier : the same for classes.

    Notes
    -----
    The impurity of a node is the mean squared error of its mean. Cost, path and its held-out error
    are as described for `TreeClassifier`. Degrees of freedom are counted as leaves; the search for
    the splits uses up more.

    The scale of ``"cp"`` is that of the richest member with at most n/2 leaves,
    ``rss / (n - leaves)``. The criteria ignore that splits were searched for, and overfit.

    Importance favours columns with many values, and divides what correlated columns share as
    chance has it. Not for smooth or linear truths, nor beyond the range of the data.

    References
    ----------
    .. [1] Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
       Trees. Wadsworth.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(60.0)[:, None]
    >>> y = np.where(x[:, 0] < 20, 1.0, 5.0) + 0.1 * np.sin(x[:, 0])
    >>> model = TreeRegressor(n_leaves=2).fit(x, y)
    >>> print("\n".join(model.rules()))
    x0 <= 19.5 -> 1.00043 (33.3% of the weight, n = 20)
    x0 > 19.5 -> 5.00464 (66.7% of the weight, n = 40)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        **parameters.SIZE,
        "criterion": Choice(*NUMBERS, help="impurity that growth lowers"),
        **parameters.GROWTH,
        **parameters.HELD_OUT,
        "select": Choice(*RULES, "reduced_error", help="how the tree is chosen from the path"),
        "random_state": parameters.SEED,
    }
    card: ClassVar[Card] = Card(task="regression", **parameters.CARD)

    def __init__(
        self,
        ccp_alpha: float | str = "auto",
        *,
        n_leaves: int | None = None,
        criterion: str = "squared_error",
        splitter: str = "best",
        thresholds: str = "exact",
        n_thresholds: int = 32,
        categorical_features: Any = "auto",
        multiway: bool | int = False,
        missing: str = "direction",
        n_surrogates: int = 5,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        max_features: Any = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        min_impurity: float = 0.0,
        target_error: float | None = None,
        monotonic_cst: Any = None,
        cv: Any = 10,
        validation: float = 0.25,
        select: str = "one_se",
        random_state: Any = None,
    ) -> None:
        self.ccp_alpha = ccp_alpha
        self.n_leaves = n_leaves
        self.criterion = criterion
        self.splitter = splitter
        self.thresholds = thresholds
        self.n_thresholds = n_thresholds
        self.categorical_features = categorical_features
        self.multiway = multiway
        self.missing = missing
        self.n_surrogates = n_surrogates
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity = min_impurity
        self.target_error = target_error
        self.monotonic_cst = monotonic_cst
        self.cv = cv
        self.validation = validation
        self.select = select
        self.random_state = random_state

    def predict(self, X: Any) -> FloatArray:
        """Return the mean (or median) of the leaf that each row of X falls into."""
        leaf = self.apply(X)
        return self._shown(self.nodes_)[leaf]

    def _shown(self, tree: Tree) -> Array:
        return tree.value if self.n_outputs_ > 1 else tree.value[:, 0]

    def _criteria(self, work: GrownTree, alphas: FloatArray) -> dict[str, FloatArray]:
        if self._joint:
            return {}  # they are for the squared errors of one response
        sequence, n = work.sequence, len(work.rows)
        rss, leaves = n * sequence.risk[::-1], sequence.n_leaves[::-1]
        member = len(rss) - 1 - sequence.member(alphas)
        scale = residual_scale(rss, leaves, n)
        return gaussian_criteria(rss[member], leaves[member], n, scale=scale)


# What reads scikit-learn's trees by their tree_ (export_text, plot_tree, shap) takes ours too.
DecisionTreeRegressor.register(TreeRegressor)
