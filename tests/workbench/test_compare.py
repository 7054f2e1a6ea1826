"""Nested comparison: against the same thing by hand, and what it promises."""

import sys

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
from bottega.core.losses import ABSOLUTE_ERROR, SQUARED_ERROR, ZERO_ONE, Cost, Huber
from bottega.data import Table, folds, read
from bottega.linear import Ridge
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor
from bottega.registry import methods
from bottega.risk import nested_cv
from bottega.workbench.entrants import choose_methods
from bottega.workbench.ranking import auc, lift

# How the data come and the folds are made does not depend on which methods are compared.
SOME = ["neighbors", "tree"]


@pytest.fixture(scope="module")
def diabetes():
    return bottega.compare("diabetes", random_state=3)


@pytest.fixture(scope="module")
def iris():
    return bottega.compare("iris", outer=4)


def test_error_is_that_of_tuning_inside_each_fold(diabetes):
    """The whole procedure written out with the estimators alone."""
    X, y = np.asarray(diabetes.train.X, dtype=float), diabetes.y_train
    losses = {"neighbors": np.empty(len(y)), "ridge": np.empty(len(y))}
    picked = {"neighbors": [], "ridge": []}
    for train, test in folds(diabetes.train, 5, random_state=3):
        scaler = StandardScaler().fit(X[train])
        near = NearestNeighborsRegressor(select="min").fit(scaler.transform(X[train]), y[train])
        losses["neighbors"][test] = (y[test] - near.predict(scaler.transform(X[test]))) ** 2
        picked["neighbors"].append(near.n_neighbors_)
        ridge = Ridge(select="min").fit(X[train], y[train])
        losses["ridge"][test] = (y[test] - ridge.predict(X[test])) ** 2
        picked["ridge"].append(ridge.alpha_)
    for method, loss in losses.items():
        result = diabetes.results[method]
        assert result.losses == pytest.approx(loss, rel=1e-9)
        assert result.error == pytest.approx(loss.mean())
        assert [next(iter(each.values())) for each in result.fold_settings] == pytest.approx(
            picked[method]
        )


def test_final_models_are_fitted_to_all_training_rows(iris):
    X, y = np.asarray(iris.train.X, dtype=float), iris.y_train
    Z = StandardScaler().fit_transform(X)
    alone = NearestNeighborsClassifier(select="min").fit(Z, y)
    result = iris.results["neighbors"]
    assert result.setting == {"n_neighbors": alone.n_neighbors_}
    assert np.array_equal(result.model.predict(iris.train.X), alone.predict(Z))
    assert result.path.values.tolist() == alone.path_.values.tolist()


def test_leaderboard_is_sorted_and_relative_to_baseline_and_best(diabetes):
    board = diabetes.leaderboard
    assert board["error"].is_monotonic_increasing
    assert board["method"].iloc[0] == diabetes.best_method
    base = diabetes.results["baseline"].error
    assert board["versus_baseline"].to_numpy() == pytest.approx(1 - board["error"] / base)
    assert board["difference"].to_numpy() == pytest.approx(board["error"] - board["error"].iloc[0])
    assert board["difference_conf_low"].iloc[0] == board["difference_conf_high"].iloc[0] == 0


def test_intervals_allow_for_the_training_rows_that_folds_share():
    """Nadeau and Bengio's variance, (1/K + n_test/n_train) times that of the fold means."""
    X, y = load_diabetes(return_X_y=True)  # 400 rows: the folds have equal sizes
    found = bottega.compare(X[:400], y[:400], methods=["ridge"], test_size=0)
    a, b = found.results["baseline"], found.results["ridge"]
    wide = stats.t.ppf(0.975, 4) * np.sqrt(1 / 5 + 1 / 4)
    for each in (a, b):
        spread = each.nested.fold_errors.std(ddof=1)
        assert each.std_error == pytest.approx(spread * np.sqrt(1 / 5 + 1 / 4))
        assert each.upper - each.error == pytest.approx(wide * spread)
    row = found.leaderboard.query("method == 'baseline'").iloc[0]
    d = (a.nested.fold_errors - b.nested.fold_errors).ravel()
    assert row["difference"] == pytest.approx(a.error - b.error)
    assert row["difference_conf_high"] - row["difference"] == pytest.approx(wide * d.std(ddof=1))
    assert row["difference"] - row["difference_conf_low"] == pytest.approx(wide * d.std(ddof=1))


def test_the_nested_interval_is_that_of_nested_cv():
    found = bottega.compare("diabetes", methods=["ridge"], interval="nested", outer=4)
    ridge = found.results["ridge"]
    X, y = np.asarray(found.train.X, dtype=float), found.y_train
    alone = nested_cv(
        Ridge(),
        X,
        y,
        inner=None,
        outer=folds(found.train, 4, random_state=0),
        interval="nested",
        select="min",
    )
    assert (ridge.error, ridge.lower, ridge.upper) == pytest.approx(
        (alone.error, alone.lower, alone.upper), rel=1e-9
    )
    assert ridge.nested.interval == "nested"


