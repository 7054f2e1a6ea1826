"""Sizing a tree by validation rows: cut back by them, or stopped by them; and leaves refitted.

References
----------
.. [1] Quinlan, J. R. (1987). Simplifying decision trees. International Journal of Man-Machine
   Studies 27, 221-234.
"""

import numpy as np

from bottega.core.typing import Array, FloatArray
from bottega.tree._grow.binned_columns import leaves_of
from bottega.tree._grow.class_weights import least_cost
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import prune as kernels
from bottega.tree._prune.losses import node_losses, sums_at
from bottega.tree._prune.sequence import cut
from bottega.tree.impurity import class_impurity


def reduced_error(tree: Tree, loss: FloatArray) -> Tree:
    """Return the subtree with the least loss on validation rows, the smallest among equals.

    Goes from the leaves to the root and cuts each branch that does not predict the validation rows
    better than its node would as a leaf; the validation loss never rises. `loss` is what the rows
    that pass a node would lose there (`node_losses`); the tree was grown on other rows.
    """
    return cut(tree, kernels.collapse_worse(tree.first_child, tree.n_children, loss.copy()))


def stopped_at(tree: Tree, loss: FloatArray, target: float) -> Tree:
    """Return the tree as it was when the loss of validation rows first came down to a target.

    The best split must have been made first, so that children are numbered in the order of the
    splits. `loss` is as in `reduced_error`. If the target is never reached the tree stays.
    """
    split = np.flatnonzero(tree.n_children > 0)
    done = np.zeros(tree.n_nodes)  # how many splits are left to do before this one is undone
    done[split[np.argsort(tree.first_child[split])]] = np.arange(len(split), 0, -1)
    left = np.arange(len(split), -1.0, -1.0)  # splits that are not made yet
    reached = np.flatnonzero(sums_at(tree, done, loss, left) <= target + 1e-12 * loss[0])
    return cut(tree, done <= left[reached[0]]) if len(reached) else tree


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

    The arguments are as for `grow`. Nodes that no row reaches keep their value, with no weight.
    """
    weight = np.ones(len(y)) if w is None else w
    leaf = leaves_of(columns, tree)
    counted = np.bincount(leaf[weight > 0], minlength=tree.n_nodes).astype(np.float64)[:, None]
    kernels.add_up(tree.parent, counted)
    if n_classes:
        sums = np.zeros((tree.n_nodes, n_classes))
        np.add.at(sums, (leaf, y), weight)
        kernels.add_up(tree.parent, sums)
        mass = sums.sum(axis=1)
        scale = np.ones(n_classes) if class_scale is None else class_scale
        shares = sums * scale
        altered = shares if cost is None else shares * cost.sum(axis=0)
        impurity = class_impurity(altered, criterion)
        risk = least_cost(shares, shares, cost) / shares[0].sum()
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
