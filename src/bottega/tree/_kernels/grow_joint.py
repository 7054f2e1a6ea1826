"""Exact growth by several responses at once, by Poisson deviance or by medians.

It is apart from `grow_exact` because it is rarely asked for, and compiled only then.

z         (n, m) responses, or indicators of the classes of each response
W, S      sums of w and of w z over the rows of a node or of one of its sides
SQUARES   W psi is the sum over the columns of z of sum w (z - S / W)^2: squared error, Gini's index
LOGS      W psi is the sum of sum w z log z - S log(S / W): entropy, half the Poisson deviance
MEDIANS   W psi is the sum of sum w |z - median|
"""

from typing import NamedTuple

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.even_split import even_split
from bottega.tree._kernels.frontier import pop, push
from bottega.tree._kernels.impurity import LIGHT, TIE
from bottega.tree._kernels.node_rows import partition
from bottega.tree._kernels.numeric_split import fill_candidates, threshold_between
from bottega.tree._kernels.random import uniform
from bottega.tree._kernels.running_median import losses_of_medians, median

SQUARES, LOGS, MEDIANS = range(3)


class JointRules(NamedTuple):
    """How to grow."""

    criterion: int
    positive: bool  # every child needs a positive sum of each response
    thresholds: int
    max_depth: int
    max_leaves: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_gain: float  # in units of W psi
    min_impurity: float
    max_features: int


@kernel
def _s_log(S, W):
    return S * np.log(S / W) if S > 0.0 else 0.0


@kernel
def _describe(node, rows_of, start, stop, wz, p, rules, value, weight, loss):
    """Write weight, values and W psi of a node; return whether all its rows are alike."""
    m = wz.shape[1] - 1
    first = rows_of[0, start]
    alike = True
    W = 0.0
    for i in range(start, stop):
        W += wz[rows_of[0, i], 0]
    weight[node], loss[node] = W, 0.0
    for k in range(m):
        total, lost = 0.0, 0.0
        for i in range(start, stop):
            r = rows_of[0, i]
            total += wz[r, 0] * wz[r, k + 1]
            alike = alike and wz[r, k + 1] == wz[first, k + 1]
        center = total / W
        if rules.criterion == MEDIANS:
            center = median(rows_of[p + k], start, stop, wz, k, W)
        value[node, k] = center
        for i in range(start, stop):
            r = rows_of[0, i]
            w, z = wz[r, 0], wz[r, k + 1]
            if rules.criterion == SQUARES:
                lost += w * (z - center) ** 2
            elif rules.criterion == LOGS:
                lost += w * _s_log(z, 1.0)
            else:
                lost += w * abs(z - center)
        loss[node] += lost - _s_log(total, W) if rules.criterion == LOGS else lost
    return alike


@kernel
def _gain_of_sums(left, w_l, W, center, rules):
    """Return what a boundary gains, from the sums left of it; -1 where it is not allowed."""
    gain = 0.0
    w_r = W - w_l
    for k in range(left.size):
        if rules.criterion == SQUARES:
            d = left[k] - w_l * center[k]
            gain += W * d * d / (w_l * w_r)
        else:
            right = W * center[k] - left[k]
            if rules.positive and min(left[k], right) <= TIE * W * center[k]:
                return -1.0
            gain += _s_log(left[k], w_l) + _s_log(right, w_r) - _s_log(W * center[k], W)
    return gain


@kernel
def _search_column(j, X, rows_of, start, stop, wz, W, center, total, best, rules, scratch):
    """Return gain, threshold and side of the best split on a column (NaN: none above `best`)."""
    candidates, random, left, losses, rank = scratch
    p, n, tie = X.shape[1], stop - start, TIE * total
    end = stop
    while end > start and np.isnan(X[rows_of[j, end - 1], j]):
        end -= 1
    threshold, side = np.nan, -1
    if end == start or (end == stop and not X[rows_of[j, start], j] < X[rows_of[j, stop - 1], j]):
        return best, threshold, side
    if rules.thresholds:
        low, high = X[rows_of[j, start], j], X[rows_of[j, end - 1], j]
        fill_candidates(low, high, rules, candidates, random)
    gone = stop - end
    least = max(LIGHT * W, rules.min_weight)
    for missing_left in range(2 if gone else 1):
        w_l = 0.0
        for k in range(left.size):
            left[k] = 0.0
        if rules.criterion == MEDIANS:
            losses_of_medians(rows_of, p, j, start, stop, end, missing_left, wz, losses, rank)
        # Missing rows that go left come first; else the last boundary is before them.
        for step in range(-gone if missing_left else 0, end - start - (0 if gone else 1)):
            i = start + step if step >= 0 else stop + step
            r = rows_of[j, i]
            w_l += wz[r, 0]
            if rules.criterion != MEDIANS:
                for k in range(left.size):
                    left[k] += wz[r, 0] * wz[r, k + 1]
            if step < 0 or (missing_left and i + 1 == end):
                continue
            t = np.inf
            if i + 1 < end:
                a, b = X[r, j], X[rows_of[j, i + 1], j]
                if not a < b:
                    continue
                t = threshold_between(a, b, rules.thresholds, candidates)
            n_l = step + 1 + missing_left * gone
            if np.isnan(t) or min(n_l, n - n_l) < rules.min_leaf or min(w_l, W - w_l) < least:
                continue
            if rules.criterion == MEDIANS:
                gain = total - losses[0, i - start] - losses[1, i - start]
            else:
                gain = _gain_of_sums(left, w_l, W, center, rules)
            if gain > best + tie:
                best, threshold, side = gain, t, (1 - missing_left if gone else -1)
    return best, threshold, side


