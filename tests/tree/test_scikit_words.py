"""Arguments and results that scikit-learn's trees have too: the same meaning, node by node."""

import matplotlib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SelectFromModel
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text, plot_tree

from bottega.core.errors import InputError, NotKept, ParameterError
from bottega.tree import TreeClassifier, TreeRegressor
from bottega.tree._grow.options import count_features

FULL = {"ccp_alpha": 0.0}
ARRAYS = ("n_node_samples", "weighted_n_node_samples", "impurity", "feature", "threshold", "value")


@pytest.fixture(scope="module")
def data():
    # With twenty rows in a leaf no two splits are equally good, so there is one best tree.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)).astype(np.float32).astype(float)
    y = np.exp(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=300)
    return X, y, rng.uniform(0.5, 2.0, 300)


def assert_same(ours, theirs):
    """Compare two trees in scikit-learn's arrays, whatever their nodes are numbered by."""
    assert ours.node_count == theirs.node_count
    assert (ours.n_leaves, ours.max_depth) == (theirs.n_leaves, theirs.max_depth)
    stack = [(0, 0)]
    while stack:
        a, b = stack.pop()
        for name in ARRAYS:
            mine, peer = getattr(ours, name)[a], getattr(theirs, name)[b]
            np.testing.assert_allclose(mine, peer, rtol=1e-9, atol=1e-12, err_msg=name)
        if theirs.children_left[b] >= 0:
            stack.append((ours.children_left[a], theirs.children_left[b]))
            stack.append((ours.children_right[a], theirs.children_right[b]))
        else:
            assert ours.children_left[a] == ours.children_right[a] == -1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize(
    "options",
    [
        {"min_samples_leaf": 0.07},
        {"min_samples_split": 0.2, "min_samples_leaf": 20},
        {"min_weight_fraction_leaf": 0.08},
        {"max_leaf_nodes": 6, "min_samples_leaf": 20},
        {"min_impurity_decrease": 0.02, "max_depth": 3, "min_samples_leaf": 20},
    ],
    ids=lambda options: next(iter(options)),
)
def test_regression_trees_are_scikit_learns(data, criterion, options, weighted):
    X, y, w = data
    y, w = np.abs(y), w if weighted else None
    ours = TreeRegressor(**FULL, criterion=criterion, **options).fit(X, y, w)
    theirs = DecisionTreeRegressor(criterion=criterion, random_state=0, **options).fit(X, y, w)
    assert_same(ours.tree_, theirs.tree_)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-12)
    assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_, rel=1e-6)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_several_numbers_share_one_tree(data, criterion):
    X, y, w = data
    Y = np.column_stack([np.abs(y), np.exp(X[:, 2])])
    options = {"criterion": criterion, "min_samples_leaf": 20}
    ours = TreeRegressor(**FULL, **options).fit(X, Y, w)
    theirs = DecisionTreeRegressor(random_state=0, **options).fit(X, Y, w)
    assert_same(ours.tree_, theirs.tree_)
    assert ours.n_outputs_ == 2
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    np.testing.assert_allclose(ours.score(X, Y), theirs.score(X, Y), rtol=1e-12)
    assert ours.rules()[0].split(" -> ")[1].count(",") == 2  # two values, and n
    assert {"value_0", "value_1"} <= set(ours.leaves().columns)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_several_labels_share_one_tree(data, criterion):
    X, y, w = data
    Y = np.column_stack([np.digitize(y, [0.5, 2.0]), X[:, 2] + 0.1 * X[:, 3] > 0])
    options = {"criterion": criterion, "min_samples_leaf": 20, "max_depth": 2}
    ours = TreeClassifier(**FULL, **options).fit(X, Y, w)
    theirs = DecisionTreeClassifier(random_state=0, **options).fit(X, Y, w)
    assert_same(ours.tree_, theirs.tree_)
    assert ours.n_classes_.tolist() == [3, 2]
    assert [each.tolist() for each in ours.classes_] == [[0, 1, 2], [0, 1]]
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    for mine, peer in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, peer, atol=1e-12)


def test_a_joint_tree_is_chosen_by_its_path(data):
    X, y, _ = data
    path = TreeRegressor(select="min").path(X, np.column_stack([y, y]))
    alone = TreeRegressor(select="min").path(X, y)
    # The same response twice is one response.
    assert path.df.tolist() == alone.df.tolist()
    assert path.error == pytest.approx(alone.error, rel=1e-9)
    assert path.error_se == pytest.approx(alone.error_se, rel=1e-9)
    labels = np.column_stack([y > 1, y > 1])
    assert TreeClassifier().path(X, labels).error == pytest.approx(
        TreeClassifier().path(X, y > 1).error, rel=1e-9
    )


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_the_path_is_judged_by_the_criterion(data, criterion):
    X, y, _ = data
    y = np.abs(y)
    curve = TreeRegressor(criterion=criterion, cv=5, min_samples_leaf=10).path(X, y)
    assert curve.error.min() < 0.7 * curve.error[0]
    assert np.all(np.diff(curve.train_error) < 0)
    root = np.abs(y - np.median(y)) if criterion == "absolute_error" else y * np.log(y / y.mean())
    assert curve.train_error[0] == pytest.approx(root.mean())


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_missing_values_go_where_they_help(criterion):
    # The rows without a value are the high ones, so they join the right child.
    X = np.array([1, 2, 3, np.nan, 6, np.nan])[:, None]
    y = np.array([1, 1, 1, 9, 9, 9.0])
    model = TreeRegressor(**FULL, criterion=criterion).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.tree_.missing_go_to_left.tolist() == [False, False, False]
    assert model.predict([[np.nan]]) == 9
    # Where none was missing: to the larger child, of equals to the right one.
    model = TreeRegressor(**FULL, criterion=criterion).fit([[1.0], [2.0]], [1.0, 5.0])
    assert model.predict([[np.nan]]) == 5


