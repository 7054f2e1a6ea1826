"""Interpolating splines: counts of the notes (D114, D115), ends, ties, scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

from bottega.core.errors import DataWarning, InputError
from bottega.smooth import InterpolatingSpline, SmoothingSpline

X = np.array([[0.0], [1.0], [2.5], [3.0], [4.2], [6.0]])
Y = np.array([1.0, 3.0, 2.0, 2.5, -1.0, 0.5])
GRID = np.linspace(-1, 7, 81)


def constraints(knots, degree):
    """Return the conditions on the coefficients of the pieces: values, then smooth joints."""
    K, k = len(knots), degree + 1
    powers = np.arange(k)
    rows = []

    def row(piece, at, derivative, sign=1.0):
        found = np.zeros((K - 1, k))
        factor = np.array([np.prod(np.arange(p - derivative + 1, p + 1.0)) for p in powers])
        found[piece] = sign * factor * (at - knots[piece]) ** np.maximum(powers - derivative, 0)
        return found

    for i in range(K):
        rows.append(row(min(i, K - 2), knots[i], 0))
    for i in range(1, K - 1):
        for derivative in range(degree):
            rows.append(row(i - 1, knots[i], derivative) + row(i, knots[i], derivative, -1.0))
    return np.array(rows).reshape(len(rows), -1)


@pytest.mark.parametrize("K", [3, 4, 6, 9])
def test_a_cubic_leaves_two_parameters_free(K):
    knots = np.linspace(0, 1, K) ** 1.3
    A = constraints(knots, 3)
    assert A.shape[1] == 4 * (K - 1)
    assert A.shape[0] == K + 3 * (K - 2)
    assert A.shape[1] - np.linalg.matrix_rank(A) == 2
    line = constraints(knots, 1)
    assert line.shape[1] - np.linalg.matrix_rank(line) == 0  # the polyline has no freedom left
    # The coefficients found meet all of them.
    y = np.sin(5 * knots)
    for kind in ("natural", "not-a-knot", "clamped"):
        model = InterpolatingSpline(kind).fit(knots[:, None], y)
        expected = np.concatenate([y, np.zeros(3 * (K - 2))])
        assert_allclose(A @ model.coef_.ravel(), expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["natural", "clamped", "not-a-knot"])
def test_equals_scipy_inside(kind):
    ends = ((1, 2.0), (1, -1.0)) if kind == "clamped" else kind
    peer = CubicSpline(X[:, 0], Y, bc_type=ends)
    model = InterpolatingSpline(kind, slopes=(2.0, -1.0)).fit(X, Y)
    inside = np.linspace(0, 6, 61)
    for derivative in (0, 1, 2, 3):
        assert_allclose(
            model.predict(inside[:, None], derivative=derivative),
            peer(inside, derivative),
            atol=1e-10,
        )
    assert model.integral(0.5, 5.5) == pytest.approx(peer.integrate(0.5, 5.5), rel=1e-12)
    assert model.integral(5.5, 0.5) == pytest.approx(-model.integral(0.5, 5.5), rel=1e-12)
    assert_allclose(model.predict(X), Y, atol=1e-12)


def test_natural_ends_are_straight_and_it_bends_least():
    model = InterpolatingSpline().fit(X, Y)
    assert_allclose(model.predict([[0.0], [6.0]], derivative=2), 0, atol=1e-12)
    for ends in ([6.0, 7.0, 8.0], [-3.0, -2.0, 0.0]):
        slope = np.diff(model.predict(np.array(ends)[:, None])) / np.diff(ends)
        assert slope[0] == pytest.approx(slope[1], rel=1e-10)
    # The limit of the smoothing spline.
    rough = SmoothingSpline(0.0).fit(X, Y)
    assert_allclose(rough.predict(GRID[:, None]), model.predict(GRID[:, None]), atol=1e-9)
    fine = np.linspace(0, 6, 60_001)

    def bending(kind):
        f2 = InterpolatingSpline(kind).fit(X, Y).predict(fine[:, None], derivative=2)
        return np.trapezoid(f2**2, fine)

    assert bending("natural") < min(bending("clamped"), bending("not-a-knot"))


def test_linear_is_the_polyline():
    model = InterpolatingSpline("linear").fit(X, Y)
    inside = np.linspace(0, 6, 50)
    assert_allclose(model.predict(inside[:, None]), np.interp(inside, X[:, 0], Y), atol=1e-12)
    assert model.predict([[7.0]])[0] == pytest.approx(0.5 + 1.5 / 1.8)


@given(st.permutations(range(6)))
@settings(max_examples=10, deadline=None)
def test_any_order_of_the_rows(order):
    order = list(order)
    found = InterpolatingSpline().fit(X[order], Y[order]).predict(GRID[:, None])
    assert_allclose(found, InterpolatingSpline().fit(X, Y).predict(GRID[:, None]), atol=1e-12)


def test_ties_must_agree():
    same = InterpolatingSpline().fit(np.vstack([X, X[2:3]]), np.append(Y, Y[2]))
    assert_allclose(same.predict(X), Y, atol=1e-12)
    with pytest.raises(InputError, match="1 values of x have more than one response"):
        InterpolatingSpline(ties="error").fit(np.vstack([X, X[2:3]]), np.append(Y, 9.0))
    with pytest.warns(DataWarning, match="their means are taken"):
        model = InterpolatingSpline().fit(np.vstack([X, X[2:3]]), np.append(Y, 9.0))
    assert model.predict(X[2:3])[0] == pytest.approx((Y[2] + 9) / 2)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="All 6 values of x are equal"):
        InterpolatingSpline().fit(np.ones((6, 1)), Y)
    with pytest.raises(InputError, match="slopes must be two finite numbers"):
        InterpolatingSpline("clamped", slopes=(1.0,)).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        InterpolatingSpline().fit(np.where(X == 1, np.nan, X), Y)
    with pytest.raises(InputError, match="takes one input"):
        InterpolatingSpline().fit(np.hstack([X, X]), Y)
    two = InterpolatingSpline().fit([[0.0], [1.0]], [0.0, 2.0])
    assert_allclose(two.predict([[0.5], [2.0]]), [1.0, 4.0])
