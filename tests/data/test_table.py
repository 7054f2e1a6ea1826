"""What a table knows and gives."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.core.errors import InputError
from bottega.data import Encoder, Table


def codes(table):
    return {(f.code, f.column) for f in table.warnings}


@pytest.fixture
def columns():
    rng = np.random.default_rng(1)
    n = 60
    return {
        "key": list(range(n)),
        "x": rng.normal(size=n).tolist(),
        "c": [["red", "blue", None][i % 3] for i in range(n)],
        "flag": [["yes", "no"][i % 2] for i in range(n)],
        "flat": [1.0] * n,
        "day": [dt.date(2020, 1, 1) + dt.timedelta(days=i % 7) for i in range(n)],
        "note": [f"a remark that is long enough, number {i}" for i in range(n)],
        "y": rng.normal(size=n).tolist(),
    }


def test_roles_kinds_and_warnings(make, columns):
    table = Table(make(columns), target="y")
    assert table.features == ("x", "c", "flag", "day", "note")
    kinds = {"x": "number", "c": "category", "flag": "boolean", "day": "date", "note": "text"}
    assert table.kinds == kinds
    left_out = {("id", "key"), ("constant", "flat")}
    assert codes(table) == left_out | {("date", "day"), ("text", "note")}
    assert table.task == "regression"
    np.testing.assert_array_equal(table.y, columns["y"])
    assert table.classes is None
    assert (table.n_rows, len(table)) == (60, 60)


def test_X_is_the_users_kind_of_frame(make, columns):
    frame = make(columns)
    table = Table(frame, target="y")
    assert type(table.X) is type(frame)
    assert type(table.take([3, 1]).X) is type(frame)
    names = getattr(table.X, "column_names", None) or list(table.X.columns)
    assert names == list(table.features)


def test_overriding_a_kind_brings_a_column_back(make, columns):
    table = Table(make(columns), target="y", kinds={"key": "number"})
    assert "key" in table.features
    assert ("id", "key") not in codes(table)


def test_numbers_as_text_are_converted_when_asked(make):
    frame = make({"a": ["1.5", " 2 ", None, "4e1"], "y": [1.0, 2.0, 3.0, 5.0]})
    assert Table(frame, target="y").kinds == {"a": "category"}
    assert ("number_as_text", "a") in codes(Table(frame, target="y"))
    table = Table(frame, target="y", kinds={"a": "number"})
    matrix = Encoder(standardize=False, impute=False, kinds=table.kinds).fit_transform(table.X)
    np.testing.assert_array_equal(matrix[:, 0], [1.5, 2, np.nan, 40])


def test_dates_as_text_are_converted_when_asked(make):
    frame = make({"d": ["1970-01-02", None, "1970-01-01 12:00:00"], "y": [1.0, 2.0, 3.0]})
    table = Table(frame, target="y", kinds={"d": "date"})
    matrix = Encoder(standardize=False, impute=False, kinds=table.kinds).fit_transform(table.X)
    np.testing.assert_array_equal(matrix[:, 0], [1, np.nan, 0.5])


def test_numbers_become_labels_when_asked(make):
    frame = make({"z": [3, 1, 3, 2], "y": [1.0, 2.0, 3.0, 5.0]})
    table = Table(frame, target="y", kinds={"z": "category"})
    encoder = Encoder(kinds=table.kinds).fit(table.X)
    assert encoder.levels_ == [["1", "2", "3"]]
    # New rows come as they were stored, not as the table keeps them; 3.0 is the label 3.
    np.testing.assert_array_equal(encoder.transform(make({"z": [3.0]})), [[0, 0, 1]])


def test_conversion_keeps_the_rows_of_a_frame_with_its_own_index():
    frame = pd.DataFrame({"a": ["1", "2", "3"], "y": [1.0, 2.0, 4.0]}, index=[7, 5, 9])
    table = Table(frame, target="y", kinds={"a": "number"})
    assert table.X["a"].tolist() == [1.0, 2.0, 3.0]
    assert table.take([2, 0]).X["a"].tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (["b", "a", "b", "a"], "classification", ["a", "b"]),
        ([True, False, True, True], "classification", [False, True]),
        ([0, 1, 1, 0], "classification", [0, 1]),
        ([2.0, 5.0, 5.0, 2.0], "classification", [2, 5]),
        ([0.5, 0.25, 0.5, 0.25], "classification", [0.25, 0.5]),
        ([0, 1, 2, 2], "regression", None),
        (["yes", "no", "no", "yes"], "classification", ["no", "yes"]),
    ],
)
def test_task_follows_the_target(make, values, task, classes):
    table = Table(make({"x": [1.0, 2.0, 4.0, 3.0], "y": values}), target="y")
    assert table.task == task
    assert (None if table.classes is None else table.classes.tolist()) == classes
    assert table.y.tolist() == values


def test_task_can_be_given(make):
    frame = make({"x": [1.0, 2.0, 4.0, 3.0], "y": [0, 1, 2, 2]})
    assert ("target_as_number", "y") in codes(Table(frame, target="y"))
    table = Table(frame, target="y", task="classification")
    assert (table.task, table.y.dtype.kind) == ("classification", "i")
    two = make({"x": [1.0, 2.0, 4.0, 3.0], "y": [0, 1, 1, 0]})
    assert Table(two, target="y", task="regression").y.dtype == np.float64


def test_rows_without_a_target_are_dropped_and_counted(make):
    frame = make({"x": [1.0, 2.0, 4.0, 3.0], "w": [1, 2, 3, 4], "y": [1.0, None, 2.0, 5.0]})
    table = Table(frame, target="y", weight="w")
    assert table.n_rows == 3
    np.testing.assert_array_equal(table.weight, [1, 3, 4])
    assert table.row_numbers.tolist() == [1, 3, 4]
    assert table.take([2, 0]).row_numbers.tolist() == [4, 1]
    (finding,) = [f for f in table.warnings if f.code == "missing_target"]
    assert finding.message.startswith("1 of 4 rows")


def test_no_target(make):
    table = Table(make({"x": [1.0, 2.0, 4.0]}))
    assert (table.y, table.task, table.classes) == (None, None, None)


def test_weight_group_and_time(make):
    frame = make(
        {
            "x": [1.0, 2.0, 4.0],
            "w": [0.5, 0.0, 2.0],
            "g": ["a", "b", "a"],
            "t": [dt.date(1970, 1, 3), dt.date(1970, 1, 1), dt.date(1970, 1, 2)],
            "y": [1.0, 2.0, 3.0],
        }
    )
    table = Table(frame, target="y", weight="w", group="g", time="t")
    assert table.features == ("x",)
    np.testing.assert_array_equal(table.weight, [0.5, 0, 2])
    assert table.groups.tolist() == ["a", "b", "a"]
    np.testing.assert_array_equal(table.time, [2, 0, 1])
    part = table.take(np.array([False, True, True]))
    assert part.groups.tolist() == ["b", "a"]
    np.testing.assert_array_equal(part.y, [2, 3])
    assert [c.role for c in part.columns] == ["feature", "weight", "group", "time", "target"]


def test_take_keeps_kinds_whatever_the_rows_hold(make, columns):
    table = Table(make(columns), target="y")
    part = table.take([0])
    assert part.kinds == table.kinds
    assert part.column("x").distinct == 1
    assert part.take([0, 0]).n_rows == 2


def test_leakers_of_a_number(make):
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    frame = make({"copy": 3 - 2 * y, "near": y + 0.1 * rng.normal(size=100), "y": y})
    assert codes(Table(frame, target="y")) == {("leaker", "copy")}


def test_leakers_of_a_class(make):
    rng = np.random.default_rng(0)
    n = 90
    code = np.arange(n) % 3
    frame = make(
        {
            "cut": (code * 10 + rng.uniform(size=n)).tolist(),  # two thresholds give the class
            "near": (code + rng.normal(size=n)).tolist(),
            "name": [["p", "q", "r"][i] for i in code],
            "many": [f"{i}-{j % 10}" for j, i in enumerate(code)],  # 30 levels of 3 rows: luck
            "y": [["a", "b", "c"][i] for i in code],
        }
    )
    assert codes(Table(frame, target="y")) == {("leaker", "cut"), ("leaker", "name")}


def test_a_tie_at_the_threshold_is_no_leak(make):
    x = [0.0] * 15 + [1.0] * 15
    x[0] = 1.0
    frame = make({"x": x, "z": list(np.sin(np.arange(30.0))), "y": ["a"] * 15 + ["b"] * 15})
    assert ("leaker", "x") not in codes(Table(frame, target="y"))


def test_imbalance_and_few_rows(make):
    frame = make({"x": np.sin(np.arange(40.0)), "y": ["a"] * 39 + ["b"]})
    assert codes(Table(frame, target="y")) == {
        ("few_rows", None),
        ("imbalance", "y"),
        ("rare_class", "y"),
    }


def test_more_inputs_than_rows(make):
    """D43: a split is of no use for p > n. The levels of a category count as inputs."""
    rng = np.random.default_rng(0)
    numbers = {f"x{j}": rng.normal(size=60) for j in range(40)}
    level = {"level": [f"l{i % 21}" for i in range(60)], "y": rng.normal(size=60)}
    table = Table(make(numbers | level), target="y")
    (finding,) = [f for f in table.warnings if f.code == "wide"]
    assert finding.column is None
    assert finding.message.startswith("There are 61 input columns")
    level["level"] = [f"l{i % 10 if i > 20 else i}" for i in range(60)]  # 11 levels of one row
    assert ("wide", None) not in codes(Table(make(numbers | level), target="y"))
    level["level"] = [f"l{i % 20}" for i in range(60)]
    assert ("wide", None) not in codes(Table(make(numbers | level), target="y"))


def test_overview(columns):
    rows = Table(pl.DataFrame(columns), target="y").overview()
    assert isinstance(rows, pl.DataFrame)
    names = "column kind role missing missing_share distinct low high most_common"
    assert " ".join(rows.columns) == names
    by_name = {row["column"]: row for row in rows.to_dicts()}
    assert by_name["c"]["missing"] == 20
    assert by_name["c"]["missing_share"] == pytest.approx(1 / 3)
    assert by_name["c"]["most_common"] == "blue"  # a tie: the first in sorted order
    assert (by_name["day"]["low"], by_name["day"]["high"]) == ("2020-01-01", "2020-01-07")
    assert by_name["flat"]["most_common"] == "1"
    assert isinstance(Table(pd.DataFrame(columns), target="y").overview(), pd.DataFrame)


def test_shows_itself_as_text_and_escaped_html():
    frame = pd.DataFrame({"<b>": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]})
    table = Table(frame, target="y")
    assert repr(table).splitlines()[0] == "Table: 3 rows, 1 features, target 'y' (regression)"
    assert "&lt;b&gt;" in table._repr_html_()
    assert "<b>" not in table._repr_html_()


def test_column_by_name(make):
    table = Table(make({"rooms": [1.0, 2.0, 4.0]}))
    assert table.column("rooms").distinct == 3
    with pytest.raises(InputError, match="Did you mean 'rooms'"):
        table.column("room")


def test_names_that_are_numbers_become_text():
    table = Table(pd.DataFrame(np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 1.0]])), target="1")
    assert table.features == ("0",)


def test_objects_that_are_numbers_become_numbers():
    frame = pd.DataFrame({"a": pd.Series([1, 2.5, None], dtype=object), "y": [1.0, 2.0, 4.0]})
    table = Table(frame, target="y")
    assert table.X["a"].dtype == np.float64
