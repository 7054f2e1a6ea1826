"""Rows in order of time are noticed, at a stated rate of false alarms."""

import datetime as dt
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bottega.data import Table
from bottega.data._inspect.order import FALSE_ALARM, chance_of_order, count_runs, runs_test


def order_of(frame, **roles):
    table = Table(frame, target="y", **roles)
    return [f for f in table.warnings if f.code == "time_order"]


def economics(n=300, seed=0):
    """Return a table like ggplot2's economics: months in order, the target a random walk."""
    rng = np.random.default_rng(seed)
    days = [dt.date(1967 + i // 12, i % 12 + 1, 1) for i in range(n)]
    return {"date": days, "x": rng.normal(size=n), "y": np.cumsum(rng.normal(size=n))}


def test_a_date_that_sorts_the_rows(make):
    columns = economics()
    (finding,) = order_of(make(columns))
    assert finding.column == "date"
    assert "time='date'" in finding.message
    assert "neighbouring rows are alike in 'y'" in finding.message
    backwards = {name: list(reversed(list(values))) for name, values in columns.items()}
    assert order_of(make(backwards))[0].column == "date"
    noise = columns | {"y": np.random.default_rng(1).normal(size=300)}
    (finding,) = order_of(make(noise))
    assert "neighbouring" not in finding.message


def test_a_number_named_like_a_time():
    columns = economics(60)
    frame = pd.DataFrame({"Year": np.arange(60.0) + 1950, "x": columns["x"], "y": columns["x"]})
    frame["y"] = np.random.default_rng(3).normal(size=60)
    assert order_of(frame)[0].column == "Year"
    assert not order_of(frame.rename(columns={"Year": "dose"}))


def test_serial_correlation_alone(make):
    columns = economics()
    del columns["date"]
    (finding,) = order_of(make(columns))
    assert finding.column is None
    assert "fewer than one table of 1,000" in finding.message
    assert "give time='COLUMN' if they are in order of time" in finding.message
    columns["t"] = np.arange(300)  # a key, were it not for the order
    (finding,) = order_of(make(columns))
    assert finding.column == "t"
    assert "time='t'" in finding.message


def test_nothing_to_say():
    frame = pd.DataFrame(economics())
    mixed = frame.sample(frac=1.0, random_state=0)
    assert not order_of(mixed)
    assert not order_of(frame, time="date")
    assert not order_of(frame, group=np.arange(300) // 10)
    assert not order_of(frame.drop(columns="date").sort_values("y"))  # sorted by the target itself
    few = frame.iloc[:9]
    assert not order_of(few)


def test_classes_in_blocks():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "y": np.repeat(list("abab"), 50)})
    assert order_of(frame)
    frame["y"] = np.repeat(list("aabb"), 50)
    assert not order_of(frame)  # sorted by class, as iris is
    frame["y"] = np.repeat(list("abcacbabcb"), 20)
    assert order_of(frame)
    frame["y"] = rng.choice(list("abc"), size=200)
    assert not order_of(frame)


def test_rows_sorted_by_a_feature_are_alike_for_that_reason():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(size=200))
    spray = np.repeat(list("abcdef"), [40, 30, 30, 40, 30, 30])
    y = np.sin(6 * x) + (spray > "c") + 0.1 * rng.normal(size=200)
    assert not order_of(pd.DataFrame({"x": x, "spray": spray, "y": y}))
    hidden = y + np.cumsum(rng.normal(size=200)) / 5
    assert order_of(pd.DataFrame({"x": x, "spray": spray, "y": hidden}))


def test_only_the_first_rows_of_many_are_looked_at():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50_000, 5)), columns=list("abcdy"))
    assert not order_of(frame)
    assert order_of(frame.assign(y=np.cumsum(frame["y"])))


def test_too_many_features_to_say():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 30)))
    frame["y"] = np.cumsum(rng.normal(size=60))
    assert not order_of(frame)


@pytest.mark.parametrize("draw", ["normal", "count", "rare", "classes"])
def test_false_alarms_are_as_rare_as_stated(draw):
    """At 1 % (for the count of alarms to mean something), of 2,000 tables of no order.

    More alarms than the bound come in one run of 10,000 if the rate is exactly 1 %, and the test
    is discrete, so it is less.
    """
    rng = np.random.default_rng(0)
    make, classes = {
        "normal": (lambda: rng.normal(size=60), None),
        "count": (lambda: rng.poisson(0.7, size=60).astype(float), None),
        "rare": (lambda: rng.permutation(np.arange(60) < 4), np.array([False, True])),
        "classes": (lambda: rng.integers(0, 4, size=60), np.arange(4)),
    }[draw]
    alarms = 0
    for _ in range(2000):
        basis = np.column_stack(
            [np.ones(60), rng.normal(size=60), rng.integers(0, 2, size=(60, 3))]
        )
        alarms += chance_of_order(make(), classes, basis) < 0.01
    assert alarms <= binom.ppf(1 - 1e-4, 2000, 0.01)
    assert FALSE_ALARM == 0.001


def test_the_distribution_of_runs_is_exact():
    """All 70 orders of four marked rows among eight, against the stated probability."""
    orders = [np.isin(np.arange(8), chosen) for chosen in combinations(range(8), 4)]
    runs = np.array([count_runs(mark) for mark in orders])
    for mark, own in zip(orders, runs, strict=True):
        assert runs_test(mark.astype(float)) == pytest.approx(np.mean(runs <= own), rel=1e-12)
