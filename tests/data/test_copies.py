"""Rows that are copies of others are told from rows that are equal by chance, and stay together."""

import numpy as np
import pandas as pd
import pytest

from bottega.data import Table, folds


def measured(n=300, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    if decimals is not None:
        frame = frame.round(decimals)
    frame["town"] = rng.choice(["Bern", "Rome", "Oslo"], n)
    frame["y"] = rng.choice(["p", "q"], n)
    return frame


def codes_of(table):
    return [each.code for each in table.warnings if each.code.startswith("copies")]


def held_apart(train, test, copies):
    return not set(copies[train]) & set(copies[test])


def test_copies_are_found_in_any_library(make):
    frame = measured()
    rows = np.concatenate([np.arange(300), np.arange(300), np.arange(20)])
    given = {name: frame[name].to_numpy()[rows].tolist() for name in frame}
    table = Table(make(given), target="y")
    _, place = np.unique(table.copies, return_inverse=True)
    np.testing.assert_array_equal(place, rows)
    assert codes_of(table) == ["copies"]
    (message,) = [each.message for each in table.warnings if each.code == "copies"]
    assert message.startswith("320 of 620 rows are copies of others")


def test_missing_equals_missing_and_minus_zero_zero():
    frame = measured()
    frame.loc[:4, "a"], frame.loc[:4, "town"] = np.nan, None
    frame.loc[5, "b"] = 0.0
    again = frame.iloc[:6].copy()
    again.loc[5, "b"] = -0.0
    table = Table(pd.concat([frame, again]), target="y")
    np.testing.assert_array_equal(table.copies[300:], np.arange(6))


def test_a_row_is_no_copy_of_one_with_another_target_or_another_input():
    frame = measured()
    other = frame.iloc[:50].copy()
    other["y"] = np.where(other["y"] == "p", "q", "p")
    assert Table(pd.concat([frame, other]), target="y").copies is None
    moved = frame.iloc[:50].copy()
    moved["d"] += 1e-9
    assert Table(pd.concat([frame, moved]), target="y").copies is None


def test_a_column_that_is_left_out_does_not_tell_rows_apart():
    frame = pd.concat([measured(), measured()]).assign(key=[f"row {i}" for i in range(600)])
    table = Table(frame, target="y")
    assert np.unique(table.copies).size == 300
    assert Table(frame.assign(u=np.arange(600.0)[::-1] ** 0.5), target="y").copies is None


def test_a_row_that_was_copied_with_its_day_is_a_copy():
    days = pd.date_range("2024-01-01", periods=600).strftime("%Y-%m-%d")
    frame = pd.concat([measured(), measured()]).assign(entered=days)
    table = Table(frame, target="y")
    np.testing.assert_array_equal(table.copies[300:], np.arange(300))
    (message,) = [each.message for each in table.warnings if each.code == "copies"]
    assert "equal in every input but 'entered' and in the target" in message
    once = frame.assign(entered=np.tile(days[:300], 2))
    (message,) = [e.message for e in Table(once, target="y").warnings if e.code == "copies"]
    assert "equal in every input and in the target" in message
    # Rows of few categories have nothing but their day to tell them apart.
    few = frame[["entered", "town", "y"]]
    assert Table(few, target="y").copies is None
    assert Table(pd.concat([few, few]), target="y").copies is not None


def test_rows_that_are_equal_by_nature_are_no_copies():
    rng = np.random.default_rng(0)
    few = pd.DataFrame({name: rng.choice(list("uvw"), 900) for name in "abc"})
    few["y"] = rng.choice(["p", "q"], 900)
    people = few.assign(age=rng.integers(18, 90, 900))
    assert people.duplicated().any()
    assert few.duplicated().any()
    for frame in (few, people, people.assign(birth=2020 - people["age"])):
        assert Table(frame, target="y").copies is None
    assert Table(pd.concat([few, few]), target="y").copies is None  # nothing could tell


@pytest.mark.parametrize("alike", [0.0, 0.9, 0.97])
def test_rounded_numbers_seldom_make_a_false_alarm(alike):
    n, alarms, equal = 800, 0, 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = np.sqrt(alike) * rng.normal(size=(n, 1)) + np.sqrt(1 - alike) * rng.normal(size=(n, 4))
        frame = pd.DataFrame(X.round(1 if alike else 0), columns=list("abcd"))
        frame["y"] = np.where(X.sum(axis=1) + rng.normal(size=n) > 0, "p", "q")
        equal += frame.duplicated().any()
        frame["d"] *= 30 if alike == 0 else 1  # as many values as other inputs
        alarms += Table(frame, target="y").copies is not None
    assert equal >= 20
    assert alarms <= 3


def test_copies_of_rounded_numbers_are_found():
    frame = measured(decimals=1)
    assert Table(frame, target="y").copies is None
    table = Table(pd.concat([frame, frame]), target="y")
    assert np.unique(table.copies).size <= 300


def test_parts_and_folds_keep_copies_together():
    frame = pd.concat([measured()] * 3).sample(frac=1, random_state=1)
    table = Table(frame, target="y")
    for train, test in folds(table, 5):
        assert held_apart(train, test, table.copies)
        assert 150 <= len(test) <= 210
    assert not any(held_apart(*fold, table.copies) for fold in folds(table, 5, group=False))
    split = table.split()
    parts = [split.train, split.validation, split.test.open(ledger=False)]
    sizes = [part.n_rows for part in parts]
    np.testing.assert_allclose(sizes, [450, 225, 225], atol=6)
    assert sum(np.unique(part.copies).size for part in parts) == 300


def test_a_small_class_of_copies_is_in_the_training_part():
    rare = measured(300)
    rare.loc[rare.index[-1], "y"] = "rare"
    frame = pd.concat([rare, rare])
    for seed in range(8):
        table = Table(frame, target="y").split(random_state=seed).train
        assert "rare" in table.y


def test_units_are_copies_where_they_are_many():
    frame = measured()
    assert Table(pd.concat([frame, frame.iloc[:3]]), target="y").units is None
    many = Table(pd.concat([frame, frame.iloc[:30]]), target="y")
    np.testing.assert_array_equal(many.units, many.copies)
    assert Table(frame, target="y").units is None


def test_groups_and_times_come_first_and_copies_that_they_divide_are_told():
    frame = pd.concat([measured(), measured()], ignore_index=True)
    together = frame.assign(who=np.arange(600) % 300 // 3)
    table = Table(together, target="y", group="who")
    assert codes_of(table) == []
    np.testing.assert_array_equal(table.units, table.groups)
    apart = frame.assign(who=np.arange(600) // 3)
    assert codes_of(Table(apart, target="y", group="who")) == ["copies_apart"]
    later = Table(frame.assign(day=np.arange(600)), target="y", time="day")
    assert codes_of(later) == ["copies_apart"]
    assert later.units is None
    message = next(each.message for each in later.warnings if each.code == "copies_apart")
    assert "follow the time" in message