def test_absolute_error_is_right_by_brute_force():
    rng = np.random.default_rng(0)

    def loss(y, w):
        order = np.argsort(y)
        half = np.searchsorted(np.cumsum(w[order]), w.sum() / 2)
        return np.sum(w * np.abs(y - y[order][half]))

    for trial in range(20):
        x, y = rng.permutation(30).astype(float), rng.integers(0, 8, 30).astype(float)
        w = rng.integers(1, 4, 30).astype(float) if trial % 2 else rng.uniform(0.1, 1, 30)
        x[:4] = np.nan if trial % 3 == 0 else x[:4]
        stump = TreeRegressor(**FULL, criterion="absolute_error", max_depth=1)
        stump.fit(x[:, None], y, sample_weight=w)
        gone = np.isnan(x)
        sides = [x <= t for t in np.sort(x[~gone])[:-1]]
        if gone.any():
            sides += [side | gone for side in sides] + [gone]
        best = min(loss(y[a], w[a]) + loss(y[~a], w[~a]) for a in sides)
        tree = stump.tree_
        found = (tree.impurity * tree.weighted_n_node_samples)[1:].sum()
        assert found == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_inputs_give_the_dense_tree(container):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.3)
    y = X[:, 0] + X[:, 1] > 0
    dense = TreeClassifier(**FULL).fit(X, y)
    model = TreeClassifier(**FULL).fit(container(X), y)
    assert model.nodes_ == dense.nodes_
    assert np.array_equal(model.apply(container(X)), dense.apply(X))
    assert np.array_equal(
        model.predict(container(np.tile(X, (200, 1)))), np.tile(dense.predict(X), 200)
    )
    with pytest.raises(ValueError, match="NaN"):
        model.fit(container(np.where(X == 0, np.nan, X)), y)
    with pytest.raises(TypeError, match="sparse"):
        model.fit(X, container(y[:, None]))


def test_columns_are_drawn():
    assert [count_features(m, 100) for m in ("sqrt", "log2", 0.25, 0.001, 7, 100, None)] == [
        10, 6, 25, 1, 7, 100, 100,
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="max_features=200 is not allowed; X has 100 columns"):
        count_features(200, 100)
    X, y = load_iris(return_X_y=True)
    drawn = TreeClassifier(**FULL, max_features=1, random_state=0).fit(X, y)
    again = TreeClassifier(**FULL, max_features=1, random_state=0).fit(X, y)
    other = TreeClassifier(**FULL, max_features=1, random_state=1).fit(X, y)
    assert drawn.nodes_ == again.nodes_ != other.nodes_
    assert drawn.max_features_ == 1
    assert drawn.score(X, y) == 1  # grown to the end all the same
    roots = {
        int(TreeClassifier(max_depth=1, max_features=1, random_state=s).fit(X, y).tree_.feature[0])
        for s in range(40)
    }
    assert roots == {0, 1, 2, 3}  # each is missed in all 40 with probability 0.75^40 < 2e-5


def test_random_thresholds():
    X = np.arange(100.0)[:, None]
    y = np.arange(100.0)
    cuts = [
        TreeRegressor(max_depth=1, splitter="random", random_state=s).fit(X, y).tree_.threshold[0]
        for s in range(60)
    ]
    assert len(set(cuts)) == 60
    assert min(cuts) < 20 < 80 < max(cuts)  # fails with probability below 2 * 0.8^60 < 4e-6
    with pytest.raises(InputError, match="give one of them"):
        TreeRegressor(splitter="random", thresholds="binned").fit(X, y)


def test_weights_of_classes_are_weights_of_rows():
    X, y = load_iris(return_X_y=True)
    X, y = X[:110], y[:110]
    factor = {0: 1.0, 1: 3.0, 2: 5.0}
    ours = TreeClassifier(**FULL, max_depth=3, class_weight=factor).fit(X, y)
    rows = TreeClassifier(**FULL, max_depth=3).fit(X, y, sample_weight=[factor[k] for k in y])
    assert ours.nodes_ == rows.nodes_
    even = TreeClassifier(**FULL, class_weight="balanced").fit(X, y)
    assert even.tree_.value[0, 0] == pytest.approx(np.full(3, 1 / 3))
    with pytest.raises(ParameterError, match="class_weight"):
        TreeClassifier(class_weight="even").fit(X, y)


