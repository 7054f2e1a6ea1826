"""Classification by a tree of axis-parallel tests, pruned along its cost-complexity path."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.likelihood import information_criteria
from bottega.core.losses import ZERO_ONE, Cost, Loss
from bottega.core.params import Anything, Choice, ClassWeight, Parameter, Real
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.tree._grow.class_weights import check_cost, check_priors, code_of
from bottega.tree._grow.structure import Tree
from bottega.tree._prune import parameters
from bottega.tree._prune.estimator import GrownTree, TreeBase
from bottega.tree._prune.losses import sums_at
from bottega.tree._prune.sequence import (
    PruningSequence,
    class_counts,
    impurity_risk,
    pruning_sequence,
)
from bottega.tree._read.certified import CertifiedTree
from bottega.tree.impurity import class_impurity

__all__ = ["TreeClassifier"]


class TreeClassifier(ClassifierMixin, CertifiedTree, TreeBase):
    r"""Classify by the commonest class of a box that a binary tree of tests has found.

    .. math:: \hat p(c \mid x) = \sum_l \hat P_{lc}\, [x \in R_l]

    with :math:`\hat P_{lc}` the share of class c in the box :math:`R_l`. Boxes come from greedy
    growth: of all splits of all leaves the one that lowers the impurity most is made next. The full
    tree is then pruned to the subtree that minimises

    .. math:: \text{risk} + \alpha\, |leaves|

    where the risk is the training error (or cost, or with ``prune_by="impurity"`` the impurity).

    Parameters
    ----------
    ccp_alpha : float or "auto", default="auto"
        Penalty per leaf, in units of the mean risk (scikit-learn's ``ccp_alpha`` with
        ``prune_by="impurity"``; R's ``cp`` times the risk of the root). Larger is simpler; 0 keeps
        the tree as it is grown. ``"auto"`` picks from the path by the rule `select`, unless
        `max_depth` or `max_leaf_nodes` say how large the tree is: it is then kept as it is grown.
    n_leaves : int, optional
        Instead of ccp_alpha: the largest tree of the pruning sequence with at most this many
        leaves.
    criterion : {"gini", "entropy", "log_loss", "deviance", "sqrt", "error"}, default="gini"
        Impurity of class shares p: sum p (1 - p); the entropy in bits (``"log_loss"`` is the same);
        twice the entropy in nats; half the sum of sqrt(p (1 - p)); 1 - max p. The last may find no
        split where the others do.
    prune_by : {"error", "impurity"}, default="error"
        The risk of pruning: misclassification (or cost), or the impurity that was grown by, which
        keeps splits that sharpen probabilities.
    splitter : {"best", "random"}, default="best"
        ``"random"`` draws one threshold per column and node, and takes the best of these.
    thresholds : {"exact", "binned", "uniform", "random"}, default="exact"
        Where a number may be split: midway between neighbouring values; between 256 quantile bins
        (for many rows); at `n_thresholds` places in the range of the node, equally spaced or drawn
        at random.
    n_thresholds : int, default=32
        Candidates per node with ``"uniform"`` and ``"random"``.
    categorical_features : "auto" or list of str or int, default="auto"
        Columns of numbers that are categories. Texts and categories of a frame always are.
    multiway : bool or int, default=False
        How many branches a split on a category has: two groups of levels (False), the best
        grouping into at most so many (a number), or a branch per level (True). The groups are
        the best there are for numbers and two classes, and good ones for more classes.
    missing : {"direction", "surrogate"}, default="direction"
        Where rows go whose test has no answer (a missing value, a level that the fit or the node
        has not met): to the side that lowers the impurity most, or where the best substitute test
        on another column sends them; with the heavier side where neither is known.
    n_surrogates : int, default=5
        Most substitutes per split.
    max_depth : int, optional
        Most tests above a leaf.
    max_leaf_nodes : int, optional
        Most leaves grown; the best splits are made first.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns drawn for each split, or their share (``"sqrt"``, ``"log2"``: of p columns, rounded
        down); more are drawn where none of them can be split. None tries all.
    min_samples_split : int or float, default=2
        Fewest rows in a node that is split; a float is their share of all rows.
    min_samples_leaf : int or float, default=1
        Fewest rows in a leaf; a float is their share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the weight of all rows in a leaf.
    min_impurity_decrease : float, default=0.0
        Least decrease of the mean impurity that a split must bring. At 0 a node that no split makes
        purer (a balanced exclusive or) is split as evenly as can be.
    min_impurity : float, default=0.0
        A node whose impurity is at most this is not split.
    target_error : float, optional
        Growth stops, the best splits being made first, as soon as the mean loss of the share
        `validation` of the rows, held out, is at most this. The leaves are then refitted on all
        rows.
    monotonic_cst : array-like of {-1, 0, 1}, optional
        One entry per column, for two classes: the share of the second may only fall (-1) or rise
        (1) with it.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors of the row weights by class, one dict per response if there are several;
        ``"balanced"`` gives all classes the same weight.
    cost : array-like of shape (K, K) or Cost, optional
        What it costs to predict the class of the row where the class of the column is observed (as
        in a confusion table), in the order of `classes_`, unless a `Cost` names its own; 0 on the
        diagonal. By default an error costs 1.
    priors : dict or array-like of shape (K,), optional
        Probability of each class, when the training rows do not have it right.
    default_label : object, optional
        Class that wins where several are as good; the first in sorted order by default.
    cv : int, float, splitter or list of (train, test), default=10
        Folds that judge the path, classes spread over them; a number below 1 is the share of rows
        held out once. Fewer rows than folds give as many folds as rows; a single row is judged by
        itself.
    validation : float, default=0.25
        Share of the rows held out with ``select="reduced_error"`` and `target_error`.
    select : {"one_se", "min", "srm", "aic", "aicc", "bic", "hq", "reduced_error"}, default="one_se"
        How the tree is chosen with ``ccp_alpha="auto"``: the simplest within one standard error of
        the least held-out error; the least; the least bound on the true error (structural risk
        minimisation, no rows held out); a criterion that counts leaves (K - 1) parameters.
        ``"reduced_error"`` grows on one part of the rows, cuts every branch that does not lower
        the error of the other part, and refits the leaves on all rows; `ccp_alpha_` is then NaN.
    delta : float, default=0.05
        Probability with which the bound of ``"srm"`` and `certificate_` may fail.
    random_state : int, RandomState, Generator or None
        Seed of the columns and thresholds that are drawn. Nothing else is random: of splits that
        are equally good the first column and the lowest threshold win.

    Attributes
    ----------
    classes_ : ndarray of shape (K,), or list of them
        The classes of the response (of each response), sorted.
    n_classes_ : int or ndarray of int
        How many they are.
    n_outputs_ : int
        Number of responses.
    nodes_ : Tree
        The pruned tree in full, as arrays.
    tree_ : TreeArrays
        The same in the arrays of scikit-learn's trees.
    max_features_ : int
        Columns tried at each split.
    ccp_alpha_ : float
        The penalty per leaf in use.
    path_ : Path
        Alpha, leaves, training and held-out error of the pruning sequence, and the criteria;
        with ``ccp_alpha="auto"``.
    feature_importances_ : ndarray of shape (p,)
        Share of the splits on each column in the decrease of the mean impurity.
    columns_in_ : ColumnReader
        Names and levels of the columns.

    See Also
    --------
    TreeRegressor : the same for numbers.

    Notes
    -----
    Cost: a sort of each column, then n p per level of the tree; the same again for each fold, whose
    sorted columns are filtered from those of the whole. The pruning sequence of N nodes takes
    about N (depth + log N), and all its members are judged in one walk of each held-out row:
    that error and its standard error over rows are those of R's ``rpart``, for every alpha.
    A path of more than 512 members shows those with up to 256 leaves and then about 256 whose
    numbers of leaves grow geometrically. Degrees of freedom are counted as leaves.

    With several responses, (n, q), one tree is grown by the mean impurity over them. It and the
    criteria of medians and counts take columns of numbers, and no surrogates, bounds or drawings. A
    sparse X is filled up for the fit (8 bytes per value, beside the 8 that any fit works with) and
    in blocks of rows to predict; zeros are values, not missing.

    Costs and priors act by altered priors: in growth a row of class c weighs
    ``prior[c] * cost[:, c].sum() / share[c]``, a leaf takes the class of least expected cost, and
    errors along the path are mean costs under the priors. (R's ``rpart`` turns the cost matrix
    round in its cross-validated error; here rows are always the true class.)

    Importance favours columns with many values. Not for boundaries that slant across the columns:
    each step of their staircase takes a leaf.

    References
    ----------
    .. [1] Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
       Trees. Wadsworth.
    .. [2] Shalev-Shwartz, S. and Ben-David, S. (2014). Understanding Machine Learning, chapter 18.
       Cambridge University Press.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"humidity": [85, 76, 55, 65, 82, 35, 94, 66, 48],
    ...                       "wind": ["no", "yes", "yes", "yes", "yes", "no", "no", "no", "yes"]})
    >>> play = ["yes", "no", "yes", "no", "no", "yes", "no", "yes", "yes"]
    >>> model = TreeClassifier(ccp_alpha=0).fit(table, play)
    >>> print(model.dnf("yes"))
    yes:
         humidity <= 60
      or humidity <= 89.5 and wind = no
    >>> model.rules()[0]
    'humidity <= 60 -> yes with probability 1 (33.3% of the weight, n = 3)'
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        **parameters.SIZE,
        "criterion": Choice(
            *("gini", "entropy", "log_loss", "deviance", "sqrt", "error"),
            help="impurity that growth lowers",
        ),
        "prune_by": Choice("error", "impurity", help="risk that pruning weighs against leaves"),
        **parameters.GROWTH,
        "class_weight": ClassWeight(
            help="weight of each class: a dict, or 'balanced'", several=True
        ),
        "cost": Anything(help="cost matrix: rows are predictions, columns true classes"),
        "priors": Anything(help="probability of each class; the shares in the data by default"),
        "default_label": Anything(help="class that wins ties; the first class by default"),
        **parameters.HELD_OUT,
        "select": Choice(
            *("one_se", "min", "srm", "aic", "aicc", "bic", "hq", "reduced_error"),
            help="how the tree is chosen from the path",
        ),
        "delta": Real(
            0, 1, open_low=True, open_high=True, help="probability with which the bound may fail"
        ),
        "random_state": parameters.SEED,
    }
    card: ClassVar[Card] = Card(task="classification", **parameters.CARD)

    def __init__(
        self,
        ccp_alpha: float | str = "auto",
        *,
        n_leaves: int | None = None,
        criterion: str = "gini",
        prune_by: str = "error",
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
        class_weight: Any = None,
        cost: Any = None,
        priors: Any = None,
        default_label: Any = None,
        cv: Any = 10,
        validation: float = 0.25,
        select: str = "one_se",
        delta: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.ccp_alpha = ccp_alpha
        self.n_leaves = n_leaves
        self.criterion = criterion
        self.prune_by = prune_by
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
        self.class_weight = class_weight
        self.cost = cost
        self.priors = priors
        self.default_label = default_label
        self.cv = cv
        self.validation = validation
        self.select = select
        self.delta = delta
        self.random_state = random_state

    @classmethod
    def of_nodes(cls, nodes: Tree, like: Any, ranges: tuple[Any, ...], **parameters: Any) -> Self:
        """Return an estimator that has learnt these nodes: a tree of a fitted ensemble."""
        model = super().of_nodes(nodes, like, ranges, **parameters)
        model._weighted, model._costs, model._default = True, None, -1
        model._boolean = np.zeros(len(model._n_levels), dtype=bool)
        return model

    def predict(self, X: Any) -> Array:
        """Return the class of the leaf that each row of X falls into."""
        leaf = self.apply(X)
        return self._shown(self.nodes_)[leaf]

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in the leaf of each row, one column per class.

        With priors the shares are those the priors make of the rows; costs do not touch them. A
        list of such arrays, one per response, if there are several.
        """
        leaf = self.apply(X)
        found = self.nodes_.value[leaf]
        return found if self.n_outputs_ == 1 else self._by_response(found)

    def _know(self, columns: Any, y: Array) -> None:
        super()._know(columns, y)
        may_be = np.isin(self._low, (0, 1)) & np.isin(self._high, (0, 1)) & (self._n_levels == 0)
        self._boolean = may_be.copy()
        self._boolean[may_be] = columns.are_marks(np.flatnonzero(may_be))

    def _prepare(self, rows: Rows) -> GrownTree:
        self._weighted = rows.weight is not None
        reason = self._no_bound(self._weighted)
        if reason and self.select == "srm" and isinstance(self.ccp_alpha, str):
            raise InputError(f"select='srm' is not possible: {reason}")
        if self.n_outputs_ > 1:
            for name in ("cost", "priors", "default_label"):
                if getattr(self, name) is not None:
                    raise InputError(f"{name} is for one response; y has several.")
        k = len(self.classes_)
        cost = None if self.cost is None else check_cost(self.cost, self.classes_)
        self._costs = None if k == 1 else cost  # one class: no error can be made
        given = self.default_label
        self._default = -1 if given is None else code_of(given, self.classes_, "default_label")
        return super()._prepare(rows)

    def _target(self, rows: Rows) -> dict[str, Any]:
        if self.n_outputs_ > 1:
            return {"n_classes": tuple(len(each) for each in self.classes_)}
        k = len(self.classes_)
        scale = None
        if self.priors is not None:
            share = np.bincount(rows.y, weights=rows.weight, minlength=k) / rows.total_weight
            prior = check_priors(self.priors, self.classes_)
            scale = np.where(share > 0, prior / np.where(share > 0, share, 1.0), 1.0)
        return {"n_classes": k, "class_scale": scale, "cost": self._costs}

    def _sequence(self, tree: Tree, target: dict[str, Any]) -> PruningSequence:
        if self.prune_by == "error":
            return pruning_sequence(tree)
        altered = target.get("class_scale"), target.get("cost")
        return pruning_sequence(tree, impurity_risk(tree, *altered))

    def _loss_under(self, target: dict[str, Any]) -> Loss:
        cost, scale = target.get("cost"), target.get("class_scale")
        if cost is None and scale is None:
            return ZERO_ONE
        cost = 1.0 - np.eye(target["n_classes"]) if cost is None else cost
        return Cost(cost if scale is None else cost * scale)

    def _criteria(self, work: GrownTree, alphas: FloatArray) -> dict[str, FloatArray]:
        if self.n_outputs_ > 1:
            return {}  # they are for the classes of one response
        tree, sequence, scale = work.full, work.sequence, work.target["class_scale"]
        n, k = int(tree.n[0]), len(self.classes_)
        leaves = sequence.n_leaves[sequence.member(alphas)]
        mass = class_counts(tree, scale) @ (np.ones(k) if scale is None else scale)
        deviance = class_impurity(tree.value, "deviance") * mass / mass[0]
        fit = sums_at(tree, sequence.collapse_alpha, deviance, alphas)
        found = information_criteria(n * fit, leaves * (k - 1), n)
        if not self._no_bound(work.rows.weight is not None):
            error = sums_at(tree, sequence.collapse_alpha, tree.risk, alphas)
            found["srm"] = error + [self._margin(2 * int(count) - 1, n)[1] for count in leaves]
        return found


# What reads scikit-learn's trees by their tree_ (export_text, plot_tree, shap) takes ours too.
DecisionTreeClassifier.register(TreeClassifier)
