"""Whether the arrays of a tree fit together: what is read from a file may be anything.

Kernels walk a tree without looking whether its numbers lie inside their arrays. Growing makes
sure of that; a file that was edited does not.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.loaded import insist, is_array
from bottega.core.typing import Array
from bottega.tree._grow.structure import Tree

_INT32 = (
    *("parent", "depth", "first_child", "n_children", "default_child", "test_start", "test_stop"),
)
_NODES: Mapping[str, Any] = {
    **dict.fromkeys(_INT32, np.int32),
    "n": np.int64,
    **dict.fromkeys(("weight", "impurity", "risk", "gain"), np.float64),
}
_TESTS: Mapping[str, Any] = {
    **dict.fromkeys(("feature", "level_start", "level_stop"), np.int32),
    **dict.fromkeys(("threshold", "agreement"), np.float64),
    "reverse": np.bool_,
}
_LEVELS: Mapping[str, Any] = dict.fromkeys(("levels", "level_child"), np.int32)


def check_tree(tree: Any, n_columns: int, n_values: int | None = None) -> None:
    """Raise unless rows of `n_columns` columns can walk the tree, and every walk ends in a leaf."""
    insist(isinstance(tree, Tree), "a tree is something else")
    insist(isinstance(tree.parent, np.ndarray), "a tree has no nodes")
    nodes, tests, levels = len(tree.parent), len(tree.feature), len(tree.levels)
    for names, length in ((_NODES, nodes), (_TESTS, tests), (_LEVELS, levels)):
        for name, dtype in names.items():
            insist(is_array(getattr(tree, name), dtype, (length,)), f"{name} of a tree")
    insist(nodes > 0, "a tree without nodes")
    insist(tree.value.dtype == np.float64 and tree.value.shape[:1] == (nodes,), "values of leaves")
    if n_values is not None:
        insist(tree.value.shape[1:] == (n_values,), "values of leaves")
    node = np.arange(nodes)
    inner = tree.n_children > 0
    insist(tree.n_children >= 0, "a number of children is negative")
    # Children come after their parent: so every walk goes on, and comes to an end.
    first, count = tree.first_child[inner].astype(np.int64), tree.n_children[inner]
    insist((first > node[inner]) & (first + count <= nodes), "a child is no node")
    default = tree.default_child[inner]
    insist((default >= 0) & (default < count), "a default child is not one of the children")
    insist(tree.parent[0] == -1, "the root has a parent")
    insist((tree.parent[1:] >= 0) & (tree.parent[1:] < node[1:]), "a parent comes after its child")
    insist(tree.depth[0] == 0, "a depth")
    insist(tree.depth[1:] == tree.depth[tree.parent[1:]] + 1, "a depth")
    start, stop = tree.test_start[inner], tree.test_stop[inner]
    insist((start >= 0) & (start < stop) & (stop <= tests), "tests of a node")
    insist((tree.feature >= 0) & (tree.feature < n_columns), "a test on a column that is not there")
    low, high = tree.level_start, tree.level_stop
    insist((low >= 0) & (low <= high) & (high <= levels), "levels of a test")
    most = _most_child(low, high, tree.level_child)
    insist(tree.level_child >= 0, "a level goes to no child")
    for at, end, children in zip(start.tolist(), stop.tolist(), count.tolist(), strict=True):
        insist(most[at:end] < children, "a test leads to no child")


def _most_child(low: Array, high: Array, child: Array) -> Array:
    """Return the last child that each test leads to: 1 for numbers."""
    most = np.ones(len(low), dtype=np.int64)
    for s in np.flatnonzero(high > low).tolist():
        most[s] = child[low[s] : high[s]].max()
    return most
