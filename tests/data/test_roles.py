"""Roles by name or by values, and counts."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from bottega.core.errors import InputError
from bottega.data import Table, folds

COLUMNS = {"x": [1.0, 4.0, 2.0, 8.0], "y": [1.0, 3.0, 2.0, 5.0]}


def test_roles_as_values(make):
    table = Table(
        make(COLUMNS), target="y", weight=[1, 0, 2, 3], group=np.array(["a", "b", "a", "b"])
    )
    np.testing.assert_array_equal(table.weight, [1, 0, 2, 3])
    assert table.groups.tolist() == ["a", "b", "a", "b"]
    assert table.features == ("x",)
    part = table.take([3, 0])
    np.testing.assert_array_equal(part.weight, [3, 1])
    assert part.groups.tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("given", "days"),
    [
        (np.array(["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-04"], "M8[D]"), [2, 0, 1, 3]),
        (["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-04"], [2, 0, 1, 3]),
        ([dt.date(2020, 1, i) for i in (3, 1, 2, 4)], [2, 0, 1, 3]),
        ([3, 1, 2, 4], [2, 0, 1, 3]),
        (True, [0, 1, 2, 3]),
    ],
)
def test_time_as_values(make, given, days):
    table = Table(make(COLUMNS), target="y", time=given)
    np.testing.assert_array_equal(table.time - table.time.min(), days)
    assert table.features == ("x",)


def test_a_series_of_pandas(make):
    frame = make(COLUMNS)
    weight = pd.Series([1.0, 2.0, 3.0, 4.0], index=[9, 8, 7, 6], name="w")
    np.testing.assert_array_equal(Table(frame, target="y", weight=weight).weight, [1, 2, 3, 4])


def test_a_column_of_that_name_is_left_alone(make):
    frame = make(COLUMNS | {"time": [5.0, 7.0, 6.0, 1.0]})
    table = Table(frame, target="y", time=True)
    assert table.features == ("x", "time")
    np.testing.assert_array_equal(table.time, [0, 1, 2, 3])


def test_rows_without_a_target_go_from_the_roles_too(make):
    frame = make({"x": [1.0, 4.0, 2.0, 8.0], "y": [1.0, None, 2.0, 5.0]})
    np.testing.assert_array_equal(Table(frame, target="y", weight=[1, 2, 3, 4]).weight, [1, 3, 4])


def test_other_roles_for_the_same_rows(make):
    table = Table(make(COLUMNS), target="y", weight=[1, 2, 3, 4])
    other = table.aimed_at(weight=[4, 3, 2, 1], time=True)
    np.testing.assert_array_equal(other.weight, [4, 3, 2, 1])
    assert other.features == ("x",)
    assert other.aimed_at(target="x").features == ("y",)
    assert table.aimed_at() is table
    forced = Table(
        make({"x": [1.0, 4, 2, 8], "y": [0, 1, 2, 2]}), target="y", task="classification"
    )
    assert forced.aimed_at(time=True).task == "classification"


def test_folds_follow_values(make):
    table = Table(make(COLUMNS), target="y", time=[4, 3, 2, 1])
    assert [test.tolist() for _, test in folds(table, 2)] == [[1, 2], [0]]


@pytest.mark.parametrize("role", ["weight", "group", "time"])
@pytest.mark.parametrize("bad", [[1, 2], np.ones((4, 2)), 3, object()])
def test_values_of_the_wrong_shape(make, role, bad):
    with pytest.raises(InputError, match=f"{role} (has values of shape|is the name)"):
        Table(make(COLUMNS), target="y", **{role: bad})


def test_gaps_among_the_values(make):
    with pytest.raises(InputError, match="'group' gives the group of each row, and 1 values are"):
        Table(make(COLUMNS), target="y", group=["a", None, "a", "b"])
    with pytest.raises(InputError, match="negative or missing, first in row 1"):
        Table(make(COLUMNS), target="y", weight=[float("nan"), 1, 1, 1])


def test_counts(make):
    def table(y):
        return Table(make({"x": [1.0, 4.0, 2.0, 8.0], "y": y}), target="y")

    assert table([0, 3, 1, 7]).is_count
    assert [f.code for f in table([0, 3, 1, 7]).warnings].count("count") == 1
    assert table([5, 3, 1, 7]).is_count
    assert "count" not in [f.code for f in table([5, 3, 1, 7]).warnings]
    assert not table([0.5, 3, 1, 7]).is_count
    assert not table([-1, 3, 1, 7]).is_count
    assert not table(["a", "b", "a", "b"]).is_count
    assert not Table(make(COLUMNS)).is_count
