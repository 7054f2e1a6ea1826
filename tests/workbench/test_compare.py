"""Nested comparison: against the same thing by hand, and what it promises."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_iris
from sklearn.preprocessing import StandardScaler

import bottega
from bottega.core import progress
from bottega.core.errors import InputError, ParameterError, TestSetAlreadyUsed
from bottega.data import Table, folds
from bottega.linear import Ridge
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor
from bottega.workbench.compare import _choose
from bottega.workbench.results import paired_difference

# How the data come and the folds are made does not depend on which methods are compared.
SOME = ["neighbors", "tree"]


@pytest.fixture(scope="module")
def diabetes():
    return bottega.compare("diabetes", seed=3)


@pytest.fixture(scope="module")
def iris():
    return bottega.compare("iris", outer=4)


def test_error_is_that_of_tuning_inside_each_fold(diabetes):
    """The whole procedure written out with the estimators alone."""
    X, y = np.asarray(diabetes.train.X, dtype=float), diabetes.y_train
    losses = {"neighbors": np.empty(len(y)), "ridge": np.empty(len(y))}
    picked = {"neighbors": [], "ridge": []}
    for train, test in folds(diabetes.train, 5, seed=3):
        scaler = StandardScaler().fit(X[train])
        near = NearestNeighborsRegressor().fit(scaler.transform(X[train]), y[train])
        losses["neighbors"][test] = (y[test] - near.predict(scaler.transform(X[test]))) ** 2
        picked["neighbors"].append(near.k_)
        ridge = Ridge().fit(X[train], y[train])
        losses["ridge"][test] = (y[test] - ridge.predict(X[test])) ** 2
        picked["ridge"].append(ridge.alpha_)
    for method, loss in losses.items():
        result = diabetes.results[method]
        assert result.loss == pytest.approx(loss, rel=1e-9)
        assert result.error == pytest.approx(loss.mean())
        assert result.error_se == pytest.approx(loss.std(ddof=1) / np.sqrt(len(y)))
        assert result.fold_values == pytest.approx(picked[method])


def test_final_models_are_fitted_to_all_training_rows(iris):
    X, y = np.asarray(iris.train.X, dtype=float), iris.y_train
    Z = StandardScaler().fit_transform(X)
    alone = NearestNeighborsClassifier().fit(Z, y)
    result = iris.results["neighbors"]
    assert result.knob_value == alone.k_
    assert np.array_equal(result.model.predict(iris.train.X), alone.predict(Z))
    assert result.path.values.tolist() == alone.path_.values.tolist()


def test_leaderboard_is_sorted_and_relative_to_baseline_and_best(diabetes):
    board = diabetes.leaderboard
    assert board["error"].is_monotonic_increasing
    assert board["method"].iloc[0] == diabetes.best_method
    base = diabetes.results["baseline"].error
    assert board["versus_baseline"].to_numpy() == pytest.approx(1 - board["error"] / base)
    assert board["difference"].to_numpy() == pytest.approx(board["error"] - board["error"].iloc[0])
    assert board["difference_low"].iloc[0] == board["difference_high"].iloc[0] == 0


def test_paired_difference_has_the_corrected_interval(diabetes):
    a, b = diabetes.results["baseline"], diabetes.results["ridge"]
    mean, low, high = paired_difference(a, b)
    d = a.fold_errors() - b.fold_errors()
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + 1 / 4) * d.var(ddof=1))
    assert mean == pytest.approx(a.error - b.error)
    assert (low, high) == pytest.approx((mean - half, mean + half))


def test_probabilities_and_classes_line_up(iris):
    with_probabilities = [r for r in iris.results.values() if r.probability is not None]
    assert len(with_probabilities) >= 5
    for result in with_probabilities:
        assert result.probability.sum(axis=1) == pytest.approx(np.ones(iris.n_train))
        named = result.classes[np.argmax(result.probability, axis=1)]
        agree = np.mean(named == result.predicted)
        assert agree > 0.95  # a tie in the votes may be broken by another rule


def test_same_seed_same_answer_whatever_the_threads():
    one = bottega.compare("iris", seed=5, n_jobs=1, methods=SOME)
    two = bottega.compare("iris", seed=5, n_jobs=2, methods=SOME)
    other = bottega.compare("iris", seed=6, n_jobs=2, methods=SOME)
    for method in one.results:
        assert np.array_equal(one.results[method].predicted, two.results[method].predicted)
    assert not np.array_equal(one.train.X, other.train.X)


def test_test_part_is_locked_and_counted():
    found = bottega.compare("iris", methods=SOME)
    assert found.looks == 0
    claim = found.certify()
    assert found.looks == 1
    assert claim.n == found.n_test
    with pytest.raises(TestSetAlreadyUsed):
        found.certify()
    found.certify(again=True)
    assert found.looks == 2
    held = found.test.open(again=True)
    assert claim.estimate == np.mean(found.best.predict(held.X) != held.y)


def test_train_and_test_rows_are_apart_and_complete(diabetes):
    n = diabetes.table.n_rows
    assert diabetes.n_train + diabetes.n_test == n
    assert diabetes.n_test == pytest.approx(n / 4, abs=1)


def test_no_test_part_no_certificate():
    found = bottega.compare("iris", test=0, outer=3, methods=SOME)
    assert found.n_train == 150
    with pytest.raises(InputError, match="No rows were set aside"):
        found.certify()


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "table", "file"])
def test_every_way_to_give_the_data_is_the_same(kind, tmp_path):
    X, y = load_iris(return_X_y=True)
    names = [f"x{j}" for j in range(4)]
    frame = pd.DataFrame(X, columns=names).assign(target=np.array(["a", "b", "c"])[y])
    if kind == "array":
        found = bottega.compare(X, frame["target"].to_numpy(), methods=SOME)
    elif kind == "pandas":
        found = bottega.compare(frame[names], frame["target"], methods=SOME)
    elif kind == "polars":
        found = bottega.compare(pl.from_pandas(frame), "target", methods=SOME)
        assert isinstance(found.leaderboard, pl.DataFrame)
    elif kind == "table":
        found = bottega.compare(Table(frame, target="target"), methods=SOME)
    else:
        frame.to_csv(tmp_path / "iris.csv", index=False)
        found = bottega.compare(tmp_path / "iris.csv", "target", methods=SOME)
    expected = bottega.compare(frame, "target", methods=SOME)
    for method, result in expected.results.items():
        assert found.results[method].error == result.error


def test_categories_missing_values_and_dates_go_through():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", None], n),
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "bought": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "used": rng.random(n) < 0.5,
        }
    )
    frame["price"] = (
        frame["size"].fillna(0) * 3 + (frame["colour"] == "red") * 5 + rng.normal(size=n)
    )
    found = bottega.compare(frame, "price", outer=3)
    # Four columns become seven numbers: too many for some.
    few = "left out of a table with 7 inputs, being for few"
    assert set(found.failures.values()) <= {few, few.replace("7", "4")}
    assert found.failures["loess"] == few
    assert found.results["ridge"].error < 0.5 * found.results["baseline"].error
    assert np.isfinite(found.certify().upper)


def test_groups_never_straddle_folds():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=90), "who": np.repeat(np.arange(30), 3)})
    frame["y"] = frame["x"] + frame["who"] / 5
    found = bottega.compare(
        Table(frame, target="y", group="who"), outer=3, methods=["ridge", "tree"]
    )
    groups = np.asarray(found.train.groups)
    for who in np.unique(groups):
        assert len(set(found.results["ridge"].fold[groups == who])) == 1


def test_weights_count_in_fit_and_error():
    X, y = load_diabetes(return_X_y=True)
    frame = pd.DataFrame(X[:, :3], columns=list("abc")).assign(y=y)
    frame["w"] = np.where(np.arange(len(y)) % 2, 1.0, 3.0)
    found = bottega.compare(Table(frame, target="y", weight="w"), methods=["ridge"])
    result = found.results["ridge"]
    assert result.error == pytest.approx(np.average(result.loss, weights=found.train.weight))
    unweighted = bottega.compare(frame.drop(columns="w"), "y", methods=["ridge"])
    assert unweighted.results["ridge"].model[-1].coef_ != pytest.approx(result.model[-1].coef_)


def test_chosen_methods_always_include_the_baseline():
    found = bottega.compare("diabetes", methods=["ridge"], outer=2)
    assert list(found.results) == ["baseline", "ridge"]


def test_a_twin_is_shown_only_by_name():
    found = bottega.compare("diabetes", methods=["recursive_least_squares"], outer=2)
    assert "recursive_least_squares" in found.results
    assert "recursive_least_squares" not in bottega.compare("diabetes", outer=2).results


def test_a_method_that_fails_is_named_and_the_others_stand(monkeypatch):
    def broken(self, X, y):
        raise RuntimeError("no luck today")

    monkeypatch.setattr(NearestNeighborsRegressor, "fit", broken)
    found = bottega.compare("diabetes", outer=2)
    assert found.failures["neighbors"] == "failed with RuntimeError: no luck today"
    assert "neighbors" not in found.results
    assert {"baseline", "ridge"} <= set(found.results)
    assert "neighbors: failed with RuntimeError" in repr(found)


@pytest.mark.slow
def test_a_method_too_slow_for_the_rows_is_left_out_unless_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(27_000, 1))
    y = np.where(X[:, 0] + rng.normal(size=27_000) > 0, "a", "b")
    found = bottega.compare(X, y, outer=2)
    assert "parzen" not in found.results
    assert {"baseline", "neighbors"} <= set(found.results)
    assert "more than 20,000 rows" in found.failures["parzen"]
    assert "parzen: left out" in repr(found)


def test_a_method_of_few_inputs_is_left_out_of_a_wider_table():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4))).add_prefix("x")
    table = Table(frame, target="x0")
    chosen, left_out = _choose("regression", None, table)
    assert "smoothing_spline" not in chosen
    assert left_out["smoothing_spline"] == "left out of a table with 3 inputs, being for few"
    narrow = Table(frame[["x0", "x1"]], target="x0")
    chosen, left_out = _choose("regression", None, narrow)
    assert "smoothing_spline" in chosen
    assert "smoothing_spline" not in left_out


def test_stopping_early_keeps_the_methods_that_are_done():
    """Ctrl-C while the last method runs: the earlier ones are kept, and it says so."""

    def interrupted(event):
        # The baseline's three tasks are done by then: one thread runs them one at a time.
        if event.stage == "comparing" and event.done == 4:
            raise KeyboardInterrupt

    with progress.listen(interrupted):
        found = bottega.compare("diabetes", outer=2, n_jobs=1)
    assert found.interrupted
    assert "baseline" in found.results
    assert len(found.results) < 3
    assert "stopped early" in repr(found)


def test_progress_is_reported_to_the_end():
    events = []
    with progress.listen(events.append):
        found = bottega.compare("iris", outer=3, methods=SOME)
    done = [event.done for event in events if event.stage == "comparing"]
    total = len(found.results) * 4  # three folds and the final fit
    assert done == list(range(1, total + 1))
    assert {event.total for event in events if event.stage == "comparing"} == {total}


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"select": "best"},
            ParameterError,
            "select='best' is not allowed; use one of min, one_se",
        ),
        ({"outer": 1}, ParameterError, "outer=1"),
        ({"outer": 200}, InputError, "fold"),
        ({"seed": -1}, ParameterError, "seed=-1"),
        ({"test": 1.0}, ParameterError, "test=1.0"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0"),
        ({"methods": ["neighbor"]}, InputError, "Did you mean 'neighbors'"),
        ({"methods": ["ridge"]}, InputError, "no method 'ridge' for classification"),
    ],
)
def test_wrong_calls_are_one_sentence(arguments, error, words):
    with pytest.raises(error, match=words) as caught:
        bottega.compare("iris", **arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "target", "words"),
    [
        (np.ones((3, 2)), None, "What should be predicted"),
        (np.ones((3, 2)), np.ones((3, 2)), "one target"),
        (np.ones(3), np.ones(3), "rows and columns"),
        (np.ones((3, 2)), np.ones(4), "X has 3 rows and y has 4"),
        ("no_such_file.csv", "y", "no_such_file.csv"),
    ],
)
def test_wrong_data_are_one_sentence(data, target, words):
    with pytest.raises(InputError, match=words):
        bottega.compare(data, target)


def test_the_call_that_repeats_it_is_written_down(diabetes):
    assert diabetes.command == (
        "bottega.compare('diabetes', select='one_se', outer=5, seed=3, test=0.25)"
    )
    again = eval(diabetes.command, {"bottega": bottega})
    assert again.results["ridge"].error == diabetes.results["ridge"].error
