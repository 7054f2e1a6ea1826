"""Random forests against R, against scikit-learn, and against what the notes say of them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier as PeerClassifier

from bottega.core import parallel
from bottega.core.errors import InputError, ParameterError
from bottega.ensemble import RandomForestClassifier, RandomForestRegressor
from bottega.tree._kernels.walk import apply
from bottega.workbench import trusted_types

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "ensemble" / "random_forest.json").read_text()
)


def friedman(n, p=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, p))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, y + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n)


def mean_and_sd(make, X, y, seeds=12):
    errors = [make(seed).fit(X, y).oob_path_.error[-1] for seed in range(seeds)]
    return np.mean(errors), np.std(errors, ddof=1), seeds


def assert_agrees(ours, theirs):
    """The means over seeds differ by chance alone: four standard errors, one false alarm in 1e4."""
    mean, sd, n = ours
    spread = np.sqrt(sd**2 / n + theirs["sd"] ** 2 / theirs["seeds"])
    assert abs(mean - theirs["mean"]) < 4 * spread + 0.01 * theirs["mean"]


# One in a hundred is left for what is defined otherwise: columns that are constant in a node are
# not counted as drawn here.
@pytest.mark.parametrize("mtry", [1, 3, 10])
def test_oob_error_of_numbers_is_that_of_randomforest(mtry):
    X, y = np.array(REFERENCE["X"]), np.array(REFERENCE["y"])
    ours = mean_and_sd(
        lambda seed: RandomForestRegressor(
            max_features=mtry, min_samples_leaf=1, random_state=seed
        ),
        X,
        y,
    )
    assert_agrees(ours, REFERENCE["regression"][f"mtry_{mtry}"])


@pytest.mark.parametrize("mtry", [1, 2, 4])
def test_oob_error_of_classes_is_that_of_ranger(mtry):
    Z, label = np.array(REFERENCE["Z"]), np.array(REFERENCE["label"])
    ours = mean_and_sd(
        lambda seed: RandomForestClassifier(max_features=mtry, random_state=seed), Z, label
    )
    assert_agrees(ours, REFERENCE["classes"][f"mtry_{mtry}"])


def test_permutation_importance_is_that_of_randomforest():
    X, y = np.array(REFERENCE["X"]), np.array(REFERENCE["y"])
    model = RandomForestRegressor(max_features=3, n_estimators=500, min_samples_leaf=1).fit(X, y)
    frame = model.permutation_importance()
    theirs, theirs_z = np.array(REFERENCE["importance"]), np.array(REFERENCE["importance_z"])
    # Both are means over 500 trees: they differ by their standard errors (theirs is theirs / z),
    # four of the difference, and 10 % for what else is defined otherwise.
    spread = np.hypot(frame["std_error"].to_numpy(), theirs / theirs_z)
    assert np.all(np.abs(frame["importance"] - theirs) < 4 * spread + 0.1 * np.abs(theirs))
    ratio = frame["importance"] / frame["std_error"]
    assert frame["z"].to_numpy() == pytest.approx(ratio.to_numpy(), rel=1e-12)
    assert set(np.argsort(-frame["z"])[:5]) == set(range(5))


def test_oob_error_tracks_the_test_error_and_more_trees_settle_it():
    X, y = friedman(800)
    new, truth = friedman(4000, seed=1)
    model = RandomForestRegressor(max_features=4, n_estimators=150).fit(X, y)
    staged = model.staged_error(new, truth)
    loss = (model.predict(new) - truth) ** 2
    assert staged[-1] == pytest.approx(loss.mean(), rel=1e-12)
    # Both are means of so many squared errors; four standard errors.
    se = np.hypot(loss.std() / np.sqrt(4000), model.oob_path_.error_se[-1])
    assert abs(model.oob_path_.error[-1] - staged[-1]) < 4 * se
    assert model.oob_path_.error[-1] == model.oob_path_.error[-1]
    assert model.oob_path_.error[9] > 1.1 * model.oob_path_.error[-1]
    assert abs(model.oob_path_.error[99] / model.oob_path_.error[-1] - 1) < 0.05


def test_the_oob_path_is_what_its_predictions_say():
    X, y = friedman(200)
    model = RandomForestRegressor(max_features=3, n_estimators=60).fit(X, y)
    assert np.mean((model.oob_prediction_ - y) ** 2) == pytest.approx(
        model.oob_path_.error[-1], rel=1e-12
    )
    assert np.mean((model.predict(X) - y) ** 2) == pytest.approx(
        model.oob_path_.train_error[-1], rel=1e-9
    )
    label = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    for target in (label, label > 0):
        model = RandomForestClassifier(max_features=3, n_estimators=60).fit(X, target)
        said = model.classes_[np.argmax(model.oob_decision_function_, axis=1)]
        assert np.mean(said != target) == pytest.approx(model.oob_path_.error[-1], abs=1e-12)
        assert model.oob_decision_function_.sum(axis=1) == pytest.approx(1)


def test_36_8_percent_of_the_rows_are_left_out():
    X, y = friedman(2000, p=2 + 3)
    model = RandomForestRegressor(max_features=2, n_estimators=40, max_depth=1).fit(X, y)
    counts = np.array([model._grower(model._rows_in, 2).counts(s) for s in model._seeds])
    # (1 - 1/n)^n = exp(-1); the share over 40 samples has a standard deviation of 0.0011.
    assert np.mean(counts == 0) == pytest.approx(np.exp(-1), abs=0.005)
    assert np.all(counts.sum(axis=1) == 2000)
    bare = RandomForestRegressor(
        max_features=2, n_estimators=4, max_depth=1, bootstrap=False, max_samples=0.632
    ).fit(X, y)
    counts = np.array([bare._grower(bare._rows_in, 2).counts(s) for s in bare._seeds])
    assert counts.max() == 1
    assert np.all(counts.sum(axis=1) == 1264)


@pytest.mark.parametrize("n_trees", [30, 80])
def test_the_path_and_the_fit_judge_the_same_trees(n_trees):
    X, y = friedman(120)
    label = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    for model, target in (
        (RandomForestRegressor(n_estimators=n_trees), y),
        (RandomForestClassifier(n_estimators=n_trees), label),
    ):
        model.fit(X, target)
        picked = model.path_.best("min")
        assert model.path_.values[picked] == model.max_features_
        # What the path says of the picked forest is what the fit says of it.
        assert model.path_.error[picked] == pytest.approx(model.oob_path_.error[-1], rel=1e-12)
        assert model.path_.error_se[picked] == pytest.approx(model.oob_path_.error_se[-1], rel=1e-9)
        assert model.path_.train_error[picked] == model.oob_path_.train_error[-1]
        # The worst is judged by at most 50 trees, which are the first of a fit.
        worst = int(np.argmax(model.path_.error))
        given = type(model)(max_features=model.path_.values[worst], n_estimators=n_trees)
        given.fit(X, target)
        at = min(n_trees, 50) - 1
        assert model.path_.error[worst] == pytest.approx(given.oob_path_.error[at], rel=1e-12)
        given = type(model)(max_features=model.max_features_, n_estimators=n_trees).fit(X, target)
        assert given.oob_path_.error[-1] == model.oob_path_.error[-1]
        assert np.array_equal(given.forest_.words, model.forest_.words)


def test_the_path_is_judged_out_of_bag_by_any_loss():
    X, y = friedman(150)
    label = np.where(y > np.median(y), "high", "low")
    forest = RandomForestClassifier(max_features=3, n_estimators=40).fit(X, label)
    codes = np.searchsorted(forest.classes_, label)
    own = forest.oob_decision_function_[np.arange(150), codes]
    path = RandomForestClassifier(n_estimators=40).path(X, label, values=[3], loss="log_loss")
    assert (path.estimate, path.loss) == ("oob", "log loss")
    assert path.error[0] == pytest.approx(np.mean(-np.log(np.maximum(own, 1e-15))), rel=1e-12)
    numbers = RandomForestRegressor(max_features=3, n_estimators=40).fit(X, y)
    path = RandomForestRegressor(n_estimators=40).path(X, y, values=[3], loss="absolute_error")
    gaps = np.abs(y - numbers.oob_prediction_)
    assert path.error[0] == pytest.approx(gaps.mean(), rel=1e-12)
    assert path.error_se[0] == pytest.approx(gaps.std(ddof=1) / np.sqrt(150), rel=1e-9)
    assert path.train_error[0] == pytest.approx(np.mean(np.abs(y - numbers.predict(X))), rel=1e-9)


@pytest.mark.parametrize(
    ("words", "columns"), [("sqrt", 3), ("log2", 3), (0.5, 5), (1.0, 10), (0.01, 1), (1, 1)]
)
def test_max_features_in_words_and_shares(words, columns):
    X, y = friedman(60)
    model = RandomForestRegressor(max_features=words, n_estimators=3).fit(X, y)
    assert model.max_features_ == columns
    assert np.array_equal(
        model.predict(X),
        RandomForestRegressor(max_features=columns, n_estimators=3).fit(X, y).predict(X),
    )
    assert not hasattr(model, "path_")


@pytest.mark.slow
def test_all_columns_make_bagging_and_few_decorrelate():
    """D194-D195: F = p is bagging; on Friedman's data some F in between is best."""
    X, y = friedman(400)
    path = RandomForestRegressor(n_estimators=50).path(X, y)
    assert path.estimate == "oob"
    assert path.values.tolist() == [3, 5, 10]
    model = RandomForestRegressor(n_estimators=50).fit(X, y)
    assert model.max_features_ == path.values[np.argmin(path.error)]
    peer = mean_and_sd(
        lambda s: RandomForestRegressor(max_features=10, random_state=s, min_samples_leaf=1),
        X,
        y,
        6,
    )
    from sklearn.ensemble import RandomForestRegressor as Peer

    bagged = [
        np.mean((Peer(200, oob_score=True, random_state=s).fit(X, y).oob_prediction_ - y) ** 2)
        for s in range(6)
    ]
    theirs = {"mean": np.mean(bagged), "sd": np.std(bagged, ddof=1), "seeds": 6}
    assert_agrees(peer, theirs)


