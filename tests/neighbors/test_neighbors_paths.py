"""The path: exact leave-one-out for every value of the knob."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold

from bottega.core.errors import ParameterError
from bottega.core.judge import mean_and_se
from bottega.core.losses import get_loss
from bottega.core.progress import listen
from bottega.core.tuned import tune
from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    ParzenClassifier,
)
from bottega.neighbors._search import index as index_module
from bottega.neighbors.parzen import _squared

SMALL = settings(max_examples=25, deadline=None, derandomize=True)


def brute_force(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the loss of each row under the fit without it."""
    task = type(model).card.task
    rest = ~np.eye(len(y), dtype=bool)
    predicted = [model.fit(X[rest[i]], y[rest[i]]).predict(X[i : i + 1])[0] for i in range(len(y))]
    return get_loss(None, task).of_rows(y, np.asarray(predicted))


@st.composite
def tied_data(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    # Up to three columns are searched by a tree, eight by brute force.
    n, p = draw(st.integers(3, 10)), draw(st.sampled_from([1, 2, 3, 8]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return rng.integers(0, 3, size=(n, p)).astype(float), rng.integers(0, 3, size=n)


def weights_by_definition(X: np.ndarray, x: np.ndarray, k: int, weights: str) -> np.ndarray:
    """Return the weight of each training row in the prediction at x."""
    distances = np.sqrt(np.sum((X - x) ** 2, axis=1))
    inside = distances <= np.sort(distances)[k - 1] * (1 + 1e-12)
    if weights != "distance":
        return inside.astype(float)
    if np.any(distances == 0):
        return (distances == 0).astype(float)
    return inside / distances


@SMALL
@given(tied_data(), st.sampled_from(["uniform", "distance", "balanced"]), st.integers(0, 10**6))
def test_predictions_follow_the_definition(
    data: tuple[np.ndarray, np.ndarray], weights: str, seed: int
) -> None:
    X, y = data
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, len(y) + 1))
    new = rng.integers(0, 5, size=(8, X.shape[1])) / 2
    counts = np.bincount(y, minlength=3)
    factor = counts.max() / np.maximum(counts, 1) if weights == "balanced" else np.ones(3)
    shares = []
    for x in new:
        given_weight = weights_by_definition(X, x, k, weights)
        votes = np.bincount(y, weights=given_weight, minlength=3) * factor
        shares.append(votes / votes.sum())
    expected = np.array(shares)[:, counts > 0]
    model = NearestNeighborsClassifier(k, weights=weights).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(new), expected, rtol=1e-12, atol=1e-15)
    # Rounded, so that equal votes are equal here as well; argmax then takes the first class.
    np.testing.assert_array_equal(
        model.predict(new), model.classes_[np.argmax(expected.round(12), axis=1)]
    )
    if weights != "balanced":
        response = rng.normal(size=len(y))
        expected_mean = [
            np.average(response, weights=weights_by_definition(X, x, k, weights)) for x in new
        ]
        fitted = NearestNeighborsRegressor(k, weights=weights).fit(X, response)
        np.testing.assert_allclose(fitted.predict(new), expected_mean, rtol=1e-10, atol=1e-13)


@SMALL
@given(
    tied_data(), st.sampled_from(["uniform", "distance", "balanced"]), st.sampled_from([None, 1])
)
def test_classifier_path_is_brute_force(
    data: tuple[np.ndarray, np.ndarray], weights: str, default: Any
) -> None:
    X, y = data
    if default is not None and np.sum(y == default) < 2:
        default = None  # the label must be there when a row of it is left out
    model = NearestNeighborsClassifier(weights=weights, default_label=default)
    path = model.path(X, y)
    assert path.values.tolist() == list(range(len(y) - 1, 0, -1))
    for i, k in enumerate(path.values):
        at_k = NearestNeighborsClassifier(int(k), weights=weights, default_label=default)
        error, error_se = mean_and_se(brute_force(at_k, X, y))
        assert path.error[i] == pytest.approx(error, abs=1e-14)
        assert path.error_se[i] == pytest.approx(error_se, abs=1e-14)
        fitted = at_k.fit(X, y)
        assert path.train_error[i] == pytest.approx(1 - fitted.score(X, y), abs=1e-14)
        assert path.df[i] == pytest.approx(fitted.df_, rel=1e-12)


@SMALL
@given(
    tied_data(),
    st.sampled_from(["uniform", "distance"]),
    st.sampled_from(["euclidean", "cosine", "hamming"]),
)
def test_regressor_path_is_brute_force(
    data: tuple[np.ndarray, np.ndarray], weights: str, metric: str
) -> None:
    X, y = data[0], data[1] + np.linspace(0, 1, len(data[1]))
    path = NearestNeighborsRegressor(weights=weights, metric=metric).path(X, y)
    for i, k in enumerate(path.values):
        at_k = NearestNeighborsRegressor(int(k), weights=weights, metric=metric)
        error, error_se = mean_and_se(brute_force(at_k, X, y))
        # Sums of up to 10 terms in another order.
        assert path.error[i] == pytest.approx(error, rel=1e-12)
        assert path.error_se[i] == pytest.approx(error_se, rel=1e-11, abs=1e-14)


