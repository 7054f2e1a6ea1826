"""Projected gradient, proximal gradient and Frank-Wolfe: answers, rates, certificates."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize
from sklearn.linear_model import Lasso

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.optimize import (
    Proximal,
    box_penalty,
    frank_wolfe,
    l1_penalty,
    l2_penalty,
    linear_program,
    nonnegative_least_squares,
    nuclear_penalty,
    onto_ball,
    onto_box,
    onto_orthant,
    onto_simplex,
    projected_gradient,
    proximal_gradient,
    quadratic_program,
    shrink_norm,
    soft_threshold,
    squared_penalty,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6)) @ np.diag([1, 2, 3, 1, 0.5, 1])
Y = X @ np.array([1.0, -1.0, 0.5, 0.0, 2.0, -0.3]) + RNG.normal(size=40)


def squares(w):
    return float(np.sum((X @ w - Y) ** 2)) / 2


def slope(w):
    return X.T @ (X @ w - Y)


LIPSCHITZ = float(np.linalg.eigvalsh(X.T @ X)[-1])


# ---- projected gradient --------------------------------------------------------------------------


def test_the_circle_problem():
    # M710: the sum is largest on the unit disc at (1, 1) / sqrt 2.
    for line_search in ("fixed", "backtracking"):
        found = projected_gradient(
            lambda x: -(x[0] + x[1]), [0.3, -0.8], "ball", line_search=line_search, tol=1e-10
        )
        assert found.x == pytest.approx([0.5**0.5] * 2, abs=1e-9)
        assert found.value == pytest.approx(-(2**0.5))
        assert found.converged


def test_nonnegative_least_squares_three_ways():
    # M702, M704: projected gradient, quadratic program and active set.
    exact = nonnegative_least_squares(X, Y)
    found = projected_gradient(squares, np.zeros(6), onto_orthant, gradient=slope, tol=1e-9)
    assert found.converged
    assert found.x == pytest.approx(exact, abs=1e-8)
    assert np.all(found.trace.points >= 0)
    assert np.any(exact == 0)


def test_a_box_against_scipy():
    low, high = -0.2, np.array([0.5, 0.1, 0.6, 0.4, 0.4, 0.1])
    found = projected_gradient(
        squares, np.ones(6), lambda v: onto_box(v, low=low, high=high), gradient=slope, tol=1e-10
    )
    theirs = lsq_linear(X, Y, bounds=(low, high), tol=1e-14)
    assert found.x == pytest.approx(theirs.x, abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_rate_of_theory_and_no_step_up(seed, d):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d - 1, d))  # singular: convex and no more
    b = rng.normal(size=d - 1)
    L = np.linalg.eigvalsh(A.T @ A)[-1]

    def f(x):
        return float(np.sum((A @ x - b) ** 2)) / 2

    Q, c = A.T @ A, -A.T @ b
    best = quadratic_program(Q, c, A_eq=np.ones((1, d)), b_eq=[1], low=0)
    start = onto_simplex(rng.normal(size=d))
    for line_search, share in (("fixed", 1.0), ("backtracking", 0.5)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # tol=0: sixty steps are wanted
            found = projected_gradient(
                f, start, "simplex", gradient=lambda x: Q @ x + c, line_search=line_search,
                learning_rate=1 / L, tol=0, max_iter=60,
            )  # fmt: skip
        values = found.trace.values
        over = values - (best.value + float(b @ b) / 2)
        k = np.arange(1, len(values))
        # f(x_k) - f* <= ||x_0 - x*||^2 / (2 t k), t at least beta / L with backtracking.
        bound = np.sum((start - best.x) ** 2) / (2 * share / L * k)
        assert np.all(over[1:] <= bound + 1e-12 * (1 + abs(best.value)))
        assert np.all(np.diff(values) <= 1e-14 * (1 + np.abs(values[1:])))


def test_plain_gradient_descent_leaves_the_set_and_the_projection_does_not():
    # X45.
    start = np.full(6, 1 / 6)
    step = start - 0.1 * slope(start)
    assert np.min(step) < 0
    found = projected_gradient(squares, start, "simplex", gradient=slope, tol=1e-8)
    assert np.all(found.trace.points >= 0)
    assert found.trace.points.sum(axis=1) == pytest.approx(1)


def test_the_residual_is_that_of_the_gradient_mapping():
    found = projected_gradient(
        squares, np.ones(6), onto_ball, gradient=slope, line_search="fixed",
        learning_rate=0.5 / LIPSCHITZ, tol=1e-7, max_iter=3000,
    )  # fmt: skip
    t = 0.5 / LIPSCHITZ
    expected = (found.x - onto_ball(found.x - t * slope(found.x))) / t
    assert found.trace.residuals[-1] == pytest.approx(np.max(np.abs(expected)), rel=1e-6)
    assert found.converged
    # Where the set has no say the mapping is the gradient.
    free = projected_gradient(squares, np.zeros(6), "all", gradient=slope, tol=1e-7)
    assert free.x == pytest.approx(np.linalg.lstsq(X, Y)[0], abs=1e-7)


def test_a_function_without_much_curvature_is_not_slow():
    # The step grows: the unit of f is no matter.
    found = projected_gradient(
        lambda w: 1e-9 * squares(w), np.zeros(6), onto_orthant, gradient=lambda w: 1e-9 * slope(w),
        tol=1e-18, max_iter=500,
    )  # fmt: skip
    assert found.x == pytest.approx(nonnegative_least_squares(X, Y), abs=1e-7)


def test_steps_that_are_too_long_and_problems_without_end_are_said():
    with pytest.warns(ConvergenceWarning, match="too long"):
        long = projected_gradient(
            squares, np.zeros(6), lambda v: v, gradient=slope, line_search="fixed",
            learning_rate=3 / LIPSCHITZ,
        )  # fmt: skip
    assert long.verdict == "diverged"
    with pytest.warns(ConvergenceWarning, match="no minimum"):
        endless = projected_gradient(
            lambda x: -x[0], [0.0, 0.0], onto_orthant, line_search="fixed", max_iter=100
        )
    assert endless.verdict == "unbounded"
    with pytest.warns(ConvergenceWarning, match="not finite"):
        nan = projected_gradient(
            lambda x: np.log(x[0]) if x[0] >= 0.5 else np.nan, [1.0], onto_box,
            gradient=lambda x: np.array([1 / x[0]]), line_search="fixed",
        )  # fmt: skip
    assert nan.verdict == "not finite"


def test_bad_input_of_projected_gradient():
    with pytest.raises(ParameterError, match="projection=3 is not allowed"):
        projected_gradient(squares, np.zeros(6), 3)
    with pytest.raises(ParameterError, match="Did you mean 'ball'"):
        projected_gradient(squares, np.zeros(6), "bal")
    with pytest.raises(InputError, match=r"projection returned an array of shape \(1,\)"):
        projected_gradient(squares, np.zeros(6), lambda v: v[:1])
    with pytest.raises(ParameterError, match="line_search='exact' is not known"):
        projected_gradient(squares, np.zeros(6), "ball", line_search="exact")
    with pytest.raises(ParameterError, match="learning_rate=0"):
        projected_gradient(squares, np.zeros(6), "ball", learning_rate=0)
    with pytest.raises(ParameterError, match="beta=1"):
        projected_gradient(squares, np.zeros(6), "ball", beta=1)
    with pytest.raises(InputError, match="x0"):
        projected_gradient(squares, [np.nan], "ball")


# ---- proximal gradient ---------------------------------------------------------------------------


@pytest.mark.parametrize("accelerated", [False, True])
def test_the_lasso_against_scikit_learn(accelerated):
    alpha = 0.2
    n = len(Y)
    found = proximal_gradient(
        lambda w: squares(w) / n, np.zeros(6), l1_penalty(alpha), gradient=lambda w: slope(w) / n,
        accelerated=accelerated, tol=1e-10, max_iter=5000,
    )  # fmt: skip
    theirs = Lasso(alpha=alpha, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(X, Y)
    assert found.converged
    assert found.x == pytest.approx(theirs.coef_, abs=1e-8)
    assert found.value == pytest.approx(squares(found.x) / n + alpha * np.abs(found.x).sum())
    assert np.any(found.x == 0)


def test_acceleration_takes_fewer_steps_on_a_badly_scaled_problem():
    scale = np.logspace(0, -2, 20)

    def f(x):
        return float(np.sum((scale * (x - 1)) ** 2)) / 2

    def g(x):
        return scale**2 * (x - 1)

    runs = [
        proximal_gradient(
            f, np.zeros(20), l1_penalty(1e-6), gradient=g, accelerated=a, line_search="fixed",
            learning_rate=1.0, tol=1e-6, max_iter=100_000,
        )
        for a in (False, True)
    ]  # fmt: skip
    assert runs[1].n_iter < runs[0].n_iter / 5
    assert runs[1].x == pytest.approx(runs[0].x, abs=0.02)  # tol over the least curvature, 1e-4


PENALTIES = [
    l1_penalty(0.7), l2_penalty(0.7), squared_penalty(0.7), nuclear_penalty((2, 3), 0.7),
    box_penalty(low=-0.5, high=1.0),
]  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(PENALTIES))
def test_proximal_maps_are_nearest_by_their_own_measure(seed, h):
    rng = np.random.default_rng(seed)
    v, t = rng.normal(size=6), rng.uniform(0.1, 3)
    p = h.prox(v, t)

    def measure(x):
        return np.sum((x - v) ** 2) / 2 + t * h.value(x)

    least = measure(p)
    assert np.isfinite(least)
    # The measure is strongly convex: it rises by at least half the squared distance.
    for scale in (1e-3, 0.1, 2.0):
        for step in scale * rng.normal(size=(10, 6)):
            assert measure(p + step) >= least + step @ step / 2 - 1e-12
    # Moreau: v - prox is a slope of the penalty, which is monotone.
    u = rng.normal(size=6)
    q = h.prox(u, t)
    assert (p - q) @ ((v - p) - (u - q)) >= -1e-12


def test_proximal_maps_at_the_edges():
    assert soft_threshold([1.0, -1.0, 0.0], 1.0).tolist() == [0, 0, 0]
    assert shrink_norm([0.0, 0.0], 1.0).tolist() == [0, 0]
    assert shrink_norm([3e200, 4e200], 2.5e200) == pytest.approx([1.5e200, 2e200])
    assert box_penalty(low=0).value(np.array([-1e-9])) == np.inf


def test_a_box_penalty_is_the_projection():
    h = box_penalty(low=0)
    ista = proximal_gradient(squares, np.ones(6), h, gradient=slope, tol=1e-9)
    other = projected_gradient(squares, np.ones(6), onto_orthant, gradient=slope, tol=1e-9)
    assert np.array_equal(ista.trace.points, other.trace.points)


def test_a_low_rank_matrix_is_recovered():
    rng = np.random.default_rng(1)
    truth = np.outer(rng.normal(size=6), rng.normal(size=5))
    seen = rng.uniform(size=truth.shape) < 0.8

    def f(x):
        return float(np.sum((x.reshape(6, 5) - truth)[seen] ** 2)) / 2

    def g(x):
        return np.where(seen, x.reshape(6, 5) - truth, 0.0).ravel()

    found = proximal_gradient(
        f, np.zeros(30), nuclear_penalty((6, 5), 0.01), gradient=g, accelerated=True, tol=1e-7
    )
    assert found.converged
    sizes = np.linalg.svd(found.x.reshape(6, 5), compute_uv=False)
    assert sizes[1] <= 1e-6
    assert found.x.reshape(6, 5) == pytest.approx(truth, abs=0.05)


def test_bad_input_of_proximal_gradient():
    with pytest.raises(ParameterError, match="give a penalty such as l1_penalty"):
        proximal_gradient(squares, np.zeros(6), soft_threshold)
    with pytest.raises(ParameterError, match="alpha=-1"):
        l1_penalty(-1)
    with pytest.raises(ParameterError, match="low, high or both"):
        box_penalty()
    with pytest.raises(InputError, match="6 entries; a matrix of shape"):
        proximal_gradient(squares, np.zeros(6), nuclear_penalty((2, 2)))
    wrong = Proximal("wrong", np.sum, lambda v, t: v * t * np.nan)
    with pytest.raises(InputError, match="prox returned"):
        proximal_gradient(squares, np.zeros(6), wrong)


# ---- Frank-Wolfe ---------------------------------------------------------------------------------


@pytest.mark.parametrize("region", ["simplex", "ball", "box", "l1_ball"])
@pytest.mark.parametrize("line_search", ["exact", "decaying"])
def test_the_gap_of_frank_wolfe_is_a_certificate(region, line_search):
    found = frank_wolfe(
        squares, np.zeros(6), region, gradient=slope, line_search=line_search, tol=0.2,
        max_iter=20_000,
    )  # fmt: skip
    best = projected_gradient(squares, np.zeros(6), region, gradient=slope, tol=1e-8)
    assert found.converged
    over = found.trace.values - best.value
    assert np.all(over >= -1e-9 * abs(best.value))
    assert np.all(over <= found.trace.residuals + 1e-9 * abs(best.value))


def test_frank_wolfe_rate():
    # f(x_k) - f* <= 2 L diameter^2 / (k + 2) with steps 2 / (k + 2).
    with pytest.warns(ConvergenceWarning):
        found = frank_wolfe(
            squares, np.eye(6)[0], "simplex", gradient=slope, line_search="decaying", tol=0,
            max_iter=300,
        )  # fmt: skip
    best = projected_gradient(squares, np.eye(6)[0], "simplex", gradient=slope, tol=1e-9)
    k = np.arange(1, 301)
    assert np.all(found.trace.values[1:] - best.value <= 2 * LIPSCHITZ * 2 / (k + 2))


def test_corners_and_oracles():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    def f(x):
        return (x[0] - 1) ** 2 + (x[1] - 0.75) ** 2

    def oracle(g):
        return linear_program(g, A_ub=[[1, 1]], b_ub=[1], low=0).x

    by_corners = frank_wolfe(f, [0.0, 0.0], corners, tol=1e-3)
    by_program = frank_wolfe(f, [0.0, 0.0], oracle, tol=1e-3)
    assert by_corners.x == pytest.approx([0.625, 0.375], abs=0.03)
    assert by_program.x == pytest.approx(by_corners.x, abs=1e-6)


def test_a_corner_that_is_best_is_reached():
    found = frank_wolfe(lambda x: x[0] + 2 * x[1], [0.3, 0.7], "simplex", tol=1e-12)
    assert found.x.tolist() == [1, 0]
    assert found.converged


def test_bad_input_of_frank_wolfe():
    with pytest.raises(ParameterError, match="no lowest point"):
        frank_wolfe(squares, np.zeros(6), "all")
    with pytest.raises(ParameterError, match="line_search='fixed'"):
        frank_wolfe(squares, np.zeros(6), "ball", line_search="fixed")
    with pytest.raises(InputError, match="one corner per row"):
        frank_wolfe(squares, np.zeros(6), np.eye(5))
    with pytest.raises(InputError, match="x is outside of the set"):
        frank_wolfe(lambda x: x[0], [-5.0, 0.0], np.eye(2))


def test_scipy_agrees_on_a_smooth_problem_over_the_simplex():
    def f(x):
        return float(np.log(np.sum(np.exp(X[:, 0] * x[0] + X[:, 1] * x[1])))) + x[2] ** 2

    found = projected_gradient(f, [1.0, 0.0, 0.0], "simplex", tol=1e-8, max_iter=5000)
    theirs = minimize(
        f, np.full(3, 1 / 3), method="SLSQP", bounds=[(0, None)] * 3,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1}, options={"ftol": 1e-15},
    )  # fmt: skip
    assert found.value == pytest.approx(theirs.fun, abs=1e-8)
