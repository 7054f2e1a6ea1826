"""Substitute tests for rows whose split has no answer (see `exact_inputs`)."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.exact_inputs import ASTRAY, EXACT
from bottega.tree._kernels.growing_tests import list_levels
from bottega.tree._kernels.impurity import TIE
from bottega.tree._kernels.missing_rows import count_present
from bottega.tree._kernels.numeric_split import threshold_between
from bottega.tree._kernels.order import lowest
from bottega.tree._kernels.weighed import weight_of


@kernel
def _imitate_number(k, rows, child_of, data):
    """Return the most weight a test on column k sends where the split does, and that test."""
    x = data.X[k]
    m = count_present(x, rows, data.has_missing[k])
    whole_0, whole_1, n = 0.0, 0.0, 0  # weight the split sends to child 0 and 1
    for i in range(m):
        r = rows[i]
        n += child_of[r] != ASTRAY
        whole_0 += weight_of(data.wz, r) * (child_of[r] == 0)
        whole_1 += weight_of(data.wz, r) * (child_of[r] == 1)
    agree, threshold, reverse = 0.0, np.nan, False
    w_0, w_1, n_l = 0.0, 0.0, 0  # the same up to row i, and the rows that the split placed
    for i in range(m - 1):
        r = rows[i]
        n_l += child_of[r] != ASTRAY
        w_0 += weight_of(data.wz, r) * (child_of[r] == 0)
        w_1 += weight_of(data.wz, r) * (child_of[r] == 1)
        if min(n_l, n - n_l) >= 2 and x[r] < x[rows[i + 1]]:
            same, other = w_0 + whole_1 - w_1, w_1 + whole_0 - w_0
            if max(same, other) > agree * (1.0 + TIE):
                agree, reverse = max(same, other), other > same
                threshold = threshold_between(x[r], x[rows[i + 1]], EXACT, data.wz[:, 0])
    return agree, threshold, reverse


@kernel
def _imitate_levels(k, rows, child_of, default, data, levels):
    """Return the weight that levels of column k, each sent with its majority, send as the split.

    Writes the levels and their children (`default` for an even level) to `levels`, and returns how
    many there are.
    """
    x = data.X[k]
    m = count_present(x, rows, data.has_missing[k])
    agree, L, wrong = 0.0, 0, 0
    i = 0
    while i < m:
        a = x[rows[i]]
        w_0, w_1, c_0, c_1 = 0.0, 0.0, 0, 0
        while i < m and x[rows[i]] == a:
            r = rows[i]
            c_0 += child_of[r] == 0
            c_1 += child_of[r] == 1
            w_0 += weight_of(data.wz, r) * (child_of[r] == 0)
            w_1 += weight_of(data.wz, r) * (child_of[r] == 1)
            i += 1
        if w_0 + w_1 > 0.0:
            levels.code[L] = int(a)
            c = 0 if w_0 > w_1 else 1
            levels.child[int(a)] = default if w_0 == w_1 else c
            agree += max(w_0, w_1)
            L += 1
            wrong += c_1 if w_0 >= w_1 else c_0
    # As rpart has it: levels that imitate the split in all rows but one, or in all, are no
    # surrogate. (Its reason is not documented; its own data sets show it.)
    return (agree if wrong >= 2 else 0.0), L


@kernel
def _find_surrogates(j, rows_of, start, stop, child_of, w_0, w_1, data, levels, found):
    """Write the best surrogates of a split on column j, best first; return how many.

    w_0, w_1 : weight that the split sends to child 0 and 1
    """
    columns, thresholds, reverses, agreements = found
    majority, default = max(w_0, w_1), 0 if w_0 >= w_1 else 1
    count = 0
    for k in range(data.X.shape[0]):
        if k == j:
            continue
        rows = rows_of[k, start:stop]
        if levels is not None and data.categorical[k]:
            agree, _ = _imitate_levels(k, rows, child_of, default, data, levels)
            threshold, reverse = np.nan, False
        else:
            agree, threshold, reverse = _imitate_number(k, rows, child_of, data)
        if agree <= majority * (1.0 + TIE):
            continue
        agree /= w_0 + w_1
        i = count
        while i > 0 and agreements[i - 1] < agree - TIE:
            i -= 1
        if i == columns.size:
            continue
        count = min(count + 1, columns.size)
        for q in range(count - 1, i, -1):
            columns[q], thresholds[q] = columns[q - 1], thresholds[q - 1]
            reverses[q], agreements[q] = reverses[q - 1], agreements[q - 1]
        columns[i], thresholds[i], reverses[i], agreements[i] = k, threshold, reverse, agree
    return count


@kernel
def _place(rows, child_of, X, tests, lists, s, stop, default):
    """Send each row that went astray where the first of the tests s, ... that can sends it."""
    feature, threshold, reverse, _, level_start, level_stop = tests
    codes, children = lists
    for r in rows:
        if child_of[r] != ASTRAY:
            continue
        child_of[r] = default
        for q in range(s, stop):
            x = X[r, feature[q]]
            if np.isnan(x):
                continue
            if level_start[q] == level_stop[q]:
                child_of[r] = (x > threshold[q]) ^ reverse[q]
                break
            at = lowest(codes, level_start[q], level_stop[q], x)
            if at < level_stop[q] and codes[at] == x:
                child_of[r] = children[at]
                break


@kernel
def add_surrogates(
    j, rows_of, start, stop, child_of, tests, lists, n_tests, n_listed, data, levels, found
):
    """Write the surrogates of a split on column j behind it, and place the rows it sends astray.

    Returns the child of rows that no test places (the heavier), the number of tests, the lists of
    levels and their length.
    """
    feature, threshold, reverse, agreement, level_start, level_stop = tests
    rows = rows_of[j, start:stop]
    w_0, w_1 = 0.0, 0.0
    for r in rows:
        w_0 += weight_of(data.wz, r) * (child_of[r] == 0)
        w_1 += weight_of(data.wz, r) * (child_of[r] == 1)
    side = 0 if w_0 >= w_1 else 1
    count = 0
    if found[0].size:
        count = _find_surrogates(j, rows_of, start, stop, child_of, w_0, w_1, data, levels, found)
    first = n_tests
    for q in range(count):
        k = np.int64(found[0][q])
        feature[n_tests] = k
        threshold[n_tests], reverse[n_tests] = found[1][q], found[2][q]
        agreement[n_tests] = found[3][q]
        level_start[n_tests] = n_listed
        if levels is not None and data.categorical[k]:
            _, L = _imitate_levels(k, rows_of[k, start:stop], child_of, side, data, levels)
            lists = list_levels(lists, n_listed, L, levels)
            n_listed += L
        level_stop[n_tests] = n_listed
        n_tests += 1
    _place(rows, child_of, data.X.T, tests, lists, first, n_tests, side)
    return side, n_tests, lists, n_listed