@SMALL
@given(tied_data(), st.booleans())
def test_parzen_path_is_brute_force(data: tuple[np.ndarray, np.ndarray], own_grid: bool) -> None:
    X, y = data
    path = ParzenClassifier().path(X, y, values=None if own_grid else [3.0, 0.2, 1.1])
    for i, sigma in enumerate(path.values):
        at_sigma = ParzenClassifier(bandwidth=float(sigma))
        loss = brute_force(at_sigma, X, y)
        assert path.error[i] == pytest.approx(loss.mean(), abs=1e-14)
        fitted = at_sigma.fit(X, y)
        assert path.train_error[i] == pytest.approx(1 - fitted.score(X, y), abs=1e-14)
        kernel = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / (2 * sigma**2))
        # Up to seven squarings, each doubling the rounding: 2^7 times 1e-16.
        assert path.df[i] == pytest.approx(np.sum(1 / kernel.sum(axis=1)), rel=1e-12)
        assert fitted.df_ == pytest.approx(path.df[i], rel=1e-12)


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (NearestNeighborsClassifier(), "log_loss"),
        (NearestNeighborsClassifier(weights="balanced"), "brier_score"),
        (ParzenClassifier(), "log_loss"),
        (ParzenClassifier(), "zero_one"),
        (NearestNeighborsRegressor(), "absolute_error"),
    ],
)
def test_path_under_another_loss_is_brute_force(model: Any, loss: str) -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(25, 2))
    y = X[:, 0] + rng.normal(size=25)
    if model.card.task == "classification":
        y = np.digitize(y, [-0.5, 0.5])
    judged = get_loss(loss, model.card.task)
    path = model.path(X, y, loss=loss)
    assert path.loss == judged.title
    for i in (0, len(path) // 2, len(path) - 1):
        at = clone(model).set_params(**path.settings[i])
        rest = ~np.eye(25, dtype=bool)
        predicted = np.concatenate(
            [
                getattr(at.fit(X[rest[r]], y[rest[r]]), judged.method)(X[r : r + 1])
                for r in range(25)
            ]
        )
        error, error_se = mean_and_se(judged.of_rows(y, predicted))
        assert path.error[i] == pytest.approx(error, rel=1e-12)
        assert path.error_se[i] == pytest.approx(error_se, rel=1e-11)
        fitted = getattr(at.fit(X, y), judged.method)(X)
        assert path.train_error[i] == pytest.approx(judged.of_rows(y, fitted).mean(), abs=1e-12)


def test_no_leave_one_out_where_folds_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """With folds given, no list of neighbours is voted on without its row."""
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    asked = []
    plain = NearestNeighborsRegressor._from_lists

    def watched(self: Any, lists: Any, *rest: Any) -> Any:
        asked.append(bool(np.any(lists.left_out >= 0)))
        return plain(self, lists, *rest)

    monkeypatch.setattr(NearestNeighborsRegressor, "_from_lists", watched)
    assert NearestNeighborsRegressor().path(X, y, cv=5).estimate == "cv"
    assert not any(asked)
    NearestNeighborsRegressor().path(X, y)
    assert any(asked)


@pytest.mark.parametrize("model", [NearestNeighborsClassifier(), ParzenClassifier()])
def test_a_choice_by_folds_needs_no_training_errors(model: Any) -> None:
    """The same setting as along the whole path, which has them."""
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    path = model.path(X, y, cv=5)
    for rule in ("min", "one_se"):
        fitted = tune(model, X, y, cv=5, select=rule, bare=True)
        assert np.all(np.isnan(fitted.path_.train_error))
        np.testing.assert_array_equal(fitted.path_.error, path.error)
        assert fitted.path_.settings == path.settings
        chosen = path.settings[path.best(rule)][model.knob]
        assert getattr(fitted, f"{model.knob}_") == chosen
        fixed = clone(model).set_params(**{model.knob: chosen}).fit(X, y)
        assert fitted.df_ == pytest.approx(fixed.df_)


def test_df_is_the_trace_of_the_smoother() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(30, 2)).astype(float), rng.normal(size=30)
    for weights in ("uniform", "distance"):
        model = NearestNeighborsRegressor(n_neighbors=4, weights=weights).fit(X, y)
        S = np.column_stack([model.fit(X, unit).predict(X) for unit in np.eye(30)])
        assert model.df_ == pytest.approx(np.trace(S), rel=1e-12)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 6, size=(120, 2)).astype(float), rng.normal(size=120)
    whole = NearestNeighborsRegressor().path(X, y)
    monkeypatch.setattr(index_module, "ENTRIES", 500)
    seen: list[Any] = []
    with listen(seen.append):
        blocks = NearestNeighborsRegressor().path(X, y)
    assert len(seen) > 5
    assert (seen[-1].done, seen[-1].total) == (120, 120)
    np.testing.assert_allclose(blocks.error, whole.error, rtol=1e-13)
    np.testing.assert_allclose(blocks.error_se, whole.error_se, rtol=1e-12)


