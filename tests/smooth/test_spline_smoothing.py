"""Smoothing splines against dense algebra, scipy, R, brute force and known curves."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicSpline, make_smoothing_spline

from bottega.core.errors import InputError, ParameterError
from bottega.core.smoother import f_test
from bottega.smooth import SmoothingSpline, significant_curvature
from bottega.smooth._kernels import state_space as kernels

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "smooth" / "splines.json").read_text()
)
LAMS = (1e-4, 1e-2, 1.0, 100.0)


def noisy(n, seed=0, low=0.0, high=10.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, size=n)
    return x[:, None], np.sin(x) + 0.3 * rng.normal(size=n)


def matrices(x, dtype=np.float64):
    """Return Q and R of Green and Silverman: the penalty of values f is f' Q R^-1 Q' f."""
    n, h = len(x), np.diff(x)
    Q, R = np.zeros((n, n - 2), dtype), np.zeros((n - 2, n - 2), dtype)
    for j in range(n - 2):
        Q[j, j], Q[j + 2, j] = 1 / h[j], 1 / h[j + 1]
        Q[j + 1, j] = -1 / h[j] - 1 / h[j + 1]
        R[j, j] = (h[j] + h[j + 1]) / 3
        if j < n - 3:
            R[j, j + 1] = R[j + 1, j] = h[j + 1] / 6
    return Q, R


def solve(A, b):
    """Gaussian elimination in whatever precision the arrays have (LAPACK has but double)."""
    A, b = A.copy(), b.copy()
    for j in range(len(A)):
        pivot = j + np.argmax(np.abs(A[j:, j]))
        A[[j, pivot]], b[[j, pivot]] = A[[pivot, j]], b[[pivot, j]]
        factor = A[j + 1 :, j] / A[j, j]
        A[j + 1 :, j:] -= factor[:, None] * A[j, j:]
        b[j + 1 :] -= factor[:, None] * b[j]
    for j in range(len(A) - 1, -1, -1):
        b[j] = (b[j] - A[j, j + 1 :] @ b[j + 1 :]) / A[j, j]
    return b


def smoother_matrix(x, w, lam):
    """Return S = I - lam W^-1 Q (R + lam Q'W^-1 Q)^-1 Q' in extended precision."""
    x, w = np.asarray(x, np.longdouble), np.asarray(w, np.longdouble)
    Q, R = matrices(x, np.longdouble)
    inner = solve(R + lam * Q.T @ (Q / w[:, None]), Q.T.copy())
    return np.eye(len(x)) - lam * (Q @ inner) / w[:, None]


# ---- the fit itself -----------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [1e-9, 1e-5, 1e-2, 10.0])
def test_equals_extended_precision(lam):
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(size=200))
    w = rng.uniform(0.3, 3, size=200)
    y = np.sin(9 * x) + 0.3 * rng.normal(size=200)
    S = smoother_matrix(x, w, np.longdouble(lam))
    model = SmoothingSpline(lam).fit(x[:, None], y, sample_weight=w)
    # The exact answer is known to some 1e-11 (the condition of Reinsch's matrix is 1e8 here, in
    # numbers of 19 digits).
    assert_allclose(model.smoother_.fitted, (S @ y).astype(float), atol=1e-10)
    assert_allclose(model.leverage_, np.diag(S).astype(float), atol=1e-10)
    assert_allclose(model.matrix(x[:, None]), S.astype(float), atol=1e-10)
    assert model.df_ == pytest.approx(float(np.trace(S)), rel=1e-10)
    root = np.sqrt(w)
    scaled = (root[:, None] * S / root).astype(float)
    three = model.smoother_.df_definitions
    assert three["tr SS'"] == pytest.approx(np.sum(scaled**2), rel=1e-8)
    assert three["tr(2S - SS')"] == pytest.approx(2 * model.df_ - np.sum(scaled**2), rel=1e-8)
    _, std = model.predict(x[:, None], return_std=True)
    expected = model.sigma_ * np.sqrt(((S**2) / w).sum(axis=1)).astype(float)
    assert_allclose(std, expected, rtol=1e-7)


@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scipy(lam, weighted):
    X, y = noisy(120)
    w = np.random.default_rng(5).uniform(0.2, 2, size=120) if weighted else np.ones(120)
    order = np.argsort(X[:, 0])
    peer = make_smoothing_spline(X[order, 0], y[order], w=w[order], lam=lam)
    model = SmoothingSpline(lam).fit(X, y, sample_weight=w)
    grid = np.linspace(X.min(), X.max(), 500)
    # scipy solves the normal equations of B-splines: some 1e-9 of rounding.
    assert_allclose(model.predict(grid[:, None]), peer(grid), atol=1e-8)
    assert_allclose(model.predict(grid[:, None], derivative=1), peer(grid, 1), atol=1e-7)
    assert_allclose(model.predict(grid[:, None], derivative=2), peer(grid, 2), atol=1e-6)
    assert model.integral(1.0, 9.0) == pytest.approx(peer.integrate(1.0, 9.0), abs=1e-7)


def b_spline_fit(x, y, w, lam, third):
    """Return the fit with B-splines, the integral of t^2 over [0, 1] taken as `third`."""
    from bottega.basis.spline_functions import clamped_knots, design

    knots = clamped_knots(x[1:-1], x[0], x[-1], 3)
    B = design(x, knots).toarray()
    ends = design(x, knots, 3, 2).toarray()
    P = np.zeros((B.shape[1], B.shape[1]))
    for i in range(len(x) - 1):
        # f'' is a line on each piece: left value a, change b.
        a, b = ends[i], design([x[i + 1] - 1e-13], knots, 3, 2).toarray()[0] - ends[i]
        h = x[i + 1] - x[i]
        P += h * (np.outer(a, a) + (np.outer(a, b) + np.outer(b, a)) / 2 + third * np.outer(b, b))
    S = B @ np.linalg.solve(B.T @ (w[:, None] * B) + lam * P, B.T * w)
    return S @ y, np.trace(S)


SETS = {
    "plain": ("x", None),
    "weighted": ("x", "weight"),
    "tied": ("tied_x", None),
    "tied_weighted": ("tied_x", "weight"),
}


@pytest.mark.parametrize("case", REFERENCE["fits"], ids=lambda c: f"{c['set']}-{c['lambda']}")
def test_equals_r_at_a_given_lambda(case):
    x, w = (None if name is None else REFERENCE[name] for name in SETS[case["set"]])
    x, y = np.array(x, dtype=float), np.array(REFERENCE["y"])
    w = np.ones(len(y)) if w is None else np.array(w)
    # R scales the weights to mean one and x to [0, 1].
    lam = case["lambda"] * w.mean() * np.ptp(x) ** 3
    model = SmoothingSpline(lam).fit(x[:, None], y, sample_weight=w)
    knots = np.array(case["knots"], dtype=float)
    at = model.predict(knots[:, None])

    # R's penalty takes the integral of t^2 over [0, 1] to be 0.3330. With that number the textbook
    # formula gives R's answer to all its digits, and with 1/3 it gives ours.
    unit = (knots - knots[0]) / np.ptp(knots)
    total = np.bincount(np.searchsorted(knots, x), w)
    mean = np.bincount(np.searchsorted(knots, x), w * y) / total
    scaled = case["lambda"] * w.mean()
    as_r, df_as_r = b_spline_fit(unit, mean, total, scaled, 0.3330)
    exact, df_exact = b_spline_fit(unit, mean, total, scaled, 1 / 3)
    # R stores x and the knots in single steps of a B-spline solver: 1e-6 relative is asked for.
    assert_allclose(as_r, case["fitted"], rtol=1e-6, atol=1e-6)
    assert df_as_r == pytest.approx(case["df"], rel=1e-6)
    assert_allclose(at, exact, rtol=1e-6, atol=1e-7)
    assert model.df_ == pytest.approx(df_exact, rel=1e-6)
    # Directly, up to that constant: one part in a thousand of the penalty.
    assert_allclose(at, case["fitted"], atol=5e-4)
    assert model.df_ == pytest.approx(case["df"], rel=1e-3)
    assert model.gcv_ / w.mean() == pytest.approx(case["gcv"], rel=1e-3)
    assert model.loo_ == pytest.approx(case["loo"], rel=1e-3)
    leverage = np.bincount(np.searchsorted(knots, x), model.leverage_)
    assert_allclose(leverage, case["leverage"], atol=1e-3)
    new = np.array(REFERENCE["new"])[:, None]
    assert_allclose(model.predict(new), case["at_new"], atol=3e-3)
    assert_allclose(model.predict(new, derivative=1), case["slope"], atol=3e-3)


@pytest.mark.parametrize("name", REFERENCE["chosen"])
def test_chooses_as_r_by_gcv_and_df(name):
    case = REFERENCE["chosen"][name]
    X, y = np.array(case["x"], dtype=float)[:, None], np.array(case["y"], dtype=float)
    knots = np.array(case["knots"], dtype=float)[:, None]
    model = SmoothingSpline().fit(X, y)
    # R's criterion is flat at its least value, and its penalty is off by 1e-3 (above).
    assert model.gcv_ == pytest.approx(case["gcv"], rel=1e-5)
    assert model.df_ == pytest.approx(case["df"], rel=1e-4)
    spread = np.std(y)
    assert_allclose(model.predict(knots), case["fitted"], atol=1e-4 * spread)
    asked = SmoothingSpline(df=case["df6"]).fit(X, y)
    assert asked.df_ == pytest.approx(case["df6"], rel=1e-9)
    assert_allclose(asked.predict(knots), case["fitted_df6"], atol=1e-4 * spread)


# ---- limits and shape (D118-D120) ---------------------------------------------------------------


def test_both_limits_and_degrees_of_freedom_between_them():
    X, y = noisy(60)
    X = np.round(X, 0)  # ties
    distinct = np.unique(X)
    rough = SmoothingSpline(0.0).fit(X, y)
    means = [y[X[:, 0] == at].mean() for at in distinct]
    assert_allclose(rough.predict(distinct[:, None]), means, atol=1e-12)
    assert rough.df_ == pytest.approx(len(distinct), rel=1e-12)
    # Between the means: the natural interpolating spline.
    natural = CubicSpline(distinct, means, bc_type="natural")
    grid = np.linspace(distinct[0], distinct[-1], 200)
    assert_allclose(rough.predict(grid[:, None]), natural(grid), atol=1e-9)
    flat = SmoothingSpline(1e15).fit(X, y)
    line = np.polyfit(X[:, 0], y, 1)
    assert_allclose(flat.predict(grid[:, None]), np.polyval(line, grid), atol=1e-9)
    assert flat.df_ == pytest.approx(2, abs=1e-9)
    dfs = [SmoothingSpline(lam).fit(X, y).df_ for lam in (1e-8, 1e-3, 1.0, 1e3, 1e8)]
    assert np.all(np.diff(dfs) < 0)
    assert 2 < dfs[-1] < dfs[0] < len(distinct)


def test_a_natural_cubic_spline_with_two_continuous_derivatives():
    X, y = noisy(40)
    model = SmoothingSpline(0.5).fit(X, y)
    knots = np.sort(X[:, 0])
    gap = 1e-7
    for derivative in (0, 1, 2):
        left = model.predict(knots[:, None] - gap, derivative=derivative)
        right = model.predict(knots[:, None] + gap, derivative=derivative)
        # The next derivative is at most some hundreds: 2e-7 of it is 1e-4 at the very most.
        assert_allclose(left, right, atol=1e-4)
    third = model.predict(np.stack([knots - gap, knots + gap], axis=1).reshape(-1, 1), derivative=3)
    assert np.ptp(third.reshape(-1, 2), axis=1).max() > 0.1  # which does jump
    ends = np.array([knots[0], knots[-1]])
    assert_allclose(model.predict(ends[:, None], derivative=2), 0, atol=1e-12)
    beyond = model.predict([[knots[-1] + step] for step in (0.0, 1.0, 2.0, 3.0)])
    assert_allclose(np.diff(beyond, 2), 0, atol=1e-9)


def test_minimises_what_it_says():
    X, y = noisy(50)
    order = np.argsort(X[:, 0])
    x, y = X[order, 0], y[order]
    lam = 0.3
    Q, R = matrices(x)

    def penalised(f):
        return np.sum((y - f) ** 2) + lam * f @ Q @ np.linalg.solve(R, Q.T @ f)

    f = SmoothingSpline(lam).fit(x[:, None], y).predict(x[:, None])
    least = penalised(f)
    for seed in range(20):
        step = np.random.default_rng(seed).normal(size=50)
        assert penalised(f + 1e-3 * step) > least


@given(
    st.lists(st.integers(0, 12), min_size=6, max_size=30),
    st.floats(-6, 6),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=25, deadline=None)
def test_properties(values, log_lam, seed):
    x = np.array([*values, 0, 5, 13], dtype=float)
    y = np.random.default_rng(seed).normal(size=len(x))
    model = SmoothingSpline(10.0**log_lam).fit(x[:, None], y)
    m = len(np.unique(x))
    assert 2 - 1e-9 <= model.df_ <= m + 1e-9
    # Lines pass unchanged, and rows of S add up to one.
    S = model.matrix(x[:, None])
    assert_allclose(S.sum(axis=1), 1, atol=1e-8)
    assert_allclose(S @ x, x, atol=1e-7)
    assert_allclose(S, S.T, atol=1e-8)
    assert_allclose(S @ y, model.smoother_.fitted, atol=1e-8)
    assert_allclose(np.diag(S), model.leverage_, atol=1e-8)
    # Another unit of x and y changes nothing.
    other = SmoothingSpline(10.0**log_lam * 1e-9).fit(1e-3 * x[:, None] + 7, 5 * y)
    assert_allclose(other.predict(1e-3 * x[:, None] + 7), 5 * model.smoother_.fitted, atol=1e-7)


# ---- errors of estimation -----------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_equals_brute_force(weighted):
    X, y = noisy(40)
    X[5:9] = X[4]  # ties
    w = np.random.default_rng(2).uniform(0.3, 2, size=40) if weighted else np.ones(40)
    model = SmoothingSpline(0.2).fit(X, y, sample_weight=w)
    for i in range(40):
        rest = np.arange(40) != i
        left = SmoothingSpline(0.2).fit(X[rest], y[rest], sample_weight=w[rest])
        assert model.loo_residuals_[i] == pytest.approx(
            y[i] - left.predict(X[i : i + 1])[0], abs=1e-8
        )
    curve = SmoothingSpline().path(X, y, sample_weight=w, values=[0.2])
    assert curve.error[0] == pytest.approx(model.loo_, rel=1e-10)
    assert curve.df[0] == pytest.approx(model.df_, rel=1e-10)
    assert curve.criteria["gcv"][0] == pytest.approx(model.gcv_, rel=1e-10)
    loss = model.loo_residuals_**2
    spread = np.sqrt(np.sum(w**2 * (loss - np.average(loss, weights=w)) ** 2)) / w.sum()
    spread *= np.sqrt(40 / 39)
    assert curve.error_se[0] == pytest.approx(spread, rel=1e-9)


def test_restricted_likelihood_equals_its_dense_form():
    """-2 log of the likelihood of contrasts of y that no line touches, up to a constant."""
    X, y = noisy(30)
    x = np.sort(X[:, 0])
    Q, R = matrices(x)
    curve = SmoothingSpline().path(x[:, None], y, values=[0.01, 0.1, 1.0, 10.0])

    def dense(lam):
        # Q'y has covariance sigma^2 (Q'Q + R / lam).
        V = Q.T @ Q + R / lam
        z = Q.T @ y
        return 28 * np.log(z @ np.linalg.solve(V, z) / 28) + np.linalg.slogdet(V)[1]

    expected = np.array([dense(lam) for lam in curve.values])
    assert_allclose(
        np.diff(curve.criteria["reml"]), np.diff(expected), rtol=1e-6
    )  # rounding of the dense form


@pytest.mark.parametrize(("rule", "column"), [("gcv", "gcv"), ("min", None), ("reml", "reml")])
def test_the_refined_choice_is_the_least_of_a_fine_grid(rule, column):
    X, y = noisy(150, seed=4)
    model = SmoothingSpline(select=rule).fit(X, y)
    fine = SmoothingSpline().path(X, y, values=model.alpha_ * np.geomspace(0.2, 5, 101))
    values = fine.error if column is None else fine.criteria[column]
    own = model.path_.error if column is None else model.path_.criteria[column]
    assert own.min() <= values.min() + 1e-6 * np.ptp(values)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("n", [300, 3_000, 30_000])
def test_the_choice_is_right_at_every_size_and_scale(n, scale):
    rng = np.random.default_rng(n)
    x = rng.uniform(size=n)
    truth = np.sin(12 * x) + 0.5 * np.cos(40 * x)
    y = truth + 0.3 * rng.normal(size=n)
    for knots in ("auto", "all"):
        model = SmoothingSpline(knots=knots).fit(scale * x[:, None], y)
        off = np.sqrt(np.mean((model.predict(scale * x[:, None]) - truth) ** 2))
        # The error of a curve of df parameters is sigma sqrt(df / n) at best; GCV pays a little.
        assert off < 2 * 0.3 * np.sqrt(model.df_ / n)
        assert 20 < model.df_ < 80


def test_few_knots_stay_within_the_stated_bound():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(size=20_000), rng.normal(0.3, 0.01, size=20_000)])
    y = np.sin(12 * x) + 0.3 * rng.normal(size=40_000)
    every = SmoothingSpline(1e-3, knots="all").fit(x[:, None], y)
    grid = np.linspace(x.min(), x.max(), 1000)[:, None]
    span, bend = np.ptp(x), np.abs(every.predict(grid, derivative=2)).max()
    _, error = every.predict(grid, return_std=True)
    for count in (100, 1000):
        few = SmoothingSpline(1e-3, knots=count).fit(x[:, None], y)
        assert len(few.curve_.knots) <= count
        off = np.abs(few.predict(grid) - every.predict(grid))
        width = 2 * span / count
        assert np.all(off < bend * width**2 / 8 + width / span * every.df_ * error)
    assert len(SmoothingSpline(1e-3).fit(x[:, None], y).curve_.knots) <= 10_000


def test_many_rows_are_no_harder_than_few():
    """From both ends the same answer to 1e-11, where Reinsch's system breaks at 10,000 rows."""
    rng = np.random.default_rng(0)
    n = 300_000
    x = np.sort(rng.uniform(size=n))
    y = np.sin(12 * x) + 0.3 * rng.normal(size=n)
    for lam in (1e-6, 1e5):
        there = kernels.full_pass(y, np.ones(n), np.diff(x), 1 / lam, False)
        back = kernels.full_pass(y[::-1].copy(), np.ones(n), np.diff(x)[::-1], 1 / lam, False)
        assert_allclose(there[0], back[0][::-1], atol=1e-11)
        assert there[4].sum() == pytest.approx(back[4].sum(), rel=1e-11)
    off = kernels.full_pass(y, np.ones(n), np.diff(x), 1 / 0.003, False)[0] - np.sin(12 * x)
    assert np.sqrt(np.mean(off**2)) < 0.004


# ---- standard errors ----------------------------------------------------------------------------


def test_standard_errors_are_those_of_the_rows_of_s():
    X, y = noisy(60)
    w = np.random.default_rng(3).uniform(0.5, 2, size=60)
    model = SmoothingSpline(0.3).fit(X, y, sample_weight=w)
    new = np.array([[-1.0], [X.min()], [0.2], [3.3], [9.9], [X.max()], [12.0]])
    S = model.matrix(new)
    _, std = model.predict(new, return_std=True)
    assert_allclose(std, model.sigma_ * np.sqrt((S**2 / w).sum(axis=1)), rtol=1e-8)
    # Derivatives: by differences of the rows of S.
    inner, h = np.array([[0.2], [3.3], [9.5]]), 1e-4
    slopes = (model.matrix(inner + h) - model.matrix(inner - h)) / (2 * h)
    bends = (model.matrix(inner + h) - 2 * model.matrix(inner) + model.matrix(inner - h)) / h**2
    for derivative, rows, tolerance in (
        (1, slopes, 1e-6),
        (2, bends, 1e-3),
    ):  # truncation, rounding
        _, std = model.predict(inner, return_std=True, derivative=derivative)
        assert_allclose(std, model.sigma_ * np.sqrt((rows**2 / w).sum(axis=1)), rtol=tolerance)


def test_posterior_variance_is_that_of_the_gaussian_process():
    """f given y when f'' is white noise: a dense normal vector, conditioned; slope, level free."""
    X, y = noisy(25)
    x = np.sort(X[:, 0]) - X.min()
    lam = 0.4
    model = SmoothingSpline(lam, variance="posterior").fit(x[:, None], y)
    at = np.array([0.0, 0.3, 4.4, x[-1], x[-1] + 1])
    every = np.concatenate([x, at])
    low, high = np.minimum.outer(every, every), np.maximum.outer(every, every)
    K = low**2 * (3 * high - low) / 6 / lam  # covariance of the twice integrated white noise
    H = np.column_stack([np.ones(len(every)), every])
    n = len(x)
    V = np.linalg.inv(K[:n, :n] + np.eye(n))
    A = np.linalg.inv(H[:n].T @ V @ H[:n])
    rest = H[n:] - K[n:, :n] @ V @ H[:n]
    cov = K[n:, n:] - K[n:, :n] @ V @ K[:n, n:] + rest @ A @ rest.T
    _, std = model.predict(at[:, None], return_std=True)
    assert_allclose(std, model.sigma_ * np.sqrt(np.diag(cov)), rtol=1e-6)
    # At the rows: sigma^2 times the leverage.
    _, rows = model.predict(x[:, None], return_std=True)
    assert_allclose(rows**2, model.sigma_**2 * model.leverage_, rtol=1e-8)
    _, slope = model.predict(at[:, None], return_std=True, derivative=1)
    assert np.all(slope > 0)
    with pytest.raises(InputError, match="white noise"):
        model.predict(at[:, None], return_std=True, derivative=2)


def test_interval_and_f_test_work_on_it():
    X, y = noisy(200)
    line, curve = SmoothingSpline(df=2.0001).fit(X, y), SmoothingSpline().fit(X, y)
    assert f_test(line, curve).p_value < 1e-6
    lower, upper = curve.interval(X)
    assert np.all(lower < upper)
    assert np.mean((np.sin(X[:, 0]) > lower) & (np.sin(X[:, 0]) < upper)) > 0.8


def test_significant_curvature_finds_the_bends_and_no_others():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 2 * np.pi, 400)
    model = SmoothingSpline(select="one_se").fit(x[:, None], np.sin(x) + 0.1 * rng.normal(size=400))
    found = significant_curvature(model)
    # Concave on the first half, convex on the second, unsure about their meeting point.
    assert np.all(found.sign[(found.x > 1) & (found.x < 2)] == -1)
    assert np.all(found.sign[(found.x > 4.2) & (found.x < 5.2)] == 1)
    assert found.sign[np.argmin(np.abs(found.x - np.pi))] == 0
    assert {sign for *_, sign in found.regions()} == {-1, 1}
    assert list(found.to_frame().columns)[:2] == ["x", "estimate"]
    assert "bias" in found.caution
    assert_allclose(found.upper - found.lower, 2 * found.std_error * 1.966, rtol=1e-2)
    straight = SmoothingSpline(df=2.01).fit(x[:, None], x + 0.1 * rng.normal(size=400))
    slope = significant_curvature(straight, level=0.99, derivative=1)
    assert slope.regions() == [(pytest.approx(0), pytest.approx(2 * np.pi), 1)]
    with pytest.raises(InputError, match="use 1 or 2"):
        significant_curvature(model, derivative=3)
    with pytest.raises(InputError, match="left to right"):
        significant_curvature(model, [1.0, 0.0])


