"""In how many trees two rows share a leaf."""

import numpy as np

from bottega._jit import kernel


@kernel
def same_leaf(leaves):
    """Return in what share of the trees each two rows fall into one leaf; leaves: (rows, trees)."""
    n, n_trees = leaves.shape
    found = np.zeros((n, n))
    for tree in range(n_trees):
        order = np.argsort(leaves[:, tree])
        start = 0
        for stop in range(1, n + 1):
            if stop == n or leaves[order[stop], tree] != leaves[order[start], tree]:
                for a in range(start, stop):
                    for b in range(start, stop):
                        found[order[a], order[b]] += 1.0
                start = stop
    return found / n_trees
