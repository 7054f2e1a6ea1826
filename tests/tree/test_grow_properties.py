"""What holds of every grown tree, and what brute force says of its splits."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, ParameterError
from bottega.tree._grow.binned import grow_binned
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions
from bottega.tree._kernels.walk import apply

CLASS_CRITERIA = ["error", "gini", "entropy", "sqrt", "deviance"]


def impurity(y, w, criterion, K):
    """W psi by its definition."""
    W = w.sum()
    if criterion == "squared_error":
        return float(np.sum(w * (y - np.average(y, weights=w)) ** 2))
    p = np.bincount(y, weights=w, minlength=K) / W
    q = p[p > 0]
    rest = np.array([np.delete(p, k).sum() for k in range(K)])  # 1 - p without its rounding
    return (
        W
        * {
            "error": 1 - p.max(),
            "gini": np.sum(p * (1 - p)),
            "entropy": -np.sum(q * np.log2(q)),
            "sqrt": 0.5 * np.sum(np.sqrt(p * rest)),
            "deviance": -2 * np.sum(q * np.log(q)),
        }[criterion]
    )


def gain_of(left, y, w, criterion, K):
    if left.all() or not left.any():
        return 0.0
    parts = sum(impurity(y[side], w[side], criterion, K) for side in (left, ~left))
    return impurity(y, w, criterion, K) - parts


def mixed(seed, n=40, missing=0.2, K=3, levels=5):
    """Return numbers with ties, a category, gaps, and a response of each kind."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 6, n), rng.integers(0, levels, n).astype(float)]
    )
    signal = X[:, 0] + 0.5 * X[:, 1] + np.array([0, 2, -1, 1, -2, 3, 0.5, 1])[X[:, 2].astype(int)]
    X[rng.random(X.shape) < missing] = np.nan
    columns = Columns(
        np.asfortranarray(X), np.array([False, False, True]), np.array([0, 0, levels])
    )
    y = signal + rng.normal(size=n)
    cuts = np.quantile(y, np.arange(1, K) / K)
    return columns, y, np.digitize(y, cuts), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("K", [0, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_root_split_is_the_best_there_is(seed, K):
    """All thresholds, all subsets of levels, missing rows on either side, or against the rest."""
    columns, y, codes, w = mixed(seed, K=max(K, 2))
    y = codes if K else y
    for criterion in CLASS_CRITERIA if K else ["squared_error"]:
        best = 0.0
        for j in range(3):
            x = columns.X[:, j]
            gone = np.isnan(x)
            values = np.unique(x[~gone])
            sets = [values[:k] for k in range(1, len(values) + 1)]
            if j == 2:
                sets = [c for k in range(1, 6) for c in combinations(values, k)]
            for chosen in sets:
                left = np.isin(x, chosen)
                for side in (left, left | gone):
                    best = max(best, gain_of(side, y, w, criterion, K))
        options = GrowOptions(criterion=criterion, max_depth=1)
        tree = grow(columns, y, w, options, n_classes=K)
        assert tree.gain[0] * w.sum() == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize("K", [2, 3])
def test_many_levels_of_two_classes_are_split_exactly_and_of_more_well(K):
    columns, _, y, w = mixed(5, n=60, missing=0.0, K=K, levels=8)
    x = columns.X[:, 2]
    one = Columns(np.asfortranarray(x[:, None]), np.array([True]), np.array([8]))
    best = max(
        gain_of(np.isin(x, c), y, w, "gini", K)
        for k in range(1, 8)
        for c in combinations(range(8), k)
    )
    tree = grow(one, y, w, GrowOptions(max_depth=1), n_classes=K)
    assert tree.gain[0] * w.sum() == pytest.approx(best, rel=1e-10)


def test_the_principal_component_orders_many_levels_of_three_classes():
    """Levels of three kinds, each kind pure: the first cut must separate whole kinds."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 30, 900)
    columns = Columns(
        np.asfortranarray(level[:, None], dtype=float), np.array([True]), np.array([30])
    )
    tree = grow(columns, level % 3, None, GrowOptions(), n_classes=3)
    assert tree.n_leaves == 3
    assert tree.risk[tree.is_leaf].sum() == 0.0


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    K=st.sampled_from([0, 2, 3]),
    missing=st.sampled_from(["direction", "surrogate"]),
    multiway=st.sampled_from([False, 3, True]),
    max_leaf_nodes=st.sampled_from([None, 4]),
)
def test_every_tree_is_consistent(seed, K, missing, multiway, max_leaf_nodes):
    """Rows land where they were counted; growing never raises the training risk (A30)."""
    columns, y, codes, w = mixed(seed, K=max(K, 2))
    y = codes if K else y
    options = GrowOptions(
        criterion="gini" if K else "squared_error",
        missing=missing,
        multiway=multiway,
        max_leaf_nodes=max_leaf_nodes,
        min_samples_leaf=2,
    )
    tree = grow(columns, y, w, options, n_classes=K)
    leaf = apply(columns.X, *tree.walk)
    counted = np.bincount(leaf, minlength=tree.n_nodes)
    assert np.array_equal(counted[tree.is_leaf], tree.n[tree.is_leaf])
    assert tree.n[tree.is_leaf].min() >= (2 if missing == "direction" else 1)
    assert max_leaf_nodes is None or tree.n_leaves <= max_leaf_nodes
    for t in np.flatnonzero(~tree.is_leaf):
        below = list(tree.children(t))
        assert tree.risk[below].sum() <= tree.risk[t] + 1e-12
        assert tree.n[below].sum() == tree.n[t]
        assert np.all(tree.parent[below] == t)
        if missing == "direction":
            lost = tree.impurity[t] * tree.weight[t] - tree.impurity[below] @ tree.weight[below]
            assert tree.gain[t] * tree.weight[0] == pytest.approx(lost, abs=1e-9)
    if K == 0:
        fitted = tree.value[leaf, 0]
        residual = np.sum(w * (y - fitted) ** 2) / w.sum()
        assert tree.risk[tree.is_leaf].sum() == pytest.approx(residual, abs=1e-10)
    else:
        wrong = np.sum(w * (tree.value[leaf].argmax(axis=1) != y)) / w.sum()
        assert tree.risk[tree.is_leaf].sum() == pytest.approx(wrong, abs=1e-10)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), missing=st.sampled_from(["direction", "surrogate"]))
def test_the_order_of_rows_does_not_matter(seed, missing):
    columns, y, _, w = mixed(seed)
    options = GrowOptions(criterion="squared_error", missing=missing, min_samples_leaf=3)
    tree = grow(columns, y, w, options)
    turn = np.random.default_rng(seed).permutation(len(y))
    for other in (columns.rows(turn), Columns(columns.X[turn], *vars_of(columns))):
        again = grow(other, y[turn], w[turn], options)
        assert np.array_equal(tree.feature, again.feature)
        np.testing.assert_array_equal(tree.threshold, again.threshold)
        np.testing.assert_allclose(tree.value, again.value, rtol=1e-10)


@pytest.mark.parametrize("binned", [False, True])
def test_splits_that_are_equal_but_for_rounding_go_by_rule(binned):
    """The lowest column, the lowest threshold, the older node; whatever the last bits say."""
    growth = grow_binned if binned else grow
    rng = np.random.default_rng(0)
    for seed in range(20):
        low, step, up = np.random.default_rng(seed).uniform(0.1, 1, 3)
        # Two halves of one shape, each of which could be split next.
        y = np.repeat([low, low + step, low + 50 + up, low + 50 + up + step], 3)
        x = np.arange(12.0)
        turn = rng.permutation(12)
        columns = Columns.numeric(np.column_stack([x, 3 * x, -x])[turn])
        options = GrowOptions(criterion="squared_error", max_leaf_nodes=3)
        tree = growth(columns, y[turn], None, options)
        assert tree.threshold.tolist() == [5.5, 2.5]
        assert tree.feature.tolist() == [0, 0]
        # One shape three times: the first of three equal boundaries.
        y = np.repeat([low, low + step, low, low + step], 3)
        tree = growth(columns, y[turn], None, GrowOptions("squared_error", max_leaf_nodes=2))
        assert tree.threshold.tolist() == [2.5]


def vars_of(columns):
    return columns.categorical, columns.n_levels


@pytest.mark.parametrize("K", [0, 2, 3])
@pytest.mark.parametrize("missing", ["direction", "surrogate"])
def test_a_weight_is_a_number_of_copies_and_zero_is_none(K, missing):
    columns, y, codes, _ = mixed(3, K=max(K, 2))
    y = codes if K else y
    copies = np.random.default_rng(0).integers(0, 4, len(y))
    options = GrowOptions(
        criterion="entropy" if K else "squared_error", missing=missing, max_leaf_nodes=6
    )
    weighted = grow(columns, y, copies.astype(float), options, n_classes=K)
    columns.order()
    repeated = np.repeat(np.arange(len(y)), copies)
    plain = grow(columns.rows(repeated), y[repeated], None, options, n_classes=K)
    assert np.array_equal(weighted.feature, plain.feature)
    np.testing.assert_array_equal(weighted.threshold, plain.threshold)
    np.testing.assert_allclose(weighted.value, plain.value, rtol=1e-10)
    np.testing.assert_allclose(weighted.risk, plain.risk, atol=1e-12)
    np.testing.assert_allclose(weighted.gain, plain.gain, atol=1e-12)


@pytest.mark.parametrize("criterion", ["squared_error", "gini", "entropy"])
def test_monotone_on_a_grid(criterion):
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (400, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2])
    y = signal + 0.3 * rng.normal(size=400)
    K = 0 if criterion == "squared_error" else 2
    y = (y > 0.3).astype(int) if K else y
    options = GrowOptions(criterion=criterion, monotonic_cst=[1, -1, 0])
    tree = grow(Columns.numeric(X), y, None, options, n_classes=K)
    assert tree.n_leaves > 20
    axis = np.linspace(-1, 1, 25)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    value = tree.value[apply(grid.reshape(-1, 3), *tree.walk), -1].reshape(25, 25, 25)
    assert np.all(np.diff(value, axis=0) >= -1e-12)
    assert np.all(np.diff(value, axis=1) <= 1e-12)
    assert np.any(np.diff(value, axis=2) < 0)
    leaf = apply(np.asfortranarray(X), *tree.walk)
    if K == 0:
        error = np.mean((y - tree.value[leaf, 0]) ** 2)
    else:
        error = np.mean(tree.value[leaf].argmax(axis=1) != y)
    assert tree.risk[tree.is_leaf].sum() == pytest.approx(error, abs=1e-12)


def test_costs_and_priors():
    """Altered priors move the split; the risk is the least expected cost under true priors."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = (x + rng.normal(size=400) > 1).astype(int)
    columns = Columns.numeric(x[:, None])
    cost = np.array([[0.0, 5.0], [1.0, 0.0]])  # predictions as rows: missing a 1 costs five
    tree = grow(columns, y, None, GrowOptions(max_depth=1), 2, cost=cost)
    weighted = grow(columns, y, np.where(y == 1, 5.0, 1.0), GrowOptions(max_depth=1), 2)
    assert tree.threshold[0] == weighted.threshold[0]
    np.testing.assert_allclose(tree.value[0], [np.mean(y == 0), np.mean(y == 1)])
    counts = tree.value * tree.n[:, None]
    np.testing.assert_allclose(tree.risk, np.minimum(5 * counts[:, 1], counts[:, 0]) / 400)
    np.testing.assert_allclose(tree.weight, tree.n)
    scale = np.array([0.5, 0.5]) / tree.value[0]
    even = grow(columns, y, None, GrowOptions(max_depth=1), 2, class_scale=scale)
    np.testing.assert_allclose(even.value[0], [0.5, 0.5])
    assert even.risk[0] == pytest.approx(0.5)


@pytest.mark.parametrize("thresholds", ["uniform", "random"])
def test_candidate_thresholds_lie_in_the_range_of_the_node(thresholds):
    rng = np.random.default_rng(2)
    x = np.sort(rng.exponential(size=200))
    y = np.sin(3 * x) + 0.1 * rng.normal(size=200)
    options = GrowOptions(criterion="squared_error", thresholds=thresholds, n_thresholds=7, seed=3)
    tree = grow(Columns.numeric(x[:, None]), y, None, options)
    assert tree == grow(Columns.numeric(x[:, None]), y, None, options)
    if thresholds == "uniform":
        steps = (tree.threshold[0] - x[0]) / (x[-1] - x[0]) * 8
        assert steps == pytest.approx(round(steps), abs=1e-9)
        best = max(
            gain_of(x <= x[0] + (x[-1] - x[0]) * k / 8, y, np.ones(200), "squared_error", 0)
            for k in range(1, 8)
        )
        assert tree.gain[0] * 200 == pytest.approx(best, rel=1e-10)
    else:
        other = grow(
            Columns.numeric(x[:, None]), y, None, GrowOptions(**{**vars(options), "seed": 4})
        )
        assert tree.threshold[0] != other.threshold[0]


def test_random_columns_are_drawn_for_each_split():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 10))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    options = GrowOptions(criterion="squared_error", max_features=2, max_leaf_nodes=40, seed=1)
    tree = grow(Columns.numeric(X), y, None, options)
    assert len(set(tree.feature.tolist())) > 5
    assert tree == grow(Columns.numeric(X), y, None, options)


