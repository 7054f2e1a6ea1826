"""The search of a node of few rows, by sorting them (see `grow_binned`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.binned_split import TIE, split_levels, split_numbers

FEW = 48  # a node of fewer rows is sorted, not counted: 256 bins would cost more than the rows


@kernel
def search_few(
    flat, p, categorical, rows, w, t, c, weighted, a, b, W, S, n_all, most,
    min_leaf, columns, first, last, key,
    group_code, group, score, by_score, found, left_set, seen_set,
):  # fmt: skip
    """Try columns in a node of few rows by sorting them; return how many are constant.

    Most nodes of a full tree come here, so the common case (numbers, none missing) is written out
    in place: at this size a call with so many arrays costs as much as the work it is for.
    """
    m = b - a
    constant = 0
    half = np.uint64(64)
    padded = np.uint64(16 * ((m + 15) // 16))  # whole vector registers
    for at in range(first, last):
        j = columns[at]
        lowest, highest = np.int64(255), np.int64(0)
        for i in range(m):
            code = np.int64(flat[np.int64(rows[a + i]) * p + j])
            key[np.uint64(i)] = np.int16((code << 7) | i)
            lowest, highest = min(lowest, code), max(highest, code)
        if lowest == highest:
            constant += 1
            continue
        for i in range(np.uint64(m), padded):
            key[i] = np.int16(32767)
        for i in range(padded):
            key[half + i] = 0
        # The place of a row is the number of smaller keys. Comparing all with all, many at once,
        # is faster than sorting, which guesses and guesses wrong.
        for k in range(np.uint64(m)):
            smaller = key[k]
            for i in range(padded):
                key[half + i] += np.int16(smaller < key[i])
        for i in range(m):
            by_score[key[64 + i]] = i
        if categorical[j] or highest == 255:
            n_groups = _gather_sorted(w, t, c, weighted, a, m, key, by_score, group_code, group)
            if categorical[j]:
                split_levels(
                    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf,
                    score, by_score, found, left_set, seen_set,
                )  # fmt: skip
            else:
                split_numbers(
                    j, n_groups, group_code, group, weighted, W, S, n_all, min_leaf, found
                )
            continue
        best = found[0] * (1.0 + TIE)
        cut, left_weight = -1, 0.0
        WL = SL = n_left = 0.0
        this = by_score[0]
        for k in range(m - 1):
            WL += w[a + this]
            SL += t[a + this]
            n_left += c[a + this] if weighted else w[a + this]
            following = by_score[k + 1]
            apart = key[this] >> 7 != key[following] >> 7
            this = following
            if apart and n_left >= min_leaf and n_all - n_left >= min_leaf:
                d = SL * W - S * WL
                gain = d * d / (WL * (W - WL))
                if gain > best:
                    best = gain * (1.0 + TIE)
                    found[0] = gain
                    cut, left_weight = k, WL
        if cut >= 0:
            found[1] = j
            found[2] = key[by_score[cut]] >> 7
            found[3] = key[by_score[cut + 1]] >> 7
            found[4] = 1.0 if 2.0 * left_weight > W else 0.0
            if best >= most:
                break
    return constant


@kernel
def _gather_sorted(w, t, c, weighted, a, m, key, by_rank, group_code, group):
    """Gather the bins of sorted rows; return how many there are."""
    n_groups = 0
    for k in range(m):
        i = a + by_rank[k]
        code = np.int64(key[by_rank[k]]) >> 7
        if n_groups == 0 or group_code[n_groups - 1] != code:
            group_code[n_groups] = code
            group[:, n_groups] = 0.0
            n_groups += 1
        group[0, n_groups - 1] += w[i]
        group[1, n_groups - 1] += t[i]
        if weighted:
            group[2, n_groups - 1] += c[i]
    return n_groups
