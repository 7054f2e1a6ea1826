"""Data that cannot be used: one sentence each, saying what, where and what to do."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bottega.core.errors import InputError
from bottega.data import Table, read

Y = [1.0, 2.0, 3.0, 5.0]
X = [1.0, 2.0, 4.0, 3.0]


def refused(pattern, frame, **options):
    with pytest.raises(InputError, match=pattern) as caught:
        Table(frame, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".") or message.endswith("?")
    return message


def noted(table, code):
    (finding,) = [f for f in table.warnings if f.code == code]
    return finding.message


def test_target_that_is_no_column(make):
    refused("no column 'pirce' .* Did you mean 'price'", make({"price": Y}), target="pirce")


@pytest.mark.parametrize("role", ["weight", "group", "time"])
def test_role_that_is_no_column(make, role):
    frame = make({"rooms": X, "price": Y})
    refused(f"no column 'room' to use as {role}", frame, target="price", **{role: "room"})


def test_ignored_name_that_is_no_column(make):
    refused("'xx' to use as ignore", make({"x": X, "y": Y}), target="y", ignore=["xx"])


def test_one_column_in_two_roles(make):
    refused("both target and weight", make({"x": X, "y": Y}), target="y", weight="y")


@pytest.mark.parametrize("values", [[2.0] * 4, ["a"] * 4, [True] * 4, ["a", None, "a", None]])
def test_target_with_one_value(make, values):
    refused("Target 'y' has one value only", make({"x": X, "y": values}), target="y")


def test_target_without_values(make):
    frame = make({"x": X, "y": [None, float("nan"), None, None]})
    refused("Target 'y' has no value at all", frame, target="y")


@pytest.mark.parametrize("values", [[None] * 4, [float("nan")] * 4])
def test_column_missing_in_every_row(make, values):
    frame = make({"x": X, "gone": values, "y": Y})
    table = Table(frame, target="y")
    assert noted(table, "empty") == "Column 'gone' is missing in every row and is left out."
    assert table.features == ("x",)
    assert table.column("gone").role == "ignore"
    refused("'gone' is missing in every row", frame, target="y", time="gone")
    refused("No column is left to learn from", make({"gone": values, "y": Y}), target="y")


def test_infinite_values(make):
    frame = make({"x": [1.0, float("inf"), 2.0, float("-inf")], "y": Y})
    table = Table(frame, target="y")
    assert noted(table, "infinite") == "Column 'x' holds 2 infinite values, taken as missing."
    assert (table.column("x").missing, table.column("x").distinct) == (2, 2)
    message = refused("'x' holds 2 infinite values, first in row 2", frame, target="x")
    assert "replace them by numbers or by missing values" in message
    refused(
        "'y' holds 1 infinite value,",
        make({"x": X, "y": [1.0, 2.0, 3.0, float("inf")]}),
        target="y",
    )


def test_duplicate_names():
    twice = "column name 'x' stands 2 times"
    frame = pd.DataFrame([[1, 2, 3], [2, 3, 4]], columns=["x", "y", "x"])
    refused(twice, frame, target="y")
    with pytest.raises(InputError, match=twice):
        read(frame, target="y")
    refused(twice, pa.table([pa.array(X), pa.array(Y), pa.array(X)], ["x", "y", "x"]), target="y")
    refused("'1' stands 2 times", pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_numbers_and_text_in_one_column(make):
    frame = make({"x": ["1", "2.5", "abc", "3"], "z": X, "y": Y})
    table = Table(frame, target="y")
    assert table.kinds["x"] == "category"
    assert "mixes numbers and 1 word such as 'abc'" in noted(table, "mixed")
    assert Table(frame, target="y", kinds={"x": "category"}).column("x").distinct == 4
    assert Table(frame, target="y", ignore=["x"]).features == ("z",)
    refused("1 of its values are not a number, first 'abc'", frame, kinds={"x": "number"})


def test_numbers_and_text_in_the_target(make):
    frame = make({"z": X, "y": ["1", "2.5", "abc", "3"]})
    message = refused("1 of its 4 values is not a number, first 'abc' in row 3", frame, target="y")
    assert "kinds={'y': 'category'}" in message
    assert Table(frame, target="y", kinds={"y": "category"}).task == "classification"


def test_half_numbers_are_a_category(make):
    frame = make({"x": ["1", "b", "2", "d"], "y": Y})
    assert Table(frame, target="y").kinds == {"x": "category"}


def test_several_python_types_in_one_column():
    frame = pd.DataFrame({"x": pd.Series([1, 2.5, "abc", None], dtype=object), "y": Y})
    table = Table(frame, target="y")
    assert table.kinds == {"x": "category"}
    assert "'abc'" in noted(table, "mixed")
    assert Table(frame, target="y", kinds={"x": "category"}).X["x"].tolist()[:3] == [
        "1",
        "2.5",
        "abc",
    ]


@pytest.mark.parametrize("values", [[[1], [2], [3], [4]], [dt.time(i) for i in range(4)]])
def test_values_no_method_can_use(values):
    frame = pd.DataFrame({"x": values, "z": X, "y": Y})
    table = Table(frame, target="y")
    assert table.features == ("z",)
    assert "Column 'x' holds values of a type that no method can use" in noted(table, "unusable")
    refused("Column 'x' holds values of type", frame, target="x")


def test_too_many_categories(make):
    n = 400_000
    frame = make({"c": [f"c{i // 2}" for i in range(n)], "y": np.arange(n) % 97 + 0.5})
    refused(r"left out are 'c' \(category\)", frame, target="y")
    message = refused("200,000 levels", frame, target="y", kinds={"c": "category"})
    assert "ignore=['c']" in message
    few = make({"c": [f"c{i // 2}" for i in range(3000)], "x": [1.0, 2, 4] * 1000, "y": Y * 750})
    assert "1,500 levels" in noted(Table(few, target="y"), "levels")


def test_too_many_classes(make):
    n = 4_000
    frame = make({"x": np.sin(np.arange(n)), "y": [f"c{i // 2}" for i in range(n)]})
    refused("Target 'y' has 2,000 classes", frame, target="y")


def test_target_with_a_different_text_in_each_row(make):
    frame = make({"x": np.sin(np.arange(30)), "y": [f"c{i}" for i in range(30)]})
    refused("a different value in each of the 30 rows", frame, target="y")


def test_no_rows(make):
    refused("no rows", make({"x": np.array([], dtype=float), "y": np.array([], float)}), target="y")


def test_no_usable_feature(make):
    refused("No column is left to learn from", make({"y": Y}), target="y")
    frame = make({"k": list(range(30)), "y": np.sin(np.arange(30))})
    refused(r"left out are 'k' \(id\)", frame, target="y")


@pytest.mark.parametrize(
    ("values", "kind", "pattern"),
    [
        (["1", "b", "c", "4"], "number", "2 of its values are not a number, first 'b' in row 2"),
        ([dt.date(2020, 1, i) for i in range(1, 5)], "number", "holds dates where numbers"),
        (["2020-01-01", "x", "y", "z"], "date", "3 of its values are not a date"),
        ([1.0, 2.0, 3.0, 4.0], "date", "holds number values where dates"),
        (["yes", "no", "maybe", "no"], "boolean", "1 of its values are not yes, no"),
        ([0, 1, 2, 1], "boolean", "only 0 and 1, but 1 values differ, first 2 in row 3"),
        ([0, 1, 2, 1], "nummber", "cannot be of kind 'nummber'. Did you mean 'number'"),
    ],
)
def test_impossible_kinds(make, values, kind, pattern):
    refused(pattern, make({"x": values, "y": Y}), target="y", kinds={"x": kind})


def test_kind_of_a_column_that_is_not_there(make):
    frame = make({"rooms": X, "y": Y})
    refused("'room' that is not there. Did you mean 'rooms'", frame, kinds={"room": "number"})


@pytest.mark.parametrize("values", [["a", "b", "a", "b"], [True, False, True, False]])
def test_regression_on_labels(make, values):
    refused("regression needs numbers", make({"x": X, "y": values}), target="y", task="regression")


def test_dates_and_text_as_target(make):
    frame = make({"x": X, "y": [dt.date(2020, 1, i) for i in range(1, 5)]})
    refused("'y' holds dates", frame, target="y")


def test_unknown_task(make):
    refused("task is 'regression' or", make({"x": X, "y": Y}), target="y", task="ranking")


@pytest.mark.parametrize("weights", [[1, -1, 1, 1], [1, None, 1, 1]])
def test_bad_weights(make, weights):
    refused("first in row 2", make({"x": X, "w": weights, "y": Y}), target="y", weight="w")


def test_weights_that_are_all_zero(make):
    refused("are zero", make({"x": X, "w": [0.0] * 4, "y": Y}), target="y", weight="w")


def test_gaps_in_groups_and_time(make):
    frame = make({"x": X, "g": ["a", "b", None, "a"], "t": [1, None, 3, 4], "y": Y})
    refused("group of each row, and 1 values are missing, first in row 3", frame, group="g")
    refused("time of each row, and 1 values are missing, first in row 2", frame, time="t")


@pytest.mark.parametrize("thing", [np.ones((3, 2)), {"x": [1]}, [1, 2], None])
def test_what_is_no_frame(thing):
    refused("A data frame .* is needed", thing)