def test_multiway_gives_each_level_a_child():
    level = np.repeat([0.0, 1, 2, 3], 5)
    level[0] = np.nan
    y = np.repeat([1.0, 5, 2, 8], 5)
    columns = Columns(np.asfortranarray(level[:, None]), np.array([True]), np.array([5]))
    options = GrowOptions(criterion="squared_error", multiway=True, max_depth=1)
    tree = grow(columns, y, None, options)
    assert tree.n_children[0] == 4
    assert tree.levels.tolist() == [0, 1, 2, 3] == tree.level_child.tolist()
    # The missing row goes to the heaviest child, and so does a level that was never seen.
    assert tree.n[1:].tolist() == [4, 6, 5, 5]
    assert apply(np.array([[np.nan], [4.0], [3.0]]), *tree.walk).tolist() == [2, 2, 4]
    assert (
        grow(columns, y, None, GrowOptions(**{**vars(options), "max_leaf_nodes": 3})).n_leaves == 1
    )


def groupings(levels, most):
    """Return every division of some levels into at most so many groups, as lists of sets."""
    if not levels:
        return [[]]
    head, *rest = levels
    found = []
    for groups in groupings(rest, most):
        found += [[*groups[:i], groups[i] | {head}, *groups[i + 1 :]] for i in range(len(groups))]
        found += [[*groups, {head}]] if len(groups) < most else []
    return found


