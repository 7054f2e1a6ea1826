"""A fitted tree in the arrays of scikit-learn's trees, for whatever reads those."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from bottega.core.errors import NotKept
from bottega.core.lazy import cached_property
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.tree._grow.structure import Tree

_NO_CHILD, _NO_TEST = -1, -2  # as scikit-learn marks them


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """The nodes of a fitted tree as scikit-learn's ``tree_`` has them.

    Trees whose tests are on categories, have surrogates or more than two children cannot be
    written so; ``nodes_`` of the estimator has them in full.

    Attributes
    ----------
    node_count, capacity, n_leaves, max_depth : int
        Size of the tree.
    n_features, n_outputs, max_n_classes : int
        Columns, responses, and most classes of a response (1 for numbers).
    n_classes : ndarray of shape (n_outputs,)
        Classes of each response; 1 for numbers.
    children_left, children_right : ndarray of int, one entry per node
        The children; -1 for a leaf.
    feature, threshold : ndarray of int, of float
        A row goes left if ``x[feature] <= threshold``; -2 for a leaf.
    missing_go_to_left : ndarray of bool
        Where rows go that have no value there.
    impurity : ndarray of float
        Mean impurity of the node under the criterion.
    n_node_samples, weighted_n_node_samples : ndarray
        Training rows of the node, and their weight.
    value : ndarray of shape (node_count, n_outputs, max_n_classes)
        Share of each class, or the prediction.
    """

    estimator: Any
    nodes: Tree
    n_features: int
    n_classes: IntArray

    def __post_init__(self) -> None:
        tree = self.nodes
        if tree.n_children.max(initial=0) > 2 or len(tree.levels) or np.any(_surrogates(tree)):
            raise NotKept(
                "Tests on categories, surrogates and splits into more than two parts have no form "
                "in scikit-learn's trees; read nodes_ or rules() instead of tree_."
            )

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self.nodes.n_nodes

    capacity = node_count

    @property
    def n_outputs(self) -> int:
        """Number of responses."""
        return len(self.n_classes)

    @property
    def max_n_classes(self) -> int:
        """Most classes of a response."""
        return int(self.n_classes.max())

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.nodes.n_leaves

    @property
    def max_depth(self) -> int:
        """Most tests above a leaf."""
        return self.nodes.max_depth

    @cached_property
    def children_left(self) -> IntArray:
        """Left child of each node."""
        return self.nodes.first_child.astype(np.int64)

    @cached_property
    def children_right(self) -> IntArray:
        """Right child of each node."""
        return np.where(self.nodes.is_leaf, _NO_CHILD, self.children_left + 1)

    @cached_property
    def feature(self) -> IntArray:
        """Column that each node tests."""
        return self._of_split(self.nodes.feature)

    @cached_property
    def threshold(self) -> FloatArray:
        """Largest value that goes left."""
        return self._of_split(self.nodes.threshold)

    @cached_property
    def missing_go_to_left(self) -> BoolArray:
        """Whether missing values go left."""
        return ~self.nodes.is_leaf & (self.nodes.default_child == 0)

    @property
    def impurity(self) -> FloatArray:
        """Mean impurity of each node."""
        return self.nodes.impurity

    @property
    def n_node_samples(self) -> IntArray:
        """Training rows of each node."""
        return self.nodes.n

    @property
    def weighted_n_node_samples(self) -> FloatArray:
        """Weight of the training rows of each node."""
        return self.nodes.weight

    @cached_property
    def value(self) -> FloatArray:
        """Prediction of each node: (nodes, responses, classes)."""
        shape = (self.node_count, self.n_outputs, self.max_n_classes)
        if np.all(self.n_classes == self.max_n_classes):
            return self.nodes.value.reshape(shape)
        found, start = np.zeros(shape), 0
        for k, count in enumerate(self.n_classes):
            found[:, k, :count] = self.nodes.value[:, start : start + count]
            start += count
        return found

    def apply(self, X: Any) -> IntArray:
        """Return the leaf of each row."""
        return self.estimator.apply(X)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return which nodes each row passes."""
        return self.estimator.decision_path(X)

    def predict(self, X: Any) -> FloatArray:
        """Return `value` at the leaf of each row."""
        return self.value[self.apply(X)]

    def compute_feature_importances(self, normalize: bool = True) -> FloatArray:
        """Return by how much the splits on each column lower the impurity, or its share."""
        return self.nodes.importance(self.n_features, normalize)

    def _of_split(self, of_tests: Array) -> Any:
        split = ~self.nodes.is_leaf
        found = np.full(self.node_count, _NO_TEST, dtype=np.result_type(of_tests, np.int64))
        found[split] = of_tests[self.nodes.test_start[split]]
        return found


def _surrogates(tree: Tree) -> IntArray:
    return np.maximum(tree.test_stop - tree.test_start - 1, 0)
