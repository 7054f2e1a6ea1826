"""The tensor product spline: least squares in products, its counts, leave-one-out, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline, NdBSpline

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.smooth import RegressionSpline, TensorSpline
from bottega.smooth import tensor_spline as module
from bottega.smooth._kernels.banded import sparse_quadratic


def surface(n=200, seed=0):
    """Rows in the unit square; its corners are there twice, so that no row alone sets the range."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    X[:8] = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 2, axis=0)
    y = np.sin(5 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, y, rng.uniform(0.5, 2, size=n)


def products(X, inside):
    """The design by scipy's B-splines, one product at a time."""
    factors = []
    for x, knots in zip(X.T, inside, strict=True):
        all_knots = np.concatenate([np.zeros(4), knots, np.ones(4)])
        factors.append(BSpline.design_matrix(x, all_knots, 3).toarray())
    first, second = factors
    return (first[:, :, None] * second[:, None, :]).reshape(len(X), -1)


@pytest.mark.parametrize("inside", [([], []), ([0.5], [0.3, 0.6]), ([0.2, 0.4, 0.6], [])])
def test_least_squares_in_products_of_b_splines(inside):
    X, y, weight = surface()
    model = TensorSpline(knots=list(inside)).fit(X, y, sample_weight=weight)
    A = products(X, inside)
    assert model.coef_.shape == tuple(len(each) + 4 for each in inside)  # (K1 + 4)(K2 + 4)
    assert model.df_ == pytest.approx(A.shape[1], abs=1e-9)
    root = np.sqrt(weight)
    coef = np.linalg.lstsq(root[:, None] * A, root * y, rcond=None)[0]
    # Normal equations: half the digits of the design's condition are lost.
    assert model.predict(X) == pytest.approx(A @ coef, abs=1e-8)
    assert model.coef_.ravel() == pytest.approx(coef, abs=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_refitting_without_the_row(alpha, weighted):
    X, y, weight = surface(100)
    weight = weight if weighted else None
    model = TensorSpline(knots=[[0.5], [0.4]], alpha=alpha).fit(X, y, sample_weight=weight)
    refitted = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        w = None if weight is None else weight[rest]
        left = TensorSpline(knots=[[0.5], [0.4]], alpha=alpha).fit(X[rest], y[rest], w)
        refitted.append(y[i] - left.predict(X[i : i + 1])[0])
    assert model.loo_residuals_ == pytest.approx(refitted, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 0.001])
def test_matrix_holds_the_whole_smoother(alpha):
    X, y, weight = surface()
    weight[11] = 0.0
    model = TensorSpline(2, alpha=alpha).fit(X, y, sample_weight=weight)
    S = model.matrix(X)
    assert S @ y == pytest.approx(model.predict(X), abs=1e-9)
    assert np.diagonal(S) == pytest.approx(model.leverage_, abs=1e-9)
    assert np.trace(S) == pytest.approx(model.df_, abs=1e-8)
    counted = weight > 0
    error = model.sigma_ * np.sqrt((S[:, counted] ** 2 / weight[counted]).sum(axis=1))
    assert model.predict(X, return_std=True)[1] == pytest.approx(error, rel=1e-7)


@pytest.mark.parametrize("n_knots", [0, 1, 2, 3])
def test_three_degrees_of_freedom_are_one_for_a_projection(n_knots):
    X, y, weight = surface(300)
    for w in (None, weight):
        model = TensorSpline(n_knots).fit(X, y, sample_weight=w)
        assert list(model.smoother_.df_definitions.values()) == pytest.approx(
            [(n_knots + 4) ** 2] * 3, abs=1e-8
        )


def test_penalised_degrees_of_freedom_go_from_products_of_lines_to_all():
    X, y, _ = surface(300)
    df = [TensorSpline(2, alpha=alpha).fit(X, y).df_ for alpha in (1e9, 1.0, 1e-2, 1e-12)]
    assert df[0] == pytest.approx(4, abs=1e-4)
    assert df[-1] == pytest.approx(36, abs=1e-4)
    assert np.all(np.diff(df) > 0)
    lines = np.column_stack([np.ones(300), X, X[:, 0] * X[:, 1]])
    flat = TensorSpline(2, alpha=1e9).fit(X, y)
    coef = np.linalg.lstsq(lines, y, rcond=None)[0]
    assert flat.predict(X) == pytest.approx(lines @ coef, abs=1e-5)  # 1 / alpha is left


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3), st.sampled_from([0.0, 1e-3, 1.0]))
def test_products_of_lines_are_reproduced(seed, n_knots, alpha):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(150, 2))
    a = rng.normal(size=4)
    y = a[0] + X @ a[1:3] + a[3] * X[:, 0] * X[:, 1]
    model = TensorSpline(n_knots, alpha=alpha).fit(X, y)
    new = rng.uniform(0.2, 0.8, size=(5, 2))
    expected = a[0] + new @ a[1:3] + a[3] * new[:, 0] * new[:, 1]
    assert model.predict(new) == pytest.approx(expected, abs=1e-6)