@pytest.mark.parametrize("K", [0, 2])
@pytest.mark.parametrize("most", [3, 4])
@pytest.mark.parametrize("min_samples_leaf", [1, 6])
@pytest.mark.parametrize("seed", range(3))
def test_groups_of_levels_are_the_best_there_are(seed, K, most, min_samples_leaf):
    """Against every grouping that the least leaf allows; missing is a level like the others."""
    columns, y, codes, w = mixed(seed, n=50, K=max(K, 2), levels=5)
    y, x = codes if K else y, columns.X[:, 2]
    level = np.where(np.isnan(x), 5.0, x)
    one = Columns(np.asfortranarray(x[:, None]), np.array([True]), np.array([5]))
    for criterion in ("gini", "entropy") if K else ["squared_error"]:
        best = 0.0
        for groups in groupings(sorted(set(level)), most):
            parts = [np.isin(level, list(group)) for group in groups]
            if all(part.sum() >= min_samples_leaf for part in parts):
                inside = sum(impurity(y[part], w[part], criterion, K) for part in parts)
                best = max(best, impurity(y, w, criterion, K) - inside)
        options = GrowOptions(
            criterion=criterion, multiway=most, min_samples_leaf=min_samples_leaf, max_depth=1
        )
        tree = grow(one, y, w, options, n_classes=K)
        assert 2 <= tree.n_children[0] <= most
        assert tree.n[1:].min() >= min_samples_leaf
        assert tree.gain[0] * w.sum() == pytest.approx(best, rel=1e-10)


