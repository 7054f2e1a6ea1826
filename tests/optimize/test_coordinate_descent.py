"""Coordinate descent: one entry at a time, never up, and the lasso's zeros."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import ParameterError
from bottega.optimize import coordinate_descent


def valley(x):
    return x[0] ** 2 + x[1] ** 2 + 1.2 * x[0] * x[1] - x[0]


def test_each_step_is_the_minimum_over_one_entry():
    found = coordinate_descent(valley, [3.0, 2.0])
    points = found.trace.points
    moves = np.diff(points, axis=0)
    assert np.all(moves[0::2, 1] == 0)
    assert np.all(moves[1::2, 0] == 0)
    # x0 = (1 - 1.2 x1) / 2, then x1 = -0.6 x0: by hand; values of f tell x to about 1e-8.
    assert points[1, 0] == pytest.approx((1 - 1.2 * 2) / 2, abs=1e-7)
    assert points[2, 1] == pytest.approx(-0.6 * points[1, 0], abs=1e-7)
    assert np.all(np.diff(found.trace.values) <= 0)
    best = np.linalg.solve([[2, 1.2], [1.2, 2]], [1, 0])
    assert found.converged
    assert found.x == pytest.approx(best, abs=1e-5)


def test_lasso():
    from sklearn.linear_model import Lasso

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = X @ [2.0, 0.0, -1.0, 0.0] + 0.1 * rng.normal(size=40)
    found = coordinate_descent(
        lambda b: float(np.sum((y - X @ b) ** 2) / 80 + 0.3 * np.sum(np.abs(b))), np.zeros(4)
    )
    theirs = Lasso(alpha=0.3, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    assert found.x == pytest.approx(theirs, abs=1e-5)
    assert np.sum(np.abs(found.x) < 1e-8) == 2


def test_a_corner_may_hold_it():
    """max(x, y) + ... is not a sum of functions of one entry: stopping there is documented."""
    found = coordinate_descent(lambda x: abs(x[0] - x[1]) + 0.1 * (x[0] + x[1]) ** 2, [1.0, 1.0])
    assert found.x == pytest.approx([1.0, 1.0])


def test_random_order_is_reproducible():
    runs = [
        coordinate_descent(
            lambda x: float((x - 1) @ (x - 1)), np.zeros(5), order="random", random_state=s
        )
        for s in (3, 3, 4)
    ]
    assert np.array_equal(runs[0].trace.points, runs[1].trace.points)
    assert not np.array_equal(runs[0].trace.points, runs[2].trace.points)
    assert runs[2].x == pytest.approx(np.ones(5), abs=1e-6)


@pytest.mark.parametrize("unit", [1e100, 1e-100])
def test_units_do_not_matter(unit):
    best = np.linalg.solve([[2, 1.2], [1.2, 2]], [1, 0])
    tall = coordinate_descent(lambda x: unit * valley(x), [3.0, 2.0])
    wide = coordinate_descent(lambda x: valley(x / unit), np.array([3.0, 2.0]) * unit)
    assert tall.x == pytest.approx(best, abs=1e-5)
    assert wide.x / unit == pytest.approx(best, abs=1e-5)


def test_starting_at_the_minimum_and_without_one():
    assert coordinate_descent(lambda x: float(x @ x), [0.0, 0.0]).converged
    with pytest.warns(ConvergenceWarning, match="no minimum"):
        found = coordinate_descent(lambda x: x[0] - x[1] ** 2, [0.5, 0.5])
    assert found.verdict == "unbounded"
    assert np.all(np.isfinite(found.x))


def test_bad_parameters():
    with pytest.raises(ParameterError, match="order='greedy'"):
        coordinate_descent(valley, [0.0, 0.0], order="greedy")
    with pytest.raises(ParameterError, match="max_iter"):
        coordinate_descent(valley, [0.0, 0.0], max_iter=0)
