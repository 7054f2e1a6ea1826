"""The rule that gives each column its kind."""

import datetime as dt
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.data import Table
from bottega.data.columns import count, profile
from bottega.data.convert import as_frame


def kind_of(make, values, name="v"):
    return profile(as_frame(make({name: values}))[name]).kind


def words(i):
    return f"this is the remark of customer number {i}"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, 2.5, None] * 10, "number"),
        ([1, 2, 3] * 10, "number"),
        ([True, False, None] * 10, "boolean"),
        (["yes", "no", None] * 10, "boolean"),
        (["TRUE", "false"] * 10, "boolean"),
        (["yes", "false"] * 10, "category"),
        (["a", "b", None] * 10, "category"),
        ([dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 10, "date"),
        ([dt.datetime(2020, 1, 1, 3), None, dt.datetime(2021, 1, 1)] * 10, "date"),
        (["same"] * 30, "constant"),
        (["same", None] * 15, "constant"),
        ([7] * 30, "constant"),
        ([f"k{i}" for i in range(20)], "id"),
        ([f"k{i}" for i in range(19)], "category"),  # below 20 rows chance does it
        ([f"k{i}" for i in range(19)] + [None], "category"),
        (list(range(100, 130))[::-1], "id"),
        ([i * i for i in range(30)], "number"),  # distinct, but neither consecutive nor named id
        ([float(i) for i in range(30)], "number"),  # fractions are never ids
        ([words(i) for i in range(60)], "text"),
        ([words(i % 55) for i in range(60)], "text"),
        ([words(i) for i in range(20)], "text"),  # few sentences, too
        ([words(i % 19) for i in range(30)], "category"),  # 19 levels are a category
        ([words(i % 29) for i in range(60)], "category"),  # and so are those that come again
        ([f"Corso Roma {i}, Pisa" for i in range(40)], "id"),  # short, and all distinct
        ([f"Corso Roma {i % 39}, Pisa" for i in range(40)], "category"),
        (
            [str(uuid.UUID(int=i * 7919**9)) for i in range(1, 61)],
            "id",
        ),  # long and distinct, but no blanks
    ],
)
def test_kind(make, values, kind):
    assert kind_of(make, values) == kind


@pytest.mark.parametrize("name", ["id", "user_id", "userId", "ID", "customer id"])
def test_distinct_integers_named_id_are_ids(make, name):
    assert kind_of(make, [i * i for i in range(30)], name) == "id"


@pytest.mark.parametrize("name", ["width", "humidity", "acid", "idle"])
def test_id_inside_a_word_is_not_a_name_of_an_id(make, name):
    assert kind_of(make, [i * i for i in range(30)], name) == "number"


def test_pandas_objects_are_read_by_their_values():
    def kind(values):
        frame = pd.DataFrame({"v": pd.Series(values, dtype=object)})
        return profile(as_frame(frame)["v"]).kind

    assert kind([1, 2.5, None, 4]) == "number"
    assert kind([True, None, False]) == "boolean"
    assert kind([dt.date(2020, 1, 1), dt.date(2020, 1, 2)]) == "date"
    assert kind(["a", "b", None, "a"]) == "category"


def test_categorical_dtypes_are_categories():
    pandas = pd.DataFrame({"v": pd.Categorical(["a", "b", None])})
    polars = pl.DataFrame({"v": pl.Series(["a", "b", None], dtype=pl.Categorical)})
    for frame in (pandas, polars):
        assert profile(as_frame(frame)["v"]).kind == "category"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.just(float("nan")), st.integers(-3, 3).map(float)), min_size=1)
)
def test_missing_and_distinct_agree_in_all_libraries(values):
    present = [v for v in values if v is not None and v == v]
    expected = (len(values) - len(present), len(set(present)))
    polars = pl.DataFrame({"v": values}, schema={"v": pl.Float64}, strict=False)
    pandas = pd.DataFrame({"v": np.array([np.nan if v is None else v for v in values])})
    for frame in (polars, pandas, polars.to_arrow()):
        assert count(as_frame(frame)["v"]) == expected


def test_the_table_records_counts_and_roles(make):
    frame = make(
        {"a": [1.0, None, 3.0, 4.0], "c": ["x", "y", "x", None], "y": [1.0, 2.0, 3.0, 5.0]}
    )
    table = Table(frame, target="y", ignore=["c"])
    a, c, y = table.columns
    assert (a.missing, a.distinct, a.role) == (1, 3, "feature")
    assert (c.missing, c.distinct, c.role, c.kind) == (1, 2, "ignore", "category")
    assert (y.missing, y.distinct, y.role) == (0, 4, "target")
