"""Growing one tree for several responses, or by absolute error or Poisson deviance."""

from itertools import pairwise
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray, IntArray
from bottega.tree._grow.columns import Columns, by_column
from bottega.tree._grow.options import THRESHOLDS, GrowOptions
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import grow_joint as kernels

# Form of the criterion in the kernel, and its unit there in units of ours.
_FORMS = {
    "squared_error": (kernels.SQUARES, 1.0),
    "friedman_mse": (kernels.SQUARES, 1.0),
    "gini": (kernels.SQUARES, 1.0),
    "entropy": (kernels.LOGS, 1 / np.log(2)),
    "log_loss": (kernels.LOGS, 1 / np.log(2)),
    "deviance": (kernels.LOGS, 2.0),
    "poisson": (kernels.LOGS, 1.0),
    "absolute_error": (kernels.MEDIANS, 1.0),
}


def grow_joint(
    columns: Columns,
    y: Any,
    w: FloatArray | None,
    options: GrowOptions,
    n_classes: tuple[int, ...] = (),
) -> Tree:
    """Grow a tree on columns of numbers whose impurity is the mean over the responses.

    y is (n,) or (n, q): numbers, or class codes with the number of classes of each response in
    `n_classes`. Values are means (medians with ``"absolute_error"``), or the class shares of all
    responses side by side. Cost: as `bottega.tree._grow.exact.grow` times the columns of values;
    with medians times log n.
    """
    options.refuse_for_joint(np.asarray(columns.categorical))
    if options.criterion not in _FORMS:
        raise ParameterError(
            f"criterion={options.criterion!r} is for one response; for several use one of 'gini', "
            "'entropy', 'log_loss', 'deviance'."
        )
    form, unit = _FORMS[options.criterion]
    n, p = columns.X.shape
    options = options.counted(n)
    y = np.asarray(y).reshape(n, -1)
    unit /= y.shape[1]
    weight = np.ones(n) if w is None else w
    center = np.zeros(y.shape[1])
    if n_classes:
        shown = [code[:, None] == np.arange(k) for code, k in zip(y.T, n_classes, strict=True)]
        z = np.hstack(shown).astype(np.float64)
        center = np.zeros(z.shape[1])
    elif options.criterion == "poisson":
        z = y.astype(np.float64)
    else:
        center = np.average(y, axis=0, weights=w)
        z = y - center
    order = columns.order()
    if form == kernels.MEDIANS:
        order = np.vstack([order, np.argsort(z, axis=0, kind="stable").T.astype(np.int32)])
    total = float(weight.sum())
    rules = kernels.JointRules(
        criterion=form,
        positive=options.criterion == "poisson",
        thresholds=THRESHOLDS[options.thresholds],
        max_depth=n if options.max_depth is None else int(options.max_depth),
        max_leaves=n if options.max_leaf_nodes is None else int(options.max_leaf_nodes),
        min_split=int(options.min_samples_split),
        min_leaf=int(options.min_samples_leaf),
        min_weight=float(options.min_weight_fraction_leaf) * total,
        min_gain=float(options.min_impurity_decrease) * total / unit,
        min_impurity=float(options.min_impurity) / unit,
        max_features=p if options.max_features is None else int(options.max_features),
    )
    found = kernels.grow_joint(
        by_column(columns.X).T,  # one column alone has the layout of many
        order,
        np.column_stack([weight, z]),
        rules,
        np.empty(int(options.n_thresholds)),
        np.array([options.seed], dtype=np.uint64),
        2 * max(1, min(n, rules.max_leaves)) - 1,
    )
    parent, depth, first, column, side, count, threshold, mass, loss, gain, value = found
    loss = np.maximum(loss, 0.0) * unit
    risk = loss / total
    if n_classes:
        starts = np.cumsum((0, *n_classes))
        best = [value[:, a:b].max(axis=1) for a, b in pairwise(starts)]
        risk = mass / total * (1.0 - np.mean(best, axis=0))
    return _as_tree(
        (parent, depth, first, side, count, mass),
        (value + center, loss / mass, risk, gain * unit / total),
        column,
        threshold,
    )


def check_counts(y: FloatArray) -> None:
    """Raise `InputError` unless y can have Poisson means."""
    if np.any(y < 0):
        raise InputError("Some values of y are negative, and the Poisson deviance is for none.")
    if not np.all(y.sum(axis=0) > 0):
        raise InputError("The sum of y is not positive, as the Poisson deviance needs it to be.")


def _as_tree(
    shape: tuple[Any, ...],
    numbers: tuple[FloatArray, ...],
    column: IntArray,
    threshold: FloatArray,
) -> Tree:
    parent, depth, first, side, count, mass = shape
    value, impurity, risk, gain = numbers
    split = np.flatnonzero(first >= 0)
    asks: IntArray = (first >= 0).astype(np.int32)
    test_stop: IntArray = asks * np.cumsum(asks, dtype=np.int32)
    none: IntArray = np.zeros(len(split), dtype=np.int32)
    levels: IntArray = np.zeros(0, dtype=np.int32)
    return Tree(
        parent, depth, first, 2 * asks, asks * side, test_stop - asks, test_stop,
        count.astype(np.int64), mass, value, impurity, risk, gain, column[split], threshold[split],
        none.astype(bool), np.ones(len(split)), none, none, levels, levels,
    )  # fmt: skip
