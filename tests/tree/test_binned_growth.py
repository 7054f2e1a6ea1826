"""Growth on bins: the exact tree where values are few, sound where they are many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bottega.core.errors import InputError, ParameterError
from bottega.tree._grow.binned import grow_binned
from bottega.tree._grow.bins import MISSING, Bins
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions
from bottega.tree._kernels.walk import apply


def mixed(seed, n=300, levels=7, missing=0.08):
    """Three columns of few distinct numbers with missing values, and a category."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, (n, 4)).astype(float)
    X[rng.random((n, 4)) < missing] = np.nan
    X[:, 3] = rng.integers(0, levels, n)
    y = np.nan_to_num(X[:, 0]) / 8 + np.sin(np.nan_to_num(X[:, 1])) + X[:, 3] % 3
    y = y + rng.normal(size=n)
    columns = Columns(
        np.asfortranarray(X), np.array([False, False, False, True]), np.array([0, 0, 0, levels])
    )
    return columns, y


def assert_same_tree(found, expected, X, tolerance=1e-12):
    assert found.n_leaves == expected.n_leaves
    a, b = apply(X, *found.walk), apply(X, *expected.walk)
    # Sums are taken in another order: equal up to rounding.
    for name in ("value", "impurity", "risk", "weight"):
        assert getattr(found, name)[a] == pytest.approx(getattr(expected, name)[b], abs=1e-12)
    assert np.array_equal(found.n[a], expected.n[b])
    assert np.sort(found.gain) == pytest.approx(np.sort(expected.gain), abs=tolerance)


OPTIONS = ({}, {"max_leaf_nodes": 12}, {"min_samples_leaf": 7}, {"max_depth": 3},
           {"min_impurity_decrease": 0.02}, {"min_impurity": 0.3},
           {"min_samples_split": 40})  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_with_few_distinct_values_it_is_the_exact_tree(options, weighted):
    columns, y = mixed(1)
    w = np.random.default_rng(2).random(len(y)) if weighted else None
    chosen = GrowOptions(criterion="squared_error", **options)
    assert_same_tree(grow_binned(columns, y, w, chosen), grow(columns, y, w, chosen), columns.X)
    label = (y > np.median(y)).astype(int)
    for criterion in ("gini", "entropy", "sqrt", "error", "deviance"):
        chosen = GrowOptions(criterion=criterion, **options)
        found = grow_binned(columns, label, w, chosen, n_classes=2)
        exact = grow(columns, label, w, chosen, n_classes=2)
        # The root of what rounding leaves of an empty class (1e-17) is 1e-8.
        assert_same_tree(found, exact, columns.X, 1e-8 if criterion == "sqrt" else 1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_three_classes_without_categories_are_the_exact_tree(criterion):
    columns, y = mixed(3)
    columns = Columns.numeric(columns.X[:, :3])
    label = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    options = GrowOptions(criterion=criterion, min_samples_leaf=3)
    found = grow_binned(columns, label, None, options, n_classes=3)
    assert_same_tree(found, grow(columns, label, None, options, n_classes=3), columns.X)


def test_priors_and_costs_are_those_of_the_exact_tree():
    columns, y = mixed(4)
    label = (y > np.quantile(y, 0.8)).astype(int)
    target = {"n_classes": 2, "class_scale": np.array([0.6, 3.0]),
              "cost": np.array([[0.0, 1.0], [4.0, 0.0]])}  # fmt: skip
    options = GrowOptions(min_samples_leaf=4)
    found = grow_binned(columns, label, None, options, **target)
    assert_same_tree(found, grow(columns, label, None, options, **target), columns.X)


def test_scikit_learn_grows_the_same_tree_on_few_values():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 200, (400, 3)).astype(float)
    y = X[:, 0] / 50 + (X[:, 1] > 90) * rng.normal(1, 0.5, 400) + rng.normal(size=400)
    columns = Columns.numeric(X)
    options = {"max_leaf_nodes": 15, "random_state": 0}
    tree = grow_binned(columns, y, None, GrowOptions(criterion="squared_error", max_leaf_nodes=15))
    peer = DecisionTreeRegressor(**options).fit(X, y)
    new = rng.integers(0, 200, (200, 3)).astype(float)
    assert tree.value[apply(new, *tree.walk), 0] == pytest.approx(peer.predict(new), rel=1e-12)
    label = (y > 2).astype(int)
    tree = grow_binned(columns, label, None, GrowOptions(max_leaf_nodes=15), n_classes=2)
    peer = DecisionTreeClassifier(**options).fit(X, label)
    assert tree.value[apply(new, *tree.walk)] == pytest.approx(peer.predict_proba(new), rel=1e-12)


