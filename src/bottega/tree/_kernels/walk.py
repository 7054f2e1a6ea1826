"""From the root to a leaf, for every row.

The arrays of the tree come in the order of `Tree.walk`; see `bottega.tree._grow.structure`.
"""

import numpy as np

from bottega._jit import kernel
from bottega.tree._kernels.order import lowest


@kernel
def apply(
    X, first_child, n_children, default_child, test_start, test_stop, feature, threshold, reverse,
    level_start, level_stop, levels, level_child,
):  # fmt: skip
    """Return the number of the leaf that each row of X (rows or columns together) falls into."""
    n = X.shape[0]
    leaf = np.empty(n, dtype=np.int32)
    for i in range(n):
        t = 0
        while n_children[t] > 0:
            child = default_child[t]
            for s in range(test_start[t], test_stop[t]):
                x = X[i, feature[s]]
                if np.isnan(x):
                    continue
                if level_start[s] == level_stop[s]:
                    child = int(x > threshold[s]) ^ int(reverse[s])
                    break
                at = lowest(levels, level_start[s], level_stop[s], x)
                if at < level_stop[s] and levels[at] == x:
                    child = level_child[at]
                    break
            t = first_child[t] + child
        leaf[i] = t
    return leaf
