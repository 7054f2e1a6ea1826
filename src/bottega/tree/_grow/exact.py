"""Growing a tree on all its rows: from columns, responses and options to a `Tree`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.typing import FloatArray, IntArray
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import grow_exact as kernels

__all__ = ["GrowOptions", "grow"]

CRITERIA = {
    "error": kernels.ERROR,
    "gini": kernels.GINI,
    "entropy": kernels.ENTROPY,
    "sqrt": kernels.SQRT,
    "deviance": kernels.DEVIANCE,
    "squared_error": kernels.SQUARED,
}
THRESHOLDS = {"exact": kernels.EXACT, "uniform": kernels.UNIFORM, "random": kernels.RANDOM}
MISSING = ("direction", "surrogate")


@dataclass(frozen=True)
class GrowOptions:
    """How a tree is grown.

    Attributes
    ----------
    criterion : str
        Impurity: ``"error"``, ``"gini"``, ``"entropy"``, ``"sqrt"``, ``"deviance"`` of classes,
        ``"squared_error"`` of numbers.
    thresholds : {"exact", "uniform", "random"}
        Midpoints between all neighbouring values, or `n_thresholds` candidates in the range of
        each node, equally spaced or drawn at random.
    n_thresholds : int
        Number of candidates.
    missing : {"direction", "surrogate"}
        Missing rows go where they help most, or where the best substitute test sends them.
    n_surrogates : int
        Most surrogates a split keeps.
    multiway : bool
        Give each level of a category its own child.
    max_depth, max_leaves : int, optional
        Limits; None for none.
    min_split, min_leaf : int
        Fewest rows in a node that is split, and in a child.
    min_gain : float
        Least decrease of impurity, times the node's share of the weight.
    min_impurity : float
        A node that is this pure is not split.
    monotone : array of {-1, 0, 1}, optional
        Direction in which the response may go with each column.
    max_features : int, optional
        Columns drawn for each split; all by default.
    seed : int
        Of random thresholds and columns.
    """

    criterion: str = "gini"
    thresholds: str = "exact"
    n_thresholds: int = 32
    missing: str = "direction"
    n_surrogates: int = 5
    multiway: bool = False
    max_depth: int | None = None
    max_leaves: int | None = None
    min_split: int = 2
    min_leaf: int = 1
    min_gain: float = 0.0
    min_impurity: float = 0.0
    monotone: Any = None
    max_features: int | None = None
    seed: int = 0


def grow(
    columns: Columns,
    y: Any,
    w: FloatArray | None,
    options: GrowOptions,
    n_classes: int = 0,
    class_scale: FloatArray | None = None,
    cost: FloatArray | None = None,
) -> Tree:
    """Grow a tree: best split of any leaf first, until no rule allows another.

    Cost: one sort of each column (kept in `columns`), then a scan and a partition of every column
    at each level of the tree: n p (log n + depth).

    Parameters
    ----------
    columns : Columns
        Inputs.
    y : ndarray of shape (n,)
        Responses, or class codes 0, 1, ...
    w : ndarray of shape (n,) or None
        Row weights; rows of weight 0 do not count.
    options : GrowOptions
        How to grow.
    n_classes : int
        Number of classes; 0 for regression.
    class_scale : ndarray of shape (K,), optional
        Prior of each class over its share of the data's weight; 1 by default. Rows of a class
        count that many times.
    cost : ndarray of shape (K, K), optional
        What it costs to say j when c is true, at [c, j]; 1 off the diagonal by default. Rows of
        class c then count ``cost[c].sum()`` times in the choice of splits (altered priors), and
        the risk is the least expected cost.

    Returns
    -------
    Tree
        With `risk` and `gain` as means over the training weight.

    Examples
    --------
    >>> columns = Columns.numeric([[1.0], [2.0], [4.0], [5.0]])
    >>> tree = grow(columns, np.array([0, 0, 1, 1]), None, GrowOptions(), n_classes=2)
    >>> tree.threshold.tolist(), tree.gain.tolist()
    ([3.0], [0.5, 0.0, 0.0])
    """
    if w is not None and not np.all(w > 0):
        kept = np.flatnonzero(w > 0)
        if not len(kept):
            raise InputError("All weights are zero; at least one row must count.")
        columns, y, w = columns.rows(kept), np.asarray(y)[kept], w[kept]
    n, p = columns.X.shape
    if n_classes:
        rows, scale, altered = _class_rows(y, w, n_classes, options, class_scale, cost)
        center = 0.0
    else:
        rows, center = _response_rows(y, w)
    rules = _rules(options, n, p, n_classes, float(rows["wz"][:, 0].sum()))
    data = kernels.Data(
        columns.X,
        columns.order(),
        columns.has_missing(),
        columns.categorical,
        columns.n_levels,
        _monotone(options.monotone, columns, n_classes),
        n_classes=n_classes,
        **rows,
    )
    once = rules.max_depth <= 1 or rules.max_leaves <= 2
    work = np.empty((p, 0 if once else n), dtype=np.int32)
    child_of = np.empty(n, dtype=np.int32 if options.multiway else np.uint8)
    nodes, sums, tests, levels = kernels.grow_exact(
        data, rules, work, child_of, _most_nodes(rules, n)
    )
    *frame, size, weight, mean, loss, gain, lo, hi = nodes
    total = weight[0]
    impurity = loss / weight
    value = np.clip(mean, lo, hi)  # limits of monotone trees; no other tree has any
    if n_classes:
        counts = sums / altered  # weights as given
        shares = counts * scale
        limited = None if np.array_equal(value, mean) else np.stack([1 - value, value], axis=1)
        value = shares if limited is None else limited * scale / altered
        value = value / value.sum(axis=1, keepdims=True)
        weight = counts.sum(axis=1)
        risk = _least_cost(shares, value, cost) / shares[0].sum()
    else:
        risk = (loss + weight * (mean - value) ** 2) / total
        value = (value + center)[:, None]
    parent, depth, first, width, default, start, stop = frame
    return Tree(
        parent, depth, first, width, default, start, stop, size, weight, value, impurity, risk,
        gain / total, *tests, *levels,
    )  # fmt: skip


def _response_rows(y: Any, w: FloatArray | None) -> tuple[dict[str, Any], float]:
    y = np.asarray(y, dtype=np.float64)
    center = float(np.average(y, weights=w))
    wz = np.empty((len(y), 2))
    wz[:, 0] = 1.0 if w is None else w
    np.multiply(y - center, wz[:, 0], out=wz[:, 1])
    none = np.empty(0)
    return {"wz": wz, "w": none, "code": np.empty(0, dtype=np.int32), "xlogx": none}, center


def _class_rows(
    y: Any,
    w: FloatArray | None,
    n_classes: int,
    options: GrowOptions,
    class_scale: FloatArray | None,
    cost: FloatArray | None,
) -> tuple[dict[str, Any], FloatArray, FloatArray]:
    """Return what the kernel knows of the rows, the scale of priors, and that of the weights."""
    code = np.asarray(y).astype(np.int32)
    scale = np.ones(n_classes) if class_scale is None else np.asarray(class_scale, dtype=np.float64)
    altered = scale.copy()
    if cost is not None:
        cost = np.asarray(cost, dtype=np.float64)
        if cost.shape != (n_classes, n_classes):
            raise InputError(
                f"cost has shape {cost.shape}; {n_classes} classes need ({n_classes}, {n_classes})."
            )
        altered = scale * cost.sum(axis=1)
    if not np.all(altered > 0):
        raise InputError(
            "Every class needs a positive prior and a positive cost of being mistaken for another."
        )
    weight = altered[code] if w is None else w * altered[code]
    # The altered weights are scaled so that they sum to what the rows weigh.
    total = float(len(code)) if w is None else float(w.sum())
    ratio = total / weight.sum()
    altered = altered * ratio
    plain = w is None and np.all(altered == 1.0)
    weight = np.ones(len(code)) if plain else weight * ratio
    wz = np.empty((len(code), 2))
    wz[:, 0] = weight
    np.multiply(weight, code == 1, out=wz[:, 1])
    table = np.empty(0)
    if plain and options.criterion in ("entropy", "deviance"):
        table = np.arange(len(code) + 1, dtype=np.float64)
        table[1:] *= np.log2(table[1:])
    return {"wz": wz, "w": weight, "code": code, "xlogx": table}, scale, altered


def _least_cost(shares: FloatArray, value: FloatArray, cost: FloatArray | None) -> FloatArray:
    """Return what the rows of each node cost under the label of least cost at its value."""
    if cost is None:
        cost = 1.0 - np.eye(shares.shape[1])
    label = np.argmin(value @ cost, axis=1)
    return np.maximum((shares @ cost)[np.arange(len(label)), label], 0.0)


def _rules(o: GrowOptions, n: int, p: int, n_classes: int, total: float) -> kernels.Rules:
    for name, value, known in (
        (
            "criterion",
            o.criterion,
            [c for c in CRITERIA if (c == "squared_error") != (n_classes > 0)],
        ),
        ("thresholds", o.thresholds, list(THRESHOLDS)),
        ("missing", o.missing, list(MISSING)),
    ):
        if value not in known:
            raise ParameterError(
                f"{name}={value!r} is not allowed; use one of {', '.join(map(repr, known))}."
                f"{did_you_mean(value, known)}"
            )
    return kernels.Rules(
        criterion=CRITERIA[o.criterion],
        thresholds=THRESHOLDS[o.thresholds],
        n_thresholds=int(o.n_thresholds),
        surrogate=o.missing == "surrogate",
        n_surrogates=int(o.n_surrogates) if o.missing == "surrogate" else 0,
        multiway=bool(o.multiway),
        max_depth=n if o.max_depth is None else int(o.max_depth),
        max_leaves=n if o.max_leaves is None else int(o.max_leaves),
        min_split=int(o.min_split),
        min_leaf=int(o.min_leaf),
        min_gain=float(o.min_gain) * total,
        min_impurity=float(o.min_impurity),
        max_features=p if o.max_features is None else int(o.max_features),
        seed=int(o.seed),
    )


def _monotone(monotone: Any, columns: Columns, n_classes: int) -> IntArray:
    p = columns.X.shape[1]
    if monotone is None:
        return np.zeros(p, dtype=np.int64)
    signs = np.asarray(monotone)
    if signs.shape != (p,) or not np.all(np.isin(signs, (-1, 0, 1))):
        raise ParameterError(
            f"monotone={monotone!r} is not allowed; give one of -1, 0, 1 for each of the {p} "
            "columns."
        )
    if n_classes > 2:
        raise ParameterError("monotone is for regression and two classes.")
    if np.any(columns.categorical & (signs != 0)):
        raise ParameterError("A category has no order to be monotone in; give it 0 in monotone.")
    return signs.astype(np.int64)


def _most_nodes(rules: kernels.Rules, n: int) -> int:
    """Return a number of nodes that no tree under these rules exceeds."""
    leaves = max(1, min(n // max(rules.min_leaf, 1), rules.max_leaves))
    if not rules.multiway and rules.max_depth < 31:
        leaves = min(leaves, 2**rules.max_depth)
    return 2 * leaves - 1