@kernel
def _best_split(X, rows_of, start, stop, wz, barred, W, center, total, rules, columns, scratch):
    """Return gain, column, threshold and side of the best split of a node; column -1: none."""
    p, tie = X.shape[1], TIE * total
    best, column, threshold, side = max(0.0, rules.min_gain - tie), -1, np.nan, -1
    some = rules.max_features < p
    for visited in range(p):
        columns[visited] = visited
    for visited in range(p):
        if some:
            other = visited + int((p - visited) * uniform(scratch[1]))
            columns[visited], columns[other] = columns[other], columns[visited]
            if visited >= rules.max_features and column >= 0:
                break
        j = columns[visited]
        gain, t, s = _search_column(
            j, X, rows_of, start, stop, wz, W, center, total, best, rules, scratch
        )
        if not np.isnan(t):
            best, column, threshold, side = gain, j, t, s
    if column < 0 and rules.min_gain <= 0.0 and not rules.positive:
        least = max(LIGHT * W, rules.min_weight)
        best = 0.0
        column, threshold = even_split(X, rows_of, start, stop, wz, barred, rules.min_leaf, least)
    return best, column, threshold, side


@kernel
def grow_joint(columns, order, wz, rules, candidates, random, most):
    """Grow a tree; return the arrays of its nodes.

    order : (p, n) row numbers by each column, missing last; with medians behind them (m, n) by z
    wz : (n, 1 + m) weights and responses
    most : how many nodes there can be
    """
    X = columns.T
    n_rows, p, m = wz.shape[0], X.shape[1], wz.shape[1] - 1
    parent = np.full(most, -1, dtype=np.int32)
    depth = np.zeros(most, dtype=np.int32)
    first_child = np.full(most, -1, dtype=np.int32)
    column = np.full(most, -1, dtype=np.int32)
    side = np.zeros(most, dtype=np.int32)
    start = np.zeros(most, dtype=np.int64)
    stop = np.zeros(most, dtype=np.int64)
    threshold, weight, loss, gain = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)
    value = np.zeros((most, m))
    columns = np.empty(p, dtype=np.int32)
    medians = rules.criterion == MEDIANS
    ranked = n_rows if medians else 1
    scratch = candidates, random, np.empty(m), np.empty((2, ranked)), np.empty(ranked, np.int32)
    barred = np.zeros(p, dtype=np.bool_)
    rows_of = order.copy()
    child_of = np.zeros(n_rows, dtype=np.uint8)
    buffer = np.empty(n_rows, dtype=np.int32)
    keep = np.ones(2, dtype=np.bool_)
    frontier = np.empty(most, dtype=np.int32)
    waiting, best_first = 0, rules.max_leaves < n_rows
    stop[0] = n_rows
    n_nodes, n_leaves, fresh = 1, 1, 0
    while True:
        for t in range(fresh, n_nodes):
            alike = _describe(t, rows_of, start[t], stop[t], wz, p, rules, value, weight, loss)
            n = stop[t] - start[t]
            if (
                alike
                or n < max(rules.min_split, 2 * rules.min_leaf)
                or depth[t] >= rules.max_depth
                or loss[t] <= rules.min_impurity * weight[t]
            ):
                continue
            gain[t], column[t], threshold[t], side[t] = _best_split(
                X, rows_of, start[t], stop[t], wz, barred, weight[t], value[t], loss[t], rules,
                columns, scratch,
            )  # fmt: skip
            if column[t] >= 0:
                waiting = push(frontier, waiting, t, gain, best_first)
        fresh = n_nodes
        if waiting == 0 or n_leaves >= rules.max_leaves:
            break
        waiting, t = pop(frontier, waiting, gain, best_first)
        j = np.int64(column[t])
        n_left = 0
        for i in range(start[t], stop[t]):
            r = rows_of[j, i]
            x = X[r, j]
            child_of[r] = side[t] if np.isnan(x) else x > threshold[t]
            n_left += 1 - child_of[r]
        partition(rows_of, rows_of, start[t], stop[t], start[t], child_of, 2, keep, buffer)
        first_child[t] = n_nodes
        middle = start[t] + n_left
        for c in range(2):
            parent[n_nodes + c], depth[n_nodes + c] = t, depth[t] + 1
        start[n_nodes], stop[n_nodes] = start[t], middle
        start[n_nodes + 1], stop[n_nodes + 1] = middle, stop[t]
        n_nodes += 2
        n_leaves += 1
    # A node that was not split has no test.
    for t in range(n_nodes):
        if first_child[t] < 0:
            gain[t] = 0.0
        elif side[t] < 0:  # no row was missing: the larger child, of equals the right one
            left = stop[first_child[t]] - start[first_child[t]]
            side[t] = 0 if 2 * left > stop[t] - start[t] else 1
    s = slice(0, n_nodes)
    return (
        parent[s], depth[s], first_child[s], column[s], side[s], stop[s] - start[s], threshold[s],
        weight[s], loss[s], gain[s], value[s],
    )  # fmt: skip
