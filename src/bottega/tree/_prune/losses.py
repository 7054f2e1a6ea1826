"""What the rows that pass a node lose there, and what a whole pruning sequence loses with them."""

from typing import Any

import numpy as np

from bottega.core.classes import decided
from bottega.core.errors import InputError
from bottega.core.judge import LossSums
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import prune as kernels


def leaf_labels(value: FloatArray, cost: FloatArray | None = None, default: int = -1) -> IntArray:
    """Return the class of least expected cost of each node, from the share of each class.

    Of equals, `default` wins if it is among them, and else the first.
    """
    return decided(value if cost is None else -(value @ cost.T), default)


def node_losses(
    tree: Tree,
    leaf: IntArray,
    y: Array,
    w: FloatArray | None,
    loss: Loss = SQUARED_ERROR,
    label: IntArray | None = None,
    unit: float = 1.0,
) -> FloatArray:
    """Return, per node, the sums of w l, w^2 l, w^2 l^2 over the rows that pass it.

    The loss l of a row at a node is what it would lose if the node were a leaf. `leaf` is where
    the row ends; y are class codes where the `label` of each node is given. With several
    responses, (n, q), a row's loss is the mean over them. The sums of squares are in squares of the
    `unit` (`unit_of_losses`).
    """
    weight = np.ones(len(y)) if w is None else w
    if y.ndim == 2:
        if loss.method != "predict":
            raise InputError(f"The {loss.title} judges one response, not several.")
        return _climb(tree, leaf, y, weight, loss, tree.value if label is None else label, unit)
    if label is not None:
        k = tree.value.shape[1]
        predicted = label if loss.method == "predict" else tree.value
        table = [loss.of_rows(np.full(tree.n_nodes, code), predicted) for code in range(k)]
        by_class = np.stack(table, axis=1, dtype=np.float64)
        return kernels.node_losses(leaf, tree.parent, by_class, y, weight, True)
    if loss == SQUARED_ERROR:
        side = np.sqrt(unit)
        sums = kernels.node_losses(leaf, tree.parent, tree.value / side, y / side, weight, False)
        return np.asarray(sums * [unit, unit, 1.0])
    return _climb(tree, leaf, y[:, None], weight, loss, tree.value, unit)


def unit_of_losses(loss: Loss, y: Array, value: FloatArray) -> float:
    """Return the size of the losses of one prediction for all rows, a power of four.

    Their squares, fourth powers of the responses as a rule, neither vanish nor overflow in it, and
    the answer has the same digits in all units.

    Examples
    --------
    >>> unit_of_losses(SQUARED_ERROR, np.array([1.0, 9.0]), np.array([5.0]))
    64.0
    """
    columns = y[:, None] if y.ndim == 1 else y
    pairs = zip(columns.T, value, strict=True)
    each = [loss.of_rows(column, np.full(len(column), predicted)) for column, predicted in pairs]
    lost = np.mean(each, axis=0)
    size = float(np.max(lost, initial=0.0, where=np.isfinite(lost)))
    return float(np.ldexp(1.0, (np.frexp(size)[1] + 1) // 2 * 2)) if size > 0 else 1.0


def _climb(
    tree: Tree,
    leaf: IntArray,
    y: Array,
    weight: FloatArray,
    loss: Loss,
    predicted: Array,
    unit: float,
) -> FloatArray:
    """Return the sums of `node_losses` for any loss; y and `predicted` have a column a response."""
    sums = np.zeros((tree.n_nodes, 3))
    node = leaf.astype(np.int64)
    while len(node):  # one step up at a time
        each = [loss.of_rows(y[:, k], predicted[node, k]) for k in range(y.shape[1])]
        lost = np.mean(each, axis=0)
        parts = (weight * lost, weight**2 * lost, (weight * (lost / unit)) ** 2)
        for c, part in enumerate(parts):
            sums[:, c] += np.bincount(node, weights=part, minlength=tree.n_nodes)
        node = tree.parent[node].astype(np.int64)
        below = node >= 0
        node, y, weight = node[below], y[below], weight[below]
    return sums


def sums_at(tree: Tree, collapse_alpha: FloatArray, sums: FloatArray, at: FloatArray) -> FloatArray:
    """Return the sum over the leaves, of the tree pruned at each alpha, of what the nodes hold."""
    order = np.argsort(at, kind="stable")
    table = sums.reshape(len(sums), -1)
    found = np.empty((len(at), table.shape[1]))
    start = np.searchsorted(at[order], collapse_alpha)
    found[order] = kernels.spread(table, tree.parent, start, len(at))
    return found.reshape((len(at), *sums.shape[1:]))


def loss_sums(sums: FloatArray, rows: Rows, unit: float) -> LossSums:
    """Return the sums of `node_losses` over some rows, in a unit, as sums that can be merged."""
    found: Any = LossSums()
    loss, twice, square = sums.T
    found.count, found.weight = len(rows), rows.total_weight
    found.weight2 = float(rows.weights @ rows.weights)
    found.mean, found.center = loss / found.weight, twice / found.weight2
    found.unit = unit
    found.scatter = np.maximum(square - found.weight2 * (found.center / unit) ** 2, 0.0)
    return found
