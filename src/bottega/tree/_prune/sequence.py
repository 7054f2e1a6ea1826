"""Cutting a grown tree back: the weakest-link sequence, a validation set, and leaves refitted.

Cost-complexity pruning looks for the subtree that minimises ``risk + alpha * leaves``. As alpha
grows the best subtrees are nested, so one number a node, the alpha from which it is a leaf, holds
them all (`PruningSequence.collapse_alpha`).

References
----------
.. [1] Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
   Trees. Wadsworth. Chapters 3, 8 and 10.
.. [2] Quinlan, J. R. (1987). Simplifying decision trees. International Journal of Man-Machine
   Studies 27, 221-234.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import prune as kernels
from bottega.tree._kernels.walk import apply
from bottega.tree.impurity import class_impurity

__all__ = [
    "PruningSequence",
    "class_counts",
    "cut",
    "impurity_risk",
    "leaf_labels",
    "node_losses",
    "prune",
    "prune_to",
    "pruning_sequence",
    "reduced_error",
    "refit_leaves",
]

# Links whose prices differ by less than this share of the root's risk are one link: the sums
# behind them are not known better.
_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class PruningSequence:
    """The nested subtrees that minimise ``risk + alpha * leaves`` for some alpha.

    Attributes
    ----------
    alpha : ndarray of shape (m,)
        Where each member begins to be the best, ascending from 0 (the tree as it was grown). It
        is the best up to the next alpha. Splits that lower the risk by nothing go at an alpha of
        one rounding unit of the root's risk.
    n_leaves : ndarray of int of shape (m,)
        Leaves of each member.
    risk : ndarray of shape (m,)
        Training risk of each member.
    collapse_alpha : ndarray, one entry a node
        The alpha from which the node is a leaf, or is gone with a node above it; 0 for a leaf.
    """

    alpha: FloatArray
    n_leaves: IntArray
    risk: FloatArray
    collapse_alpha: FloatArray

    def __len__(self) -> int:
        return len(self.alpha)

    def member(self, alpha: Any) -> IntArray:
        """Return the place of the member that is the best at each alpha."""
        return np.asarray(np.searchsorted(self.alpha, alpha, side="right") - 1)

    @property
    def beta(self) -> FloatArray:
        """A typical alpha of each member: the geometric mean of the ends of its stretch.

        The last has infinity. The first has 0, the tree as it is grown; unless it has no useless
        split, for then trees of other samples should be rid of theirs: a price next to nothing.
        """
        useless = _TIE * self.risk[-1]
        middle = np.append(np.sqrt(self.alpha[:-1] * self.alpha[1:]), np.inf)
        if len(self) > 1 and self.alpha[1] > useless:
            middle[0] = useless
        return middle


def pruning_sequence(tree: Tree, risk: FloatArray | None = None) -> PruningSequence:
    """Return the weakest-link sequence of a tree.

    Parameters
    ----------
    tree : Tree
        A grown tree.
    risk : ndarray, optional
        What each node adds to the risk as a leaf; by default ``tree.risk``.

    Returns
    -------
    PruningSequence
        With at most as many members as the tree has splits, and one.

    Notes
    -----
    The weakest link is the split whose branch lowers the risk least a leaf. Collapsing it changes
    the branches above it, at most as many as the tree is deep; a heap finds the next. The cost is
    about N (depth + log N) for N nodes.
    """
    risk = np.ascontiguousarray(tree.risk if risk is None else risk, dtype=np.float64)
    scale = max(float(risk[0]), np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
    found = kernels.weakest_links(
        tree.parent,
        tree.first_child,
        tree.n_children,
        risk,
        _TIE * scale,
        np.finfo(np.float64).eps * scale,
    )
    collapse_alpha, alpha, n_leaves, total = found
    return PruningSequence(alpha, n_leaves, total, collapse_alpha)


def class_counts(tree: Tree, class_scale: FloatArray | None = None) -> FloatArray:
    """Return the weight of each class in each node, before the scale of the priors."""
    shares = tree.value if class_scale is None else tree.value / class_scale
    return np.asarray(tree.weight[:, None] * shares / shares.sum(axis=1, keepdims=True))


def impurity_risk(
    tree: Tree, class_scale: FloatArray | None = None, cost: FloatArray | None = None
) -> FloatArray:
    """Return the impurity of each node times its share of the weight.

    Parameters
    ----------
    tree : Tree
        A tree.
    class_scale, cost : ndarray, optional
        As the tree was grown with: they change what a row of a class weighs.
    """
    weight = tree.weight
    if class_scale is not None or cost is not None:
        altered = np.ones(tree.value.shape[1]) if class_scale is None else class_scale
        altered = altered if cost is None else altered * cost.sum(axis=1)
        weight = class_counts(tree, class_scale) @ altered
    return np.asarray(tree.impurity * weight / weight[0])


def cut(tree: Tree, leaf: BoolArray) -> Tree:
    """Return the tree in which the marked nodes are leaves, without what is below them."""
    number, count = kernels.kept_numbers(tree.parent, leaf)
    kept = np.flatnonzero(number >= 0)
    split = (tree.n_children[kept] > 0) & ~leaf[kept]
    if count == tree.n_nodes and np.array_equal(split, ~tree.is_leaf):
        return tree
    parent = tree.parent[kept]
    first = tree.first_child[kept]
    asks = np.where(split, tree.test_stop[kept] - tree.test_start[kept], 0)
    tests = _ranges(tree.test_start[kept], asks)
    has = tree.level_stop[tests] - tree.level_start[tests]
    levels = _ranges(tree.level_start[tests], has)
    test_stop, level_stop = np.cumsum(asks), np.cumsum(has)

    def as_before(array: Any, like: Array) -> Array:
        return np.asarray(array, dtype=like.dtype)

    return tree.at(
        parent=as_before(np.where(parent < 0, -1, number[parent]), tree.parent),
        depth=tree.depth[kept],
        first_child=as_before(np.where(split, number[first], -1), tree.first_child),
        n_children=as_before(np.where(split, tree.n_children[kept], 0), tree.n_children),
        default_child=as_before(np.where(split, tree.default_child[kept], 0), tree.default_child),
        test_start=as_before(test_stop - asks, tree.test_start),
        test_stop=as_before(test_stop, tree.test_stop),
        n=tree.n[kept],
        weight=tree.weight[kept],
        value=tree.value[kept],
        impurity=tree.impurity[kept],
        risk=tree.risk[kept],
        gain=np.where(split, tree.gain[kept], 0.0),
        feature=tree.feature[tests],
        threshold=tree.threshold[tests],
        reverse=tree.reverse[tests],
        agreement=tree.agreement[tests],
        level_start=as_before(level_stop - has, tree.level_start),
        level_stop=as_before(level_stop, tree.level_stop),
        levels=tree.levels[levels],
        level_child=tree.level_child[levels],
    )


def _ranges(start: IntArray, length: IntArray) -> IntArray:
    """Return the numbers start[0] .. start[0] + length[0] - 1, start[1] .. and so on."""
    before = np.cumsum(length) - length
    return np.arange(int(length.sum())) + np.repeat(start - before, length)


def prune(tree: Tree, alpha: float, sequence: PruningSequence | None = None) -> Tree:
    """Return the smallest subtree that minimises ``risk + alpha * leaves``; at 0 the tree itself.

    Parameters
    ----------
    tree : Tree
        A grown tree.
    alpha : float
        Price of a leaf.
    sequence : PruningSequence, optional
        The sequence of this tree; by default that of ``tree.risk``.
    """
    sequence = pruning_sequence(tree) if sequence is None else sequence
    return cut(tree, sequence.collapse_alpha <= alpha)


def prune_to(tree: Tree, n_leaves: int, sequence: PruningSequence | None = None) -> Tree:
    """Return the largest subtree of the sequence that has at most `n_leaves` leaves."""
    sequence = pruning_sequence(tree) if sequence is None else sequence
    place = int(np.flatnonzero(sequence.n_leaves <= n_leaves)[0])
    return prune(tree, float(sequence.alpha[place]), sequence)


def leaf_labels(value: FloatArray, cost: FloatArray | None = None, default: int = -1) -> IntArray:
    """Return the class of least expected cost of each node.

    Parameters
    ----------
    value : ndarray of shape (nodes, K)
        Share of each class.
    cost : ndarray of shape (K, K), optional
        Cost of predicting the column's class for a row of the row's class; by default an error
        costs 1.
    default : int
        Class that wins ties if it is among the best; otherwise the first of them does.
    """
    expected = -value if cost is None else value @ cost
    least = expected.min(axis=1, keepdims=True)
    # Shares of equal counts may differ in their last digit.
    scale = np.abs(expected).max(axis=1, keepdims=True)
    tied = expected <= least + 1e-12 * scale
    first = np.argmax(tied, axis=1)
    return first if default < 0 else np.where(tied[:, default], default, first)


def node_losses(
    tree: Tree,
    leaf: IntArray,
    y: Array,
    w: FloatArray | None,
    *,
    cost: FloatArray | None = None,
    label: IntArray | None = None,
) -> FloatArray:
    """Return, per node, the sums of w l, w^2 l, w^2 l^2 over the rows that pass it.

    The loss l of a row at a node is what it would cost if the node were a leaf: its squared error
    or, with the node's `label` given, ``cost[y, label]`` (an error costs 1 by default). `leaf` is
    where the row ends.
    """
    weight = np.ones(len(y)) if w is None else w
    if label is None:
        return kernels.node_losses_numbers(leaf, tree.parent, tree.value[:, 0].copy(), y, weight)
    k = tree.value.shape[1]
    cost = 1.0 - np.eye(k) if cost is None else np.ascontiguousarray(cost, dtype=np.float64)
    return kernels.node_losses_classes(leaf, tree.parent, label, y, cost, weight)


def reduced_error(
    tree: Tree,
    X: FloatArray,
    y: Array,
    w: FloatArray | None = None,
    *,
    cost: FloatArray | None = None,
    label: IntArray | None = None,
) -> Tree:
    """Return the subtree with the least loss on validation rows, the smallest among equals.

    Goes from the leaves to the root and cuts each branch that does not predict the validation rows
    better than its node would as a leaf; the validation loss never rises.

    Parameters
    ----------
    tree : Tree
        A tree grown on other rows.
    X, y, w : ndarray
        Inputs of the validation rows, their responses (class codes for a classifier), and weights.
    cost, label : ndarray, optional
        As in `node_losses`.
    """
    leaf = apply(X, *tree.walk)
    loss = node_losses(tree, leaf, y, w, cost=cost, label=label)[:, 0].copy()
    return cut(tree, kernels.collapse_worse(tree.first_child, tree.n_children, loss))


def refit_leaves(
    tree: Tree,
    columns: Columns,
    y: Array,
    w: FloatArray | None,
    *,
    criterion: str = "squared_error",
    n_classes: int = 0,
    class_scale: FloatArray | None = None,
    cost: FloatArray | None = None,
) -> Tree:
    """Return the same tests with n, weight, value, impurity, risk and gain of other rows.

    Parameters
    ----------
    tree : Tree
        The structure, which stays. Nodes that no row reaches keep their value, with no weight.
    columns, y, w : Columns, ndarray, ndarray or None
        The rows, as for `grow`.
    criterion : str
        Impurity.
    n_classes, class_scale, cost
        As for `grow`.
    """
    weight = np.ones(len(y)) if w is None else w
    leaf = apply(columns.X, *tree.walk)
    counted = np.bincount(leaf[weight > 0], minlength=tree.n_nodes).astype(np.float64)[:, None]
    kernels.add_up(tree.parent, counted)
    if n_classes:
        sums = np.zeros((tree.n_nodes, n_classes))
        np.add.at(sums, (leaf, y), weight)
        kernels.add_up(tree.parent, sums)
        mass = sums.sum(axis=1)
        scale = np.ones(n_classes) if class_scale is None else class_scale
        shares = sums * scale
        least = shares.sum(axis=1) - shares.max(axis=1) if cost is None else (shares @ cost).min(1)
        altered = shares if cost is None else shares * cost.sum(axis=1)
        impurity = class_impurity(altered, criterion)
        risk = np.maximum(least, 0.0) / shares[0].sum()
        part = impurity * altered.sum(axis=1) / altered[0].sum()
        value = np.where(mass[:, None] > 0, shares, tree.value)
        value = value / value.sum(axis=1, keepdims=True)
    else:
        sums = np.zeros((tree.n_nodes, 2))
        np.add.at(sums, leaf, np.column_stack([weight, weight * y]))
        kernels.add_up(tree.parent, sums)
        mass = sums[:, 0]
        reached = mass > 0
        value = np.where(reached, sums[:, 1] / np.where(reached, mass, 1.0), tree.value[:, 0])
        value = value[:, None]
        loss = node_losses(tree.at(value=value), leaf, y, w)[:, 0]
        impurity = loss / np.where(reached, mass, 1.0)
        risk = part = loss / mass[0]
    below = np.zeros(tree.n_nodes)
    np.add.at(below, tree.parent[1:], part[1:])
    return tree.at(
        n=counted[:, 0].astype(tree.n.dtype),
        weight=mass,
        value=value,
        impurity=impurity,
        risk=risk,
        gain=np.where(tree.is_leaf, 0.0, part - below),
    )