def test_gain_favours_continuous_noise_and_permutation_does_not():
    """E13: of two columns of noise the continuous one has the larger gain."""
    rng = np.random.default_rng(3)
    n = 600
    noise, coin, signal = rng.normal(size=n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    y = signal + rng.normal(size=n)
    X = np.column_stack([noise, coin, signal]).astype(float)
    model = RandomForestRegressor(
        max_features=1, n_estimators=200, categorical_features=[1, 2]
    ).fit(X, y)
    assert model.feature_importances_[0] > 5 * model.feature_importances_[1]
    assert model.feature_importances_[0] > model.feature_importances_[2]  # noise before the truth
    frame = model.permutation_importance()
    assert np.all(np.abs(frame["importance"][:2]) < 0.25 * frame["importance"][2])


def test_threads_and_blocks_do_not_change_the_answer(monkeypatch):
    X, y = friedman(6000, p=6)
    many = RandomForestRegressor(max_features=2, n_estimators=8).fit(X, y)
    monkeypatch.setattr(parallel, "available_cores", lambda: 1)
    one = RandomForestRegressor(max_features=2, n_estimators=8).fit(X, y)
    assert np.array_equal(one.oob_prediction_, many.oob_prediction_, equal_nan=True)
    assert np.array_equal(one.forest_.words, many.forest_.words)
    whole = many.predict(X)
    parts = np.concatenate([many.predict(part) for part in np.array_split(X, [1, 7, 4100])])
    assert np.array_equal(whole, parts)


def test_the_trees_are_the_forest():
    rng = np.random.default_rng(4)
    X, y = friedman(300, p=6)
    X[:, 5] = rng.integers(0, 6, 300)
    X[rng.random(X.shape) < 0.05] = np.nan
    new = X[rng.permutation(300)] + 0.0
    new[0, 5] = 77  # a level never seen
    model = RandomForestRegressor(max_features=3, n_estimators=20, categorical_features=[5]).fit(
        X, y
    )
    matrix = model.columns_in_.read(model, new)
    trees = [model.tree(i) for i in range(20)]
    mean = np.mean([tree.value[apply(matrix, *tree.walk), 0] for tree in trees], axis=0)
    assert model.predict(new) == pytest.approx(mean, rel=1e-12)
    label = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    for target in (label, label > 1):
        model = RandomForestClassifier(
            max_features=3, n_estimators=20, categorical_features=[5]
        ).fit(X, target)
        trees = [model.tree(i) for i in range(20)]
        mean = np.mean([tree.value[apply(matrix, *tree.walk)] for tree in trees], axis=0)
        assert model.predict_proba(new) == pytest.approx(mean, abs=1e-12)
    with pytest.raises(InputError, match="no tree 20"):
        model.tree(20)


def test_proximity_is_the_share_of_common_leaves():
    X, y = friedman(60)
    model = RandomForestRegressor(max_features=3, n_estimators=30).fit(X, y)
    found = model.proximity()
    assert np.all(np.diag(found) == 1)
    assert np.array_equal(found, found.T)
    assert np.array_equal(found, model.proximity(X))
    leaves = np.array([apply(X, *model.tree(i).walk) for i in range(30)])
    assert found == pytest.approx((leaves[:, :, None] == leaves[:, None, :]).mean(axis=0))
    with pytest.raises(InputError, match="10000 rows"):
        model.proximity(np.zeros((10_001, 10)))


def test_accuracy_is_that_of_scikit_learn():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 6))
    y = ((X[:, :4] ** 2).sum(axis=1) > 4).astype(int)
    model = RandomForestClassifier(max_features=2).fit(X[:500], y[:500])
    peer = PeerClassifier(200, max_features=2, random_state=0).fit(X[:500], y[:500])
    ours, theirs = (np.mean(m.predict(X[500:]) != y[500:]) for m in (model, peer))
    # A share near 0.15 of 1000 rows has a standard error of 0.011.
    assert ours < theirs + 2 * 0.011
    assert (
        np.corrcoef(model.predict_proba(X[500:])[:, 1], peer.predict_proba(X[500:])[:, 1])[0, 1]
        > 0.98
    )