def test_probabilities_and_classes_line_up(iris):
    with_probabilities = [r for r in iris.results.values() if r.probability is not None]
    assert len(with_probabilities) >= 5
    for result in with_probabilities:
        assert result.probability.sum(axis=1) == pytest.approx(np.ones(iris.n_train))
        named = result.classes[np.argmax(result.probability, axis=1)]
        agree = np.mean(named == result.predicted)
        assert agree > 0.95  # a tie in the votes may be broken by another rule


def test_same_seed_same_answer_whatever_the_threads():
    one = bottega.compare("iris", random_state=5, n_jobs=1, methods=SOME)
    two = bottega.compare("iris", random_state=5, n_jobs=2, methods=SOME)
    other = bottega.compare("iris", random_state=6, n_jobs=2, methods=SOME)
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
    found = bottega.compare("iris", test_size=0, outer=3, methods=SOME)
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
    assert {reason[:13] for reason in found.skipped.values()} <= {
        *("skipped: take", "skipped: clos", "skipped: lear"),
    }
    assert found.skipped["loess"] == "skipped: takes at most 4 inputs"
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
    assert result.error == pytest.approx(np.average(result.losses, weights=found.train.weight))
    claim = found.certify()
    held = found.test.open(again=True)
    losses = (found.best.predict(held.X) - held.y) ** 2
    assert claim.estimate == pytest.approx(np.average(losses, weights=held.weight))
    unweighted = bottega.compare(frame.drop(columns="w"), "y", methods=["ridge"])
    assert unweighted.results["ridge"].model[-1].coef_ != pytest.approx(result.model[-1].coef_)


def test_chosen_methods_always_include_the_baseline():
    found = bottega.compare("diabetes", methods=["ridge"], outer=2)
    assert list(found.results) == ["baseline", "ridge"]


def test_a_twin_is_shown_only_by_name(diabetes):
    found = bottega.compare("diabetes", methods=["recursive_least_squares"], outer=2)
    assert "recursive_least_squares" in found.results
    assert "recursive_least_squares" not in diabetes.results


def test_a_method_that_fails_is_named_and_the_others_stand(monkeypatch):
    def broken(self, X, y, *others):
        raise RuntimeError("no luck today")

    few = {name: methods("regression")[name] for name in ("baseline", "neighbors", "ridge")}
    monkeypatch.setattr(sys.modules["bottega.workbench.entrants"], "methods_for", lambda _: few)
    monkeypatch.setattr(NearestNeighborsRegressor, "_fit", broken)
    found = bottega.compare("diabetes", outer=2)
    assert found.skipped["neighbors"] == "failed with RuntimeError: no luck today"
    assert "neighbors" not in found.results
    assert {"baseline", "ridge"} <= set(found.results)
    assert "neighbors: failed with RuntimeError" in repr(found)


def test_a_method_too_slow_for_the_rows_is_left_out_unless_named(monkeypatch):
    few = {name: methods("classification")[name] for name in ("baseline", "neighbors", "parzen")}
    monkeypatch.setattr(sys.modules["bottega.workbench.entrants"], "methods_for", lambda _: few)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_001, 1))
    y = np.where(X[:, 0] + rng.normal(size=20_001) > 0, "a", "b")
    found = bottega.compare(X, y, outer=2, test_size=0)
    assert "parzen" not in found.results
    assert {"baseline", "neighbors"} <= set(found.results)
    assert "more than 20,000 rows" in found.skipped["parzen"]
    assert "parzen: skipped" in repr(found)


def test_a_method_of_few_inputs_is_left_out_of_a_wider_table():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4))).add_prefix("x")
    table = Table(frame, target="x0")
    chosen, skipped = choose_methods("regression", None, table, SQUARED_ERROR, "one_se")
    assert "smoothing_spline" not in chosen
    assert skipped["smoothing_spline"] == "skipped: takes at most 1 input"
    narrow = Table(frame[["x0", "x1"]], target="x0")
    chosen, skipped = choose_methods("regression", None, narrow, SQUARED_ERROR, "one_se")
    assert "smoothing_spline" in chosen
    assert "smoothing_spline" not in skipped
    # A method whose path lacks the criterion that is asked for sits out, and says why.
    _, skipped = choose_methods("classification", None, read("iris"), ZERO_ONE, "bic")
    assert skipped["neighbors"] == "skipped: its path has no criterion 'bic'"


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
        ({"random_state": -1}, ParameterError, "random_state=-1"),
        ({"test_size": 1.0}, ParameterError, "test_size=1.0"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0"),
        ({"methods": ["neighbor"]}, InputError, "Did you mean 'neighbors'"),
        ({"methods": ["ridgee"]}, InputError, "no method 'ridgee' for classification"),
        (
            {"methods": ["ridge"]},
            InputError,
            "'ridge' is for regression, and .* classes .*; give task='regression'",
        ),
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
        "bottega.compare('diabetes', select='min', outer=5, random_state=3, test_size=0.25)"
    )
    named = bottega.compare("diabetes", methods=["ridge"], random_state=3)
    again = eval(named.command, {"bottega": bottega})
    assert again.results["ridge"].error == diabetes.results["ridge"].error


