"""Growth of one tree on binned columns, at a cost of order (rows of the node) per node and column.

Symbols
-------
codes      bins as bytes, the codes of a row side by side; 255 is missing (`bins`)
rows       the training rows; those of a node stand together in rows[start:stop], in the order
           they came, and the weights w and targets t move with them
t          w * y for sums (regression, or two classes with Gini's index), the class otherwise
c          how many rows a row stands for (what min_leaf and min_split count), if `weighted`;
           otherwise w says it
W, S       sums of w and t over a node; WL, SL over its left part, WM, SM over missing rows
n_all      sum of c over a node; n_left over its left part, n_gone over missing rows
group      the rows of a node that share a bin of the column under test
reduction  by how much a split lowers the summed impurity of the node

A split on a number is written as the groups on both sides of the cut, one on a category as the set
of the codes that go left. Unseen levels go with the missing rows, and both with the heavier part
where the node has no missing rows.
"""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.binned_classes import class_impurity, search_classes
from bottega.tree._kernels.binned_split import TIE, even_cut
from bottega.tree._kernels.few_rows import FEW, search_few
from bottega.tree._kernels.frontier import pop, push
from bottega.tree._kernels.histogram import BLOCK, search_sums
from bottega.tree._kernels.impurity import ERROR, GINI, SUMS, impurity_of_part
from bottega.tree._kernels.random import STEP, below, mix


