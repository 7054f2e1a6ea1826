"""Regression by a tree of axis-parallel tests, pruned along its cost-complexity path."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from bottega.core.cards import Card
from bottega.core.params import Choice, Parameter
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree._grow.structure import Tree
from bottega.tree._prune import sequence as prune
from bottega.tree._prune.estimator import CARD, SHARED, TreeBase
from bottega.tree._prune.sequence import PruningSequence

__all__ = ["TreeRegressor"]


class TreeRegressor(RegressorMixin, TreeBase):
    r"""Predict by the mean of a box that a binary tree of tests has found.

    .. math:: \hat f(x) = \sum_{l} \bar y_l\, [x \in R_l]

    The boxes :math:`R_l` come from greedy growth: of all splits of all leaves the one that lowers
    the squared error most is made next. The full tree is then pruned to the subtree that
    minimises

    .. math:: \frac{1}{n} \sum_i (y_i - \hat f(x_i))^2 + \alpha\, |leaves|

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Price of a leaf, in units of the mean squared error (scikit-learn's ``ccp_alpha``; R's
        ``cp`` times the variance of y). Larger is simpler; 0 keeps the tree as it is grown.
        ``"auto"`` picks from the path by the rule `select`.
    n_leaves : int, optional
        Instead of alpha: the largest tree of the pruning sequence with at most so many leaves.
    thresholds : {"exact", "binned", "uniform", "random"}, default="exact"
        Where a number may be split: midway between neighbouring values; between 256 quantile bins
        (for many rows); at `n_thresholds` places in the range of the node, equally spaced or drawn
        at random.
    n_thresholds : int, default=32
        Candidates a node with ``"uniform"`` and ``"random"``.
    categorical : "auto" or list of str or int, default="auto"
        Columns of numbers that are categories. Texts and categories of a frame always are.
    multiway : bool, default=False
        Give each level of a category its own branch, instead of two groups of levels.
    missing : {"direction", "surrogate"}, default="direction"
        Where rows go whose test has no answer: to the side that lowers the squared error most, or
        where the best substitute test on another column sends them.
    n_surrogates : int, default=5
        Most substitutes a split keeps.
    max_depth : int, optional
        Most tests above a leaf.
    max_leaves : int, optional
        Most leaves grown; the best splits are made first.
    min_split : int, default=2
        Fewest rows in a node that is split.
    min_leaf : int, default=1
        Fewest rows in a leaf.
    min_gain : float, default=0.0
        Least decrease of the mean squared error that a split must bring.
    min_impurity : float, default=0.0
        A node whose variance is at most this is not split.
    monotone : array-like of {-1, 0, 1}, optional
        One entry a column: the response may only fall (-1) or rise (1) with it.
    cv : int, float, splitter or list of (train, test), default=10
        Folds that judge the path; a number below 1 is the share of rows held out once. Fewer rows
        than folds give as many folds as rows; a single row is judged by itself.
    validation : float, default=0.25
        Share of the rows held out with ``select="reduced_error"``.
    select : {"one_se", "min", "aic", "reduced_error"}, default="one_se"
        How the tree is chosen with ``alpha="auto"``: the simplest within one standard error of
        the least held-out error, the least, or the least training error plus 2 sigma^2 / n a leaf.
        ``"reduced_error"`` grows on one part of the rows, cuts every branch that does not lower
        the error of the other part, and refits the leaves on all rows; `alpha_` is then NaN.
    random_state : int or generator, optional
        Seed of ``thresholds="random"``.

    Attributes
    ----------
    tree_ : Tree
        The pruned tree, as arrays.
    alpha_ : float
        The price of a leaf in use.
    path_ : Path
        Alpha, leaves, training and held-out error of the pruning sequence; with ``alpha="auto"``.
    importance_ : ndarray of shape (p,)
        Sum of the decreases of the mean squared error over the splits on each column.
    columns_in_ : ColumnReader
        Names and levels of the columns.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

    See Also
    --------
    TreeClassifier : the same for classes.

    Notes
    -----
    Cost: a sort of each column, then n p a level of the tree; the same again for each fold, whose
    sorted columns are filtered from those of the whole. The pruning sequence of N nodes takes
    about N (depth + log N), and all its members are judged in one walk of each held-out row:
    that error and its standard error over rows are those of R's ``rpart``, for every alpha.

    A path of more than 512 members shows those with up to 256 leaves and then about 256 whose
    numbers of leaves grow geometrically. Degrees of freedom are counted as leaves; the search for
    the splits uses up more.

    The scale of ``"aic"`` is that of the richest member with at most n/2 leaves,
    ``rss / (n - leaves)``. The rule ignores that splits were searched for, and overfits.

    Importance favours columns with many values, and splits what correlated columns share at the
    whim of the data. Not for smooth or linear truths, nor beyond the range of the data.

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
        **{name: parameter for name, parameter in SHARED.items() if name != "random_state"},
        "select": Choice(
            "one_se", "min", "aic", "reduced_error", help="how the tree is chosen from the path"
        ),
        "random_state": SHARED["random_state"],
    }
    card: ClassVar[Card] = Card(task="regression", **CARD)

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        n_leaves: int | None = None,
        thresholds: str = "exact",
        n_thresholds: int = 32,
        categorical: Any = "auto",
        multiway: bool = False,
        missing: str = "direction",
        n_surrogates: int = 5,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_split: int = 2,
        min_leaf: int = 1,
        min_gain: float = 0.0,
        min_impurity: float = 0.0,
        monotone: Any = None,
        cv: Any = 10,
        validation: float = 0.25,
        select: str = "one_se",
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.n_leaves = n_leaves
        self.thresholds = thresholds
        self.n_thresholds = n_thresholds
        self.categorical = categorical
        self.multiway = multiway
        self.missing = missing
        self.n_surrogates = n_surrogates
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_split = min_split
        self.min_leaf = min_leaf
        self.min_gain = min_gain
        self.min_impurity = min_impurity
        self.monotone = monotone
        self.cv = cv
        self.validation = validation
        self.select = select
        self.random_state = random_state

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of the leaf that each row of X falls into."""
        leaf = self.apply(X)
        return np.asarray(self.tree_.value[leaf, 0])

    def _check_response(self, y: Any) -> Array:
        return np.asarray(validate_data(self, y=y, y_numeric=True), dtype=np.float64)

    def _read_response(self, y: Any, weight: FloatArray | None) -> Array:
        return np.asarray(y)

    def _criterion(self) -> str:
        return "squared_error"

    def _target(self, y: Array, w: FloatArray | None) -> dict[str, Any]:
        return {}

    def _sequence(self, tree: Tree, target: dict[str, Any]) -> PruningSequence:
        return prune.pruning_sequence(tree)

    def _losses(
        self, tree: Tree, leaf: IntArray, y: Array, w: FloatArray | None, target: dict[str, Any]
    ) -> FloatArray:
        return prune.node_losses(tree, leaf, y, w)

    def _reduced(self, tree: Tree, X: FloatArray, y: Array, w: Any, target: dict[str, Any]) -> Tree:
        return prune.reduced_error(tree, X, y, w)

    def _predictions(self, tree: Tree) -> Array:
        return np.asarray(tree.value[:, 0])

    def _shown(self, tree: Tree) -> Array:
        return self._predictions(tree)

    def _criteria(
        self,
        tree: Tree,
        sequence: PruningSequence,
        alphas: FloatArray,
        w: FloatArray | None,
        target: dict[str, Any],
    ) -> dict[str, FloatArray]:
        n = int(tree.n[0])
        rich = int(np.flatnonzero(sequence.n_leaves <= max(n / 2, 1))[0])
        residual = n - int(sequence.n_leaves[rich])
        if residual < 1:
            return {}
        variance = sequence.risk[rich] * n / residual
        member = sequence.member(alphas)
        return {"aic": sequence.risk[member] + 2 * variance / n * sequence.n_leaves[member]}
