"""The best split of the levels of a category (see `exact_inputs`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.exact_inputs import EVERY_LEVEL
from bottega.tree._kernels.impurity import LIGHT, TIE, impurity, total_of
from bottega.tree._kernels.missing_rows import (
    count_present,
    present_or_missing,
    start_counts,
    sum_missing,
)
from bottega.tree._kernels.multiway import gain_of_groups, group_levels
from bottega.tree._kernels.order import sort_by_score
from bottega.tree._kernels.weighed import weight_of

SUBSETS = 10  # levels up to which all subsets are tried with three classes or more


@kernel
def _gather_levels(x, rows, m, mu, data, levels):
    """Write the levels of the m present rows, and what each holds; return how many there are."""
    n_levels = 0
    for i in range(m):
        r = rows[i]
        if i == 0 or x[r] != x[rows[i - 1]]:
            levels.code[n_levels] = int(x[r])
            levels.n[n_levels] = 0
            levels.w[n_levels] = 0.0
            levels.d[n_levels] = 0.0
            for k in range(data.n_classes):
                levels.counts[n_levels, k] = 0.0
            n_levels += 1
        q = n_levels - 1
        levels.n[q] += 1
        levels.w[q] += weight_of(data.wz, r)
        levels.d[q] += data.wz[r, -1] - weight_of(data.wz, r) * mu
        if data.n_classes:
            levels.counts[q, data.code[r]] += data.w[r]
    return n_levels


@kernel
def _principal_scores(counts, weight, score, L):
    """Write the first principal component of the levels' class shares (power iteration)."""
    K = counts.shape[1]
    center, axis, moved = np.zeros(K), np.zeros(K), np.zeros(K)
    spread = np.zeros((K, K))
    total = 0.0
    for q in range(L):
        total += weight[q]
        for k in range(K):
            center[k] += counts[q, k]
    for q in range(L):
        for k in range(K):
            for i in range(K):
                a = counts[q, k] / weight[q] - center[k] / total
                b = counts[q, i] / weight[q] - center[i] / total
                spread[k, i] += weight[q] * a * b
    widest = 0
    for k in range(K):
        if spread[k, k] > spread[widest, widest]:
            widest = k
    axis[widest] = 1.0
    for _ in range(200):
        length = 0.0
        for k in range(K):
            moved[k] = 0.0
            for i in range(K):
                moved[k] += spread[k, i] * axis[i]
            length += moved[k] * moved[k]
        if length <= 0.0:
            break
        change = 0.0
        for k in range(K):
            a = moved[k] / np.sqrt(length)
            change = max(change, abs(a - axis[k]))
            axis[k] = a
        if change < 1e-12:
            break
    for q in range(L):
        score[q] = 0.0
        for k in range(K):
            score[q] += axis[k] * counts[q, k] / weight[q]


@kernel
def _rank_levels(L, data, levels):
    """Write the numbers of the levels in the order of their means, or of a score of their classes.

    For numbers and two classes, the best groups of levels are neighbours in this order.
    """
    if data.n_classes > 2:
        _principal_scores(levels.counts, levels.w, levels.score, L)
    else:
        for q in range(L):
            levels.score[q] = levels.d[q] / levels.w[q]
    sort_by_score(levels.score, L, levels.rank)


@kernel
def _move(counts, sign, left, right):
    """Move class counts from the right to the left (sign 1) or back (-1)."""
    for k in range(counts.size):
        left[k] += sign * counts[k]
        right[k] -= sign * counts[k]


@kernel
def _scan_ordered_levels(
    L, n, sums, W, total, missing_left, n_gone, w_gone, d_gone, data, rules, scratch, levels
):
    """Return the gain and the end of the best cut of the levels in the order of their scores.

    Exact for numbers and for two classes: some best split of the levels is one of these cuts.
    """
    _rank_levels(L, data, levels)
    best, cut, tie = 0.0, -1, TIE * total
    least = max(LIGHT * W, rules.min_weight)
    n_l = missing_left * n_gone
    w_l, d = missing_left * w_gone, missing_left * d_gone
    whole = start_counts(
        sums, total, scratch.gone, missing_left, data, rules, scratch.left, scratch.right
    )
    for i in range(L - 1):
        q = levels.rank[i]
        n_l += levels.n[q]
        w_l += levels.w[q]
        d += levels.d[q]
        w_r = W - w_l
        if data.n_classes:
            _move(levels.counts[q], 1, scratch.left, scratch.right)
        if min(n_l, n - n_l) < rules.min_leaf or min(w_l, w_r) < least:
            continue
        if data.n_classes == 0:
            gain = W * d * d / (w_l * w_r)
        else:
            gain = whole - impurity(scratch.left, w_l, rules.criterion, data.xlogx)
            gain -= impurity(scratch.right, w_r, rules.criterion, data.xlogx)
        if gain > best + tie:
            best, cut = gain, i + 1
    return best, cut