def test_frames_with_texts_missing_values_and_new_levels():
    rng = np.random.default_rng(6)
    n = 400
    city = rng.choice(["Bari", "Como", "Pisa", "Roma"], n)
    size = rng.normal(size=n)
    y = np.where((city == "Bari") | (city == "Roma"), 3.0, 0.0) + 0.1 * rng.normal(size=n)
    frame = pd.DataFrame({"city": city, "size": size})
    frame.loc[::9, "size"] = np.nan
    frame.loc[1::11, "city"] = None
    model = RandomForestRegressor(max_features=2, n_estimators=50).fit(frame, y)
    new = pd.DataFrame({"city": ["Roma", "Como", "Oslo", None], "size": [0.0, np.nan, 0.0, 1.0]})
    said = model.predict(new)
    assert said[0] > 2
    assert said[1] < 1
    assert np.all(np.isfinite(said))
    content = skops.io.dumps(model)
    again = skops.io.loads(content, trusted=trusted_types())
    assert np.array_equal(again.predict(new), said)
    assert again.tree(3) == model.tree(3)


def test_weights_scale_and_favour():
    X, y = friedman(300)
    w = np.random.default_rng(7).random(300) + 0.2
    a = RandomForestRegressor(max_features=3, n_estimators=30).fit(X, y, sample_weight=w)
    b = RandomForestRegressor(max_features=3, n_estimators=30).fit(X, y, sample_weight=3 * w)
    assert a.predict(X) == pytest.approx(b.predict(X), rel=1e-9)
    label = (y > np.median(y)).astype(int)
    heavy = np.where(label == 1, 50.5, 1.0)
    plain = RandomForestClassifier(max_features=3, n_estimators=30, min_samples_leaf=30).fit(
        X, label
    )
    model = clone_fit(plain, X, label, heavy)
    assert model.predict(X).mean() > plain.predict(X).mean() + 0.1


