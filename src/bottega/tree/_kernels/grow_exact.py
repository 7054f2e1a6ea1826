"""Exact growth: every split of every column scanned over sorted rows (see `exact_inputs`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.category_split import scan_category
from bottega.tree._kernels.even_split import even_split
from bottega.tree._kernels.exact_inputs import ASTRAY, EXACT
from bottega.tree._kernels.frontier import pop, push
from bottega.tree._kernels.growing_tests import list_levels, with_room
from bottega.tree._kernels.impurity import ERROR, GINI, LIGHT, TIE
from bottega.tree._kernels.node_rows import describe, gather, partition
from bottega.tree._kernels.numeric_split import scan_moments, scan_number
from bottega.tree._kernels.random import uniform
from bottega.tree._kernels.surrogates import add_surrogates


@kernel
def _best_split(rows_of, start, stop, sums, W, mu, total, data, rules, scratch, levels, limits):
    """Return gain, column, threshold and side of the best split of a node; column -1: none."""
    X, wz, p = data.X.T, data.wz, data.X.shape[0]
    has_missing, categorical, monotone = data.has_missing, data.categorical, data.monotone
    candidates, columns = scratch.candidates, scratch.columns
    tie = TIE * total
    best, column, threshold, side = max(0.0, rules.min_gain - tie), -1, np.nan, -1
    moments = data.n_classes == 0 or (data.n_classes == 2 and rules.criterion == GINI)
    factor = 2.0 if data.n_classes else 1.0
    plain = moments and rules.thresholds == EXACT
    n, min_leaf, some = stop - start, rules.min_leaf, rules.max_features < p
    least = max(LIGHT * W, rules.min_weight)
    if some:
        for j in range(p):
            columns[j] = j
    for visited in range(p):
        j = visited
        if some:
            other = visited + int((p - visited) * uniform(scratch.random))
            j = columns[other]
            columns[other] = columns[visited]
            columns[visited] = j
            if visited >= rules.max_features and column >= 0:
                break
        # With None the branch goes before compilation: what is for categories is not compiled.
        if levels is not None and categorical[j]:
            gain, _, _, s = scan_category(
                j, rows_of[j, start:stop], sums, W, mu, total, data, rules, scratch, levels
            )
            if gain > best + tie:
                best, column, threshold, side = gain, j, np.nan, s
            continue
        if plain and not has_missing[j]:  # straight to the scan: most nodes are small
            s = -1
            gain, t = scan_moments(
                X, j, rows_of, start, max(1, min_leaf), min(n - 1, n - min_leaf), 0.0, 0.0, W, mu,
                wz, best / factor, tie / factor, least, EXACT, candidates, monotone[j], limits[0],
                limits[1],
            )  # fmt: skip
            gain *= factor
        else:
            gain, t, s = scan_number(
                j, rows_of, start, stop, sums, W, mu, total, best, tie, data, rules, scratch,
                (monotone[j], limits[0], limits[1]),
            )  # fmt: skip
        if gain > best + tie:
            best, column, threshold, side = gain, j, t, s
    return best, column, threshold, side


@kernel
def _splittable(t, n, depth, pure, weight, loss, rules):
    """Return True if the rules let a node be split at all."""
    return (
        not pure[t]
        and n[t] >= rules.min_split
        and n[t] >= 2 * rules.min_leaf
        and depth[t] < rules.max_depth
        and loss[t] > rules.min_impurity * weight[t]
    )


@kernel
def grow_exact(data, near, rules, scratch, levels, surrogates, work, child_of, most):
    """Grow a tree; return the arrays of nodes, of tests and of levels.

    near : Data with room for the rows of a subtree that fits into the processor's cache
    levels : Levels, or None if no column is a category
    surrogates : buffers of column, threshold, reverse, agreement; empty where none are wanted
    work : (p, n) int32 to partition in (may be empty if only the root can be split)
    child_of : (n,) integers
    most : how many nodes there can be
    """
    order = data.order
    n_rows = order.shape[1]
    far, below = data, -1
    # Nodes.
    parent = np.full(most, -1, dtype=np.int32)
    depth = np.zeros(most, dtype=np.int32)
    first_child = np.full(most, -1, dtype=np.int32)
    n_children = np.zeros(most, dtype=np.int32)
    default_child = np.zeros(most, dtype=np.int32)
    test_start = np.zeros(most, dtype=np.int32)
    test_stop = np.zeros(most, dtype=np.int32)
    gain = np.zeros(most)
    nodes = (
        np.empty(most, dtype=np.int64),
        np.empty((most, max(data.n_classes, 1))),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty(most, dtype=np.bool_),
    )
    n, sums, weight, mean, loss, pure = nodes
    # Where a leaf stands, its best split, and the limits of its value.
    start = np.zeros(most, dtype=np.int64)
    stop = np.zeros(most, dtype=np.int64)
    split_column = np.full(most, -1, dtype=np.int32)
    split_threshold = np.empty(most)
    split_side = np.empty(most, dtype=np.int32)
    split_gain = np.zeros(most)
    lo = np.full(most, -np.inf)
    hi = np.full(most, np.inf)
    # Tests and levels.
    room = 64
    tests = (
        np.empty(room, dtype=np.int32),
        np.empty(room),
        np.empty(room, dtype=np.bool_),
        np.empty(room),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int32),
    )
    lists = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    n_tests, n_listed = 0, 0
    buffer = np.empty(n_rows if work.size else 0, dtype=np.int32)
    keep = np.empty(max(2, min(n_rows, data.n_levels.max())), dtype=np.bool_)
    frontier = np.empty(most, dtype=np.int32)
    waiting = 0
    # With no limit on leaves the order of splits does not matter: the newest node is in the cache.
    best_first = rules.max_leaves < n_rows
    gathers = not best_first and n_rows > 4 * near.X.shape[1] > 8

    child_of[:] = 0
    stop[0] = n_rows
    describe(order[0], child_of, 0, 1, nodes, data, rules)
    n_nodes, n_leaves = 1, 1
    rows_of = order
    fresh_from, fresh_to = 0, 1  # nodes whose best split is still to be found
    while True:
        for t in range(fresh_from, fresh_to):
            if not _splittable(t, n, depth, pure, weight, loss, rules):
                continue
            split_gain[t], split_column[t], split_threshold[t], split_side[t] = _best_split(
                rows_of, start[t], stop[t], sums[t], weight[t], mean[t], loss[t], data, rules,
                scratch, levels, (lo[t], hi[t]),
            )  # fmt: skip
            if split_column[t] < 0 and rules.min_gain <= 0.0 and rules.criterion != ERROR:
                split_column[t], split_threshold[t] = even_split(
                    data.X.T, rows_of, start[t], stop[t], data.wz, data.barred, rules.min_leaf,
                    max(LIGHT * weight[t], rules.min_weight),
                )  # fmt: skip
            if split_column[t] >= 0:
                waiting = push(frontier, waiting, t, split_gain, best_first)
        fresh_from = fresh_to
        if waiting == 0 or n_leaves >= rules.max_leaves:
            break
        waiting, t = pop(frontier, waiting, split_gain, best_first)
        if waiting < below:  # the subtree is done
            data, below = far, -1
        if gathers and below < 0 and n[t] <= near.X.shape[1]:
            gather(far, near, rows_of, start[t], stop[t], buffer)
            data, below = near, waiting
        j = np.int64(split_column[t])
        rows = rows_of[j, start[t] : stop[t]]
        width, n_present = 2, 0
        if levels is not None and data.categorical[j]:  # once more, for the children of its levels
            _, width, n_present, split_side[t] = scan_category(
                j, rows, sums[t], weight[t], mean[t], loss[t], data, rules, scratch, levels
            )
        if n_leaves + width - 1 > rules.max_leaves:
            continue

        # The test.
        tests = with_room(tests, n_tests + 1 + rules.n_surrogates)
        feature, threshold, reverse, agreement, level_start, level_stop = tests
        test_start[t] = n_tests
        feature[n_tests] = j
        threshold[n_tests] = split_threshold[t]
        reverse[n_tests] = False
        agreement[n_tests] = 1.0
        level_start[n_tests] = n_listed
        x = data.X[j]
        absent = ASTRAY if rules.surrogate and width == 2 else split_side[t]
        for r in rows:
            child_of[r] = absent if np.isnan(x[r]) else (1 if x[r] > split_threshold[t] else 0)
        if levels is not None and n_present:
            lists = list_levels(lists, n_listed, n_present, levels)
            n_listed += n_present
            for r in rows:
                if not np.isnan(x[r]):
                    child_of[r] = levels.child[int(x[r])]
        level_stop[n_tests] = n_listed
        n_tests += 1
        if rules.surrogate and width == 2:
            split_side[t], n_tests, lists, n_listed = add_surrogates(
                j, rows_of, start[t], stop[t], child_of, tests, lists, n_tests, n_listed, data,
                levels, surrogates,
            )  # fmt: skip
        test_stop[t] = n_tests

        # The children.
        first = n_nodes
        first_child[t], n_children[t], gain[t] = first, width, split_gain[t]
        n_nodes += width
        n_leaves += width - 1
        describe(rows, child_of, first, width, nodes, data, rules)
        heaviest, any_kept = 0, False
        for c in range(width):
            parent[first + c], depth[first + c] = t, depth[t] + 1
            lo[first + c], hi[first + c] = lo[t], hi[t]
            if weight[first + c] >= weight[first + heaviest]:
                heaviest = c
        default_child[t] = heaviest if split_side[t] < 0 else split_side[t]
        if data.monotone[j] != 0 and split_threshold[t] < np.inf:
            middle = min(max(0.5 * (mean[first] + mean[first + 1]), lo[t]), hi[t])
            low, high = (first, first + 1) if data.monotone[j] > 0 else (first + 1, first)
            hi[low], lo[high] = middle, middle
        for c in range(width):
            keep[c] = n_leaves < rules.max_leaves and _splittable(
                first + c, n, depth, pure, weight, loss, rules
            )
            any_kept = any_kept or keep[c]
        if any_kept:
            at = start[t]
            for c in range(width):
                if keep[c]:
                    start[first + c] = at
                    at += n[first + c]
                    stop[first + c] = at
            partition(rows_of, work, start[t], stop[t], start[t], child_of, width, keep, buffer)
            rows_of = work
            fresh_from, fresh_to = first, n_nodes
        else:
            fresh_from, fresh_to = n_nodes, n_nodes

    s = slice(0, n_nodes)
    v = slice(0, n_tests)
    u = slice(0, n_listed)
    feature, threshold, reverse, agreement, level_start, level_stop = tests
    return (
        (parent[s], depth[s], first_child[s], n_children[s], default_child[s], test_start[s],
         test_stop[s], n[s], weight[s], mean[s], loss[s], gain[s], lo[s], hi[s]),
        sums[s],
        (feature[v], threshold[v], reverse[v], agreement[v], level_start[v], level_stop[v]),
        (lists[0][u], lists[1][u]),
    )  # fmt: skip
