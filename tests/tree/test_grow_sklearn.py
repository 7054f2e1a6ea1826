"""Exact growth against scikit-learn's trees, node by node."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions
from bottega.tree._kernels.walk import apply


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = (
        rng.normal(size=(1500, 6)).astype(np.float32).astype(float)
    )  # scikit-learn rounds to float32
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=1500)
    return X, y, rng.uniform(0.5, 2.0, 1500)


def assert_same_tree(ours, theirs):
    """Compare every node: size, column, threshold, impurity and place of the children."""

    def walk(a, b):
        assert ours.n[a] == theirs.n_node_samples[b]
        assert ours.weight[a] == pytest.approx(theirs.weighted_n_node_samples[b], rel=1e-12)
        # rounding of sums taken in another order
        assert ours.impurity[a] == pytest.approx(theirs.impurity[b], rel=1e-9, abs=1e-12)
        leaf = theirs.children_left[b] < 0
        assert (ours.n_children[a] == 0) == leaf
        if leaf:
            return
        s = ours.test_start[a]
        assert ours.feature[s] == theirs.feature[b]
        assert ours.threshold[s] == pytest.approx(theirs.threshold[b], abs=1e-15)
        walk(ours.first_child[a], theirs.children_left[b])
        walk(ours.first_child[a] + 1, theirs.children_right[b])

    walk(0, 0)
    assert ours.n_nodes == theirs.node_count


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"min_samples_leaf": 5}, {"min_samples_leaf": 5}),
        ({"min_samples_split": 40}, {"min_samples_split": 40}),
        ({"max_leaf_nodes": 30}, {"max_leaf_nodes": 30}),
        ({"max_depth": 4}, {"max_depth": 4}),
        ({"min_impurity_decrease": 0.002}, {"min_impurity_decrease": 0.002}),
    ],
)
def test_regression_trees_are_scikit_learns(data, weighted, ours, theirs):
    X, y, w = data
    w = w if weighted else None
    tree = grow(Columns.numeric(X), y, w, GrowOptions(criterion="squared_error", **ours))
    peer = DecisionTreeRegressor(random_state=0, **theirs).fit(X, y, w)
    assert_same_tree(tree, peer.tree_)
    fitted = tree.value[apply(X, *tree.walk), 0]
    np.testing.assert_allclose(fitted, peer.predict(X), rtol=0, atol=1e-12)


def test_a_full_regression_tree_predicts_every_row_as_scikit_learns_does(data):
    X, y, _ = data
    tree = grow(Columns.numeric(X), y, None, GrowOptions(criterion="squared_error"))
    peer = DecisionTreeRegressor(random_state=0).fit(X, y)
    assert tree.n_nodes == peer.tree_.node_count == 2 * len(y) - 1
    np.testing.assert_allclose(tree.value[apply(X, *tree.walk), 0], y, rtol=0, atol=1e-12)
    assert tree.max_depth == peer.get_depth()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", [[0.0], [-1.0, 1.0], [-1.5, -0.5, 0.5, 1.5]])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classification_trees_are_scikit_learns(data, weighted, cuts, criterion):
    X, y, w = data
    w = w if weighted else None
    y = np.digitize(y, cuts)
    # Few leaves: in small ones several columns split equally well and scikit-learn draws one.
    options = GrowOptions(criterion=criterion, max_leaf_nodes=15)
    tree = grow(Columns.numeric(X), y, w, options, n_classes=len(cuts) + 1)
    peer = DecisionTreeClassifier(random_state=0, criterion=criterion, max_leaf_nodes=15)
    assert_same_tree(tree, peer.fit(X, y, w).tree_)
    shares = tree.value[apply(np.ascontiguousarray(X), *tree.walk)]
    np.testing.assert_allclose(shares, peer.predict_proba(X), rtol=0, atol=1e-12)


def test_monotone_trees_are_scikit_learns(data):
    X, y, _ = data
    signs = np.array([1, -1, 0, 0, 1, 0])
    options = GrowOptions(criterion="squared_error", min_samples_leaf=10, monotonic_cst=signs)
    tree = grow(Columns.numeric(X), y, None, options)
    peer = DecisionTreeRegressor(random_state=0, min_samples_leaf=10, monotonic_cst=signs)
    assert_same_tree(tree, peer.fit(X, y).tree_)
    fitted = tree.value[apply(X, *tree.walk), 0]
    np.testing.assert_allclose(fitted, peer.predict(X), rtol=0, atol=1e-12)
    assert tree.n_leaves > 60  # limits cut values back, they do not stop the growth