@kernel
def _scan_subsets(L, n, sums, W, total, missing_left, n_gone, data, rules, scratch, levels):
    """Return gain and members (bits) of the best set of levels; the first level is always in it.

    The sets come in the order of a Gray code: each differs from the one before by one level.
    """
    best, members, tie = 0.0, -1, TIE * total
    least = max(LIGHT * W, rules.min_weight)
    whole = start_counts(
        sums, total, scratch.gone, missing_left, data, rules, scratch.left, scratch.right
    )
    n_l, inside = missing_left * n_gone, 0
    for step in range(2 ** (L - 1)):
        q = 0
        if step:
            while not (step >> q) & 1:
                q += 1
            q += 1
        sign = -1 if (inside >> q) & 1 else 1
        inside ^= 1 << q
        n_l += sign * levels.n[q]
        _move(levels.counts[q], sign, scratch.left, scratch.right)
        w_l, w_r = total_of(scratch.left), total_of(scratch.right)
        if inside == 2**L - 1 or min(n_l, n - n_l) < rules.min_leaf or min(w_l, w_r) < least:
            continue
        gain = whole - impurity(scratch.left, w_l, rules.criterion, data.xlogx)
        gain -= impurity(scratch.right, w_r, rules.criterion, data.xlogx)
        if gain > best + tie:
            best, members = gain, inside
    return best, members


@kernel
def _scan_groups(L, n_gone, w_gone, d_gone, sums, total, data, rules, scratch, levels):
    """Return gain, number of children and side of a split into more groups of levels than two."""
    whole = total
    if rules.surrogate:
        n_gone = 0
        whole = start_counts(sums, total, scratch.gone, 0, data, rules, scratch.left, scratch.right)
    if rules.multiway == EVERY_LEVEL:
        for q in range(L):
            levels.child[levels.code[q]] = q
        gain, side = gain_of_groups(
            L, L, whole, n_gone, w_gone, d_gone, data, rules, scratch, levels
        )
        return gain, L, side
    if n_gone:  # missing is one more level
        levels.code[L] = levels.child.size - 1
        levels.n[L], levels.w[L], levels.d[L] = n_gone, w_gone, d_gone
        for k in range(data.n_classes):
            levels.counts[L, k] = scratch.gone[k]
        L += 1
    _rank_levels(L, data, levels)
    width = group_levels(L, rules.multiway, total, data, rules, levels)
    gain, side = gain_of_groups(L, width, whole, 0, 0.0, 0.0, data, rules, scratch, levels)
    return gain, width, (levels.child[levels.child.size - 1] if n_gone else side)


@kernel
def scan_category(j, rows, sums, W, mu, total, data, rules, scratch, levels):
    """Return gain, number of children, number of levels and side of the best split of levels.

    Writes the child of each level present to `levels.child`.
    """
    x = data.X[j]
    n = rows.size
    m = count_present(x, rows, data.has_missing[j])
    best, width, side = 0.0, 0, -1
    if m == 0:
        return best, width, 0, side
    w_gone, d_gone = sum_missing(rows, m, mu, data, scratch.gone)
    n_gone = n - m
    if rules.surrogate and n_gone:  # the missing rows have no say
        n, W, mu = m, W - w_gone, mu - d_gone / (W - w_gone)
    L = _gather_levels(x, rows, m, mu, data, levels)
    child = levels.child
    if rules.multiway != 2:
        best, width, side = _scan_groups(
            L, n_gone, w_gone, d_gone, sums, total, data, rules, scratch, levels
        )
        return best, width, L, (side if n_gone else -1)
    tie = TIE * total
    tries = 2 if n_gone and not rules.surrogate else 1
    for missing_left in range(tries):
        if data.n_classes > 2 and L <= SUBSETS:
            gain, members = _scan_subsets(
                L, n, sums, W, total, missing_left, n_gone, data, rules, scratch, levels
            )
            if gain > best + tie:
                best, width, side = gain, 2, (1 - missing_left if tries == 2 else -1)
                for q in range(L):
                    child[levels.code[q]] = 1 - ((members >> q) & 1)
        else:
            gain, cut = _scan_ordered_levels(
                L, n, sums, W, total, missing_left, n_gone, w_gone, d_gone, data, rules, scratch,
                levels,
            )  # fmt: skip
            if gain > best + tie:
                best, width, side = gain, 2, (1 - missing_left if tries == 2 else -1)
                for i in range(L):
                    child[levels.code[levels.rank[i]]] = 0 if i < cut else 1
    if tries == 2 and min(m, n_gone) >= rules.min_leaf:
        gain = present_or_missing(sums, W, total, w_gone, d_gone, data, rules, scratch)
        if gain > best + tie:
            best, width, side = gain, 2, 1
            for q in range(L):
                child[levels.code[q]] = 0
    return best, width, L, side