def test_threads_side_by_side_find_the_same() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(300, 9)), rng.normal(size=300)
    alone = NearestNeighborsRegressor().path(X, y).error
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: NearestNeighborsRegressor().path(X, y).error, range(6)):
            np.testing.assert_array_equal(found, alone)


def test_auto_takes_k_from_the_path() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(300, 2))
    y = np.sin(6 * X[:, 0]) + rng.normal(size=300, scale=0.3)
    for rule in ("min", "one_se", "gcv", "aic", "aicc", "bic", "hq", "cp"):
        model = NearestNeighborsRegressor(select=rule).fit(X, y)
        assert model.n_neighbors_ == model.path_.values[model.path_.best(rule)]
        assert 1 < model.n_neighbors_ <= 50
        assert model.df_ == model.path_.df[model.path_.best(rule)]
    fixed = model.set_params(n_neighbors=7).fit(X, y)
    assert not hasattr(fixed, "path_")
    assert fixed.n_neighbors_ == 7


def test_criteria_follow_from_rss_and_df() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    path = NearestNeighborsRegressor(max_neighbors=10).path(X, y)
    np.testing.assert_allclose(path.df, 50 / np.arange(10.0, 0, -1))
    rss, df = 50 * path.train_error[:-1], path.df[:-1]
    np.testing.assert_allclose(path.criteria["gcv"][:-1], 50 * rss / (50 - df) ** 2)
    variance = rss[-1] / (50 - df[-1])
    # k = 2: half the mean squared difference between a row and its nearest neighbour.
    nearest = NearestNeighborsRegressor(n_neighbors=1).fit(X, y).search_.query(X, 2)[1][:, 1]
    assert variance == pytest.approx(np.mean((y - y[nearest]) ** 2) / 2)
    np.testing.assert_allclose(path.criteria["cp"][:-1], rss / variance - 50 + 2 * df)
    # k = 1 passes through every row: no criterion may praise that.
    assert all(np.isposinf(column[-1]) for column in path.criteria.values())


def test_cross_validation_along_the_path() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    folds = KFold(4)
    for model in (NearestNeighborsClassifier(), ParzenClassifier()):
        path = model.path(X, y, cv=folds)
        assert path.estimate == "cv"
        for i in (0, len(path) // 2, len(path) - 1):
            losses = []
            for train, test in folds.split(X):
                value = path.values[i].item()
                value = min(value, len(train)) if model.knob == "n_neighbors" else value
                fold = model.set_params(**{model.knob: value}).fit(X[train], y[train])
                losses.append(np.mean(fold.predict(X[test]) != y[test]))
            assert path.error[i] == pytest.approx(np.mean(losses))


def test_path_refits_and_k_max_caps() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    path = NearestNeighborsRegressor(max_neighbors=12).path(X, y)
    assert path.values.tolist() == list(range(12, 0, -1))
    assert path.at(0).n_neighbors_ == 12
    assert NearestNeighborsRegressor().path(X, y).values[0] == 29
    assert NearestNeighborsRegressor().path(np.tile(X, (3, 1)), np.tile(y, 3)).values[0] == 50


def test_classifier_has_no_likelihood_to_pick_by() -> None:
    with pytest.raises(ParameterError, match="select='aic' is not allowed; select must be one of"):
        NearestNeighborsClassifier(select="aic").fit([[0.0], [1.0]], [0, 1])


def test_parzen_grid_halves_the_precision_step_by_step() -> None:
    X = np.random.default_rng(6).normal(size=(80, 3))
    path = ParzenClassifier().path(X, X[:, 0] > 0)
    np.testing.assert_allclose(path.values[:-1] / path.values[1:], np.sqrt(2), rtol=1e-14)
    gaps = np.sqrt(np.sum((X[:, None] - X) ** 2, axis=2))
    assert path.values[0] == pytest.approx(np.sqrt(np.mean(gaps**2)))
    nearest = np.quantile((gaps + 1e9 * np.eye(80)).min(axis=1), 0.1)
    assert path.values[-1] <= nearest / 3 < path.values[-2]
    assert np.all(np.diff(path.df) > 0)
    # All but every eighth kernel is a square of the one before, which is what makes it fast.
    assert np.flatnonzero(~_squared(path.values)).tolist() == list(range(0, len(path), 8))