@kernel
def grow(
    codes, n_bins, categorical, rows, w, t, c, weighted, criterion, n_classes, two_class,
    max_features, shuffle, max_depth, max_leaves, min_split, min_leaf, min_gain, min_impurity, seed,
):  # fmt: skip
    """Grow a tree; `rows`, `w`, `t` and `c` are put in the order of its leaves.

    Returns the nodes: start, stop, first_child (-1 for a leaf), depth, feature, the bins to the
    left and right of the cut, whether missing goes left, the reduction, W, S, n_all, the sets of
    left and of seen codes of the tests on categories, with the number of each (-1 for others).
    """
    m, p = rows.shape[0], codes.shape[1]
    most = 2 * min(m, max_leaves) - 1
    start, stop = np.zeros(most, np.int32), np.zeros(most, np.int32)
    first_child, depth = np.full(most, -1, np.int32), np.zeros(most, np.int32)
    feature, set_of = np.full(most, -1, np.int32), np.full(most, -1, np.int32)
    bins = np.zeros((most, 2), np.uint8)
    missing_left = np.zeros(most, np.bool_)
    reduction = np.zeros(most)
    weight, total, count = np.zeros(most), np.zeros(most), np.zeros(most)
    n_sets = 0
    sets = np.zeros((16, 2, 4), np.uint64)

    # Scratch buffers of the search, made once per tree.
    flat = codes.reshape(-1)
    columns, swapped = np.arange(p), np.arange(p)
    table = np.zeros(BLOCK * 512)
    counts = np.zeros(BLOCK * 256 if weighted else 1)
    group_code = np.zeros(257, np.int64)
    group = np.zeros((3, 257))
    score = np.zeros(257)
    by_score = np.zeros(257, np.int64)
    key = np.zeros(128, np.int16)
    left_set, seen_set = np.zeros(4, np.uint64), np.zeros(4, np.uint64)
    found = np.zeros(6)
    class_sums = np.zeros((4, max(n_classes, 1)))
    goes_left = np.zeros(256, np.uint8)
    spare_rows = np.empty(m, np.int32)
    spare_w, spare_t = np.empty(m), np.empty(m)
    spare_c = np.empty(m if weighted else 1)
    frontier = np.empty(most, np.int32)
    n_open = 0
    best_first = max_leaves < m

    stop[0] = m
    n_nodes, n_done, n_leaves = 1, 0, 1
    root_weight, least = 0.0, 0.0
    while True:
        # Look for the best split of the nodes that are new.
        while n_done < n_nodes:
            node = n_done
            n_done += 1
            a, b = start[node], stop[node]
            W, S, n_all = _node_sums(w, t, c, weighted, a, b)
            weight[node], total[node], count[node] = W, S, n_all
            if node == 0:
                root_weight = W
                if criterion == SUMS:
                    least = 1e-14 * _deviance(w, t, W, S, a, b) / max(W, 1e-300)
                else:
                    least = 1e-12
            if n_all < min_split or n_all < 2 * min_leaf or depth[node] >= max_depth or b - a < 2:
                continue
            impurity = -1.0
            if criterion == SUMS:
                if two_class:
                    if S <= 0.0 or S >= W:
                        continue
                    impurity = 2.0 * S / W * (1.0 - S / W)
                elif min_impurity > 0.0:
                    impurity = _deviance(w, t, W, S, a, b) / W
            else:
                impurity = class_impurity(criterion, w, t, a, b, W, class_sums)
                if impurity <= 1e-14:
                    continue
            if min_impurity > 0.0 and impurity <= min_impurity:
                continue

            found[0] = least * W * (W if criterion == SUMS else 1.0)
            found[1] = -1.0
            most = np.inf  # no split can do more: once it is reached the other columns are spared
            if two_class and criterion == SUMS:
                most = S * (W - S)
            elif criterion == SUMS and b - a == 2:
                most = W * _deviance(w, t, W, S, a, b)
            # Each node has draws of its own: they do not depend on what other nodes have drawn.
            state = mix(np.uint64(seed) * STEP ^ np.uint64(node))
            tried, usable = 0, 0
            while usable < max_features and tried < p:
                batch = min(max_features - usable, p - tried)
                if shuffle:
                    for q in range(tried, tried + batch):
                        state += STEP
                        other = q + below(state, p - q)
                        swapped[q] = other
                        columns[q], columns[other] = columns[other], columns[q]
                if criterion == SUMS and b - a < FEW:
                    constant = search_few(
                        flat, p, categorical, rows, w, t, c, weighted, a, b, W, S, n_all, most,
                        min_leaf, columns, tried, tried + batch, key,
                        group_code, group, score, by_score, found, left_set, seen_set,
                    )  # fmt: skip
                elif criterion == SUMS:
                    constant = search_sums(
                        flat, p, n_bins, categorical, rows, w, t, c, weighted, a, b, W, S, n_all,
                        min_leaf, columns, tried, tried + batch, table, counts,
                        group_code, group, score, by_score, found, left_set, seen_set,
                    )  # fmt: skip
                else:
                    constant = search_classes(
                        flat, p, categorical, rows, w, t, c, weighted, a, b, W, n_all, impurity * W,
                        criterion, min_leaf, columns, tried, tried + batch, spare_rows,
                        score, by_score, group_code, class_sums, found, left_set, seen_set,
                    )  # fmt: skip
                tried += batch
                usable += batch - constant
                if found[0] * (1.0 + TIE) >= most:
                    break
            if shuffle:
                for q in range(tried - 1, -1, -1):
                    columns[q], columns[swapped[q]] = columns[swapped[q]], columns[q]
            if found[1] < 0.0 and min_gain <= 0.0 and criterion != ERROR:
                found[0] = 0.0
                if criterion != SUMS or two_class or _deviance(w, t, W, S, a, b) > least * W:
                    even_cut(
                        flat, p, categorical, rows, w, c, weighted, a, b, W, n_all, min_leaf, found
                    )
            if found[1] < 0.0:
                continue
            reduction[node] = found[0] / W if criterion == SUMS else found[0]
            scale = 2.0 if two_class else 1.0
            if scale * reduction[node] < (1.0 - TIE) * min_gain * root_weight:
                continue
            feature[node] = int(found[1])
            bins[node, 0], bins[node, 1] = int(found[2]), int(found[3])
            missing_left[node] = found[4] > 0.0
            if categorical[feature[node]]:
                if n_sets == sets.shape[0]:
                    sets = _twice_as_long(sets)
                for word in range(4):
                    sets[n_sets, 0, word] = left_set[word]
                    sets[n_sets, 1, word] = seen_set[word]
                set_of[node] = n_sets
                n_sets += 1
            n_open = push(frontier, n_open, node, reduction, best_first)

        if n_open == 0 or n_leaves >= max_leaves:
            break
        n_open, node = pop(frontier, n_open, reduction, best_first)
        by_set = set_of[node] >= 0
        if by_set:
            for code in range(256):
                word = sets[set_of[node], 0, code >> 6]
                goes_left[code] = (word >> np.uint64(code & 63)) & np.uint64(1)
        middle = _partition(
            flat, p, feature[node], by_set, goes_left, bins[node, 0], missing_left[node],
            rows, w, t, c, weighted, start[node], stop[node],
            spare_rows, spare_w, spare_t, spare_c,
        )  # fmt: skip
        first_child[node] = n_nodes
        # The right child first, so that the stack gives back the left one, whose rows are near.
        start[n_nodes], stop[n_nodes] = start[node], middle
        start[n_nodes + 1], stop[n_nodes + 1] = middle, stop[node]
        depth[n_nodes] = depth[n_nodes + 1] = depth[node] + 1
        n_nodes += 2
        n_leaves += 1

    n = slice(0, n_nodes)
    return (
        start[n].copy(), stop[n].copy(), first_child[n].copy(), depth[n].copy(), feature[n].copy(),
        bins[n].copy(), missing_left[n].copy(), reduction[n].copy(), weight[n].copy(),
        total[n].copy(), count[n].copy(), set_of[n].copy(), sets[:n_sets].copy(),
    )  # fmt: skip


