"""The search of a node by the class sums on both sides of each cut (see `grow_binned`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.binned_split import write_sets
from bottega.tree._kernels.impurity import GINI, impurity_of_part
from bottega.tree._kernels.order import sort_by_score


@kernel
def class_impurity(criterion, w, t, a, b, W, class_sums):
    """Return the mean impurity of a node; its class sums are left in class_sums[0]."""
    class_sums[0, :] = 0.0
    for i in range(a, b):
        class_sums[0, np.int64(t[i])] += w[i]
    return impurity_of_part(criterion, class_sums, 0, W) / W


@kernel
def search_classes(
    flat, p, categorical, rows, w, t, c, weighted, a, b, W, n_all, node_impurity,
    criterion, min_leaf, columns, first, last, order,
    score, by_score, group_code, class_sums, found, left_set, seen_set,
):  # fmt: skip
    """Try columns by the class sums on both sides of each cut; return how many are constant."""
    constant = 0
    rank = np.empty(256, np.int64)
    position = np.empty(257, np.int64)
    for at in range(first, last):
        j = columns[at]
        position[:] = 0
        for i in range(a, b):
            position[np.int64(flat[np.int64(rows[i]) * p + j]) + 1] += 1
        n_groups = 0
        for code in range(256):
            if position[code + 1] > 0:
                group_code[n_groups] = code
                n_groups += 1
        if n_groups < 2:
            constant += 1
            continue
        if categorical[j]:
            _score_levels(flat, p, j, rows, w, t, a, b, W, n_groups, group_code, class_sums, score)
            sort_by_score(score, n_groups, by_score)
            observed = n_groups
        else:
            for g in range(n_groups):
                by_score[g] = g
            observed = n_groups - int(group_code[n_groups - 1] == 255)
        # Order the rows by the rank of their group.
        place = 0
        for g in range(n_groups):
            rank[group_code[by_score[g]]] = g
            score[g] = place  # where the group starts
            place += position[group_code[by_score[g]] + 1]
        score[n_groups] = place
        for g in range(n_groups):
            position[g] = np.int64(score[g])
        for i in range(a, b):
            g = rank[flat[np.int64(rows[i]) * p + j]]
            order[position[g]] = i
            position[g] += 1

        cut, left_missing, left_weight = -1, False, 0.0
        for side in range(2 if observed < n_groups else 1):
            WL = n_left = 0.0
            squares_left, squares_right = 0.0, 0.0
            for k in range(class_sums.shape[1]):
                class_sums[1, k] = 0.0
                class_sums[2, k] = class_sums[0, k]
                squares_right += class_sums[0, k] ** 2
            last_group = observed if side == 0 and observed < n_groups else observed - 1
            for step in range(-1 if side == 1 else 0, last_group):
                g = step if step >= 0 else observed  # missing rows go left before all others
                for slot in range(np.int64(score[g]), np.int64(score[g + 1])):
                    i = order[slot]
                    label, wi = np.int64(t[i]), w[i]
                    squares_left += wi * (2.0 * class_sums[1, label] + wi)
                    squares_right -= wi * (2.0 * class_sums[2, label] - wi)
                    class_sums[1, label] += wi
                    class_sums[2, label] -= wi
                    WL += wi
                    n_left += c[i] if weighted else wi
                if step < 0 or n_left < min_leaf or n_all - n_left < min_leaf:
                    continue
                WR = W - WL
                if criterion == GINI:
                    gain = node_impurity - (WL - squares_left / WL) - (WR - squares_right / WR)
                else:
                    gain = (
                        node_impurity
                        - impurity_of_part(criterion, class_sums, 1, WL)
                        - impurity_of_part(criterion, class_sums, 2, WR)
                    )
                if gain > found[0] + 1e-12 * W:
                    found[0] = gain
                    cut, left_missing, left_weight = step, side == 1, WL
        if cut >= 0:
            found[1] = j
            heavier_left = 2.0 * left_weight > W
            if categorical[j]:
                write_sets(
                    n_groups, group_code, by_score, cut, heavier_left, found, left_set, seen_set
                )
            else:
                found[2] = group_code[cut]
                found[3] = group_code[cut + 1] if cut + 1 < observed else 255
                if observed == n_groups:
                    left_missing = heavier_left
                found[4] = 1.0 if left_missing else 0.0
    return constant


@kernel
def _score_levels(flat, p, j, rows, w, t, a, b, W, n_groups, group_code, class_sums, score):
    """Score the levels of a category by the first principal component of their class shares."""
    K = class_sums.shape[1]
    shares = np.zeros((256, K))
    for i in range(a, b):
        shares[flat[np.int64(rows[i]) * p + j], np.int64(t[i])] += w[i]
    level_weight = np.zeros(256)
    for g in range(n_groups):
        code = group_code[g]
        for k in range(K):
            level_weight[code] += shares[code, k]
        for k in range(K):
            shares[code, k] = shares[code, k] / level_weight[code] - class_sums[0, k] / W
    # Power iteration from the direction of the commonest class; ten steps order levels well.
    axis = np.zeros(K)
    axis[np.argmax(class_sums[0])] = 1.0
    for _ in range(10):
        new = np.zeros(K)
        for g in range(n_groups):
            code = group_code[g]
            along = 0.0
            for k in range(K):
                along += shares[code, k] * axis[k]
            for k in range(K):
                new[k] += level_weight[code] * along * shares[code, k]
        length = np.sqrt(np.sum(new * new))
        if length == 0.0:
            break
        axis = new / length
    for g in range(n_groups):
        along = 0.0
        for k in range(K):
            along += shares[group_code[g], k] * axis[k]
        score[g] = along
