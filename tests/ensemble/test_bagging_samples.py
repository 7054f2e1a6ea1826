"""Bagging: samples, votes, out-of-bag error."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bottega.core.errors import InputError, ParameterError
from bottega.core.row_order import own_order
from bottega.core.seeds import seeds_of
from bottega.ensemble import BaggingClassifier, BaggingRegressor
from bottega.ensemble._resampling.draws import draw_rows, seed_parts
from bottega.tree import TreeClassifier


def curve(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


def corners(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def test_the_prediction_is_the_mean_of_fits_to_the_drawn_rows():
    X, y = curve()
    model = BaggingRegressor(LinearRegression(), n_estimators=6, random_state=4).fit(X, y)
    order = own_order(X, y)
    X_own, y_own = X[order], y[order]
    new = curve(40, seed=1)[0]
    total = np.zeros(40)
    bag, count = np.zeros(len(y)), np.zeros(len(y))
    for seed in seeds_of(4, 6):
        drawn = draw_rows(len(y), len(y), seed)
        assert drawn.sum() == len(y)
        rows = np.repeat(np.arange(len(y)), drawn)
        fit = LinearRegression().fit(X_own[rows], y_own[rows])
        total += fit.predict(new)
        out = drawn == 0
        bag[out] += fit.predict(X_own[out])
        count += out
    # Counts as weights and repeated rows are the same fit but for rounding.
    assert model.predict(new) == pytest.approx(total / 6, abs=1e-9)
    seen = count > 0
    expected = np.full(len(y), np.nan)
    expected[order[seen]] = bag[seen] / count[seen]
    assert model.oob_prediction_ == pytest.approx(expected, abs=1e-9, nan_ok=True)
    by_hand = np.mean((y_own[seen] - bag[seen] / count[seen]) ** 2)
    assert model.oob_path_.error[-1] == pytest.approx(by_hand, rel=1e-9)


def test_votes_are_counted_as_in_the_notes():
    X, y = corners()
    base = TreeClassifier(ccp_alpha=0, max_depth=2)
    model = BaggingClassifier(base, n_estimators=9, voting="hard").fit(X, y)
    votes = np.array([each.predict(X) == "same" for each in model.estimators_]).mean(axis=0)
    assert model.predict_proba(X)[:, 1] == pytest.approx(votes)
    assert np.array_equal(model.predict(X), np.where(votes > 0.5, "same", "other"))
    soft = BaggingClassifier(base, n_estimators=9).fit(X, y)
    mean = np.mean([each.predict_proba(X) for each in soft.estimators_], axis=0)
    assert soft.predict_proba(X) == pytest.approx(mean)


def test_an_even_vote_goes_to_the_first_class():
    X, y = corners(60)
    model = BaggingClassifier(TreeClassifier(ccp_alpha=0), n_estimators=2, voting="hard").fit(X, y)
    even = model.predict_proba(X)[:, 0] == 0.5
    assert even.any()
    assert set(model.predict(X)[even]) == {"other"}


def test_about_a_third_of_the_models_have_not_seen_a_row():
    # (1 - 1/n)^n is 0.3660 at n = 100. Share over 100 rows and 300 samples: the standard error is
    # below 0.0028, so five of them are passed with probability under 1e-6.
    left_out = [np.mean(draw_rows(100, 100, seed) == 0) for seed in seeds_of(0, 300)]
    assert np.mean(left_out) == pytest.approx(0.366, abs=0.014)


def test_out_of_bag_error_is_honest_and_training_error_is_not():
    X, y = corners(300)
    flipped = np.random.default_rng(0).random(300) < 0.2
    y = np.where(flipped, np.where(y == "same", "other", "same"), y)
    model = BaggingClassifier(n_estimators=60).fit(X, y)
    new, truth = corners(3000, seed=7)
    # Labels of new rows are flipped too: error there = 0.2 + 0.6 * error against the truth.
    honest = 0.2 + 0.6 * np.mean(model.predict(new) != truth)
    assert model.score(X, y) > 0.97
    assert abs(model.oob_path_.error[-1] - honest) < 4 * model.oob_path_.error_se[-1]
    path = model.oob_path_
    assert (len(path), path.estimate, path.error[-1]) == (60, "oob", model.oob_path_.error[-1])
    assert path.error[-1] < path.error[0]


def test_the_mean_of_the_models_beats_the_models():
    # E(y - mean)^2 = mean of E(y - f_b)^2 less the spread of the f_b: exact, row by row.
    X, y = curve()
    model = BaggingRegressor(n_estimators=20).fit(X, y)
    each = np.array([fit.predict(X) for fit in model.estimators_])
    gain = np.mean((each - y) ** 2) - np.mean((each.mean(axis=0) - y) ** 2)
    assert gain == pytest.approx(np.mean(each.var(axis=0)), rel=1e-9)
    assert np.mean((model.predict(X) - y) ** 2) == pytest.approx(
        np.mean((each - y) ** 2) - np.mean(each.var(axis=0)), rel=1e-9
    )


def test_the_order_of_the_rows_does_not_matter_and_the_seed_does():
    X, y = curve()
    order = np.random.default_rng(1).permutation(len(y))
    one = BaggingRegressor(n_estimators=5).fit(X, y)
    two = BaggingRegressor(n_estimators=5).fit(X[order], y[order])
    assert two.predict(X) == pytest.approx(one.predict(X), abs=1e-12)
    assert two.oob_prediction_ == pytest.approx(one.oob_prediction_[order], nan_ok=True)
    other = BaggingRegressor(n_estimators=5, random_state=1).fit(X, y)
    assert not np.allclose(other.predict(X), one.predict(X))
    generator = BaggingRegressor(n_estimators=5, random_state=np.random.RandomState(3)).fit(X, y)
    assert np.all(np.isfinite(generator.predict(X)))


def test_weights_are_copies():
    X, y = corners(80)
    w = np.random.default_rng(0).integers(0, 4, 80)
    weighted = BaggingClassifier(n_estimators=10).fit(X, y, sample_weight=w)
    repeated = BaggingClassifier(n_estimators=10).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    assert np.all(np.isnan(weighted.oob_decision_function_[w == 0]))


def test_samples_without_replacement():
    X, y = curve()
    half = BaggingRegressor(n_estimators=8, bootstrap=False, max_samples=0.5).fit(X, y)
    assert np.isfinite(half.oob_path_.error[-1])
    drawn = draw_rows(100, 50, 3, replace=False)
    assert (drawn.sum(), drawn.max()) == (50, 1)
    weighted = draw_rows(4, 2, 3, replace=False, weight=np.array([0.5, 0.0, 0.5, 0.0]) + 1e-12)
    assert weighted.tolist() == [1, 0, 1, 0]
    whole = BaggingRegressor(n_estimators=3, bootstrap=False).fit(X, y)
    assert np.isnan(whole.oob_path_.error[-1])  # nothing is left out


def test_any_base_will_do():
    X, y = corners()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    model = BaggingClassifier(pipeline, n_estimators=5).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="voting='hard'"):
        BaggingClassifier(LinearSVC(), n_estimators=3, voting="soft").fit(X, y)
    assert len(BaggingClassifier(LinearSVC(), n_estimators=3, voting="hard").fit(X, y).predict(X))
    linear = BaggingRegressor(LinearRegression(), n_estimators=3).fit(*curve())
    assert linear.n_features_in_ == 2


def test_categories_and_gaps_pass_through_to_the_trees():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=120), "kind": rng.choice(["a", "b", "c"], 120)})
    y = np.where(frame["kind"] == "b", "yes", "no")
    frame.loc[::7, "x"] = np.nan
    model = BaggingClassifier(n_estimators=10).fit(frame, y)
    assert model.oob_path_.error[-1] < 0.05


def test_a_class_that_a_sample_lacks_keeps_its_column():
    X, y = np.arange(12.0)[:, None], np.array([0] * 11 + [1])
    model = BaggingClassifier(n_estimators=30).fit(X, y)
    assert any(len(each.classes_) == 1 for each in model.estimators_)
    assert model.predict_proba(X).shape == (12, 2)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(12))


def test_randomness_inside_the_base_is_seeded():
    base = DecisionTreeClassifier(splitter="random")
    one, two = seed_parts(base, 3).random_state, seed_parts(base, 3).random_state
    assert one == two != seed_parts(base, 4).random_state
    nested = seed_parts(make_pipeline(StandardScaler(), DecisionTreeClassifier()), 3)
    assert nested[-1].random_state is not None


def test_shuffling_a_column_that_matters_costs_and_noise_does_not():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    y = 2 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=200)
    model = BaggingRegressor(LinearRegression(), n_estimators=30).fit(X, y)
    table = model.permutation_importance(X, y)
    assert table["column"].tolist() == ["x0", "x1", "x2"]
    # E (f(x) - f(x'))^2 for a shuffled column is 2 b^2 Var x: 8 and 2, to the sampling error of 30
    # shuffles of some 74 rows (standard deviation of the mean below 0.3 and 0.1).
    assert table["importance"].to_numpy() == pytest.approx([8, 2, 0], abs=1.5)
    assert abs(table["importance"][2]) < 0.01
    assert table["z"].to_numpy() == pytest.approx(table["importance"] / table["std_error"])
    # The rows may come in any order, and are recognised.
    order = rng.permutation(200)
    again = model.permutation_importance(X[order], y[order])
    assert again["importance"].to_numpy() == pytest.approx(table["importance"].to_numpy())
    with pytest.raises(InputError, match="not the rows"):
        model.permutation_importance(X, y + 1)


def test_importance_by_hand():
    X, y = corners(60)
    w = np.random.default_rng(0).integers(0, 3, 60)
    model = BaggingClassifier(n_estimators=4).fit(X, y, sample_weight=w)
    table = model.permutation_importance(X, y, sample_weight=w, random_state=5)
    counted = np.flatnonzero(w)
    order = counted[own_order(X[counted], y[counted])]
    X_own, y_own, w_own = X[order], y[order], w[order].astype(float)
    rises = []
    for fit, seed, shuffle in zip(model.estimators_, seeds_of(0, 4), seeds_of(5, 4), strict=True):
        out = draw_rows(len(order), round(w_own.sum()), seed, weight=w_own) == 0
        rng = np.random.default_rng(shuffle)

        def error(inputs, out=out, fit=fit):
            return np.average(fit.predict(inputs) != y_own[out], weights=w_own[out])

        rise = []
        for j in range(2):
            shuffled = X_own[out].copy()
            shuffled[:, j] = rng.permutation(shuffled[:, j])
            rise.append(error(shuffled) - error(X_own[out]))
        rises.append(rise)
    assert table["importance"].to_numpy() == pytest.approx(np.mean(rises, axis=0))


def test_importance_of_the_columns_of_a_frame():
    rng = np.random.default_rng(0)
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"x": rng.normal(size=120), "kind": rng.choice(["a", "b", "c"], 120)})
        y = np.where(frame["kind"].to_numpy() == "b", "yes", "no")
        model = BaggingClassifier(n_estimators=10).fit(frame, y)
        table = model.permutation_importance(frame, y)
        assert isinstance(table, make)
        assert list(table["column"]) == ["x", "kind"]
        assert table["importance"][0] < 0.05 < 0.3 < table["importance"][1]


def test_proximity_is_the_share_of_trees_with_a_common_leaf():
    X, y = curve(40)
    model = BaggingRegressor(n_estimators=12).fit(X, y)
    found = model.proximity(X)
    leaves = np.array([each.apply(X) for each in model.estimators_])
    assert found == pytest.approx((leaves[:, :, None] == leaves[:, None, :]).mean(axis=0))
    assert not hasattr(BaggingRegressor(LinearRegression()), "proximity")
    with pytest.raises(InputError, match="10000 rows"):
        model.proximity(np.zeros((10_001, 2)))


def test_bad_bases_and_parameters():
    X, y = corners(30)
    with pytest.raises(ParameterError, match="needs a classifier as its base"):
        BaggingClassifier(LinearRegression()).fit(X, y)
    with pytest.raises(ParameterError, match="estimator="):
        BaggingClassifier(DecisionTreeClassifier).fit(X, y)  # the class, not an object
    with pytest.raises(ParameterError, match="max_samples"):
        BaggingClassifier(max_samples=0.0).fit(X, y)
    with pytest.raises(ParameterError, match="max_samples=31 must be <= n_samples=30"):
        BaggingClassifier(max_samples=31, bootstrap=False).fit(X, y)
    for each in (BaggingClassifier, TreeClassifier):
        with pytest.raises(ParameterError, match="X has 2 columns"):
            each(max_features=3).fit(X, y)


def test_own_order_sees_every_type_of_column():
    frame = pd.DataFrame(
        {
            "number": [1.0, np.nan, -0.0, 2.0],
            "word": ["a", "b", None, "a"],
            "flag": [True, False, True, False],
        }
    )
    y = np.array(["u", "v", "u", "v"])
    straight = own_order(frame, y)
    back = np.array([2, 0, 3, 1])
    shuffled = own_order(frame.iloc[back], y[back])
    assert np.array_equal(back[shuffled], straight)
    zero = own_order(np.array([[0.0], [1.0]]), np.zeros(2))
    assert np.array_equal(zero, own_order(np.array([[-0.0], [1.0]]), np.zeros(2)))
