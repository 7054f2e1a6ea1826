"""Dates become parts, and every method works with a date among numbers."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core import BaselineRegressor
from bottega.core.errors import ParameterError
from bottega.data import Encoder, Table, chunks, prepare
from bottega.data._encode.dates import date_parts
from bottega.ensemble import RandomForestRegressor
from bottega.linear import Ridge
from bottega.neighbors import NearestNeighborsRegressor
from bottega.tree import TreeRegressor


@settings(max_examples=200, deadline=None)
@given(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59)))
def test_parts_are_those_of_the_calendar(moment):
    moment = moment.replace(microsecond=0)
    days = (moment - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)
    found = date_parts(np.array([days, np.nan]))
    expected = [days, moment.year, moment.month, moment.weekday(), moment.hour]
    np.testing.assert_array_equal(found[0], expected)
    assert np.isnan(found[1]).all()


def test_parts_that_vary(make):
    days = [dt.date(2020, 1, 31), dt.date(2021, 3, 1), None, dt.date(2021, 1, 31)]
    frame = make({"d": days, "x": [1.0, 2.0, 3.0, 4.0]})
    encoder = Encoder(standardize=False, dates="parts").fit(frame)
    names = ["d", "d (year)", "d (month)", "d (weekday)", "x", "d is missing"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.date_parts_ == {"d": ["day", "year", "month", "weekday"]}
    found = encoder.transform(frame)
    np.testing.assert_array_equal(found[0], [18292, 2020, 1, 4, 1, 0])
    np.testing.assert_array_equal(found[2], [18658, 2021, 1, 4, 3, 1])  # the medians
    one_year = make({"d": days[1:], "x": [2.0, 3.0, 4.0]})
    assert "year" not in Encoder(dates="parts").fit(one_year).date_parts_["d"]


def test_standardised_parts(make):
    rng = np.random.default_rng(0)
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=int(h)) for h in rng.integers(0, 9999, 50)]
    found = Encoder(dates="parts").fit_transform(make({"d": days}))
    assert found.shape == (50, 5)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-12)


def test_a_name_that_is_taken(make):
    frame = make({"d": [dt.date(2020, 1, 1), dt.date(2021, 1, 1)], "d (year)": [1.0, 2.0]})
    names = Encoder(dates="parts").fit(frame).get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    kept = Encoder(dates="parts", keep_categories=True).fit_transform(frame)
    assert list(getattr(kept, "column_names", None) or kept.columns) == names


def test_in_chunks_as_together():
    days = pd.date_range("2020-01-01", periods=90, freq="D")
    frame = pd.DataFrame({"d": days, "x": np.arange(90.0) % 7, "y": np.sin(np.arange(90.0))})
    encoder = Encoder(dates="parts", standardize=False)
    parts = chunks(frame, target="y", rows=20, encoder=encoder)
    found = np.concatenate([X.to_numpy() for X, _ in parts])
    np.testing.assert_array_equal(found, encoder.fit_transform(frame[["d", "x"]]))


def test_bad_parameter(make):
    with pytest.raises(ParameterError, match="dates is 'days' or 'parts', not 'months'"):
        Encoder(dates="months").fit(make({"x": [1.0, 2.0]}))


@pytest.fixture
def columns():
    rng = np.random.default_rng(0)
    days = [dt.date(2019, 1, 1) + dt.timedelta(days=int(i)) for i in rng.integers(0, 900, 80)]
    return {
        "when": days,
        "town": rng.choice(["Pisa", "Lucca"], 80).tolist(),
        "x": rng.normal(size=80).tolist(),
        "y": [float(day.month in (6, 7, 8)) + 0.1 * rng.normal() for day in days],
    }


@pytest.mark.parametrize(
    "model",
    [
        BaselineRegressor(),
        Ridge(alpha=1.0),
        NearestNeighborsRegressor(n_neighbors=3),
        TreeRegressor(),
        RandomForestRegressor(n_estimators=20, random_state=0),
    ],
)
def test_every_method_works_with_a_date_among_numbers(make, columns, model):
    columns["x"][5] = None
    table = Table(make(columns), target="y")
    assert [f.column for f in table.warnings if f.code == "date"] == ["when"]
    fitted = prepare(model, table).fit(table.X, table.y)
    found = fitted.predict(table.X)
    assert np.isfinite(found).all()
    if isinstance(model, TreeRegressor | RandomForestRegressor):
        assert np.corrcoef(found, table.y)[0, 1] > 0.9  # the month tells the summer
    shuffled = {"extra": [1.0] * 80} | {name: columns[name] for name in reversed(columns)}
    np.testing.assert_allclose(fitted.predict(make(shuffled)), found, rtol=1e-12)


def test_dates_as_text_are_dates(make, columns):
    columns["when"] = [str(day) for day in columns["when"]]
    table = Table(make(columns), target="y")
    assert table.kinds["when"] == "date"
    fitted = prepare(Ridge(alpha=1.0), table).fit(table.X, table.y)
    np.testing.assert_array_equal(fitted.predict(make(columns)), fitted.predict(table.X))


def test_one_note_on_all_dates(make, columns):
    columns["other"] = list(reversed(columns["when"]))
    (finding,) = [f for f in Table(make(columns), target="y").warnings if f.code == "date"]
    assert finding.column is None
    assert finding.message.startswith("Columns 'when', 'other' hold dates, from which")


def test_what_only_looks_like_a_date_is_a_label(make):
    frame = make({"d": ["2020-0x-01", "2020-01-01", "2020-0x-01"], "y": [1.0, 2.0, 4.0]})
    assert Table(frame, target="y").kinds == {"d": "category"}


def test_categories_are_kept_for_methods_that_take_them(columns):
    columns["town"][3] = None
    kept = Encoder(dates="parts", keep_categories=True).fit_transform(
        pl.DataFrame(columns).drop("y")
    )
    assert isinstance(kept, pl.DataFrame)
    assert kept["town"].to_list() == columns["town"]
    assert kept.columns == ["when", "when (year)", "when (month)", "when (weekday)", "town", "x"]