def test_groups_of_many_levels_and_of_equal_ones():
    rng = np.random.default_rng(0)
    level = np.repeat(np.arange(2000.0), 3)
    effect = np.repeat([0.0, 5.0, 9.0, 20.0], 500)[level.astype(int)]
    shuffled = rng.permutation(2000)[level.astype(int)].astype(float)
    columns = Columns(np.asfortranarray(shuffled[:, None]), np.array([True]), np.array([2000]))
    options = GrowOptions(criterion="squared_error", multiway=9)
    tree = grow(columns, effect, None, options)
    # Four groups explain everything: no fifth is made, and runs of 256 lose nothing.
    assert tree.n_children[0] == tree.n_leaves == 4
    assert tree.risk[tree.is_leaf].sum() == pytest.approx(0, abs=1e-20)
    classes = (level % 3).astype(int)
    three = Columns(np.asfortranarray(level[:, None]), np.array([True]), np.array([2000]))
    # Three classes have no order in which the best groups are neighbours: pure in two steps.
    tree = grow(three, classes, None, GrowOptions(multiway=3), n_classes=3)
    assert tree.n_leaves < 10
    assert tree.risk[tree.is_leaf].sum() == 0


def test_a_hundred_thousand_levels():
    rng = np.random.default_rng(0)
    level = rng.permutation(100_000).astype(float)
    effect = rng.normal(size=100_000)
    columns = Columns(np.asfortranarray(level[:, None]), np.array([True]), np.array([100_000]))
    tree = grow(columns, effect, None, GrowOptions(criterion="squared_error", max_leaf_nodes=16))
    assert tree.n_leaves == 16
    value = tree.value[apply(columns.X, *tree.walk), 0]
    assert np.all(np.diff(value[np.argsort(effect)]) >= 0)  # levels cut in the order of their means


