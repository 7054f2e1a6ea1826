"""Rows without a value in the column under test: how many, what they hold, where they may go."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.impurity import LIGHT, impurity, total_of
from bottega.tree._kernels.weighed import weight_of


@kernel
def count_present(x, rows, has_missing):
    """Return how many of the sorted rows have a value; they stand before the others."""
    m = rows.size
    if has_missing:
        while m > 0 and np.isnan(x[rows[m - 1]]):
            m -= 1
    return m


@kernel
def sum_missing(rows, m, mu, data, gone):
    """Return weight and d of the rows behind the m present ones; write their class counts."""
    w, d = 0.0, 0.0
    for k in range(gone.size):
        gone[k] = 0.0
    for i in range(m, rows.size):
        r = rows[i]
        w += weight_of(data.wz, r)
        d += data.wz[r, -1] - weight_of(data.wz, r) * mu
        if data.n_classes:
            gone[data.code[r]] += data.w[r]
    return w, d


@kernel
def start_counts(sums, total, gone, missing_left, data, rules, left, right):
    """Write the class counts left and right of the first row; return W psi of all of them."""
    for k in range(data.n_classes):
        left[k] = gone[k] if missing_left else 0.0
        right[k] = sums[k] - gone[k] if rules.surrogate or missing_left else sums[k]
    if rules.surrogate and data.n_classes:
        return impurity(right, total_of(right), rules.criterion, data.xlogx)
    return total


@kernel
def present_or_missing(sums, W, total, w_gone, d_gone, data, rules, scratch):
    """Return the gain of the present rows against the missing ones; 0 where not allowed."""
    w = W - w_gone
    if min(w, w_gone) < max(LIGHT * W, rules.min_weight):
        return 0.0
    if data.n_classes == 0:
        gain = W * d_gone * d_gone / (w * w_gone)
    else:
        for k in range(data.n_classes):
            scratch.left[k] = sums[k] - scratch.gone[k]
        gain = total - impurity(scratch.left, w, rules.criterion, data.xlogx)
        gain -= impurity(scratch.gone, w_gone, rules.criterion, data.xlogx)
    return gain