# ---- any loss ------------------------------------------------------------------------------------


def test_another_loss_tunes_and_ranks():
    """Absolute error, written out with the estimators alone."""
    found = bottega.compare("diabetes", methods=["ridge"], measure="absolute_error")
    X, y = np.asarray(found.train.X, dtype=float), found.y_train
    losses, picked = np.empty(len(y)), []
    for train, test in folds(found.train, 5, random_state=0):
        path = Ridge().path(X[train], y[train], loss=ABSOLUTE_ERROR)
        alpha = path.values[path.best("min")]
        losses[test] = np.abs(y[test] - Ridge(alpha).fit(X[train], y[train]).predict(X[test]))
        picked.append(alpha)
    ridge = found.results["ridge"]
    assert ridge.losses == pytest.approx(losses)
    assert [each["alpha"] for each in ridge.fold_settings] == pytest.approx(picked)
    assert ridge.path.loss == found.loss == "absolute error"
    claim = found.certify()
    held = found.test.open(again=True)
    assert claim.estimate == pytest.approx(np.mean(np.abs(found.best.predict(held.X) - held.y)))


def too_low(y, predicted):
    return np.maximum(y - predicted, 0)


@pytest.mark.parametrize(
    ("data", "loss", "title"),
    [
        ("diabetes", Huber(50.0), "Huber loss"),
        ("diabetes", too_low, "too low"),
        ("iris", "brier_score", "Brier score"),
        ("iris", Cost([[0, 1, 1], [5, 0, 1], [5, 1, 0]]), "cost"),
    ],
)
def test_losses_of_every_kind(data, loss, title):
    found = bottega.compare(data, methods=SOME, measure=loss, outer=3)
    assert title in found.loss
    assert set(found.results) == {"baseline", *SOME}
    assert np.all(np.diff(found.leaderboard["error"]) >= 0)
    assert found.certify().quantity == found.loss


def test_a_loss_of_probabilities_skips_methods_without_them():
    found = bottega.compare(
        "iris", measure="log_loss", methods=["perceptron", "neighbors"], outer=3
    )
    assert found.skipped == {
        "perceptron": "skipped: gives no class probabilities, which log loss needs"
    }
    result = found.results["neighbors"]
    codes = np.searchsorted(result.classes, found.y_train)
    right = result.probability[np.arange(len(codes)), codes]
    assert result.losses == pytest.approx(-np.log(np.maximum(right, 1e-15)))


def test_two_classes_are_ranked_beside():
    found = bottega.compare("breast_cancer", methods=["neighbors", "perceptron"], outer=3)
    board = found.leaderboard.set_index("method")
    result = found.results["neighbors"]
    positive, score = found.y_train == result.classes[1], result.probability[:, 1]
    above = score[positive][:, None] - score[~positive][None, :]
    assert board["auc"]["neighbors"] == pytest.approx(np.mean((above > 0) + 0.5 * (above == 0)))
    assert np.isnan(board["auc"]["perceptron"])
    assert 1 < board["lift"]["neighbors"] <= 1 / positive.mean()
    assert "auc" not in bottega.compare("iris", methods=SOME, outer=2).leaderboard


def test_lift_shares_out_ties_and_counts_weights():
    positive = np.array([True, False, True, False, False, False])
    score = np.array([0.9, 0.9, 0.4, 0.4, 0.1, 0.1])
    # The top third is the two rows of score 0.9: one of two against two of six.
    assert lift(positive, score, top=1 / 3) == pytest.approx(1.5)
    # The top sixth is half of them, whichever comes first.
    assert lift(positive, score, top=1 / 6) == pytest.approx(1.5)
    weight = np.array([3.0, 1, 1, 1, 1, 1])
    twice = np.repeat(np.arange(6), weight.astype(int))
    assert lift(positive, score, weight, top=0.5) == pytest.approx(
        lift(positive[twice], score[twice], top=0.5)
    )
    assert auc(positive, score, weight) == pytest.approx(auc(positive[twice], score[twice]))
    assert np.isnan(auc(np.ones(3, dtype=bool), np.arange(3.0)))


# ---- roles ---------------------------------------------------------------------------------------


