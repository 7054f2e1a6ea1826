"""The split of a node that no split makes purer: the most even one, so that others can follow."""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.weighed import weight_of


@kernel
def even_split(X, rows_of, start, stop, weight, barred, min_leaf, least):
    """Return column and threshold of the most even split; the column is -1 if there is none.

    Of equals the first column and the lowest threshold win. Columns that are barred, or have no
    value in some row of the node, are left out. `weight` is read by `weight_of`;
    `least` is the least weight of a child.
    """
    column, threshold, evenest = -1, np.nan, max(min_leaf, 1) - 1
    for j in range(barred.size):
        if barred[j] or np.isnan(X[rows_of[j, stop - 1], j]):
            continue
        W, w_l = 0.0, 0.0
        for i in range(start, stop):
            W += weight_of(weight, rows_of[j, i])
        for i in range(start, stop - 1):
            r = rows_of[j, i]
            w_l += weight_of(weight, r)
            even = min(i + 1 - start, stop - 1 - i)
            a, b = X[r, j], X[rows_of[j, i + 1], j]
            if even > evenest and a < b and min(w_l, W - w_l) >= least:
                middle = 0.5 * a + 0.5 * b
                column, evenest = j, even
                threshold = middle if a <= middle < b else a
    return column, threshold