def test_present_against_missing_is_a_split_of_its_own():
    x = np.array([1.0, np.nan, 2.0, np.nan, 3.0, np.nan])
    y = np.array([0, 1, 0, 1, 0, 1])
    tree = grow(Columns.numeric(x[:, None]), y, None, GrowOptions(), 2)
    assert tree.threshold.tolist() == [np.inf]
    assert tree.default_child[0] == 1
    assert tree.risk[tree.is_leaf].sum() == 0


def test_default_child_without_missing_rows_is_the_heavier_one():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    tree = grow(Columns.numeric(x[:, None]), np.array([0, 1, 1, 1]), None, GrowOptions(), 2)
    assert tree.threshold.tolist() == [1.5]
    assert tree.default_child[0] == 1


def test_trees_of_one_leaf():
    one = Columns.numeric([[1.0]])
    assert grow(one, np.array([2.0]), None, GrowOptions(criterion="squared_error")).n_nodes == 1
    three = Columns.numeric([[1.0], [2.0], [3.0]])
    constant = grow(three, np.full(3, 0.1), None, GrowOptions(criterion="squared_error"))
    assert constant.n_nodes == 1
    assert constant.value[0, 0] == pytest.approx(0.1)
    gone = Columns.numeric(np.full((3, 2), np.nan))
    assert grow(gone, np.arange(3.0), None, GrowOptions(criterion="squared_error")).n_nodes == 1
    assert grow(three, np.array([1, 1, 1]), None, GrowOptions(), 2).n_nodes == 1
    pure = GrowOptions(criterion="squared_error", min_impurity=1.0)
    assert grow(three, np.array([0, 1, 0.0]), None, pure).n_nodes == 1


def test_a_threshold_between_neighbouring_numbers_separates_them():
    a = 1.0
    b = np.nextafter(a, 2)
    tree = grow(Columns.numeric([[a], [b]]), np.array([0, 1]), None, GrowOptions(), 2)
    assert a <= tree.threshold[0] < b
    huge = np.array([[-1.5e308], [1.5e308]])
    tree = grow(Columns.numeric(huge), np.array([0, 1]), None, GrowOptions(), 2)
    assert tree.n_leaves == 2


def test_bad_options():
    columns, y = Columns.numeric([[1.0], [2.0]]), np.array([0, 1])
    with pytest.raises(
        ParameterError, match=r"criterion='ginny' is not allowed.*Did you mean 'gini'"
    ):
        grow(columns, y, None, GrowOptions(criterion="ginny"), 2)
    with pytest.raises(ParameterError, match="'squared_error'"):
        grow(columns, y, None, GrowOptions(criterion="gini"))
    with pytest.raises(ParameterError, match="monotonic_cst"):
        grow(columns, y, None, GrowOptions(monotonic_cst=[1, 1]), 2)
    with pytest.raises(InputError, match="All weights are zero"):
        grow(columns, y, np.zeros(2), GrowOptions(), 2)
    with pytest.raises(InputError, match="cost has shape"):
        grow(columns, y, None, GrowOptions(), 2, cost=np.ones((3, 3)))
    with pytest.raises(InputError, match="positive prior"):
        grow(columns, y, None, GrowOptions(), 2, class_scale=np.array([0.0, 1.0]))
