"""One row explained: against Shapley's definition over all subsets, exact for linear models."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, PoissonRegressor

from bottega.core.errors import InputError
from bottega.data import Table
from bottega.explain import explain
from bottega.linear import LeastSquares
from bottega.tree import TreeRegressor


def shapley(function, x, background):
    """Return Shapley values by definition, the other columns those of each row of a background."""
    p = len(x)
    found = np.zeros(p)

    def worth(inside):
        rows = background.copy()
        rows[:, list(inside)] = x[list(inside)]
        return function(rows).mean()

    for j in range(p):
        rest = [k for k in range(p) if k != j]
        for size in range(p):
            share = factorial(size) * factorial(p - size - 1) / factorial(p)
            for inside in combinations(rest, size):
                found[j] += share * (worth((*inside, j)) - worth(inside))
    return found


def by_column(found):
    return dict(zip(found.columns, found.contribution, strict=True))


def test_a_linear_model_is_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [2.0, -1.0, 0.0] + rng.normal(size=60)
    model = LinearRegression().fit(X, y)
    x = np.array([1.0, 2.0, 3.0])
    found = explain([(model, X, y, None)]).row(x)
    assert found.exact
    assert np.all(found.std_error == 0)
    expected = model.coef_ * (x - X.mean(axis=0))
    assert [by_column(found)[f"x{j}"] for j in range(3)] == pytest.approx(expected.tolist())
    assert found.prediction == pytest.approx(model.predict(x[None])[0])
    assert found.contribution.sum() == pytest.approx(found.prediction - found.average)
    assert np.all(np.diff(np.abs(found.contribution)) <= 0)


def test_two_columns_need_no_sampling_of_orders(known):
    """A pair of orders of two columns is all orders: Shapley's values over the 30 rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))

    def function(A):
        return A[:, 0] * A[:, 1] + A[:, 0]

    x = np.array([1.5, -0.5])
    found = explain([(known.number(function), X, X[:, 0], None)]).row(x)
    expected = shapley(function, x, X)
    assert [by_column(found)[f"x{j}"] for j in range(2)] == pytest.approx(expected.tolist())
    assert not found.exact


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_five_columns_agree_with_the_definition(known, seed):
    """Within 4.5 of its standard errors, which are small: false alarm below 1 in 10,000."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 5))

    def function(A):
        return A[:, 0] * A[:, 1] + np.abs(A[:, 2]) * A[:, 3] + np.maximum(A[:, 0], A[:, 2])

    x = rng.normal(size=5)
    found = explain([(known.number(function), X, X[:, 0], None)], random_state=seed).row(x)
    expected = dict(zip([f"x{j}" for j in range(5)], shapley(function, x, X), strict=True))
    for name, value, error in zip(found.columns, found.contribution, found.std_error, strict=True):
        assert abs(value - expected[name]) <= 4.5 * error + 1e-12
        assert error < 0.12
    assert by_column(found)["x4"] == 0  # it has no effect
    assert found.average == pytest.approx(function(X).mean())
    assert found.contribution.sum() == pytest.approx(found.prediction - found.average)


def test_columns_that_do_the_same_share_alike(known):
    X = np.random.default_rng(0).normal(size=(40, 1)).repeat(2, axis=1)
    found = explain([(known.number(lambda A: A[:, 0] * A[:, 1]), X, X[:, 0], None)]).row([2.0, 2.0])
    assert found.contribution[0] == pytest.approx(found.contribution[1])


def test_coefficients_behind_a_logarithm_are_not_taken_as_additive():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = rng.poisson(np.exp(X[:, 0] + 0.5 * X[:, 1]))
    model = PoissonRegressor(alpha=0).fit(X, y)
    found = explain([(model, X, y, None)]).row([2.0, 2.0, 0.0])
    assert not found.exact
    assert found.contribution.sum() == pytest.approx(found.prediction - found.average)


def test_a_class_is_explained_by_its_probability(known):
    X = np.random.default_rng(0).uniform(size=(100, 2))
    y = np.where(X[:, 0] > 0.5, "yes", "no")
    found = explain([(known.share(lambda A: A[:, 0] * A[:, 1]), X, y, None)]).row([1.0, 1.0])
    assert found.prediction == 1.0
    assert found.contribution.sum() == pytest.approx(1 - (X[:, 0] * X[:, 1]).mean())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_are_given_as_people_have_them(mixed, fits_of, library):
    frame = pl.from_pandas(mixed.frame) if library == "polars" else mixed.frame
    table = Table(frame, target="price")
    explanation = explain(fits_of(LeastSquares(), table))
    values = {"noise": 0.5, "colour": "red", "area": 3, "size": 12.0, "new": True, "other": 1}
    whole = pd.DataFrame([values])
    given = [values, pl.from_pandas(whole) if library == "polars" else whole, whole]
    found = [explanation.row(each) for each in given]
    for each in found:
        assert each.exact
        assert each.contribution.tolist() == pytest.approx(found[0].contribution.tolist())
    assert found[0].columns[0] in ("size", "colour")
    assert by_column(found[0])["area"] == pytest.approx(2 * (3 - 2), abs=0.4)
    assert "average" in str(found[0])
    held = explanation.row(0)
    assert held.contribution.sum() == pytest.approx(held.prediction - held.average)


def test_a_missing_value_and_a_new_level_are_explained_too(mixed, fits_of):
    fits = fits_of(TreeRegressor(), mixed)
    row = {"noise": 0.5, "colour": "violet", "area": 3, "size": None, "new": False}
    found = explain(fits).row(row)
    assert np.isfinite(found.prediction)
    assert found.contribution.sum() == pytest.approx(found.prediction - found.average)


def test_a_weighted_background_is_drawn_by_its_weights(known):
    X = np.array([[0.0], [10.0]])
    fits = [(known.number(lambda A: A[:, 0]), X, X[:, 0], np.array([1.0, 0.0]))]
    found = explain(fits).row([4.0])
    assert (found.average, found.contribution[0]) == (0.0, 4.0)


def test_the_model_of_all_rows_is_the_one_explained(known):
    X = np.arange(6.0)[:, None]
    fits = [(known.number(lambda A: A[:, 0]), X, X[:, 0], None)]
    whole = known.number(lambda A: 10 * A[:, 0])
    assert explain(fits, model=whole).row([1.0]).prediction == 10.0


def test_bad_rows_are_refused(mixed, fits_of, known):
    explanation = explain(fits_of(LeastSquares(), mixed))
    with pytest.raises(InputError, match=r"no column 'size'.*siz"):
        explanation.row({"siz": 1.0, "area": 1, "colour": "red", "new": True, "noise": 0.0})
    with pytest.raises(InputError, match="One row is explained at a time; got 2"):
        explanation.row(mixed.X.iloc[:2])
    with pytest.raises(InputError, match="no held-out row 999"):
        explanation.row(999)
    with pytest.raises(InputError, match="got str"):
        explanation.row("row")
    matrix = explain([(known.number(lambda A: A[:, 0]), np.zeros((3, 2)), [0.0] * 3, None)])
    with pytest.raises(InputError, match="One row of 2 numbers"):
        matrix.row([1.0, 2.0, 3.0])