def test_many_values_cost_little_accuracy():
    rng = np.random.default_rng(6)
    X, new = rng.normal(size=(4000, 3)), rng.normal(size=(4000, 3))

    def truth(Z):
        return np.sin(2 * Z[:, 0]) + np.abs(Z[:, 1])

    y = truth(X) + rng.normal(0, 0.3, 4000)
    options = GrowOptions(criterion="squared_error", min_samples_leaf=20)
    columns = Columns.numeric(X)
    error = []
    for way in (grow, grow_binned):
        tree = way(columns, y, None, options)
        error.append(np.mean((tree.value[apply(new, *tree.walk), 0] - truth(new)) ** 2))
    # Two trees of 150 leaves differ by chance by about a tenth of their error.
    assert error[1] < 1.15 * error[0]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
)
@settings(max_examples=60, deadline=None)
def test_bins_keep_the_order_and_tell_few_values_apart(values, new):
    X = np.array(values)[:, None]
    bins = Bins.learn(X, np.array([False]), np.array([0]))
    codes = bins.encode(X)[:, 0].astype(int)
    order = np.argsort(X[:, 0])
    assert np.all(np.diff(codes[order]) >= 0)
    assert len(np.unique(codes)) == len(np.unique(X[:, 0])) == bins.n_bins[0]
    fresh = bins.encode(np.array(new)[:, None])[:, 0]
    assert np.array_equal(fresh, np.searchsorted(bins.cuts[0, : bins.n_bins[0] - 1], new))


def test_quantile_bins_are_even_and_never_more_than_255():
    x = np.random.default_rng(7).exponential(size=20_000)[:, None]
    bins = Bins.learn(x, np.array([False]), np.array([0]))
    counts = np.bincount(bins.encode(x)[:, 0])
    assert bins.n_bins[0] == 255
    # 20,000 / 255 = 78.4 rows a bin: equal frequencies up to one row.
    assert counts.min() >= 77
    assert counts.max() <= 80


def test_more_than_255_levels_share_the_last_bin():
    rng = np.random.default_rng(8)
    level = np.concatenate([np.repeat(np.arange(100), 20), np.arange(100, 100_000)])
    X = rng.permutation(level).astype(float)[:, None]
    bins = Bins.learn(X, np.array([True]), np.array([100_000]))
    codes = bins.encode(X)[:, 0]
    assert bins.n_bins[0] == 255
    frequent = X[:, 0] < 100
    assert np.all(codes[frequent] < 254)
    assert np.mean(codes[~frequent] == 254) > 0.99
    assert bins.encode(np.array([[np.nan]]))[0, 0] == MISSING
    y = (X[:, 0] % 2) * frequent + 0.01 * rng.normal(size=len(X))
    columns = Columns(np.asfortranarray(X), np.array([True]), np.array([100_000]))
    tree = grow_binned(columns, y, None, GrowOptions(criterion="squared_error", max_leaf_nodes=2))
    left = set(tree.levels[tree.level_child == 0].tolist())
    odd = set(range(1, 100, 2))
    assert not left & odd or not (set(range(100)) - odd) & left


def test_missing_rows_go_where_they_help_and_others_with_the_heavier_side():
    x = np.array([1.0, 2, 3, 4, np.nan, np.nan])
    y = np.array([0.0, 0, 5, 5, 5, 5])
    tree = grow_binned(Columns.numeric(x[:, None]), y, None, GrowOptions("squared_error"))
    assert tree.n_leaves == 2
    assert tree.threshold[0] == 2.5
    assert tree.default_child[0] == 1
    tree = grow_binned(
        Columns.numeric(x[:4, None]), y[[0, 2, 2, 2]], None, GrowOptions("squared_error")
    )
    assert tree.default_child[0] == 1  # three rows against one
    only = np.array([np.nan, np.nan, 1.0, 1.0])
    tree = grow_binned(
        Columns.numeric(only[:, None]), np.array([0.0, 0, 1, 1]), None, GrowOptions("squared_error")
    )
    assert tree.threshold[0] == np.inf  # present or missing is all there is to ask
    assert tree.value[apply(only[:, None], *tree.walk), 0].tolist() == [0, 0, 1, 1]


def test_weights_of_zero_leave_rows_out():
    columns, y = mixed(9)
    w = (np.random.default_rng(1).random(len(y)) < 0.6).astype(float)
    kept = np.flatnonzero(w)
    options = GrowOptions(criterion="squared_error", min_samples_leaf=5)
    assert_same_tree(
        grow_binned(columns, y, w, options),
        grow_binned(columns.rows(kept), y[kept], None, options),
        columns.X[kept],
    )


def test_nothing_to_split_gives_a_root():
    options = GrowOptions(criterion="squared_error")
    for x, y in (
        (np.full((5, 1), np.nan), np.arange(5.0)),
        (np.ones((5, 2)), np.arange(5.0)),
        (np.arange(5.0)[:, None], np.ones(5)),
        (np.ones((1, 1)), np.ones(1)),
    ):
        tree = grow_binned(Columns.numeric(x), y, None, options)
        assert tree.n_nodes == 1
        assert tree.value[0, 0] == pytest.approx(y.mean())


def test_what_needs_exact_thresholds_is_refused():
    columns, y = mixed(10, n=20)
    for bad in (
        {"multiway": True},
        {"missing": "surrogate"},
        {"monotonic_cst": np.array([1, 0, 0, 0])},
    ):
        with pytest.raises(ParameterError, match="thresholds='exact'"):
            grow_binned(columns, y, None, GrowOptions(criterion="squared_error", **bad))
    with pytest.raises(ParameterError, match="criterion='gini'"):
        grow_binned(columns, y, None, GrowOptions(criterion="gini"))
    with pytest.raises(InputError, match="zero"):
        grow_binned(columns, y, np.zeros(20), GrowOptions(criterion="squared_error"))