@kernel
def _twice_as_long(sets):
    longer = np.zeros((2 * sets.shape[0], 2, 4), np.uint64)
    for i in range(sets.shape[0]):
        for side in range(2):
            for word in range(4):
                longer[i, side, word] = sets[i, side, word]
    return longer


@kernel
def describe(start, stop, first_child, reduction, w, t, criterion, n_classes, two_class):
    """Return W times the impurity of each node, and its sums: of t, or of w by class."""
    n_nodes = start.shape[0]
    loss = np.zeros(n_nodes)
    sums = np.zeros((n_nodes, max(n_classes, 1)))
    # Children come after their parents, so backwards they are done when the parent needs them.
    for node in range(n_nodes - 1, -1, -1):
        if first_child[node] >= 0:
            for child in range(first_child[node], first_child[node] + 2):
                loss[node] += loss[child]
                for k in range(sums.shape[1]):
                    sums[node, k] += sums[child, k]
            loss[node] += (2.0 if two_class else 1.0) * reduction[node]
            continue
        W = 0.0
        for i in range(start[node], stop[node]):
            W += w[i]
            if n_classes == 0:
                sums[node, 0] += t[i]
            elif two_class:
                sums[node, 1 if t[i] > 0.0 else 0] += w[i]
            else:
                sums[node, np.int64(t[i])] += w[i]
        if n_classes == 0:
            loss[node] = _deviance(w, t, W, sums[node, 0], start[node], stop[node])
        else:
            loss[node] = impurity_of_part(GINI if two_class else criterion, sums, node, W)
    return loss, sums


@kernel
def _node_sums(w, t, c, weighted, a, b):
    W = S = n_all = 0.0
    for i in range(a, b):
        W += w[i]
        S += t[i]
    if not weighted:
        return W, S, W
    for i in range(a, b):
        n_all += c[i]
    return W, S, n_all


@kernel
def _deviance(w, t, W, S, a, b):
    """Return the weighted sum of squares about the mean of a node."""
    mean = S / W
    found = 0.0
    for i in range(a, b):
        if w[i] > 0.0:
            residual = t[i] / w[i] - mean
            found += w[i] * residual * residual
    return found


@kernel
def _partition(
    flat, p, j, by_set, goes_left, last_left, missing_left, rows, w, t, c, weighted, a, b,
    spare_rows, spare_w, spare_t, spare_c,
):  # fmt: skip
    """Bring the left rows of a node before the right ones; return where the right ones start."""
    left, right = np.int64(a), np.int64(0)
    # One more, modulo 256, puts missing (255) before all other codes.
    shift = np.int64(missing_left)
    limit = np.int64(last_left) + shift
    # Each row is written to both sides and only the place that counts moves on: no branch.
    for i in range(a, b):
        row, wi, ti = rows[i], w[i], t[i]
        code = np.int64(flat[np.int64(row) * p + j])
        go = np.int64(goes_left[code]) if by_set else np.int64(((code + shift) & 255) <= limit)
        spare_rows[right], spare_w[right], spare_t[right] = row, wi, ti
        if weighted:
            ci = c[i]
            spare_c[right] = ci
            c[left] = ci
        rows[left], w[left], t[left] = row, wi, ti
        left += go
        right += 1 - go
    for i in range(right):
        rows[left + i], w[left + i], t[left + i] = spare_rows[i], spare_w[i], spare_t[i]
    if weighted:
        for i in range(right):
            c[left + i] = spare_c[i]
    return left
