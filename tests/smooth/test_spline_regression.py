"""Regression splines and P-splines: least squares, counts, shape, leave-one-out, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.interpolate import make_lsq_spline

from bottega.basis import NaturalSpline, TruncatedPower
from bottega.basis.spline_functions import clamped_knots, design, difference_penalty
from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.core.smoother import f_test
from bottega.linear import LeastSquares
from bottega.smooth import PSpline, RegressionSpline, SmoothingSpline, significant_curvature


def noisy(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, size=n)
    return x[:, None], np.sin(x) + 0.3 * rng.normal(size=n)


NEW = np.array([[0.5], [2.0], [7.7], [9.5]])

# ---- regression splines (D116, D117) ------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scipy(degree, weighted):
    X, y = noisy(150)
    w = np.random.default_rng(1).uniform(0.3, 2, size=150) if weighted else np.ones(150)
    model = RegressionSpline(5, degree=degree).fit(X, y, sample_weight=w)
    order = np.argsort(X[:, 0])
    knots = clamped_knots(model.knots_, X.min(), X.max(), degree)
    # scipy's weights multiply the residuals before they are squared.
    peer = make_lsq_spline(X[order, 0], y[order], knots, degree, w=np.sqrt(w[order]))
    for derivative in range(degree):
        assert_allclose(
            model.predict(NEW, derivative=derivative), peer(NEW[:, 0], derivative), atol=1e-9
        )
    assert_allclose(model.coef_, peer.c, atol=1e-9)
    assert model.integral(1.0, 9.0) == pytest.approx(float(peer.integrate(1.0, 9.0)), rel=1e-9)
    assert model.integral(9.0, 1.0) == pytest.approx(-model.integral(1.0, 9.0), rel=1e-12)


@pytest.mark.parametrize("kind", ["truncated", "natural"])
def test_equals_least_squares_on_the_columns(kind):
    X, y = noisy(120)
    model = RegressionSpline(4, kind=kind).fit(X, y)
    given = model.knots_
    basis = (
        TruncatedPower(knots=given)
        if kind == "truncated"
        else NaturalSpline(knots=given, boundary=(X.min(), X.max()))
    )
    Z = basis.fit_transform(X)
    plain = LeastSquares().fit(Z, y)
    assert_allclose(model.predict(NEW), plain.predict(basis.transform(NEW)), atol=1e-8)
    assert model.df_ == (8 if kind == "truncated" else 6)  # K + 4, K + 2
    assert model.sigma_ == pytest.approx(plain.sigma_, rel=1e-9)
    _, std = model.predict(NEW, return_std=True)
    _, expected = plain.predict(basis.transform(NEW), return_std=True)
    assert_allclose(std, expected, rtol=1e-6)
    if kind == "truncated":
        assert_allclose(model.coef_, [plain.intercept_, *plain.coef_], rtol=1e-6)
    else:
        full = NaturalSpline(knots=given, boundary=(X.min(), X.max()), intercept=True)
        assert_allclose(full.fit_transform(X) @ model.coef_, model.smoother_.fitted, atol=1e-9)


@pytest.mark.parametrize("count", [0, 2, 7])
def test_a_cubic_with_k_knots_has_k_plus_4_parameters(count):
    X, y = noisy(100)
    model = RegressionSpline(count).fit(X, y)
    S = model.matrix(X)
    assert model.df_ == count + 4
    assert np.linalg.matrix_rank(S) == count + 4
    # A projection: idempotent, symmetric, and all three degrees of freedom agree (D124, D126).
    assert_allclose(S @ S, S, atol=1e-10)
    assert_allclose(S, S.T, atol=1e-10)
    assert_allclose(list(model.smoother_.df_definitions.values()), count + 4, rtol=1e-10)
    assert_allclose(np.diag(S), model.leverage_, atol=1e-10)
    assert_allclose(S @ y, model.smoother_.fitted, atol=1e-10)
    assert np.sum(y**2) == pytest.approx(
        np.sum(model.smoother_.residuals**2) + np.sum(model.smoother_.fitted**2), rel=1e-10
    )


def test_two_continuous_derivatives_at_the_knots():
    X, y = noisy(100)
    model = RegressionSpline(4).fit(X, y)
    gap = 1e-9
    for derivative in (0, 1, 2):
        left = model.predict(model.knots_[:, None] - gap, derivative=derivative)
        assert_allclose(
            left, model.predict(model.knots_[:, None] + gap, derivative=derivative), atol=1e-6
        )
    third = [model.predict(model.knots_[:, None] + s * gap, derivative=3) for s in (-1, 1)]
    assert np.abs(third[0] - third[1]).min() > 1e-3
    natural = RegressionSpline(4, kind="natural").fit(X, y)
    beyond = natural.predict([[X.max() + s] for s in (0.0, 1.0, 2.0)])
    assert np.diff(beyond, 2)[0] == pytest.approx(0, abs=1e-9)
    assert_allclose(
        natural.predict([[X.max()], [X.min()], [X.max() + 1]], derivative=2), 0, atol=1e-9
    )


@pytest.mark.parametrize("kind", ["bspline", "natural"])
def test_leave_one_out_equals_brute_force(kind):
    X, y = noisy(40)
    knots = [2.0, 5.0, 8.0]
    w = np.random.default_rng(2).uniform(0.5, 2, size=40)
    model = RegressionSpline(knots=knots, kind=kind).fit(X, y, sample_weight=w)
    inner = np.argsort(X[:, 0])[1:-1]  # without an end row the boundary knots would move
    for i in inner:
        rest = np.arange(40) != i
        left = RegressionSpline(knots=knots, kind=kind).fit(X[rest], y[rest], sample_weight=w[rest])
        assert model.loo_residuals_[i] == pytest.approx(
            y[i] - left.predict(X[i : i + 1])[0], abs=1e-8
        )


def test_path_over_the_number_of_knots():
    X, y = noisy(200)
    curve = RegressionSpline().path(X, y)
    assert_array_equal(curve.values, np.arange(41))
    assert_array_equal(curve.df, curve.values + 4)
    for rule in ("aic", "bic", "min", "one_se"):
        model = RegressionSpline(select=rule).fit(X, y)
        assert 1 <= model.n_knots_ <= 10
        off = np.sqrt(np.mean((model.predict(X) - np.sin(X[:, 0])) ** 2))
        assert off < 0.12
    five = RegressionSpline(5).fit(X, y)
    at = int(np.flatnonzero(curve.values == 5)[0])
    assert curve.error[at] == pytest.approx(five.loo_, rel=1e-10)
    assert curve.criteria["aic"][at] == pytest.approx(five.aic_, rel=1e-10)
    assert f_test(RegressionSpline(0).fit(X, y), five).p_value < 1e-6  # nested: a cubic inside


def test_given_and_even_knots():
    X, y = noisy(200)
    even = RegressionSpline(4, knots="even").fit(X, y)
    assert_allclose(np.diff(even.knots_), np.ptp(X) / 5)
    given = RegressionSpline(knots=even.knots_).fit(X, y)
    assert given.n_knots_ == 4
    assert_allclose(given.predict(X), even.predict(X), atol=1e-12)
    assert significant_curvature(given).sign[40] == -1  # near pi / 2


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RegressionSpline(30), "30 knots make 34 parameters, and x has only 20 distinct"),
        (RegressionSpline(knots=[50.0]), "The knot 50 lies outside the data"),
        (RegressionSpline(knots=[2.0, 2.0]), "given twice"),
        (RegressionSpline(2, knots=[5.0]), "both given"),
        (RegressionSpline(2, knots="best"), "'quantile', 'even' or numbers"),
        (RegressionSpline(2, kind="natural", degree=2), "natural splines are cubic"),
        (RegressionSpline(knots=[5.0001, 5.0002, 5.0003, 5.0004, 5.0005]), "too few rows"),
        (PSpline(-1.0), "alpha=-1.0 is not allowed"),
        (PSpline(n_basis=4, order=4), "too few for degree 3"),
        (PSpline(0.0, n_basis=60), "no row determines"),
    ],
)
def test_bad_input_is_named(model, message):
    X, y = noisy(20)
    with pytest.raises(InputError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("each", [RegressionSpline, PSpline])
def test_data_without_a_curve_are_refused(each):
    y = np.arange(20.0)
    with pytest.raises(InputError):
        each().fit(np.ones((20, 1)), y)
    with pytest.raises(ValueError, match="NaN"):
        each().fit(np.where(np.arange(20) == 3, np.nan, 1.0)[:, None], y)
    with pytest.raises(InputError, match="takes one input"):
        each().fit(np.ones((20, 2)), y)
    with pytest.raises(InputError, match=r"=-1.0 is not allowed; \w+ must be a"):
        each().path(y[:, None], y, values=[-1.0])
    with pytest.raises(ParameterError):
        each(select="best").fit(y[:, None], y)


def test_fewer_distinct_x_than_parameters():
    x = np.repeat([0.0, 1.0, 2.0], 10)
    y = x + np.tile(np.arange(10.0), 3)
    with pytest.raises(InputError, match="4 parameters, and x has only 3 distinct values"):
        RegressionSpline(0).fit(x[:, None], y)
    with pytest.warns(DataWarning, match="degree 1 is used"):
        line = RegressionSpline().fit(x[:, None], y)
    assert_allclose(line.predict(x[:, None]), x + 4.5, atol=1e-12)
    assert RegressionSpline(0, degree=2).fit(x[:, None], y).df_ == 3
    assert np.all(np.isfinite(PSpline(1.0).fit(x[:, None], y).predict(x[:, None])))


# ---- P-splines ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_pspline_equals_its_formula(order, alpha):
    X, y = noisy(150)
    w = np.random.default_rng(1).uniform(0.3, 2, size=150)
    model = PSpline(alpha, n_basis=20, order=order).fit(X, y, sample_weight=w)
    B = design(X[:, 0], model.knots_).toarray()
    A = np.linalg.inv(B.T @ (w[:, None] * B) + alpha * difference_penalty(20, order))
    S = B @ A @ (B.T * w)
    assert_allclose(model.coef_, A @ (B.T @ (w * y)), atol=1e-8)
    assert_allclose(model.matrix(X), S, atol=1e-9)
    assert_allclose(model.leverage_, np.diag(S), atol=1e-9)
    assert model.df_ == pytest.approx(np.trace(S), rel=1e-9)
    root = np.sqrt(w)
    scaled = root[:, None] * S / root
    assert model.smoother_.df_definitions["tr SS'"] == pytest.approx(np.sum(scaled**2), rel=1e-8)
    rows = model.matrix(NEW)
    _, std = model.predict(NEW, return_std=True)
    assert_allclose(std, model.sigma_ * np.sqrt((rows**2 / w).sum(axis=1)), rtol=1e-8)


def test_pspline_limits():
    X, y = noisy(100)
    for order in (1, 2, 3):
        flat = PSpline(1e12, order=order).fit(X, y)
        fitted = np.polyval(np.polyfit(X[:, 0], y, order - 1), X[:, 0])
        assert_allclose(flat.predict(X), fitted, atol=1e-6)
        assert flat.df_ == pytest.approx(order, abs=1e-6)
    free = PSpline(0.0, n_basis=10).fit(X, y)
    assert free.df_ == pytest.approx(10, rel=1e-9)
    beyond = free.predict([[X.max() + s] for s in (0.0, 1.0, 2.0)])
    assert np.diff(beyond, 2)[0] == pytest.approx(0, abs=1e-9)


def test_pspline_leave_one_out_equals_brute_force():
    X, y = noisy(40)
    model = PSpline(0.5, n_basis=15).fit(X, y)
    for i in np.argsort(X[:, 0])[1:-1]:  # without an end row the knots would move
        rest = np.arange(40) != i
        left = PSpline(0.5, n_basis=15).fit(X[rest], y[rest])
        assert model.loo_residuals_[i] == pytest.approx(
            y[i] - left.predict(X[i : i + 1])[0], abs=1e-8
        )
    curve = PSpline(n_basis=15).path(X, y, values=[0.5])
    assert curve.error[0] == pytest.approx(model.loo_, rel=1e-9)


def test_pspline_chooses_well_and_takes_more_functions_than_rows():
    X, y = noisy(300)
    for rule in ("min", "gcv", "one_se", "bic"):
        model = PSpline(select=rule).fit(X, y)
        assert np.sqrt(np.mean((model.predict(X) - np.sin(X[:, 0])) ** 2)) < 0.12
    few = PSpline(n_basis=80).fit(X[:30], y[:30])
    assert np.all(np.isfinite(few.predict(NEW)))
    assert 2 <= few.df_ <= 30


# ---- degrees of freedom of the noise (D123-D126) ------------------------------------------------


def test_residuals_have_the_mean_and_law_that_the_notes_say():
    """E RSS = mu'Amu + sigma^2 tr A with A = (I - S)'(I - S); chi-squared for a projection."""
    X, _ = noisy(60)
    mu, sigma, draws = np.sin(X[:, 0]), 0.3, 20_000
    noise = sigma * np.random.default_rng(0).normal(size=(60, draws))
    for model in (RegressionSpline(3), PSpline(5.0)):
        R = np.eye(60) - model.fit(X, mu).matrix(X)
        A = R.T @ R
        rss = np.sum((R @ (mu[:, None] + noise)) ** 2, axis=0)
        expected = mu @ A @ mu + sigma**2 * np.trace(A)
        # False alarm in one run of two million: five standard errors, twice.
        assert abs(rss.mean() - expected) < 5 * rss.std() / np.sqrt(draws)
        three = model.smoother_.df_definitions
        assert np.trace(A) == pytest.approx(60 - three["tr(2S - SS')"], rel=1e-9)
        if isinstance(model, RegressionSpline):
            residual = np.sum((R @ noise) ** 2, axis=0) / sigma**2
            # Kolmogorov's test, at one in a thousand.
            assert stats.kstest(residual, stats.chi2(60 - 7).cdf).pvalue > 1e-3
        else:
            assert three["tr SS'"] < three["tr S"] < three["tr(2S - SS')"]


def test_smoothers_of_equal_degrees_of_freedom_look_alike():
    X, y = noisy(300)
    curve = PSpline().path(X, y)
    one = curve.at(int(np.argmin(np.abs(curve.df - 9))))
    other = SmoothingSpline(df=one.df_).fit(X, y)
    apart = np.sqrt(np.mean((one.predict(X) - other.predict(X)) ** 2))
    assert apart < 0.1 * one.sigma_
