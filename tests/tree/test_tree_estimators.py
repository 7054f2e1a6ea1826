"""The two estimators: notes' numbers, costs and priors, choices of size, bad input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import Cost
from bottega.tree import TreeClassifier, TreeRegressor


def classes(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.5, "yes", "no")
    return X, y


# ---- the notes' numbers -------------------------------------------------------------------------


def weather():
    """Table 1 of the notes (A29): humidity and wind; +1 is a good day."""
    humidity = [85, 76, 55, 65, 82, 35, 94, 66, 48]
    wind = ["no", "yes", "yes", "yes", "yes", "no", "no", "no", "yes"]
    return pd.DataFrame({"humidity": humidity, "wind": wind}), [1, -1, 1, -1, -1, 1, -1, 1, 1]


@pytest.mark.parametrize(
    ("criterion", "gain"),
    [("error", 0.222222), ("gini", 0.149383), ("entropy", 0.229437), ("sqrt", 0.082232)],
)
def test_weather_table(criterion, gain):
    X, y = weather()
    # The notes' split is at 70: given as a column of its own.
    dry = (X["humidity"] <= 70).to_numpy(dtype=float)[:, None]
    model = TreeClassifier(ccp_alpha=0, criterion=criterion).fit(dry, y)
    assert model.nodes_.importance(1) == pytest.approx([gain], abs=1e-6)
    assert model.feature_importances_.tolist() == [1.0]
    # l' has 5 rows of which 4 good, l'' 4 of which 1.
    assert model.predict_proba([[1.0]])[0] == pytest.approx([0.2, 0.8])
    assert model.predict_proba([[0.0]])[0] == pytest.approx([0.75, 0.25])
    assert np.count_nonzero(model.predict(dry) != y) == 2


def test_leaf_counts_are_probabilities():
    # M202: a leaf with 4 blue and 2 red; M207: a region with 2 green and 8 blue says blue.
    X = np.repeat([[0.0], [1.0]], [6, 10], axis=0)
    y = np.repeat(["blue", "red", "green", "blue"], [4, 2, 2, 8])
    model = TreeClassifier(ccp_alpha=0).fit(X, y)
    proba = model.predict_proba([[0.0], [1.0]])
    assert proba == pytest.approx(np.array([[4 / 6, 0, 2 / 6], [0.8, 0.2, 0]]))
    assert model.predict([[1.0]]) == ["blue"]
    assert proba.sum(axis=1) == pytest.approx([1, 1])


def test_deviance_is_twice_the_entropy_of_the_leaves():
    # D180: -2 sum {y log p + (1 - y) log(1 - p)} = 2 sum n_j Q(P_j)
    X, y = classes()
    model = TreeClassifier(ccp_alpha=0, criterion="deviance", min_samples_leaf=10).fit(X, y)
    p = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    leaf = model.nodes_.is_leaf
    by_leaves = np.sum(model.nodes_.n[leaf] * model.nodes_.impurity[leaf])
    assert -2 * np.log(p).sum() == pytest.approx(by_leaves)
    path = TreeClassifier(criterion="deviance", min_samples_leaf=10).path(X, y)
    assert path.criteria["aic"][-1] == pytest.approx(by_leaves + 2 * leaf.sum())


def test_cp_charges_a_leaf_two_sigma_squared():
    # D145: alpha = 2 sigma^2, here over n because errors are means.
    rng = np.random.default_rng(1)
    X = rng.random((150, 2))
    y = (X[:, 0] > 0.5) + 0.3 * rng.normal(size=150)
    model = TreeRegressor(select="cp", min_samples_leaf=10).fit(X, y)
    full = TreeRegressor(ccp_alpha=0, min_samples_leaf=10).fit(X, y)
    assert full.nodes_.n_leaves <= 75
    rss = np.sum((y - full.predict(X)) ** 2)
    sigma2 = rss / (150 - full.nodes_.n_leaves)
    fixed = TreeRegressor(ccp_alpha=2 * sigma2 / 150, min_samples_leaf=10).fit(X, y)
    assert np.array_equal(model.predict(X), fixed.predict(X))
    assert 1 < model.nodes_.n_leaves < full.nodes_.n_leaves


def test_growing_never_raises_the_training_error():
    X, y = classes()
    for criterion in ("gini", "entropy", "sqrt", "deviance", "error"):
        curve = TreeClassifier(criterion=criterion).path(X, y)
        assert np.all(np.diff(curve.train_error) <= 1e-12)
    assert TreeClassifier(ccp_alpha=0).fit(X, y).score(X, y) == 1


# ---- choosing the size --------------------------------------------------------------------------


def test_alpha_zero_is_the_tree_as_grown_and_n_leaves_cuts_it():
    X, y = classes()
    full = TreeClassifier(ccp_alpha=0, min_samples_leaf=5).fit(X, y)
    curve = TreeClassifier(min_samples_leaf=5).path(X, y)
    assert curve.df[-1] == full.nodes_.n_leaves
    assert curve.values[-1] == 0
    for n_leaves in (1, 2, 4):
        model = TreeClassifier(n_leaves=n_leaves, min_samples_leaf=5).fit(X, y)
        assert model.nodes_.n_leaves == curve.df[curve.df <= n_leaves].max()
        assert not hasattr(model, "path_")
    assert len(TreeClassifier(n_leaves=3, min_samples_leaf=5).path(X, y)) == len(curve)
    assert TreeClassifier(n_leaves=3, min_samples_leaf=5).path(X, y).at(0).nodes_.n_leaves == 1
    with pytest.raises(InputError, match="both set the size"):
        TreeClassifier(ccp_alpha=0.1, n_leaves=3).fit(X, y)


def test_a_share_of_rows_can_judge_the_path():
    X, y = classes()
    model = TreeClassifier(cv=0.3).fit(X, y)
    assert model.path_.estimate == "validation"
    assert model.path_.error_se[0] == pytest.approx(
        np.sqrt(model.path_.error[0] * (1 - model.path_.error[0]) / 60), rel=0.1
    )
    for bad in (1.5, "ten", True, None, 1):
        with pytest.raises(InputError, match=f"cv={bad!r} is not allowed"):
            TreeClassifier(cv=bad).fit(X, y)


def test_pruned_trees_predict_better_than_full_ones():
    X, y = classes(400)
    X_new, y_new = classes(5000, seed=1)
    pruned, full = TreeClassifier().fit(X, y), TreeClassifier(ccp_alpha=0).fit(X, y)
    # The true difference is about 0.08, twenty standard errors of it.
    assert pruned.score(X_new, y_new) > full.score(X_new, y_new) + 0.03
    curve = pruned.path_
    place = curve.best("one_se")
    # 4 standard errors of the cross-validated error: a false alarm in 16,000.
    assert abs(1 - pruned.score(X_new, y_new) - curve.error[place]) < 4 * curve.error_se[place]


# ---- costs, priors, weights ---------------------------------------------------------------------


def test_costs_move_the_label_and_are_the_loss_of_the_path():
    X, y = classes(300)
    cost = np.array([[0.0, 1.0], [5.0, 0.0]])  # true classes as rows: missing a "yes" costs five
    folds = [(np.setdiff1d(np.arange(300), part), part) for part in np.arange(300).reshape(5, 60)]
    model = TreeClassifier(cost=cost.T, min_samples_leaf=10, cv=folds).fit(X, y)
    plain = TreeClassifier(min_samples_leaf=10).fit(X, y)
    assert np.mean(model.predict(X) == "yes") > np.mean(plain.predict(X) == "yes")
    true = (y == "yes").astype(int)
    said = (model.predict(X) == "yes").astype(int)
    assert model.nodes_.risk[model.nodes_.is_leaf].sum() == pytest.approx(cost[true, said].mean())
    assert model.path_.loss == "cost"
    # The root alone: its label in each fold, by hand.
    by_hand = []
    for train, test in folds:
        label = int(np.argmin(np.bincount(true[train], minlength=2) @ cost))
        by_hand.append(cost[true[test], label])
    assert model.path_.error[0] == pytest.approx(np.concatenate(by_hand).mean())
    again = TreeClassifier(cost=cost.T, min_samples_leaf=10).path(X, y, cv=folds, values=[1e6, 0.1])
    assert again.error[0] == pytest.approx(np.concatenate(by_hand).mean())


def test_costs_are_read_as_the_loss_of_the_same_name_reads_them():
    X, y = np.zeros((10, 1)), np.repeat(["healthy", "ill"], [8, 2])
    cost = Cost([[0, 10], [1, 0]])  # calling an ill person healthy costs ten
    for given in (cost, cost.matrix):
        assert TreeClassifier(cost=given).fit(X, y).predict(X[:1]).tolist() == ["ill"]
    assert cost.best([0, 1], [0.8, 0.2]) == 1


def test_priors_are_weights_of_classes():
    X, y = classes(300)
    share = np.mean(y == "yes")
    w = np.where(y == "yes", 0.5 / share, 0.5 / (1 - share))
    priors = TreeClassifier(ccp_alpha=0.01, priors={"yes": 1, "no": 1}).fit(X, y)
    weights = TreeClassifier(ccp_alpha=0.01).fit(X, y, sample_weight=w)
    assert np.array_equal(priors.predict(X), weights.predict(X))
    assert priors.predict_proba(X) == pytest.approx(weights.predict_proba(X))
    by_impurity = [
        TreeClassifier(ccp_alpha=0.01, prune_by="impurity", **options).fit(X, y, sample_weight=v)
        for options, v in (({"priors": [0.5, 0.5]}, None), ({}, w))
    ]
    assert np.array_equal(by_impurity[0].predict(X), by_impurity[1].predict(X))


def test_ties_go_to_the_first_class_or_to_the_default():
    X, y = [[0.0], [0.0]], ["b", "a"]
    assert TreeClassifier().fit(X, y).predict([[0.0]]) == ["a"]
    assert TreeClassifier(default_label="b").fit(X, y).predict([[0.0]]) == ["b"]
    with pytest.raises(InputError, match="default_label='c' is not a class"):
        TreeClassifier(default_label="c").fit(X, y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cost": [[0, 1]]}, "one row and one column per class"),
        ({"cost": np.ones((3, 3)) - np.eye(3)}, "is for 3 classes, and there are 2"),
        ({"cost": Cost([[0, 5], [1, 0]], classes=["x", "y"])}, "not among the classes of the cost"),
        ({"cost": [[1, 1], [1, 0]]}, "zeros on the diagonal"),
        ({"cost": [[0, -1], [1, 0]]}, "at least 0"),
        ({"cost": [[0, 1], [0, 0]]}, "column of zeros"),
        ({"priors": [0.5, 0.2, 0.3]}, "2 positive numbers"),
        ({"priors": {"yes": 1.0}}, "2 positive numbers"),
        ({"priors": {"yes": 1.0, "maybe": 1.0}}, "'maybe' is not a class"),
    ],
)
def test_bad_costs_and_priors_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        TreeClassifier(**options).fit(*classes(50))


# ---- bad and odd input --------------------------------------------------------------------------


def test_one_row_and_one_class_fit():
    for select in ("one_se", "min", "reduced_error"):
        model = TreeClassifier(select=select).fit([[1.0, 2.0]], ["only"])
        assert model.predict([[5.0, np.nan]]) == ["only"]
        assert model.predict_proba([[0.0, 0.0]]) == pytest.approx(np.array([[1.0]]))
        number = TreeRegressor(select=select).fit([[1.0]], [3.0])
        assert number.predict([[9.0]]) == [3.0]
    X, _ = classes(30)
    same = TreeClassifier(select="srm").fit(X, np.ones(30))
    assert same.nodes_.n_leaves == 1
    assert same.certificate_.estimate == 0
    assert TreeRegressor().fit(X, np.full(30, 7.0)).predict(X[:1]) == [7.0]
    assert str(same.summary())


def test_a_column_without_any_value_is_ignored():
    X, y = classes(60)
    X[:, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TreeClassifier().fit(X, y)
    assert model.feature_importances_[1] == 0
    assert len(model.leaves()) == model.nodes_.n_leaves
    frame = pd.DataFrame({"a": X[:, 0], "empty": [None] * 60})
    assert len(TreeClassifier().fit(frame, y).predict(frame)) == 60


def test_unseen_levels_are_placed_without_complaint():
    X = pd.DataFrame({"kind": ["a", "b", "c"] * 20})
    y = np.array([0.0, 1.0, 1.0] * 20)
    model = TreeRegressor(ccp_alpha=0).fit(X, y)
    new = pd.DataFrame({"kind": ["a", "zebra", None]})
    found = model.predict(new)
    assert found[0] == pytest.approx(0, abs=1e-12)
    assert found[1] == found[2]  # both are missing to the tree
    other = model.predict(pl.DataFrame({"kind": ["a", "b", None]}))
    assert other == pytest.approx([0, 1, found[2]], abs=1e-12)


def test_depth_may_exceed_what_the_rows_allow():
    X, y = classes(40)
    model = TreeClassifier(ccp_alpha=0, max_depth=10_000).fit(X, y)
    assert model.score(X, y) == 1
    assert model.nodes_.max_depth < 40


@pytest.mark.parametrize("options", [{"select": "reduced_error"}, {"target_error": 0.05}])
def test_monotone_trees_stay_monotone_when_rows_are_held_out(options):
    rng = np.random.default_rng(3)
    X = rng.random((120, 2))
    y = X[:, 0] + 0.7 * rng.normal(size=120)
    alpha = {} if "select" in options else {"ccp_alpha": 0.0}
    model = TreeRegressor(monotonic_cst=[1, 0], **alpha, **options).fit(X, y)
    assert model.nodes_.n_leaves > 2
    grid = np.column_stack(
        [np.repeat(np.linspace(0, 1, 50), 20), np.tile(np.linspace(0, 1, 20), 50)]
    )
    assert np.all(np.diff(model.predict(grid).reshape(50, 20), axis=0) >= 0)


def test_weights_of_zero():
    X, y = classes(40)
    with pytest.raises(InputError, match="All of sample_weight is zero"):
        TreeClassifier().fit(X, y, sample_weight=np.zeros(40))
    w = (y == "yes").astype(float)
    assert TreeClassifier().fit(X, y, sample_weight=w).classes_.tolist() == ["yes"]
    some = np.ones(40)
    some[:10] = 0
    assert np.array_equal(
        TreeClassifier().fit(X, y, sample_weight=some).path_.error,
        TreeClassifier().fit(X[10:], y[10:]).path_.error,
    )


def test_bad_values_and_kinds_of_picture():
    X, y = classes(40)
    with pytest.raises(InputError, match=r"is not allowed; (ccp_alpha must be|give a list)"):
        TreeClassifier().path(X, y, values=[-1.0])
    with pytest.raises(ParameterError, match="select='best'"):
        TreeClassifier(select="best").fit(X, y)
    with pytest.raises(InputError, match="no kind 'cake'"):
        TreeClassifier(ccp_alpha=0.1).fit(X, y).plot("cake")


def test_random_thresholds_follow_their_seed():
    X, y = classes(100)
    draw = {"ccp_alpha": 0.01, "thresholds": "random", "n_thresholds": 3}
    one, two = (TreeClassifier(random_state=5, **draw).fit(X, y) for _ in range(2))
    assert one.nodes_ == two.nodes_
    other = TreeClassifier(random_state=6, **draw).fit(X, y)
    assert one.nodes_ != other.nodes_
    for seed in (np.random.default_rng(1), np.random.RandomState(1), None):
        assert TreeClassifier(random_state=seed, **draw).fit(X, y).nodes_.n[0] == 100


# ---- reading ------------------------------------------------------------------------------------


def test_importance_is_the_sum_of_gains():
    X, y = classes()
    model = TreeClassifier(ccp_alpha=0).fit(X, y)
    gain = model.nodes_.importance(3)
    assert gain.sum() == pytest.approx(model.nodes_.impurity[0])  # grown to purity
    assert model.feature_importances_ == pytest.approx(gain / gain.sum())
    assert np.argmax(model.feature_importances_) == 0
    frame = pd.DataFrame(X, columns=["signal", "b", "c"])
    model = TreeClassifier().fit(frame, y)
    shuffled = model.permutation_importance(frame, y, random_state=0)
    assert shuffled["column"].tolist() == ["signal", "b", "c"]
    assert shuffled["importance"].idxmax() == 0
    unused = model.feature_importances_ == 0
    assert np.all(shuffled["importance"][unused] == 0)
    lost = model.permutation_importance(frame, y, scoring="neg_log_loss", random_state=0)
    assert lost["importance"][0] > 0
    one = pl.DataFrame({"a": X[:, 0]})
    numbers = TreeRegressor(n_leaves=4).fit(one, X[:, 0])
    assert isinstance(numbers.permutation_importance(one, X[:, 0]), pl.DataFrame)


def test_summary_tells_size_error_and_rules():
    X, y = classes()
    model = TreeClassifier().fit(X, y)
    text = str(model.summary())
    for words in ("leaves", "error (cv)", "Importance", "Rules", "with probability"):
        assert words in text
    assert f"n = {model.nodes_.n[model.nodes_.is_leaf][0]}" in text
