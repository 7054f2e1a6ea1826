"""Growing a tree on columns cut into bins: for many rows, where exact thresholds gain nothing."""

from math import ceil
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree._grow.binned_columns import BinnedColumns
from bottega.tree._grow.bins import Bins
from bottega.tree._grow.class_weights import altered_weights, class_values
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.options import CRITERIA, GrowOptions
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import grow_binned as kernels
from bottega.tree._kernels.impurity import SUMS

NO_LIMIT = 2**31 - 1


def binned(columns: Columns | BinnedColumns) -> tuple[Bins, Array]:
    """Return the bins of columns and their codes; cut once and kept with the columns."""
    if isinstance(columns, BinnedColumns):
        return columns.bins, columns.codes
    if "binned" not in columns._cache:
        bins = columns.learn_bins()
        columns._cache["binned"] = bins, columns.encode(bins)
    return columns._cache["binned"]


def grow_binned(
    columns: Columns | BinnedColumns,
    y: Any,
    w: FloatArray | None,
    options: GrowOptions,
    n_classes: int = 0,
    class_scale: FloatArray | None = None,
    cost: FloatArray | None = None,
) -> Tree:
    """Grow a tree on at most 255 bins per column; otherwise as `bottega.tree._grow.exact.grow`.

    Where no column has more than 255 distinct values the tree is the exact one; a threshold lies
    halfway between the bins on both sides. Cost: n p to cut the columns (once: the bins stay with
    `columns`), then n p per level of the tree, on bytes. Surrogates, splits into more than two
    parts and monotone columns need exact thresholds; `options.thresholds` is not looked at.
    """
    options.check(n_classes)
    options.refuse_for_bins()
    bins, codes = binned(columns)
    rows = np.arange(len(columns), dtype=np.int32)
    if w is not None and not np.all(w > 0):
        rows = np.flatnonzero(w > 0).astype(np.int32)
        if not len(rows):
            raise InputError("All weights are zero; at least one row must count.")
        w = w[rows]
    y = np.asarray(y)[rows]
    options = options.counted(len(rows))
    criterion, two_class = CRITERIA[options.criterion], False
    scale = altered = np.ones(max(n_classes, 1))
    if n_classes:
        weight, scale, altered = altered_weights(y.astype(np.intp), w, n_classes, class_scale, cost)
        two_class = n_classes == 2 and options.criterion == "gini"
        if two_class:
            criterion = SUMS
        target = weight * (y == 1) if two_class else y.astype(np.float64)
        center = 0.0
    else:
        weight = np.ones(len(rows)) if w is None else w.copy()
        center = float(np.average(y, weights=weight))
        target = weight * (y - center)
    weighted = not np.all(weight == 1.0)
    least = int(options.min_samples_leaf)
    if options.min_weight_fraction_leaf > 0:
        if not np.all(weight == weight[0]):
            raise ParameterError(
                "min_weight_fraction_leaf does not go with thresholds='binned' and weights that "
                "differ; use thresholds='exact', or min_samples_leaf."
            )
        least = max(least, ceil(options.min_weight_fraction_leaf * len(rows)))
    p = codes.shape[1]
    depth, leaves = (
        NO_LIMIT if m is None else m for m in (options.max_depth, options.max_leaf_nodes)
    )
    nodes = kernels.grow(
        codes, bins.n_bins, bins.categorical, rows, weight, target,
        np.ones(len(rows) if weighted else 1), weighted, criterion, n_classes, two_class,
        p if options.max_features is None else min(int(options.max_features), p),
        options.max_features is not None, int(depth), int(leaves), int(options.min_samples_split),
        least, float(options.min_impurity_decrease),
        float(options.min_impurity), int(options.seed),
    )  # fmt: skip
    loss, sums = kernels.describe(nodes[0], nodes[1], nodes[2], nodes[7], weight, target,
                                  criterion, n_classes, two_class)  # fmt: skip
    return as_tree(nodes, loss, sums, bins, two_class, n_classes, center, scale, altered, cost)


def as_tree(
    nodes: tuple[Array, ...],
    loss: FloatArray,
    sums: FloatArray,
    bins: Bins,
    two_class: bool,
    n_classes: int,
    center: float = 0.0,
    scale: FloatArray | None = None,
    altered: FloatArray | None = None,
    cost: FloatArray | None = None,
) -> Tree:
    """Return the nodes of the kernel as a `Tree`; a threshold lies halfway between its sides."""
    _, _, first, depth, feature, sides, missing_left, reduction, weight, _, count, set_of, sets = (
        nodes
    )
    n_nodes = len(first)
    split = np.flatnonzero(first >= 0)
    asks: IntArray = (first >= 0).astype(np.int32)
    parent: IntArray = np.full(n_nodes, -1, dtype=np.int32)
    parent[first[split]] = parent[first[split] + 1] = split
    gain = np.zeros(n_nodes)
    gain[split] = (2.0 if two_class else 1.0) * reduction[split] / weight[0]
    if n_classes:
        ones, impurity = np.ones(n_classes), loss / weight
        scale, altered = ones if scale is None else scale, ones if altered is None else altered
        weight, value, risk = class_values(sums, scale, altered, cost, None)
    else:
        risk, impurity = loss / weight[0], loss / weight
        value = (sums[:, 0] / weight + center)[:, None]

    test_stop: IntArray = asks * np.cumsum(asks, dtype=np.int32)
    left, right = sides[split, 0].astype(np.intp), sides[split, 1].astype(np.intp)
    columns = feature[split]
    low = bins.high[columns, left]
    high = bins.low[columns, np.minimum(right, bins.low.shape[1] - 1)]
    threshold = np.where(np.isfinite(high), 0.5 * (low + high), low)
    threshold = np.where(threshold < high, threshold, low)
    threshold = np.where(right == 255, np.inf, threshold)  # present or missing
    threshold = np.where(bins.categorical[columns], np.nan, threshold)
    level_start, level_stop, levels, level_child = _levels(columns, set_of[split], sets, bins)
    return Tree(
        parent, depth, first, 2 * asks, asks * ~missing_left, test_stop - asks, test_stop,
        count.astype(np.int64), weight, value, impurity, risk, gain, columns, threshold,
        np.zeros(len(split), dtype=bool), np.ones(len(split)),
        level_start, level_stop, levels, level_child,
    )  # fmt: skip


def _levels(
    columns: IntArray, set_of: IntArray, sets: Array, bins: Bins
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the levels that each test on a category has seen, and the child each goes to."""
    count: IntArray = np.zeros(len(columns), dtype=np.int32)
    levels, children = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    members = np.unpackbits(sets.view(np.uint8), axis=2, bitorder="little").astype(bool)
    for test in np.flatnonzero(set_of >= 0):
        left, seen = members[set_of[test]]
        own = bins.level_bin[slice(*bins.level_start[columns[test] : columns[test] + 2])]
        here = np.flatnonzero(seen[own]).astype(np.int32)
        levels.append(here)
        children.append(1 - left[own[here]].astype(np.int32))
        count[test] = len(here)
    stop: IntArray = np.cumsum(count, dtype=np.int32)
    return stop - count, stop, np.concatenate(levels), np.concatenate(children)
