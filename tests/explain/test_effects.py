"""Effects: partial dependence against scikit-learn's, local effects against their definition."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression

from bottega.core.errors import InputError
from bottega.data import read
from bottega.ensemble import RandomForestRegressor
from bottega.explain import explain
from bottega.linear import LeastSquares


def test_partial_dependence_and_single_rows_are_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] ** 2 + X[:, 0] * X[:, 1]
    model = RandomForestRegressor(n_estimators=20).fit(X, y)
    found = explain([(model, X, y, None)]).effect("x0")
    theirs = partial_dependence(
        model, X, [0], kind="both", custom_values={0: found.values}, method="brute"
    )
    np.testing.assert_allclose(found.average, theirs["average"][0], rtol=1e-12)
    shown = np.linspace(0, 79, 30).round().astype(int)
    np.testing.assert_allclose(found.single, theirs["individual"][0][shown], rtol=1e-12)


def local_by_definition(function, X, j, grid):
    """Apley and Zhu's estimate, rows outside the grid in its outermost intervals."""
    bins = np.clip(np.searchsorted(grid, X[:, j]), 1, len(grid) - 1)
    change = [0.0]
    sizes = []
    for k in range(1, len(grid)):
        rows = X[bins == k]
        ends = []
        for z in (grid[k], grid[k - 1]):
            moved = rows.copy()
            moved[:, j] = z
            ends.append(function(moved))
        change.append(np.mean(ends[0] - ends[1]))
        sizes.append(len(rows))
    height = np.cumsum(change)
    return height - np.dot(sizes, (height[1:] + height[:-1]) / 2) / np.sum(sizes)


@pytest.mark.parametrize("n", [20, 240])
def test_local_effects_are_their_definition(known, n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    X = np.column_stack([x, x + 0.3 * rng.normal(size=n)])

    def function(A):
        return A[:, 0] ** 2 + A[:, 0] * A[:, 1] - A[:, 1]

    found = explain([(known.number(function), X, function(X), None)]).effect("x0")
    expected = local_by_definition(function, X, 0, found.values) + function(X).mean()
    np.testing.assert_allclose(found.local, expected, rtol=1e-10)


def test_a_linear_effect_is_its_slope_and_both_curves_agree(known):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    fits = [(known.number(lambda A: 3 * A[:, 0] - A[:, 1]), X, X[:, 0], None)]
    found = explain(fits).effect("x0")
    np.testing.assert_allclose(np.diff(found.local), 3 * np.diff(found.values))
    np.testing.assert_allclose(np.diff(found.average), 3 * np.diff(found.values))
    np.testing.assert_allclose(
        np.diff(found.single, axis=1), np.diff(found.average)[None].repeat(30, 0)
    )
    assert found.average == pytest.approx(3 * found.values - X[:, 1].mean())


def test_local_effects_keep_associated_inputs_apart_where_partial_dependence_does_not(known):
    """f = x1 x2 with x2 = x1: local effects of x1 are x1**2 / 2 (Apley and Zhu), a parabola, while
    partial dependence is a line of slope mean(x2).
    """
    x = np.linspace(-1, 1, 201)
    X = np.column_stack([x, x])
    fits = [(known.number(lambda A: A[:, 0] * A[:, 1]), X, x, None)]
    found = explain(fits).effect("x0")
    parabola = found.values**2 / 2
    # Rows lie in (z_k-1, z_k]: their mean is half a step of 0.01 above the middle, 2 times in all.
    shift = found.local - parabola
    assert np.ptp(shift) < 0.015
    assert np.ptp(found.average) < 1e-12


def test_of_many_rows_some_are_taken_and_both_curves_have_one_center(known):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=3000), rng.normal(size=3000)])
    fits = [(known.number(lambda A: A[:, 0] + 50 * A[:, 1]), X, X[:, 0], None)]
    found = explain(fits).effect("x0")
    assert found.values.min() > X[:, 0].min()  # the outermost hundredths are left out
    # The curves are of different rows: their means differ by what x0 adds, sd 1 / 250**0.5.
    np.testing.assert_allclose(found.local - found.average, 0, atol=0.3)


