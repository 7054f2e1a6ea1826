"""Forests take scikit-learn's words: what they mean, by hand, by their trees, by the peer."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor as PeerRegressor
from sklearn.metrics import balanced_accuracy_score, mean_absolute_error

from bottega.core import classes
from bottega.core.errors import DataWarning, InputError, NotKept, ParameterError
from bottega.ensemble import RandomForestClassifier, RandomForestRegressor
from bottega.ensemble._kernels import judge


def sample(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, score, np.digitize(score, [0.0, 1.5])


def test_other_units_give_the_same_forest():
    X, y, label = sample()
    units, shift = np.array([2.54, 1e-6, 1.8, 1000.0]), np.array([0.0, 0.0, 32.0, -5.0])
    for model, target, scaled in (
        (RandomForestRegressor(max_features=2, n_estimators=15), y, 1000 * y),
        (RandomForestClassifier(max_features=2, n_estimators=15), label, label),
    ):
        one = clone(model).fit(X, target)
        two = clone(model).fit(X * units + shift, scaled)
        assert np.array_equal(one.apply(X), two.apply(X * units + shift))


def test_the_estimators_are_the_trees_and_can_be_fitted_again():
    X, _, label = sample()
    model = RandomForestClassifier(n_estimators=12, max_features=2).fit(X, label)
    shares = [tree.predict_proba(X) for tree in model.estimators_]
    assert model.predict_proba(X) == pytest.approx(np.mean(shares, axis=0), abs=1e-12)
    leaves = np.stack([tree.apply(X) for tree in model], axis=1)
    assert np.array_equal(model.apply(X), leaves)
    assert len(model) == 12
    drawn = model.estimators_samples_[3]
    again = clone(model[3]).fit(X[drawn], label[drawn])
    assert np.array_equal(again.predict_proba(X), shares[3])
    with pytest.raises(IndexError):
        model[12]


def test_the_decision_path_leads_from_the_root_to_the_leaf():
    X, y, _ = sample(60)
    model = RandomForestRegressor(n_estimators=4, max_features=2).fit(X, y)
    passed, start = model.decision_path(X)
    for i, tree in enumerate(model.estimators_):
        own = passed[:, start[i] : start[i + 1]]
        assert (own != tree.decision_path(X)).nnz == 0


def test_the_score_of_rows_left_out_by_hand():
    X, y, label = sample()
    model = RandomForestClassifier(n_estimators=60, max_features=2, oob_score=True).fit(X, label)
    said = model.classes_[np.argmax(model.oob_decision_function_, axis=1)]
    assert model.oob_score_ == pytest.approx(np.mean(said == label))
    assert model.oob_score_ == pytest.approx(1 - model.oob_path_.error[-1])
    own = model.set_params(oob_score=balanced_accuracy_score).fit(X, label).oob_score_
    assert own == pytest.approx(balanced_accuracy_score(label, said))
    numbers = RandomForestRegressor(n_estimators=60, max_features=2).fit(X, y)
    gap = np.sum((numbers.oob_prediction_ - y) ** 2) / np.sum((y - y.mean()) ** 2)
    assert numbers.oob_score_ == pytest.approx(1 - gap)
    without = RandomForestRegressor(n_estimators=5, max_features=2, oob_score=False).fit(X, y)
    assert not hasattr(without, "oob_score_")
    with pytest.warns(DataWarning, match="OOB"):
        RandomForestRegressor(n_estimators=1, max_features=2, oob_score=True).fit(X, y)
    with pytest.raises(ParameterError, match="bootstrap=True"):
        RandomForestRegressor(oob_score=True, bootstrap=False).fit(X, y)


def test_class_weights_are_weights_of_rows():
    X, _, label = sample()
    by_class = {0: 1.5, 1: 1.0, 2: 4.5}
    rows = np.array([by_class[k] for k in label])
    given = RandomForestClassifier(n_estimators=10, max_features=2, class_weight=by_class)
    plain = RandomForestClassifier(n_estimators=10, max_features=2)
    one, two = given.fit(X, label), plain.fit(X, label, sample_weight=rows)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_balanced_subsamples_weigh_classes_alike():
    X, _, label = sample()
    rare = label == 2
    model = RandomForestClassifier(
        n_estimators=40, max_features=2, min_samples_leaf=20, class_weight="balanced_subsample"
    ).fit(X, rare)
    plain = RandomForestClassifier(n_estimators=40, max_features=2, min_samples_leaf=20)
    assert model.predict(X).mean() > plain.fit(X, rare).predict(X).mean()
    # The classes of the root weigh alike in every tree.
    for tree in model.estimators_:
        assert tree.nodes_.value[0] == pytest.approx([0.5, 0.5])


def test_a_warm_start_is_the_fit_with_more_trees():
    X, _, label = sample()
    grown = RandomForestClassifier(n_estimators=5, max_features=2, warm_start=True).fit(X, label)
    grown.set_params(n_estimators=13).fit(X, label)
    whole = RandomForestClassifier(n_estimators=13, max_features=2).fit(X, label)
    assert np.array_equal(grown.apply(X), whole.apply(X))
    assert grown.oob_score_ == whole.oob_score_
    assert grown.feature_importances_ == pytest.approx(whole.feature_importances_)
    with pytest.warns(DataWarning, match="does not fit new trees"):
        grown.fit(X, label)
    with pytest.raises(ParameterError, match="n_estimators=4"):
        grown.set_params(n_estimators=4).fit(X, label)
    # Trees are added that are grown on other rows; each is still itself when it is asked for.
    mixed = RandomForestClassifier(n_estimators=3, max_features=2, warm_start=True).fit(X, label)
    mixed.set_params(n_estimators=6).fit(X[:80], label[:80])
    shares = [tree.predict_proba(X) for tree in mixed.estimators_]
    assert mixed.predict_proba(X) == pytest.approx(np.mean(shares, axis=0), abs=1e-12)


def test_sparse_inputs_are_filled_up():
    X, y, _ = sample()
    X[X < 0] = 0
    dense = RandomForestRegressor(n_estimators=8, max_features=2).fit(X, y)
    sparse = RandomForestRegressor(n_estimators=8, max_features=2).fit(csr_matrix(X), y)
    assert np.array_equal(sparse.predict(csr_matrix(X)), dense.predict(X))


def test_several_responses_are_predicted_by_joint_trees():
    X, y, label = sample()
    both = np.column_stack([y, -3 * y])
    model = RandomForestRegressor(n_estimators=20, max_features=2).fit(X, both)
    trees = np.mean([tree.predict(X) for tree in model.estimators_], axis=0)
    assert model.predict(X) == pytest.approx(trees)
    assert model.predict(X)[:, 1] == pytest.approx(-3 * model.predict(X)[:, 0])
    assert model.oob_prediction_.shape == (150, 2)
    assert model.oob_score_ > 0.6
    names = np.column_stack([np.array(["a", "b", "c"])[label], label > 0])
    classes = RandomForestClassifier(n_estimators=20, max_features=2).fit(X, names)
    shares = classes.predict_proba(X)
    assert [one.shape for one in shares] == [(150, 3), (150, 2)]
    for q in range(2):
        picked = classes.classes_[q][np.argmax(shares[q], axis=1)]
        assert np.array_equal(classes.predict(X)[:, q], picked)
    assert classes.n_classes_ == [3, 2]
    with pytest.raises(NotKept, match="one response"):
        classes.proximity()
    with pytest.raises(InputError, match="OOB"):
        RandomForestClassifier(n_estimators=3, oob_score=True).fit(X, names)


def test_absolute_error_splits_for_medians_as_the_peer_does():
    X, y, _ = sample(300)
    y = y + np.where(np.random.default_rng(1).random(300) < 0.05, 50.0, 0.0)
    new, truth, _ = sample(500, seed=2)
    options = {"criterion": "absolute_error", "min_samples_leaf": 15, "random_state": 0}
    ours = RandomForestRegressor(n_estimators=30, max_features=2, **options).fit(X, y)
    peer = PeerRegressor(n_estimators=30, max_features=2, **options).fit(X, y)
    by_squares = RandomForestRegressor(n_estimators=30, max_features=2, min_samples_leaf=15)
    errors = [mean_absolute_error(truth, model.predict(new)) for model in (ours, peer)]
    # Two forests of 30 trees with other draws, and copies of a row count in a leaf here only.
    assert errors[0] == pytest.approx(errors[1], rel=0.15)
    assert errors[0] < 0.5 * mean_absolute_error(truth, by_squares.fit(X, y).predict(new))


def test_sizes_as_numbers_and_as_shares():
    X, y, _ = sample(200)
    for given in ({"min_samples_leaf": 0.1}, {"min_weight_fraction_leaf": 0.1}):
        model = RandomForestRegressor(n_estimators=5, max_features=2, **given).fit(X, y)
        for tree in model.estimators_:
            assert tree.nodes_.n[tree.nodes_.is_leaf].min() >= 20
    model = RandomForestRegressor(n_estimators=5, max_features=2, min_samples_split=0.25).fit(X, y)
    for tree in model.estimators_:
        assert tree.nodes_.n[~tree.nodes_.is_leaf].min() >= 50
    few = RandomForestRegressor(n_estimators=5, max_features=2, max_samples=30).fit(X, y)
    assert {len(rows) for rows in few.estimators_samples_} == {30}
    stopped = RandomForestRegressor(n_estimators=5, max_features=2, min_impurity_decrease=0.2)
    for tree in stopped.fit(X, y).estimators_:
        assert np.all(tree.nodes_.gain[~tree.nodes_.is_leaf] >= 0.2 * (1 - 1e-9))


def test_pruned_and_monotone_forests():
    X, y, _ = sample(200)
    full = RandomForestRegressor(n_estimators=5, max_features=2).fit(X, y)
    pruned = RandomForestRegressor(n_estimators=5, max_features=2, ccp_alpha=0.1).fit(X, y)
    sizes = [np.mean([tree.get_n_leaves() for tree in m.estimators_]) for m in (full, pruned)]
    assert sizes[1] < 0.5 * sizes[0]
    rising = RandomForestRegressor(n_estimators=10, monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    line = np.zeros((50, 4))
    line[:, 0] = np.linspace(-2, 2, 50)
    assert np.all(np.diff(rising.predict(line)) >= 0)


def test_a_tie_in_the_kernel_is_a_tie_elsewhere():
    assert judge.TIE == classes.TIE


def test_a_forest_that_is_not_judged_is_the_same_forest():
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.arange(80) % 3
    judged = RandomForestClassifier(20, max_features=2).fit(X, y)
    bare = RandomForestClassifier(20, max_features=2, oob_score=False).fit(X, y)
    assert np.array_equal(judged.forest_.words, bare.forest_.words)
    assert np.array_equal(judged.feature_importances_, bare.feature_importances_)
    assert not hasattr(bare, "oob_path_")
    chosen = RandomForestClassifier(60, oob_score=False).fit(X, y)
    assert np.array_equal(chosen.path_.values, RandomForestClassifier(60).fit(X, y).path_.values)


@pytest.mark.parametrize("seed", [1000, 1004, 1008])
def test_a_copy_of_a_tree_fitted_to_its_rows_is_the_tree(seed):
    """Also where no column that was tried makes a node purer: the forest leaves it as it is."""
    X = np.random.default_rng(1).normal(size=(200, 10))
    y = np.where(np.sum(X**2, axis=1) > 9.34, 1.0, -1.0)
    forest = RandomForestRegressor(2, max_features=0.5, random_state=seed, bootstrap=False)
    tree, rows = forest.fit(X, y).estimators_[0], forest.estimators_samples_[0]
    again = clone(tree).fit(X[rows], y[rows])
    assert again.nodes_.n.tolist() == tree.nodes_.n.tolist()
    assert again.nodes_.value == pytest.approx(tree.nodes_.value)
