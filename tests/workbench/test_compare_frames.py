"""Tables as they come: keys, rare levels, roles by name, and what is kept when the end fails."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

import bottega
from bottega.core.errors import BottegaError, DataWarning, InputError
from bottega.data import Table, read, read_frame
from bottega.linear import Ridge
from bottega.workbench.features import ChosenColumns


@pytest.fixture(scope="module")
def customers():
    """A key, a constant, a rare level, gaps; half of what is given is left out of the model."""
    rng = np.random.default_rng(0)
    n = 160
    frame = pd.DataFrame(
        {
            "key": [f"customer {i:04d}" for i in range(n)],
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "same": 1.0,
            "town": rng.choice(["Bergen", "Oslo", "Turku"], n),
            "age": rng.integers(18, 80, n),
        }
    )
    frame.loc[0, "town"] = "Ii"
    frame["spent"] = frame["age"] + 10 * (frame["town"] == "Oslo") + rng.normal(size=n)
    return frame


@pytest.mark.parametrize("methods", [["ridge"], ["tree"], ["neighbors"]])
def test_the_best_model_takes_the_frame_that_was_compared(customers, methods):
    found = bottega.compare(customers, "spent", methods=methods, outer=3)
    expected = found.results[methods[0]].model.predict(found.table.X)
    turned = customers[customers.columns[::-1]]
    for frame in (customers, turned, turned.drop(columns=["spent", "key"])):
        assert found.best.predict(frame) == pytest.approx(expected)
        assert found.predict(frame) == pytest.approx(expected)
    assert found.predict(pl.from_pandas(turned)) == pytest.approx(expected)
    with pytest.raises(InputError, match="'age' that the model was fitted on is missing"):
        found.predict(customers.drop(columns="age"))


def test_an_array_that_was_compared_is_predicted():
    X = np.column_stack([np.arange(60.0), np.zeros(60), np.random.default_rng(0).normal(size=60)])
    found = bottega.compare(X, X[:, 0] + X[:, 2], methods=["ridge"], outer=3)
    assert "x1" not in found.table.features  # the same value in every row
    expected = found.best.predict(found.table.X)
    assert found.predict(X) == pytest.approx(expected)
    assert found.predict(X[:, [0, 2]]) == pytest.approx(expected)
    with pytest.raises(InputError, match="X has 5 columns"):
        found.predict(np.ones((2, 5)))


def test_probabilities_of_the_best():
    found = bottega.compare("iris", methods=["neighbors"], outer=3)
    shares = found.predict_proba(found.table.frame)
    assert shares.shape == (150, 3)
    assert shares.sum(axis=1) == pytest.approx(np.ones(150))
    bare = bottega.compare("iris", methods=["perceptron"], outer=3)
    if bare.best_method == "perceptron":
        with pytest.raises(InputError, match="no probabilities"):
            bare.predict_proba(bare.table.frame)


@pytest.mark.parametrize("seed", range(4))
def test_a_level_of_few_rows_stops_nothing(customers, seed):
    """Whichever part the only row of a level is in, there are folds, a certificate, predictions."""
    found = bottega.compare(
        customers, "spent", methods=["ridge", "tree"], outer=3, random_state=seed
    )
    assert {"ridge", "tree"} <= set(found.results)
    assert np.isfinite(found.certify(ledger=False).upper)
    new = customers.head(3).assign(town="Nowhere")
    assert np.all(np.isfinite(found.predict(new)))


def test_what_was_computed_stays_when_the_certificate_fails(customers, monkeypatch):
    found = bottega.compare(customers, "spent", methods=["ridge"], outer=3)

    def broken(self, X):
        raise ValueError("no such luck")

    with monkeypatch.context() as patch:
        patch.setattr(Ridge, "predict", broken)
        with pytest.raises(BottegaError, match=r"failed on the locked rows .ValueError: no such"):
            found.certify(ledger=False)
    assert found.looks == 0  # the rows stay locked
    assert found.certificate is None
    assert "ridge" in str(found)
    assert found.certify(ledger=False).n == found.n_test


def test_roles_by_name_and_by_value():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=90), "who": np.repeat(np.arange(30), 3)})
    frame["y"] = frame["x"] + frame["who"] / 5
    frame["w"] = np.where(np.arange(90) % 2, 1.0, 3.0)
    named = bottega.compare(
        frame, "y", groups="who", weights="w", methods=["ridge"], outer=3, random_state=2
    )
    table = bottega.compare(
        Table(frame, target="y", group="who", weight="w"),
        methods=["ridge"], outer=3, random_state=2,
    )  # fmt: skip
    assert named.results["ridge"].error == table.results["ridge"].error
    assert "groups='who'" in named.command
    given = bottega.compare(
        frame[["x", "y"]], "y", groups=frame["who"].to_numpy(), weights=frame["w"].to_numpy(),
        methods=["ridge"], outer=3, random_state=2,
    )  # fmt: skip
    assert given.results["ridge"].error == pytest.approx(named.results["ridge"].error)
    late = bottega.compare(frame, "y", time="who", methods=["ridge"], outer=3)
    fold = late.results["ridge"].fold
    for k in range(3):
        assert late.train.time[fold < k].max(initial=-1) < late.train.time[fold == k].min()


def test_warnings_about_convergence_are_notes_without_paths(customers, monkeypatch):
    fit = Ridge._fit

    def warning(self, *given):
        warnings.warn("Ridge: 3 iterations were not enough.", ConvergenceWarning, stacklevel=2)
        return fit(self, *given)

    monkeypatch.setattr(Ridge, "_fit", warning)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = bottega.compare(customers, "spent", methods=["ridge"], outer=3)
    assert not [each for each in said if issubclass(each.category, ConvergenceWarning)]
    (note,) = [note for note in found.notes if "iterations" in note]
    assert note == "Ridge: 3 iterations were not enough (in 4 fits)"
    assert note in str(found)


def test_features_are_found_whatever_the_order():
    frame = pd.DataFrame({"b": [1.0, 2.0], "id": [7, 8], "a": [3.0, 4.0]})
    step = ChosenColumns(["a", "b"])
    assert step.fit(frame).transform(frame).columns.tolist() == ["a", "b"]
    assert step.get_feature_names_out().tolist() == ["a", "b"]
    with pytest.raises(InputError, match=r"'a' .* is missing .*1 of 2 are"):
        step.transform(frame[["b"]])


def test_exclude_and_with():
    found = bottega.compare("iris", methods=["neighbors", "tree"], exclude=["tree"], outer=2)
    assert set(found.results) == {"baseline", "neighbors"}
    assert found.skipped == {"tree": "skipped: excluded on request"}
    with pytest.raises(InputError, match="baseline cannot be excluded"):
        bottega.compare("iris", exclude=["baseline"])
    with pytest.raises(InputError, match="Did you mean 'tree'"):
        bottega.compare("iris", exclude=["treee"])


def test_every_method_takes_part_or_says_why_not():
    from bottega.registry import methods

    table = read("diabetes")
    from bottega.core.losses import SQUARED_ERROR
    from bottega.workbench.entrants import choose_methods

    chosen, skipped = choose_methods("regression", None, table, SQUARED_ERROR, "min")
    assert {*chosen, *skipped} == {*methods("regression")}
    assert skipped["recursive_least_squares"].startswith(
        "skipped: learns row by row what least squares learns at once"
    )
    assert skipped["bagging"] == "skipped: close to random forest; name it to include it"
    added, _ = choose_methods(
        "regression", None, table, SQUARED_ERROR, "min", added=["recursive_least_squares"]
    )
    assert {*added} - {*chosen} == {"recursive_least_squares"}


def test_reduced_error_says_why_it_cannot_be_compared():
    for call in (
        lambda: bottega.compare("iris", select="reduced_error"),
        lambda: bottega.risk.nested_cv(
            Ridge(), np.ones((9, 1)), np.arange(9), select="reduced_error"
        ),
    ):
        with pytest.raises(BottegaError, match="picks from no path"):
            call()


@pytest.mark.parametrize("method", ["ridge", "tree", "stacking"])
def test_slips_of_the_pen_in_new_rows_are_missing_values_with_a_warning(tmp_path, method):
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=80).strftime("%Y-%m-%d")
    frame = pd.DataFrame({"x": rng.normal(size=80), "day": rng.permutation(days)})
    frame["y"] = frame["x"] + rng.normal(size=80)
    names = ["ridge", "tree", "least_squares"] if method == "stacking" else [method]
    found = bottega.compare(frame, "y", methods=names, outer=3, stack=method == "stacking")
    chosen = found.results[method]
    saved = bottega.load(replace(found, results={method: chosen}).save(tmp_path / "m.skops"))
    gaps = frame.head(4).astype(object)
    gaps.loc[1, "x"], gaps.loc[2, "day"] = None, None
    slips = frame.head(4).astype(object)
    slips.loc[1, "x"], slips.loc[2, "day"] = "weird", "soon"
    expected = saved.predict(gaps.astype({"x": float}))
    with pytest.warns(DataWarning) as told:
        np.testing.assert_array_equal(saved.predict(slips), expected)
    assert [str(each.message) for each in told] == [
        "Column 'x': 1 value is not a number and counted as missing, first 'weird' in row 2.",
        "Column 'day': 1 value is not a date like 2026-01-31 and counted as missing, first 'soon' "
        "in row 3.",
    ]
    with pytest.raises(InputError, match="none of its 4 values is a date"):
        saved.predict(slips.assign(day="soon"))


def test_columns_that_the_model_uses_are_not_suggested(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["income", "incomes", "y"])
    found = bottega.compare(frame, "y", methods=["ridge"], outer=3, stack=False)
    with pytest.raises(InputError, match=r"are\); add it\.$"):
        found.predict(frame[["incomes"]])
    with pytest.raises(InputError, match="Did you mean 'imcome'"):
        found.predict(frame.rename(columns={"income": "imcome"}))


@pytest.mark.parametrize("method", ["ridge", "tree"])
def test_whether_the_day_or_the_month_comes_first_is_learnt(tmp_path, method):
    """Of two new rows nobody can tell; the model remembers how its own rows were written."""
    days = pd.date_range("2023-01-01", periods=120)
    y = days.day_of_year + 0.1 * np.sin(np.arange(120.0) ** 2)
    for form, first in (("%m/%d/%Y", False), ("%d/%m/%Y", True)):
        path = tmp_path / "rows.csv"
        pd.DataFrame({"d": days.strftime(form), "y": y}).to_csv(path, index=False)
        table = read(path, target="y")
        assert table.kinds == {"d": "date"}
        assert table.day_first == {"d": first}
        found = bottega.compare(table, methods=[method], outer=3, stack=False)
        saved = bottega.load(found.save(tmp_path / "m.skops"))
        new = pd.DataFrame({"d": [pd.Timestamp(2023, 3, 5), pd.Timestamp(2023, 4, 2)]})
        expected = saved.predict(new)
        assert np.abs(expected - [64, 92]).max() < 12
        new.assign(d=new["d"].dt.strftime(form)).to_csv(path, index=False)
        for rows in (read_frame(path), new.assign(d=new["d"].dt.strftime(form))):
            np.testing.assert_array_equal(saved.predict(rows), expected)
            np.testing.assert_array_equal(found.predict(rows), expected)


def test_dates_that_may_be_read_in_two_ways_are_left_out(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{i % 12 + 1}/{i % 5 + 1}/2023,{np.sin(i * i)},{np.cos(i * i)}" for i in range(60)]
    path.write_text("\n".join(["d,x,y", *lines]))
    table = read(path, target="y")
    assert table.features == ("x",)
    assert "date_format" in {finding.code for finding in table.warnings}
    with pytest.raises(InputError, match="not clear whether the day or the month comes first"):
        read(path, target="y", time="d")


def test_the_call_has_the_task_and_names_values_that_it_cannot_show():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.integers(0, 3, 60)})
    found = bottega.compare(
        frame, "y", task="regression", weights=np.ones(60), methods=["ridge"], outer=3
    )
    assert "task='regression'" in found.command
    assert "weights=weights" in found.command
    call = {"bottega": bottega, "data": frame, "weights": np.ones(60)}
    again = eval(found.command, call)
    assert again.leaderboard["error"].tolist() == found.leaderboard["error"].tolist()


def test_at_a_tie_the_simplest_method_is_the_best():
    """Labels that nothing tells: trees and neighbours that predict the larger class all the way."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": ["a", "a", "a", "a", "b"] * 18})
    found = bottega.compare(frame, "y", methods=["tree", "neighbors"], outer=3, stack=False)
    board = found.leaderboard
    least = board["error"].min()
    tied = [m for m, e in zip(board["method"], board["error"], strict=True) if e <= least + 1e-12]
    assert found.best_method == board["method"].iloc[0]
    order = {"tree": 2, "neighbors": 4, "baseline": 0}
    assert tied == sorted(tied, key=order.get)
    assert len(tied) > 1
