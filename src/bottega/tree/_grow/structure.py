"""A tree as arrays: what growing writes, pruning cuts and predicting walks.

One entry per node; node 0 is the root and the children of a node stand side by side, so a node
needs the number of its first child alone. A node asks the tests ``test_start[t] .. test_stop[t]``
in turn until one has an answer: the first is the split, the others are its surrogates. A row that
no test of the node can place goes to ``default_child``.

A test on a number sends ``x <= threshold`` to child 0 and the rest to child 1 (the other way round
where `reverse`). A test on a category looks its code up in the sorted list
``levels[level_start:level_stop]`` and goes to the child written beside it in `level_child`; a code
that is not in the list (a level the node has not seen) has no answer.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray


@stored
@dataclass(frozen=True, eq=False)
class Tree:
    """A fitted tree; arrays of nodes, of tests and of category levels.

    Attributes
    ----------
    parent, depth : ndarray of int32, one entry per node
        The node above (-1 for the root) and the number of tests above.
    first_child, n_children : ndarray of int32
        Where the children stand; a leaf has none (-1 and 0).
    default_child : ndarray of int32
        Which child (0, 1, ...) takes the rows that no test places.
    test_start, test_stop : ndarray of int32
        The tests of a node: the split and, behind it, its surrogates.
    n : ndarray of int64
        Training rows in the node.
    weight : ndarray of float64
        Their weight.
    value : ndarray of float64 of shape (nodes, K)
        Share of each class (prior-weighted) or, with K = 1, the mean response.
    impurity : ndarray of float64
        Mean impurity of the node under the criterion it was grown by.
    risk : ndarray of float64
        What the node adds to the training risk if it is a leaf: its loss (misclassification cost
        or squared error) times its share of the weight.
    gain : ndarray of float64
        How much the split lowers the impurity, times the node's share of the weight.
    feature : ndarray of int32, one entry per test
        Column that is tested.
    threshold : ndarray of float64
        NaN for a category.
    reverse : ndarray of bool
        Whether ``x <= threshold`` goes to child 1 (surrogates only).
    agreement : ndarray of float64
        Share of rows that a surrogate sends where the split does; 1 for the split.
    level_start, level_stop : ndarray of int32
        The levels of a test on a category (empty for a number).
    levels, level_child : ndarray of int32
        Codes of levels, sorted within a test, and the child each goes to.
    """

    parent: IntArray
    depth: IntArray
    first_child: IntArray
    n_children: IntArray
    default_child: IntArray
    test_start: IntArray
    test_stop: IntArray
    n: IntArray
    weight: FloatArray
    value: FloatArray
    impurity: FloatArray
    risk: FloatArray
    gain: FloatArray
    feature: IntArray
    threshold: FloatArray
    reverse: Array
    agreement: FloatArray
    level_start: IntArray
    level_stop: IntArray
    levels: IntArray
    level_child: IntArray

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.parent)

    @property
    def is_leaf(self) -> Array:
        """Whether each node is a leaf."""
        return np.asarray(self.n_children == 0)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Most tests on a way from the root to a leaf."""
        return int(self.depth.max())

    @property
    def walk(self) -> tuple[Any, ...]:
        """The arrays that a walk from the root needs, as kernels take them."""
        return (
            self.first_child, self.n_children, self.default_child, self.test_start, self.test_stop,
            self.feature, self.threshold, self.reverse, self.level_start, self.level_stop,
            self.levels, self.level_child,
        )  # fmt: skip

    def importance(self, p: int, normalize: bool = False) -> FloatArray:
        """Return by how much the splits on each of p columns lower the mean impurity.

        As shares of their sum with `normalize`; all are 0 if no split lowers it.
        """
        split = np.flatnonzero(self.n_children > 0)
        column = self.feature[self.test_start[split]]
        found = np.bincount(column, weights=self.gain[split], minlength=p).astype(np.float64)
        total = found.sum()
        return found / total if normalize and total > 0 else found

    def children(self, node: int) -> range:
        """Return the numbers of the children of a node."""
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def at(self, **arrays: Array) -> Self:
        """Return the same tree with some of its arrays replaced."""
        return replace(self, **arrays)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]
