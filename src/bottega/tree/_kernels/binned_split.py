"""The best cut of one column's groups by two sums, and how it is written (see `grow_binned`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.order import sort_by_score

TIE = 1e-10  # gains nearer than this (relative) are equal: the column tried first wins


@kernel
def split_numbers(j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf, found):
    """Compare the best cut of a numeric column with the best so far."""
    counted = 2 if weighted else 0
    observed = n_groups
    WM = SM = n_gone = 0.0
    if group_code[n_groups - 1] == 255:
        observed -= 1
        WM, SM, n_gone = group[0, observed], group[1, observed], group[counted, observed]
    best = found[0] * (1.0 + TIE)
    cut, left_missing, left_weight = -1, False, 0.0
    # Missing rows on the right (then all others may be on the left), and on the left.
    for side in range(2 if observed < n_groups else 1):
        WL, SL, n_left = (WM, SM, n_gone) if side == 1 else (0.0, 0.0, 0.0)
        last = observed if side == 0 and observed < n_groups else observed - 1
        for g in range(last):
            WL += group[0, g]
            SL += group[1, g]
            n_left += group[counted, g]
            if n_left < min_leaf or n_all - n_left < min_leaf:
                continue
            d = SL * W - S * WL
            gain = d * d / (WL * (W - WL))
            if gain > best:
                best = gain * (1.0 + TIE)
                found[0] = gain
                cut, left_missing, left_weight = g, side == 1, WL
    if cut >= 0:
        found[1] = j
        below, above = group_code[cut], group_code[cut + 1] if cut + 1 < observed else 255
        found[2], found[3] = below, above
        if observed == n_groups:
            left_missing = 2.0 * left_weight > W
        found[4] = 1.0 if left_missing else 0.0


@kernel
def split_levels(
    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf,
    score, by_score, found, left_set, seen_set,
):  # fmt: skip
    """Do the same for a category: its levels (missing is one) in the order of their mean."""
    counted = 2 if weighted else 0
    for g in range(n_groups):
        score[g] = group[1, g] / group[0, g]
    sort_by_score(score, n_groups, by_score)
    best = found[0] * (1.0 + TIE)
    cut, left_weight = -1, 0.0
    WL = SL = n_left = 0.0
    for k in range(n_groups - 1):
        g = by_score[k]
        WL += group[0, g]
        SL += group[1, g]
        n_left += group[counted, g]
        if n_left < min_leaf or n_all - n_left < min_leaf:
            continue
        d = SL * W - S * WL
        gain = d * d / (WL * (W - WL))
        if gain > best:
            best = gain * (1.0 + TIE)
            found[0] = gain
            cut, left_weight = k, WL
    if cut >= 0:
        found[1] = j
        write_sets(
            n_groups, group_code, by_score, cut, 2.0 * left_weight > W, found, left_set, seen_set
        )


@kernel
def even_cut(flat, p, categorical, rows, w, c, weighted, a, b, W, n_all, min_leaf, found):
    """Write the most even cut of a node that no cut makes purer (as `even_split` does).

    Of equals the first column and the lowest cut win; columns with missing rows are left out.
    """
    table, counts = np.zeros(256), np.zeros(256)
    evenest = 0.0
    for j in range(p):
        if categorical[j]:
            continue
        for at in range(256):
            table[at] = counts[at] = 0.0
        for i in range(a, b):
            code = np.int64(flat[np.int64(rows[i]) * p + j])
            table[code] += w[i]
            counts[code] += c[i] if weighted else w[i]
        if counts[255] > 0.0:
            continue
        WL = n_left = 0.0
        last = -1
        for at in range(255):
            if counts[at] <= 0.0:
                continue
            even = min(n_left, n_all - n_left)
            if even > evenest and even >= min_leaf:
                evenest = even
                found[1], found[2], found[3] = j, last, at
                found[4] = 1.0 if 2.0 * WL > W else 0.0
            WL += table[at]
            n_left += counts[at]
            last = at


@kernel
def write_sets(n_groups, group_code, by_score, cut, heavier_left, found, left_set, seen_set):
    """Write which codes go left, and which the node has seen.

    The others go with the missing rows, if the node has any, or else with the heavier part.
    """
    seen_set[:] = np.uint64(0)
    left_set[:] = np.uint64(0)
    for k in range(n_groups):
        code = group_code[by_score[k]]
        bit = np.uint64(1) << np.uint64(code & 63)
        seen_set[code >> 6] |= bit
        if k <= cut:
            left_set[code >> 6] |= bit
    top = np.uint64(1) << np.uint64(63)  # of the last word: code 255, missing
    others_left = heavier_left
    if seen_set[3] & top:
        others_left = (left_set[3] & top) != np.uint64(0)
    if others_left:
        for word in range(4):
            left_set[word] |= ~seen_set[word]
    found[2], found[3] = 0.0, 1.0  # there is no cut
    found[4] = 1.0 if others_left else 0.0