def test_another_target_or_task_keeps_kinds_weight_and_group():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"zone": rng.integers(0, 3, 90), "x": rng.normal(size=90)})
    frame["who"] = np.repeat(np.arange(30), 3)
    frame["w"] = rng.uniform(1, 2, 90)
    frame["y"] = frame["x"] + rng.normal(size=90)
    frame["sold"] = rng.integers(0, 2, 90)
    table = Table(frame, target="y", kinds={"zone": "category"}, group="who", weight="w")
    found = bottega.compare(table, "sold", methods=["neighbors"], outer=2)
    assert (found.target, found.task) == ("sold", "classification")
    assert found.table.column("zone").kind == "category"
    assert found.train.weight is not None
    groups = np.asarray(found.train.groups)
    result = found.results["neighbors"]
    for who in np.unique(groups):
        assert len(set(result.fold[groups == who])) == 1
    assert result.nested.rows.weight is found.train.weight


def test_folds_that_tune_keep_groups_together():
    """A group is one noisy value repeated: leave-one-out would find each row among its likes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    frame = pd.DataFrame({"x": np.repeat(x, 5), "who": np.repeat(np.arange(40), 5)})
    frame["x"] += 1e-6 * np.tile(np.arange(5), 40)  # copies would be kept together as they are
    frame["y"] = np.repeat(x + 2 * rng.normal(size=40), 5)
    alone = bottega.compare(frame[["x", "y"]], "y", methods=["neighbors"], select="min", outer=3)
    grouped = bottega.compare(
        Table(frame, target="y", group="who"), methods=["neighbors"], select="min", outer=3
    )
    assert alone.results["neighbors"].setting["n_neighbors"] <= 5
    assert grouped.results["neighbors"].setting["n_neighbors"] > 5
    assert grouped.results["neighbors"].path.estimate == "cv"


def test_time_is_never_looked_ahead():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"day": np.arange(120), "x": rng.normal(size=120)})
    frame["y"] = frame["x"] + rng.normal(size=120)
    frame = frame.sample(frac=1, random_state=0)
    found = bottega.compare(Table(frame, target="y", time="day"), methods=["ridge"], outer=3)
    time, fold = found.train.time, found.results["ridge"].fold
    assert time.max() < found.test.open().time.min()
    for k in range(3):
        assert time[fold < k].max(initial=-1) < time[fold == k].min()
    assert np.isnan(found.results["ridge"].losses[fold == -1]).all()
    assert found.results["ridge"].path.estimate == "cv"


def test_a_second_comparison_of_the_same_rows_is_a_second_look():
    own = read("iris").frame  # a table of one's own: bundled data sets are not written down
    first = bottega.compare(own, "target", methods=SOME)
    claim = first.certify()
    assert first.looks_in_words == ""
    second = bottega.compare(own, "target", methods=SOME)
    assert second.looks == 1
    assert "were opened before" in repr(second)
    with pytest.raises(TestSetAlreadyUsed):
        second.certify()
    later = second.certify(again=True)
    assert str(later) == str(claim)  # the same numbers
    assert later.assumptions[:-1] == claim.assumptions[:-1]
    assert "opened 2 times" in later.assumptions[-1]
    assert "no other look" in claim.assumptions[-1]
    assert "have been opened 2 times" in repr(second)
    assert bottega.compare(own, "target", methods=SOME, random_state=1).looks == 0


def test_a_ledger_that_cannot_be_written_is_a_note(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BOTTEGA_LEDGER", str(tmp_path / "file"))
    found = bottega.compare(read("iris").frame, "target", methods=SOME)
    found.certify()
    assert "could not be written" in repr(found)


def test_a_bare_comparison_is_one_screen(monkeypatch):
    found = bottega.compare("diabetes", methods=SOME, outer=2)
    monkeypatch.setattr(found, "skipped", {f"m{i}": f"skipped: {'why ' * i}" for i in range(40)})
    lines = repr(found).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert lines[2].split()[:2] == ["method", "error"]
    assert len(str(found).splitlines()) > 40
    assert found._repr_html_().count("<tr>") == 1 + len(found.results)


def test_a_parameter_that_was_not_tuned_is_not_said_to_be_chosen():
    found = bottega.compare("diabetes", methods=["elastic_net"], outer=2)
    board = dict(zip(found.leaderboard["method"], found.leaderboard["chosen"], strict=True))
    assert board["elastic_net"].startswith("alpha = ")
    assert "l1_ratio" not in board["elastic_net"]


def test_rounding_is_shown_as_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    found = bottega.compare(X, X @ [1.0, 2.0, 3.0] + 7, methods=["least_squares"], outer=3)
    board = dict(zip(found.leaderboard["method"], found.leaderboard["error"], strict=True))
    assert found.results["least_squares"].error > 0
    assert board["least_squares"] == 0