# ---- bad input ----------------------------------------------------------------------------------


def test_bad_input_is_named():
    X, y = noisy(20)
    with pytest.raises(InputError, match="All 20 values of x are equal"):
        SmoothingSpline().fit(np.ones((20, 1)), y)
    with pytest.raises(
        ParameterError, match=r"alpha=-1.0 is not allowed; alpha must be .*\[0, inf\)"
    ):
        SmoothingSpline(-1.0).fit(X, y)
    with pytest.raises(ParameterError, match="were both given"):
        SmoothingSpline(1.0, df=5).fit(X, y)
    with pytest.raises(InputError, match="between 2 and the number of distinct x, 20"):
        SmoothingSpline(df=20).fit(X, y)
    assert SmoothingSpline(df=2 + 1e-12).fit(X, y).df_ == pytest.approx(2, abs=1e-9)
    with pytest.raises(ValueError, match="NaN"):
        SmoothingSpline().fit(np.where(X[3] == X, np.nan, X), y)
    with pytest.raises(InputError, match="at least 3 distinct values of x; there are 2"):
        SmoothingSpline().fit([[0.0], [1.0], [1.0]], [0.0, 1.0, 2.0])
    with pytest.raises(InputError, match="takes one input; X has 2 columns"):
        SmoothingSpline().fit(np.hstack([X, X]), y)
    with pytest.raises(InputError, match=r"alpha=.* is not allowed|give a list"):
        SmoothingSpline().path(X, y, values=[-1.0])
    with pytest.raises(InputError, match="from 0 to 3"):
        SmoothingSpline(1.0).fit(X, y).predict(X, derivative=4)
    with pytest.raises(InputError, match="finite"):
        SmoothingSpline(1.0).fit(X, y).integral(0, np.inf)
    two = SmoothingSpline(1.0).fit([[0.0], [1.0], [1.0]], [0.0, 1.0, 2.0])
    assert_allclose(two.predict([[0.0], [1.0], [2.0]]), [0, 1.5, 3])


def test_unsorted_and_repeated_x_are_fine():
    X, y = noisy(50)
    order = np.argsort(X[:, 0])
    shuffled, straight = (
        SmoothingSpline(0.1).fit(X[rows], y[rows]) for rows in (np.arange(50), order)
    )
    assert_allclose(shuffled.predict(X), straight.predict(X), atol=1e-12)
    assert_allclose(shuffled.leverage_[order], straight.leverage_, atol=1e-12)
    twice = SmoothingSpline(0.2).fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert_allclose(twice.predict(X), shuffled.predict(X), atol=1e-10)
    # Rows of weight zero count for nothing, and still have a fitted value.
    w = np.ones(50)
    w[[3, 8]] = 0
    some = SmoothingSpline(0.1).fit(X, y, sample_weight=w)
    rest = SmoothingSpline(0.1).fit(X[w > 0], y[w > 0])
    assert_allclose(some.predict(X), rest.predict(X), atol=1e-12)
    assert_array_equal(some.leverage_[[3, 8]], 0)
    assert some.sigma_ == pytest.approx(rest.sigma_, rel=1e-12)
