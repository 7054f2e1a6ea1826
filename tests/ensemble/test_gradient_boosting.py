"""Gradient boosting: scikit-learn's trees behind our contract."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import ABSOLUTE_ERROR
from bottega.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from bottega.ensemble._gradient.inputs import FEW, LevelNumbers
from bottega.tree._grow.columns import Columns

OPTIONS = {"learning_rate": 0.2, "max_leaf_nodes": 7, "min_samples_leaf": 10}


def numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 4))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 2] + 0.2 * rng.normal(size=n)


def classes(n=300, K=2, seed=0):
    X, y = numbers(n, seed)
    return X, np.array(list("abcdef"))[np.searchsorted(np.quantile(y, np.arange(1, K) / K), y)]


# ---- the same trees as the peer ------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_numbers_are_those_of_scikit_learn(loss):
    X, y = numbers()
    X[::17, 1] = np.nan
    given = {"loss": loss, "quantile": 0.8 if loss == "quantile" else None}
    ours = GradientBoostingRegressor(n_estimators=40, **given, **OPTIONS).fit(X, y)
    theirs = HistGradientBoostingRegressor(
        max_iter=40, early_stopping=False, **given, **OPTIONS
    ).fit(X, y)
    # Gradients in single precision are rounded otherwise for a response on another scale.
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-4)


@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_are_those_of_scikit_learn(K):
    X, y = classes(K=K)
    ours = GradientBoostingClassifier(30, **OPTIONS).fit(X, y)
    theirs = HistGradientBoostingClassifier(max_iter=30, early_stopping=False, **OPTIONS).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-5)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_stages_of_one_class_are_as_many_as_rounds():
    model = GradientBoostingClassifier(3).fit(np.arange(20.0)[:, None], ["a"] * 20)
    assert [stage.tolist() for stage in model.staged_decision_function([[1.0]])] == [[0.0]] * 3


def test_counts_are_those_of_scikit_learn():
    X, y = numbers()
    counts = np.random.default_rng(1).poisson(np.exp(y / 2)).astype(float)
    ours = GradientBoostingRegressor("poisson", n_estimators=30, **OPTIONS).fit(X, counts)
    theirs = HistGradientBoostingRegressor(
        loss="poisson", max_iter=30, early_stopping=False, **OPTIONS
    ).fit(X, counts)
    assert np.corrcoef(ours.predict(X), theirs.predict(X))[0, 1] > 0.999
    assert np.all(ours.predict(X) > 0)


# ---- the path ------------------------------------------------------------------------------------


def test_stages_are_the_fits_with_fewer_rounds():
    X, y = numbers()
    model = GradientBoostingRegressor(n_estimators=12, **OPTIONS).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 12
    fewer = GradientBoostingRegressor(n_estimators=5, **OPTIONS).fit(X, y)
    assert stages[4] == pytest.approx(fewer.predict(X), abs=1e-12)
    X, y = classes(K=3)
    model = GradientBoostingClassifier(6, **OPTIONS).fit(X, y)
    fewer = GradientBoostingClassifier(2, **OPTIONS).fit(X, y)
    assert list(model.staged_predict_proba(X))[1] == pytest.approx(fewer.predict_proba(X))
    assert list(model.staged_predict(X))[1].tolist() == fewer.predict(X).tolist()
    peer = HistGradientBoostingClassifier(max_iter=6, early_stopping=False, **OPTIONS).fit(X, y)
    theirs = np.array(list(peer.staged_decision_function(X)))
    assert np.array(list(model.staged_decision_function(X))) == pytest.approx(theirs, abs=1e-5)


def test_the_path_goes_on_while_rounds_are_of_use():
    X, y = numbers(200)
    noise = np.random.default_rng(0).normal(size=200)
    quick = GradientBoostingRegressor(learning_rate=0.5).path(X, noise)
    slow = GradientBoostingRegressor(learning_rate=0.01, max_estimators=300).path(X, y)
    assert quick.values[-1] < 60
    assert slow.values[-1] == 300
    assert slow.values[slow.best("min")] > 100
    assert np.all(np.diff(slow.train_error) < 0)


def test_folds_that_are_given_and_other_losses():
    X, y = numbers(200)
    folds = [(np.arange(100), np.arange(100, 200)), (np.arange(100, 200), np.arange(100))]
    curve = GradientBoostingRegressor(**OPTIONS).path(
        X, y, cv=folds, values=[3, 20], loss="absolute_error"
    )
    assert curve.fold_error.shape == (2, 2)
    for (train, test), found in zip(folds, curve.fold_error, strict=True):
        model = GradientBoostingRegressor(n_estimators=20, **OPTIONS).fit(X[train], y[train])
        losses = ABSOLUTE_ERROR.of_rows(y[test], model.predict(X[test]))
        assert found[1] == pytest.approx(losses.mean(), rel=1e-9)


def test_many_rows_hold_out_one_part(monkeypatch):
    from bottega.ensemble._gradient import estimator

    monkeypatch.setattr(estimator, "_MANY_ROWS", 100)
    X, y = numbers(200)
    model = GradientBoostingRegressor(max_estimators=20).fit(X, y)
    assert model.path_.estimate == "validation"
    assert model.path_.fold_error.shape[0] == 1


def test_rounds_that_are_chosen_predict_well():
    X, y = numbers(400)
    X_new, y_new = numbers(2000, seed=1)
    model = GradientBoostingRegressor().fit(X, y)
    # The variance of the response is about 2.3 and that of the noise 0.04.
    assert np.mean((y_new - model.predict(X_new)) ** 2) < 0.5
    curve = model.path_
    place = curve.best("min")
    # Held-out errors of models of fewer rows are a little too high: 4 standard errors, and 30 %.
    error = np.mean((y_new - model.predict(X_new)) ** 2)
    assert error < curve.error[place] + 4 * curve.error_se[place]
    assert error > 0.7 * curve.error[place] - 4 * curve.error_se[place]


# ---- categories, missing values, constraints -----------------------------------------------------


def mixed(n=240, seed=0, levels=4):
    rng = np.random.default_rng(seed)
    names = np.array([f"level {k:02d}" for k in range(levels)])
    kind = rng.integers(levels, size=n)
    effect = rng.permutation(np.linspace(-3, 3, levels))
    frame = pd.DataFrame({"kind": names[kind], "x": rng.normal(size=n)})
    y = effect[kind] + frame["x"].to_numpy() + 0.3 * rng.normal(size=n)
    return frame, y


@pytest.mark.parametrize("levels", [2, 4, FEW + 10])
def test_categories_are_used_as_they_are(levels):
    frame, y = mixed(400, levels=levels)
    model = GradientBoostingRegressor().fit(frame.iloc[:300], y[:300])
    plain = GradientBoostingRegressor().fit(frame[["x"]].iloc[:300], y[:300])
    with_it = np.mean((y[300:] - model.predict(frame.iloc[300:])) ** 2)
    without = np.mean((y[300:] - plain.predict(frame[["x"]].iloc[300:])) ** 2)
    assert with_it < 0.5 * without


@pytest.mark.parametrize("levels", [4, FEW + 10])
def test_a_new_level_and_a_missing_one_are_predicted_alike(levels):
    frame, y = mixed(levels=levels)
    model = GradientBoostingRegressor(n_estimators=20).fit(frame, y)
    new, none = frame.head(5).assign(kind="new"), frame.head(5).assign(kind=None)
    found = model.predict(new)
    assert found.tolist() == model.predict(none).tolist()
    assert y.min() < found.min()
    assert found.max() < y.max()


def test_means_of_levels_are_shrunken_and_crossed():
    rng = np.random.default_rng(0)
    n, levels = 300, FEW + 5
    codes = rng.integers(levels, size=n).astype(float)
    y = rng.normal(size=n)
    columns = Columns(codes[:, None], np.array([True]), np.array([levels]))
    learnt, matrix = LevelNumbers.learn(columns, y, None, 0)
    of_level = [y[codes == k] for k in range(levels)]
    by_hand = [(each.sum() + 5 * y.mean()) / (len(each) + 5) for each in of_level]
    assert learnt.matrix(np.arange(levels, dtype=float)[:, None])[:, 0] == pytest.approx(by_hand)
    assert learnt.matrix(np.array([[np.nan]]))[0, 0] == pytest.approx(y.mean())
    # The response is noise: what a row is told of its level must not tell its own response.
    plain = np.corrcoef(learnt.matrix(columns.X)[:, 0], y)[0, 1]
    crossed = np.corrcoef(matrix[:, 0], y)[0, 1]
    assert plain > 0.2
    assert crossed < 0.1


def test_marks_of_levels():
    columns = Columns(np.array([[0.0, 1.5], [2.0, 0.5], [np.nan, 2.5]]), np.array([True, False]),
                      np.array([3, 0]))  # fmt: skip
    learnt, matrix = LevelNumbers.learn(columns, np.arange(3.0), None, 0)
    assert learnt.source.tolist() == [0, 0, 0, 1]
    assert matrix[:2].tolist() == [[1, 0, 0, 1.5], [0, 0, 1, 0.5]]
    assert np.isnan(matrix[2, :3]).all()


@pytest.mark.parametrize("signs", [[1, 0, 0, 0], {"x0": 1}])
def test_monotone_columns(signs):
    X, y = numbers()
    model = GradientBoostingRegressor(n_estimators=50, monotonic_cst=signs, **OPTIONS).fit(X, y)
    grid = np.linspace(-2, 2, 50)
    for row in X[:20]:
        rows = np.tile(row, (50, 1))
        rows[:, 0] = grid
        assert np.all(np.diff(model.predict(rows)) >= 0)
    free = GradientBoostingRegressor(n_estimators=50, **OPTIONS).fit(X, y)
    assert not np.allclose(free.predict(X), model.predict(X))


def test_columns_that_may_not_meet():
    X, y = numbers()
    model = GradientBoostingRegressor(
        n_estimators=30, interaction_cst="no_interactions", **OPTIONS
    ).fit(X, y)
    # A sum of effects of single columns: a second difference over two columns is zero.
    a, b = X[0].copy(), X[1].copy()
    ab, ba = a.copy(), b.copy()
    ab[1], ba[1] = b[1], a[1]
    found = model.predict(np.array([a, ab, b, ba]))
    first, second = found[1] - found[0], found[2] - found[3]
    assert first == pytest.approx(second, abs=1e-9)


# ---- weights, units, few rows --------------------------------------------------------------------


def test_weights_count_by_their_ratio_alone():
    X, y = numbers()
    w = np.random.default_rng(2).uniform(0.5, 3, len(y))
    plain = GradientBoostingRegressor(n_estimators=20).fit(X, y, sample_weight=w)
    for factor in (1e-90, 1e90):
        scaled = GradientBoostingRegressor(n_estimators=20).fit(X, y, sample_weight=factor * w)
        assert scaled.predict(X) == pytest.approx(plain.predict(X), rel=1e-6)
    with pytest.raises(InputError, match="rescale"):
        GradientBoostingRegressor().fit(X, y, sample_weight=1e-300 * w)


def test_class_weights_multiply_the_rows():
    X, y = classes()
    balanced = GradientBoostingClassifier(20, class_weight={"a": 1, "b": 3}).fit(X, y)
    weighted = GradientBoostingClassifier(20).fit(X, y, sample_weight=np.where(y == "b", 3, 1))
    assert balanced.predict_proba(X) == pytest.approx(weighted.predict_proba(X))


@pytest.mark.parametrize("unit", [1e-130, 1e-3, 1e130])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_units_of_the_response_do_not_matter(unit, loss):
    X, y = numbers(150)
    plain = GradientBoostingRegressor(loss, n_estimators=20).fit(X, y).predict(X)
    scaled = GradientBoostingRegressor(loss, n_estimators=20).fit(X, unit * y).predict(X)
    assert scaled / unit == pytest.approx(plain, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("shift", [1e7, 1e-12])
def test_a_shift_of_the_response_does_not_matter(shift):
    X, y = numbers(150)
    plain = GradientBoostingRegressor(n_estimators=20).fit(X, y).predict(X)
    moved = GradientBoostingRegressor(n_estimators=20).fit(X, y + shift).predict(X)
    assert moved - shift == pytest.approx(plain, abs=1e-4)


@pytest.mark.parametrize("X", [np.zeros((2, 1)), np.ones((9, 2)), np.full((6, 1), np.nan)])
def test_inputs_that_say_nothing(X):
    y = np.arange(len(X), dtype=float)
    assert GradientBoostingRegressor().fit(X, y).predict(X) == pytest.approx(y.mean())
    labels = np.repeat(["a", "b"], [1, len(X) - 1])
    found = GradientBoostingClassifier().fit(X, labels).predict_proba(X)
    assert found.sum(axis=1) == pytest.approx(1)


def test_one_class_and_a_constant_response():
    X, _ = numbers(30)
    model = GradientBoostingClassifier().fit(X, np.full(30, "only"))
    assert model.predict(X[:3]).tolist() == ["only"] * 3
    assert model.predict_proba(X[:3]).tolist() == [[1.0]] * 3
    assert GradientBoostingRegressor().fit(X, np.full(30, 7.1)).predict(X) == pytest.approx(7.1)


def test_a_class_that_a_fold_lacks():
    X, y = classes(60)
    y = y.astype(object)
    y[7] = "rare"
    model = GradientBoostingClassifier(max_estimators=20).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "rare"]
    assert model.predict_proba(X).shape == (60, 3)


def test_the_answer_does_not_depend_on_the_number_of_threads():
    X, y = numbers(200)
    one = GradientBoostingRegressor(n_jobs=1).fit(X, y)
    two = GradientBoostingRegressor(n_jobs=2).fit(X, y)
    assert np.array_equal(one.predict(X), two.predict(X))
    assert np.array_equal(one.path_.error, two.path_.error)


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"quantile": 0.5}, "does not go with"),
        ({"loss": "quantile"}, "does not go with"),
        ({"monotonic_cst": [1, 2]}, "one for each|each of"),
        ({"monotonic_cst": {"x9": 1}}, "x9"),
        ({"interaction_cst": [[0, 7]]}, "interaction_cst"),
        ({"interaction_cst": "some"}, "interaction_cst"),
        ({"max_bins": 300}, "max_bins"),
    ],
)
def test_parameters_that_do_not_fit(given, message):
    X, y = numbers(40)
    with pytest.raises(ParameterError, match=message):
        GradientBoostingRegressor(**given).fit(X, y)


def test_responses_that_do_not_fit_the_loss():
    X, y = numbers(40)
    for loss in ("poisson", "gamma"):
        with pytest.raises(InputError, match=loss):
            GradientBoostingRegressor(loss).fit(X, y)
    X, y = classes(60, K=3)
    with pytest.raises(ParameterError, match="two classes"):
        GradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    frame, y = mixed(60)
    with pytest.raises(ParameterError, match="category"):
        GradientBoostingRegressor(monotonic_cst=[1, 0]).fit(frame, y)