def test_each_row_is_predicted_by_the_model_of_its_fold(known):
    X = np.arange(20.0)[:, None]
    fits = [
        (known.number(lambda A: A[:, 0]), X[:10], X[:10, 0], None),
        (known.number(lambda A: A[:, 0] + 100), X[10:], X[10:, 0], None),
    ]
    found = explain(fits).effect("x0")
    np.testing.assert_allclose(found.by_fold, [found.values, found.values + 100])
    np.testing.assert_allclose(found.average, found.values + 50)
    np.testing.assert_allclose(np.diff(found.local), np.diff(found.values))


def test_levels_are_given_by_frequency_without_local_effects(mixed, fits_of):
    found = explain(fits_of(LeastSquares(), mixed)).effect("colour")
    assert found.kind == "category"
    assert found.values.tolist() == ["red", "green", "blue"]
    assert found.local is None
    red, green, blue = found.average
    assert red - green == pytest.approx(8, abs=0.6)
    assert green == pytest.approx(blue, abs=0.6)


def test_of_many_levels_the_most_frequent_are_given(known):
    levels = np.repeat([f"level {i:02}" for i in range(20)], np.arange(20, 0, -1))
    frame = pd.DataFrame({"a": levels})

    class Lengths(known.number):
        def predict(self, X):
            return X["a"].str[-2:].astype(float).to_numpy()

    found = explain([(Lengths(), frame, np.zeros(len(frame)), None)]).effect("a")
    assert found.values.tolist() == [f"level {i:02}" for i in range(12)]
    assert found.average.tolist() == list(range(12))
    assert found.left_out == 8
    assert "8 rarer levels" in str(found)


def test_dates_and_missing_values():
    days = pd.date_range("2024-01-01", periods=60, freq="D")
    frame = pd.DataFrame({"day": days, "x": np.where(np.arange(60) % 7, np.arange(60.0), np.nan)})

    class Since:
        def __sklearn_tags__(self):
            return LinearRegression().__sklearn_tags__()

        def predict(self, X):
            return (X["day"] - days[0]).dt.days.to_numpy() + np.nan_to_num(X["x"].to_numpy())

    found = explain([(Since(), frame, np.zeros(60), None)])
    effect = found.effect("day")
    assert effect.kind == "date"
    first = (dt.date(2024, 1, 1) - dt.date(1970, 1, 1)).days
    assert effect.values[0] >= first
    np.testing.assert_allclose(np.diff(effect.average), np.diff(effect.values))
    assert np.all(np.isfinite(found.effect("x").values))
    assert effect.plot().to_dict()["layer"][0]["encoding"]["x"]["type"] == "temporal"


def test_whole_numbers_stay_whole(mixed, fits_of):
    found = explain(fits_of(LeastSquares(), mixed)).effect("area")
    assert found.values.tolist() == [0, 1, 2, 3, 4]
    assert np.diff(found.average) == pytest.approx([2] * 4, abs=0.3)


def test_the_effect_on_a_class_is_on_its_probability():
    table = read("iris")
    X, y = np.asarray(table.X, dtype=float), np.asarray(table.y)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    for label in model.classes_:
        found = explain([(model, X, y, None)], label=label, target="species").effect("x2")
        theirs = partial_dependence(
            model,
            X,
            [2],
            custom_values={2: found.values},
            response_method="predict_proba",
            method="brute",
        )
        place = model.classes_.tolist().index(label)
        np.testing.assert_allclose(found.average, theirs["average"][place])
        assert found.outcome == f"probability of species = {label}"


def test_constant_and_empty_columns(known):
    frame = pd.DataFrame({"same": [2.0] * 12, "gone": [np.nan] * 12, "x": np.arange(12.0)})
    found = explain([(known.number(lambda A: A[:, 2]), frame, np.arange(12.0), None)])
    same = found.effect("same")
    assert same.values.tolist() == [2.0]
    assert same.local is None
    same.plot().to_dict()
    with pytest.raises(InputError, match="has no value"):
        found.effect("gone")
    with pytest.raises(InputError, match=r"no column 'sane'.*same"):
        found.effect("sane")


def test_the_leading_inputs_in_their_order(mixed, fits_of):
    found = explain(fits_of(LeastSquares(), mixed))
    assert list(found.effects)[:3] == ["size", "colour", "area"]
    assert len(found.effects) == 5
    frame = found.effects.to_frame()
    assert set(frame["column"]) == set(found.effects)
    assert found.effects["colour"].to_frame()["value"].tolist() == ["red", "green", "blue"]