def test_one_input_is_the_regression_spline():
    X, y, weight = surface()
    one = X[:, :1]
    for n_knots in (0, 3):
        ours = TensorSpline(n_knots).fit(one, y, sample_weight=weight)
        theirs = RegressionSpline(n_knots).fit(one, y, sample_weight=weight)
        assert ours.predict(one) == pytest.approx(theirs.predict(one), abs=1e-9)
        assert ours.loo_ == pytest.approx(theirs.loo_, rel=1e-9)


def test_the_path_walks_knots_with_exact_errors():
    X, y, _ = surface(300)
    curve = TensorSpline().path(X, y)
    assert curve.values.tolist() == list(range(len(curve)))
    assert curve.df == pytest.approx((curve.values + 4.0) ** 2)
    for i in range(3):
        at = curve.at(i)
        assert curve.error[i] == pytest.approx(at.loo_, rel=1e-9)
        assert curve.criteria["gcv"][i] == pytest.approx(at.gcv_, rel=1e-9)


def test_a_penalty_is_picked_for_each_number_of_knots():
    X, y, _ = surface(300)
    least_squares = TensorSpline().path(X, y)
    penalised = TensorSpline(alpha="auto", select="min").path(X, y)
    # The penalties nearly include none, so the best of them is not worse.
    best = {int(v): e for v, e in zip(penalised.values, penalised.error, strict=True)}
    for value, error in zip(least_squares.values, least_squares.error, strict=True):
        assert best[int(value)] <= error * 1.01
    model = TensorSpline(3, alpha="auto", select="min").fit(X, y)
    assert model.alpha_ > 0
    assert 4 < model.df_ < 49


def test_the_kernel_is_a_quadratic_form():
    rng = np.random.default_rng(0)
    columns = np.sort(rng.permuted(np.tile(np.arange(7), (5, 1)), axis=1)[:, :3], axis=1)
    values, M = rng.normal(size=(5, 3)), rng.normal(size=(7, 7))
    B = np.zeros((5, 7))
    np.put_along_axis(B, columns, values, axis=1)
    expected = np.einsum("ij,jk,ik->i", B, M + M.T, B)
    assert sparse_quadratic(values, columns, M + M.T) == pytest.approx(expected, rel=1e-12)


def test_corners_without_rows_get_the_smoothest_solution():
    rng = np.random.default_rng(0)
    t = rng.uniform(size=300)
    X = np.column_stack([t, np.clip(t + 0.1 * rng.normal(size=300), 0, 1)])
    y = X.sum(axis=1)
    model = TensorSpline(6, knots="even").fit(X, y)
    assert model.df_ < 100  # rows determine only what lies near the diagonal
    assert model.predict(X) == pytest.approx(y, abs=1e-6)
    # Far from all rows: the plane goes on, as nothing speaks for a bend.
    assert model.predict([[0.9, 0.1]]) == pytest.approx([1.0], abs=1e-4)


def test_few_rows_lower_the_degree():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(20, 2)), rng.normal(size=20)
    assert TensorSpline(0).fit(X, y).degree_ == 2
    assert TensorSpline(0).fit(X[:10], y[:10]).degree_ == 1


@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_derivatives_are_those_of_the_b_splines(alpha):
    X, y, weight = surface()
    X = X * [2.0, 50.0] + [3.0, -10.0]
    inside = ([3.9, 4.4], [10.0])
    model = TensorSpline(knots=list(inside), alpha=alpha).fit(X, y, sample_weight=weight)
    ends = [(X[:, k].min(), X[:, k].max()) for k in range(2)]
    knots = tuple(
        np.concatenate([np.full(4, low), each, np.full(4, high)])
        for (low, high), each in zip(ends, inside, strict=True)
    )
    exact = NdBSpline(knots, model.coef_, 3)
    new = np.random.default_rng(1).uniform([3.1, -9.0], [4.9, 39.0], size=(30, 2))
    for orders in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1), (0, 3)):
        expected = exact(new, nu=orders)
        # The same polynomials, evaluated in another order.
        close = {"rel": 1e-8, "abs": 1e-9 * np.abs(expected).max()}
        assert model.predict(new, derivative=orders) == pytest.approx(expected, **close)
    slopes, std = model.predict(new, return_std=True, derivative=1)
    assert slopes == pytest.approx(np.column_stack([exact(new, nu=o) for o in ((1, 0), (0, 1))]))
    # Standard errors are linear in the rows of S: differences of those over a short step.
    for j, step in enumerate(1e-5 * np.array([2.0, 50.0])):
        move = step * np.eye(2)[j]
        rows = (model.matrix(new + move) - model.matrix(new - move)) / (2 * step)
        error = model.sigma_ * np.sqrt((rows**2 / weight).sum(axis=1))
        assert std[:, j] == pytest.approx(error, rel=1e-4)