def clone_fit(model, X, y, w):
    return type(model)(**model.get_params()).fit(X, y, sample_weight=w)


@pytest.mark.parametrize("each", [RandomForestClassifier, RandomForestRegressor])
def test_bad_and_odd_input(each):
    X, y = friedman(40, p=5)
    y = (y > np.median(y)).astype(int)
    with pytest.raises(ParameterError, match="X has 5 columns"):
        each(max_features=6).fit(X, y)
    with pytest.raises(ParameterError, match="max_samples=41 must be <= n_samples=40"):
        each(max_features=2, bootstrap=False, max_samples=41).fit(X, y)
    for wrong in ("half", 1.5, 0.0):
        with pytest.raises(ParameterError, match="max_features="):
            each(max_features=wrong).fit(X, y)
    with pytest.raises(ParameterError, match="n_estimators=0"):
        each(n_estimators=0).fit(X, y)
    with pytest.raises(InputError, match="zero"):
        each(max_features=2).fit(X, y, sample_weight=np.zeros(40))
    with pytest.raises(InputError, match="more rows"):
        each().fit(X[:1], y[:1])
    alone = each(max_features=2, n_estimators=5).fit(X[:1], y[:1])
    assert alone.predict(X).tolist() == [y[0]] * 40
    assert np.isnan(alone.oob_path_.error[-1])
    same = each(max_features=2, n_estimators=5).fit(X, np.ones(40))
    assert np.all(same.predict(X) == 1)
    X[:, 2] = np.nan
    gone = each(max_features=2, n_estimators=5).fit(X, y)
    assert gone.feature_importances_[2] == 0
    deep = each(max_features=5, n_estimators=5, min_samples_leaf=1, max_depth=1000).fit(X, y)
    assert deep.forest_.n_leaves.max() <= 40
    small = each(max_features=5, n_estimators=5, max_leaf_nodes=3).fit(X, y)
    assert small.forest_.n_leaves.max() == 3
    flat = each(max_features=5, n_estimators=5, max_depth=0).fit(X, y)
    assert flat.forest_.n_leaves.tolist() == [1] * 5


def test_one_class_has_probability_one():
    X, _ = friedman(20)
    model = RandomForestClassifier(max_features=2, n_estimators=3).fit(X, ["a"] * 20)
    assert model.predict_proba(X).tolist() == [[1.0]] * 20