def test_the_size_is_chosen_unless_it_is_given():
    X, y = load_diabetes(return_X_y=True)
    assert hasattr(TreeRegressor().fit(X, y), "path_")
    for options in ({"max_depth": 3}, {"max_leaf_nodes": 8}):
        model = TreeRegressor(**options).fit(X, y)
        assert not hasattr(model, "path_")
        assert model.get_n_leaves() == 8
        assert model.ccp_alpha_ == 0
    assert (TreeRegressor(max_depth=3).fit(X, y).get_depth()) == 3


def test_pruning_path_is_scikit_learns(data):
    X, y, w = data
    ours = TreeRegressor(min_samples_leaf=10).cost_complexity_pruning_path(X, y, w)
    peer = DecisionTreeRegressor(min_samples_leaf=10).cost_complexity_pruning_path(X, y, w)
    assert ours.ccp_alphas == pytest.approx(peer.ccp_alphas, abs=1e-12)
    assert ours.impurities == pytest.approx(peer.impurities, rel=1e-9)


def test_readers_of_scikit_learns_trees_take_ours(data):
    X, y, _ = data
    ours, theirs = (
        TreeRegressor(max_depth=2).fit(X, y),
        DecisionTreeRegressor(max_depth=2).fit(X, y),
    )
    assert export_text(ours) == export_text(theirs)
    labels = TreeClassifier(max_depth=2).fit(X, y > 1)
    peer = DecisionTreeClassifier(max_depth=2).fit(X, y > 1)
    assert export_text(labels, show_weights=True) == export_text(peer, show_weights=True)
    assert SelectFromModel(ours, prefit=True).transform(X).shape[1] == 2
    matplotlib.use("agg")
    assert [a.get_text() for a in plot_tree(labels)] == [a.get_text() for a in plot_tree(peer)]


def test_what_scikit_learns_arrays_cannot_hold_is_refused():
    X = np.array([[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]])
    y = [0, 1, 0, 0, 1, 0]
    model = TreeClassifier(**FULL, categorical_features=[0]).fit(X, y)
    with pytest.raises(NotKept, match="nodes_"):
        _ = model.tree_
    assert not hasattr(model, "tree_")
    assert model.feature_importances_.tolist() == [1.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"min_samples_leaf": 1.0}, "min_samples_leaf"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": "auto"}, "max_features"),
        ({"splitter": "worst"}, "splitter"),
    ],
)
def test_bad_words(options, words):
    for tree in (TreeClassifier, TreeRegressor):
        with pytest.raises(ValueError, match=words):
            tree(**options).fit([[0.0], [1.0]], [0, 1])


def test_what_joint_trees_do_not_go_with():
    X, Y = np.arange(8.0)[:, None], np.arange(16).reshape(8, 2) % 3
    for options in (
        {"thresholds": "binned"},
        {"select": "reduced_error"},
        {"target_error": 0.1},
        {"missing": "surrogate"},
        {"monotonic_cst": [1]},
        {"categorical_features": [0]},
    ):
        with pytest.raises(InputError, match="response"):
            TreeRegressor(**options).fit(X, Y)
    for options in ({"priors": [0.5, 0.5]}, {"criterion": "error"}, {"select": "srm"}):
        with pytest.raises(InputError, match="response"):
            TreeClassifier(**options).fit(X, Y)
    model = TreeClassifier(**FULL).fit(X, Y)
    for ask in (lambda: model.dnf(1), model.plot, lambda: model.certificate_):
        with pytest.raises(InputError, match="response"):
            ask()
    with pytest.raises(InputError, match="negative"):
        TreeRegressor(criterion="poisson").fit(X, X[:, 0] - 1)
    with pytest.raises(InputError, match="not positive"):
        TreeRegressor(criterion="poisson").fit(X, np.zeros(8))


@pytest.mark.parametrize("thresholds", ["exact", "binned"])
def test_exclusive_or_is_grown_to_the_end(thresholds):
    ticks = np.arange(10.0)
    X = np.array([(a, b) for a in ticks for b in ticks])
    y = (X[:, 0] < 5) == (X[:, 1] < 5)
    for tree in (TreeClassifier, TreeRegressor):
        model = tree(**FULL, thresholds=thresholds).fit(X, y.astype(float))
        assert model.score(X, y) == 1
        assert model.get_n_leaves() == 4  # the even split is the right one
        assert tree(min_impurity_decrease=1e-9, **FULL).fit(X, y * 1.0).get_n_leaves() == 1


def test_the_order_of_rows_does_not_matter():
    # Many ties: four levels on each of three columns, and groups of levels with equal means.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(240, 3)).astype(float)
    y = (X[:, 0] % 3 + (X[:, 1] > 2) + rng.integers(0, 3, 240)) / 7
    options = {**FULL, "categorical_features": [0, 1], "min_samples_leaf": 8}
    first = TreeRegressor(**options).fit(X, y).predict(X)
    for seed in range(10):
        mixed = np.random.default_rng(seed).permutation(240)
        again = TreeRegressor(**options).fit(X[mixed], y[mixed])
        assert again.predict(X) == pytest.approx(first, rel=1e-12)