def test_derivatives_beyond_the_range_are_those_of_the_tangent():
    X, y, _ = surface()
    model = TensorSpline(1).fit(X, y)
    at, beyond = np.array([[1.0, 0.4]]), np.array([[1.7, 0.4]])
    assert model.predict(beyond, derivative=(1, 0)) == pytest.approx(
        model.predict(at, derivative=(1, 0))
    )
    assert model.predict(beyond, derivative=(2, 0)) == pytest.approx([0.0])


def test_derivatives_that_there_are_not():
    X, y, _ = surface()
    model = TensorSpline(1, degree=2).fit(X, y)
    for wrong in (2, (1,), (1, -1), (0.5, 0), "x", (1, 0, 0)):
        with pytest.raises(InputError, match="use 0, 1 for all slopes, or 2 whole numbers"):
            model.predict(X, derivative=wrong)
    with pytest.raises(InputError, match="degree 2 have derivatives up to that order"):
        model.predict(X, derivative=(3, 0))
    wide = np.column_stack([X, np.ones(len(X))])
    still = TensorSpline(1).fit(wide, y)
    assert still.predict(wide, derivative=1)[:, 2].tolist() == [0.0] * len(X)
    assert still.predict(wide, derivative=(0, 0, 1)).tolist() == [0.0] * len(X)
    one = TensorSpline(1).fit(X[:, :1], y)
    assert one.predict(X[:, :1], derivative=2).shape == (len(X),)


def test_three_inputs_and_the_cost_is_said(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = X.prod(axis=1)
    model = TensorSpline(0).fit(X, y)
    assert model.df_ == pytest.approx(64)
    assert model.predict(X) == pytest.approx(y, abs=1e-8)
    monkeypatch.setattr(module, "_SLOW_SIZE", 50)
    with pytest.warns(DataWarning, match="4 x 4 x 4 = 64 coefficients"):
        TensorSpline(0).fit(X, y)
    with pytest.raises(InputError, match="too many for a dense decomposition"):
        TensorSpline(30).fit(X, y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((6, 2)), "All 6 rows have the same inputs"),
        (np.arange(40.0)[:, None] * [1.0, 2.0], "line or curve"),
        (np.array([[0.0, np.nan], [1.0, 3.0], [1.0, 2.0]]), "NaN"),
        (np.ones((9, 4)), "X has 4 columns"),
    ],
)
def test_bad_points_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        TensorSpline().fit(X, np.arange(float(len(X))))


def test_bad_knots_are_refused():
    X, y, _ = surface()
    with pytest.raises(InputError, match="lies outside the data"):
        TensorSpline(knots=[[0.5], [3.0]]).fit(X, y)
    with pytest.raises(InputError, match="each of 2 inputs"):
        TensorSpline(knots=[[0.5]]).fit(X, y)
    with pytest.raises(ParameterError, match="both given"):
        TensorSpline(2, knots=[[0.5], [0.5]]).fit(X, y)
    with pytest.raises(ParameterError, match="alpha=-1"):
        TensorSpline(alpha=-1).fit(X, y)
    with pytest.raises(ParameterError, match="knots='odd'"):
        TensorSpline(2, knots="odd").fit(X, y)
    with pytest.raises(ParameterError, match="for a single fit"):
        TensorSpline(knots=[np.array([0.5]), np.array([0.5])]).path(X, y)
    with pytest.raises(InputError, match="n_knots=-2 is not allowed"):
        TensorSpline().path(X, y, values=[1, -2])


def test_duplicated_inputs_coincide_in_quantile_knots():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, size=200), rng.uniform(size=200)]).astype(float)
    model = TensorSpline(8).fit(X, rng.normal(size=200))
    assert len(model.knots_[0]) < 8
    assert np.all(np.diff(model.knots_[0]) > 0)
    assert len(model.knots_[1]) == 8
