"""Growing a tree on all its rows: from columns, responses and options to a `Tree`."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.tree._grow.class_weights import altered_weights, class_values
from bottega.tree._grow.columns import Columns, by_column
from bottega.tree._grow.options import CRITERIA, THRESHOLDS, GrowOptions
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels.exact_inputs import Data, Levels, Rules, Scratch
from bottega.tree._kernels.grow_exact import grow_exact

_NEAR = 16_384  # rows whose inputs and responses fit into the cache of a processor's core


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
    at each level of the tree: n p (log n + depth). Rows of weight 0 do not count. y are numbers
    (`n_classes` is 0) or class codes. `class_scale` is the prior of each class over its share of
    the weight: its rows count that many times. ``cost[i, c]`` is what it costs to say i when c is
    true: rows of class c then count ``cost[:, c].sum()`` times in the choice of splits (altered
    priors), and the risk is the least expected cost. Risk and gain are means over the weight.

    Examples
    --------
    >>> columns = Columns.numeric([[1.0], [2.0], [4.0], [5.0]])
    >>> tree = grow(columns, np.array([0, 0, 1, 1]), None, GrowOptions(), n_classes=2)
    >>> tree.threshold.tolist(), tree.gain.tolist()
    ([3.0], [0.5, 0.0, 0.0])
    """
    options.check(n_classes)
    if w is not None and not np.all(w > 0):
        kept = np.flatnonzero(w > 0)
        if not len(kept):
            raise InputError("All weights are zero; at least one row must count.")
        columns, y, w = columns.rows(kept), np.asarray(y)[kept], w[kept]
    n, p = columns.X.shape
    options = options.counted(n)
    scale = altered = np.ones(1)
    center = 0.0
    if n_classes:
        code: IntArray = np.asarray(y).astype(np.int32)
        weight, scale, altered = altered_weights(code, w, n_classes, class_scale, cost)
        counted = w is None and bool(np.all(altered == 1.0))
        rows = _class_rows(code, weight, options.criterion if counted else "")
    else:
        rows, center = _response_rows(y, w)
    wz = rows["wz"]
    rules = _rules(options, n, p, float(n if wz.shape[1] == 1 else wz[:, 0].sum()))
    directions = options.directions(columns.categorical, n_classes)
    data = Data(
        by_column(columns.X).T,
        columns.order(),
        columns.has_missing(),
        columns.categorical,
        columns.n_levels,
        directions,
        columns.categorical | (directions != 0),
        n_classes=n_classes,
        **rows,
    )
    once = rules.max_depth <= 1 or rules.max_leaves <= 2
    work = np.empty((p, 0 if once else n), dtype=np.int32)
    child_of = np.empty(n, dtype=np.uint8 if rules.multiway == 2 else np.int32)
    nodes, sums, tests, levels = grow_exact(
        data, _near(data), rules, *_buffers(data, rules), work, child_of, _most_nodes(rules, n)
    )
    *frame, weight, mean, loss, gain, lo, hi = nodes
    total = weight[0]
    impurity = loss / weight
    value = np.clip(mean, lo, hi)  # limits of monotone trees; no other tree has any
    if n_classes:
        limited = None if np.array_equal(value, mean) else np.stack([1 - value, value], axis=1)
        weight, value, risk = class_values(sums, scale, altered, cost, limited)
    else:
        risk = (loss + weight * (mean - value) ** 2) / total
        value = (value + center)[:, None]
    arrays = (*frame, weight, value, impurity, risk, gain / total, *tests, *levels)
    return Tree(*arrays)


def _response_rows(y: Any, w: FloatArray | None) -> tuple[dict[str, Any], float]:
    y = np.asarray(y, dtype=np.float64)
    center = float(np.average(y, weights=w))
    weight = np.ones(len(y)) if w is None else w
    none = np.empty(0)
    wz = _weighed(weight, y - center)
    return {"wz": wz, "w": none, "code": np.empty(0, dtype=np.int32), "xlogx": none}, center


def _class_rows(code: Any, weight: FloatArray, counted_by: str) -> dict[str, Any]:
    """Return what the kernel knows of the rows; `counted_by` is the criterion of whole weights."""
    wz = _weighed(weight, code == 1)
    table = np.empty(0)
    if counted_by in ("entropy", "log_loss", "deviance"):
        table = np.arange(len(code) + 1, dtype=np.float64)
        table[1:] *= np.log2(table[1:])
    return {"wz": wz, "w": weight, "code": code, "xlogx": table}


def _weighed(weight: FloatArray, z: Any) -> FloatArray:
    """Return w and w z side by side; z alone where all weights are one."""
    if np.all(weight == 1.0):
        return np.asarray(z, dtype=np.float64)[:, None]
    return np.column_stack([weight, weight * z])


def _near(data: Data) -> Data:
    """Return room for the rows of a subtree, next to none if all rows are near enough."""
    p, n = data.X.shape
    room = _NEAR if n > 4 * _NEAR else min(n, 2)
    X, wz = np.empty((p, room)), np.empty((room, data.wz.shape[1]))
    return data._replace(X=X, wz=wz, w=np.empty(room), code=np.empty(room, dtype=np.int32))


def _rules(o: GrowOptions, n: int, p: int, total: float) -> Rules:
    return Rules(
        criterion=CRITERIA[o.criterion],
        thresholds=THRESHOLDS[o.thresholds],
        n_thresholds=int(o.n_thresholds),
        surrogate=o.missing == "surrogate",
        n_surrogates=int(o.n_surrogates) if o.missing == "surrogate" else 0,
        multiway=o.most_groups,
        max_depth=n if o.max_depth is None else int(o.max_depth),
        max_leaves=n if o.max_leaf_nodes is None else int(o.max_leaf_nodes),
        min_split=int(o.min_samples_split),
        min_leaf=int(o.min_samples_leaf),
        min_weight=float(o.min_weight_fraction_leaf) * total,
        min_gain=float(o.min_impurity_decrease) * total,
        min_impurity=float(o.min_impurity),
        max_features=p if o.max_features is None else int(o.max_features),
        seed=int(o.seed),
    )


def _buffers(data: Data, rules: Rules) -> tuple[Scratch, Levels | None, Any]:
    """Return scratch buffers: of every search, of levels (None: no need), and of surrogates."""
    p, n = data.X.shape
    k = max(data.n_classes, 1)
    candidates, columns = np.empty(rules.n_thresholds), np.empty(p, dtype=np.int32)
    left, right, gone, f_l, f_r = (np.empty(k) for _ in range(5))
    seed = np.array([rules.seed], dtype=np.uint64)
    scratch = Scratch(left, right, gone, f_l, f_r, candidates, columns, seed)
    levels = None
    if np.any(data.categorical):
        widest = max(1, int(data.n_levels.max()))
        m = min(widest, n) + 1
        code, rank, child = (np.empty(size, dtype=np.int32) for size in (m, m, widest + 1))
        w, d, score = (np.empty(m) for _ in range(3))
        counts = np.empty((m, k))
        levels = Levels(code, np.empty(m, dtype=np.int64), w, d, score, rank, counts, child)
    m = rules.n_surrogates
    surrogates = np.empty(m, np.int32), np.empty(m), np.empty(m, np.bool_), np.empty(m)
    return scratch, levels, surrogates


def _most_nodes(rules: Rules, n: int) -> int:
    """Return a number of nodes that no tree under these rules exceeds."""
    leaves = max(1, min(n // max(rules.min_leaf, 1), rules.max_leaves))
    if rules.multiway == 2 and rules.max_depth < 31:
        leaves = min(leaves, 2**rules.max_depth)
    return 2 * leaves - 1
