"""Constrained problems: duals, conditions of optimality and solutions derived by hand."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.optimize import Problem, nonnegative_least_squares, quadratic_program

ROOT = 0.5**0.5


def circle(**options):
    """M710: the largest sum on the unit disc."""
    return Problem(
        lambda x: -(x[0] + x[1]),
        inequality=[lambda x: x[0] ** 2 + x[1] ** 2 - 1],
        x0=[0.0, 0.0],
        **options,
    )


# ---- the worked problems -------------------------------------------------------------------------


@pytest.mark.parametrize("recognize", [True, False])
def test_the_circle_problem(recognize):
    problem = circle(recognize=recognize)
    found = problem.solve()
    # Differences of the values give derivatives to some 1e-10.
    tol = 1e-12 if recognize else 1e-8
    assert found.x == pytest.approx([ROOT, ROOT], abs=tol)
    assert found.value == pytest.approx(-(2**0.5), abs=tol)
    assert found.multipliers == pytest.approx([ROOT], abs=tol)
    assert abs(found.gap) <= tol
    assert found.verdict == "optimal"
    best = problem.solve_dual()
    assert best.multipliers == pytest.approx([ROOT], abs=1e-7)
    assert best.value == pytest.approx(-(2**0.5), abs=1e-9)
    # M719: the point that minimises the Lagrangian at the best multiplier solves the problem.
    assert best.x == pytest.approx([ROOT, ROOT], abs=1e-6)


@pytest.mark.parametrize("recognize", [True, False])
def test_the_dual_function_of_the_circle_problem(recognize):
    # M715: g(alpha) = -1 / (2 alpha) - alpha, and no lower bound at alpha = 0.
    problem = circle(recognize=recognize)
    for alpha in (0.1, ROOT, 1.0, 7.0):
        found = problem.dual([alpha])
        assert found.value == pytest.approx(-1 / (2 * alpha) - alpha, abs=1e-8)
        assert found.x == pytest.approx([1 / (2 * alpha)] * 2, abs=1e-5)
        assert found.verdict == "minimum"
        assert found.exact is recognize
    assert problem.dual([0.0]).value == -np.inf
    assert problem.dual([0.0]).verdict == "unbounded"


def test_the_lagrangian_and_its_gradient():
    problem = circle()
    # M713: f + alpha f_1 at (2, 1): -3 + 0.5 * 4.
    assert problem.lagrangian([2, 1], [0.5]) == pytest.approx(-1)
    assert problem.lagrangian_gradient([2, 1], [0.5]) == pytest.approx([1, 0])
    assert problem.lagrangian([2, 1]) == pytest.approx(-3)
    assert problem.lagrangian_gradient([ROOT, ROOT], [ROOT]) == pytest.approx([0, 0], abs=1e-15)


def test_the_two_cases_of_one_constraint():
    # M710: an optimum inside has a multiplier of 0, one on the edge has collinear gradients.
    def problem(at):
        return Problem(
            lambda x: (x[0] - at[0]) ** 2 + (x[1] - at[1]) ** 2,
            inequality=[lambda x: x @ x - 1],
            x0=[0.0, 0.0],
        )

    inside = problem((0.3, 0.2)).solve()
    assert inside.x == pytest.approx([0.3, 0.2])
    assert inside.multipliers == pytest.approx([0], abs=1e-9)
    edge = problem((3.0, 4.0)).solve()
    assert edge.x == pytest.approx([0.6, 0.8])
    assert edge.multipliers == pytest.approx([4])  # -2 (x - a) = alpha 2 x: alpha = |a| - 1


def test_a_direction_that_improves_exists_off_the_optimum():
    # M711: on the edge, off the optimum, the tangent part of -gradient lowers f and keeps f_1 at 0.
    x = np.array([1.0, 0.0])
    normal = 2 * x
    push = np.array([1.0, 1.0])
    tangent = push - normal * (push @ normal) / (normal @ normal)
    assert np.any(tangent != 0)
    moved = x + 1e-4 * tangent
    assert -moved.sum() < -x.sum()
    assert abs(moved @ moved - 1) < 1e-6
    check = circle().kkt(x)
    assert not check.holds["stationarity"]
    assert check.holds["primal feasibility"]


def test_two_planes_that_meet():
    # M712: the gradient is a combination of those of both constraints.
    problem = Problem(
        lambda x: x[0] + 2 * x[1] + x[2] ** 2,
        inequality=[lambda x: 1 - x[0] - x[1], lambda x: -x[1]],
        x0=np.zeros(3),
    )
    found = problem.solve()
    assert found.x == pytest.approx([1, 0, 0], abs=1e-9)
    assert found.multipliers == pytest.approx([1, 1], abs=1e-9)
    assert problem.multipliers([1, 0, 0])[0] == pytest.approx([1, 1])


def test_nonnegative_least_squares_as_a_problem():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    problem = Problem(
        lambda w: float(np.sum((X @ w - y) ** 2)) / 2,
        inequality=[lambda w, j=j: -w[j] for j in range(4)],
        x0=np.zeros(4),
    )
    found = problem.solve()
    assert found.x == pytest.approx(nonnegative_least_squares(X, y), abs=1e-9)
    assert problem.kkt(found.x, found.multipliers).passed
    assert found.method == "quadratic program"


def test_a_linear_problem_and_its_dual():
    # The Lagrangian is linear in x: its minimum is finite only where its coefficient is 0 (M721).
    problem = Problem(
        lambda x: -x[0] - 2 * x[1],
        inequality=[
            lambda x: x[0] + x[1] - 4, lambda x: x[1] - 3, lambda x: -x[0], lambda x: -x[1],
        ],
        x0=[0.0, 0.0],
    )  # fmt: skip
    found = problem.solve()
    assert found.x == pytest.approx([1, 3])
    assert found.value == pytest.approx(-7)
    assert problem.dual([1, 1, 0, 0]).value == pytest.approx(-7)
    assert problem.dual([1, 1, 0, 1]).verdict == "unbounded"
    assert problem.dual([2, 0, 1, 0]).value == pytest.approx(-8)  # feasible for the dual, lower
    best = problem.solve_dual()
    assert best.value == pytest.approx(-7)
    text = problem.recipe()
    assert "L is linear in x" in text
    assert "d* = -7 at a1 = 1, a2 = 1, a3 = 0, a4 = 0" in text


def test_the_recipe_of_the_circle_problem():
    text = circle().recipe()
    for words in (
        "minimise    f(x) = -x0 - x1",
        "f1(x) = x0^2 + x1^2 - 1 <= 0",
        "L(x, a1) = f(x) + a1 f1(x), a1 >= 0",
        "= -x0 - x1 + a1 (x0^2 + x1^2 - 1)",
        "with all multipliers 0: g = -inf (unbounded)",
        "d* = -1.41421 at a1 = 0.707107",
        "p* = -1.41421 at x* = (0.707107, 0.707107)",
        "duality gap p* - d* = 0",
        "Slater's condition: yes",
    ):
        assert words in text, words
    assert "by search" in circle(recognize=False).recipe()


# ---- duality -------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_weak_duality_concavity_and_strong_duality(seed, d, m):
    # X46, M714, M718: random convex problems with a disc, so that Slater's condition holds.
    rng = np.random.default_rng(seed)
    X, c = rng.normal(size=(d, d)), rng.normal(size=d)
    Q = X.T @ X
    A, b = rng.normal(size=(m, d)), rng.exponential(size=m)
    problem = Problem(
        lambda x: x @ Q @ x / 2 + c @ x,
        inequality=[
            *[lambda x, i=i: A[i] @ x - b[i] for i in range(m)],
            lambda x: x @ x - 2.0,
        ],
        x0=np.zeros(d),
    )
    assert problem.slater().verdict == "yes"
    found = problem.solve()
    assert found.verdict == "optimal"
    assert abs(found.gap) <= 1e-7 * (1 + abs(found.value))
    assert problem.kkt(found.x, found.multipliers).passed
    first, second = rng.exponential(size=(2, m + 1))
    values = [problem.dual(a).value for a in (first, second, (first + second) / 2)]
    assert max(values) <= found.value + 1e-9 * (1 + abs(found.value))
    assert values[2] >= (values[0] + values[1]) / 2 - 1e-9 * (1 + abs(values[2]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_conditions_hold_at_the_optimum_only(seed):
    # X47.
    rng = np.random.default_rng(seed)
    X, c = rng.normal(size=(4, 3)), rng.normal(size=3)
    Q = X.T @ X + 0.1 * np.eye(3)
    problem = Problem(
        lambda x: x @ Q @ x / 2 + c @ x,
        inequality=[lambda x: x.sum() - 0.1, lambda x: -x[0] - 0.2],
        equality=[lambda x: x[1] - 2 * x[2]],
        x0=np.zeros(3),
    )
    found = problem.solve()
    direct = quadratic_program(
        Q, c, A_ub=[[1, 1, 1], [-1, 0, 0]], b_ub=[0.1, 0.2], A_eq=[[0, 1, -2]], b_eq=[0]
    )
    assert found.x == pytest.approx(direct.x, abs=1e-9)
    assert problem.kkt(found.x).passed
    assert problem.kkt(found.x, found.multipliers, found.equality_multipliers).passed
    for _ in range(5):
        other = found.x + 0.1 * rng.normal(size=3)
        assert not problem.kkt(other).passed


def test_a_verdict_for_each_condition():
    problem = circle()
    names = ["stationarity", "primal feasibility", "dual feasibility", "complementary slackness"]

    def broken(x, alpha):
        check = problem.kkt(x, [alpha])
        assert list(check.holds) == names
        return [name for name, holds in check.holds.items() if not holds]

    assert broken([ROOT, ROOT], ROOT) == []
    assert broken([1.0, 0.0], ROOT) == ["stationarity"]
    assert broken([1.0, 1.0], 0.5) == ["primal feasibility", "complementary slackness"]
    assert broken([-ROOT, -ROOT], -ROOT) == ["dual feasibility"]
    assert broken([0.5, 0.5], 1.0) == ["complementary slackness"]
    frame = problem.kkt([0.5, 0.5], [1.0]).to_frame()
    assert frame["holds"].tolist() == [True, True, True, False]
    assert frame["residual"][3] == pytest.approx(0.5)
    assert "violated" in repr(problem.kkt([0.5, 0.5], [1.0]))
    assert "were fitted" in str(problem.kkt([0.5, 0.5]))


def test_slater_fails_and_the_gap_stays_open():
    # Minimise exp(-x) with x^2 / y <= 0, y > 0: p* = 1, d* = 0 (Boyd and Vandenberghe, 5.21).
    # The constraint as sqrt(x^2 + y^2) - y <= 0, which is convex everywhere, holds for x = 0 only.
    problem = Problem(
        lambda x: np.exp(-x[0]),
        inequality=[lambda x: np.hypot(x[0], x[1]) - x[1]],
        x0=[0.0, 1.0],
    )
    assert problem.slater().verdict == "none found"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the infimum is not attained
        for alpha in (0.1, 1.0, 10.0):
            assert problem.dual([alpha]).value <= 0.2


def test_slater_needs_no_strict_point_for_affine_constraints():
    # M720.
    problem = Problem(
        lambda x: x @ x, inequality=[lambda x: x[0] - 1, lambda x: 1 - x[0]], x0=[0.0, 0.0]
    )
    found = problem.slater()
    assert found.holds
    assert found.point[0] == pytest.approx(1)
    assert problem.solve().gap == pytest.approx(0, abs=1e-9)
    thin = Problem(lambda x: x[0], inequality=[lambda x: x[0] ** 2], x0=[1.0]).slater()
    assert not thin.holds
    assert thin.verdict == "none found"
    bent = Problem(lambda x: x[0], inequality=[lambda x: 1 - x[0] ** 2], x0=[3.0]).slater()
    assert bent.verdict == "not convex"
    unknown = circle(recognize=False).slater()
    assert unknown.holds
    assert "was not checked" in unknown.message


# ---- no solution ---------------------------------------------------------------------------------


def test_an_infeasible_problem_has_a_certificate():
    flat = Problem(lambda x: x @ x, inequality=[lambda x: x[0] + 1, lambda x: -x[0]], x0=[0.0, 0.0])
    found = flat.solve()
    assert found.verdict == "infeasible"
    assert found.x is None
    assert found.certificate == pytest.approx([1, 1])
    assert flat.slater().verdict == "infeasible"
    assert flat.solve_dual().verdict == "unbounded"
    discs = Problem(
        lambda x: x[0],
        inequality=[lambda x: x @ x - 1, lambda x: (x[0] - 3) ** 2 + x[1] ** 2 - 1],
        x0=[0.0, 0.0],
    )
    found = discs.solve()
    assert found.verdict == "infeasible"
    assert "at every x" in found.message
    a = found.certificate
    # The weighted sum of both constraints is positive at its minimum: at every x.
    assert np.all(a >= 0)
    x = 3 * a[1] / a.sum()
    assert a[0] * (x**2 - 1) + a[1] * ((x - 3) ** 2 - 1) > 0
    assert "infeasible" in discs.recipe()
    mixed = Problem(
        lambda x: x[0], inequality=[lambda x: x @ x - 1], equality=[lambda x: x[0] - 2],
        x0=[0.0, 0.0],
    ).solve()  # fmt: skip
    assert mixed.verdict == "infeasible"


def test_an_unbounded_problem_is_said():
    for problem in (
        Problem(lambda x: x[0], inequality=[lambda x: x[0] - x[1]], x0=[0.0, 0.0]),
        Problem(lambda x: np.exp(x[0]) - x[1], inequality=[lambda x: x[0] - x[1]], x0=[0.0, 0.0]),
    ):
        found = problem.solve()
        assert found.verdict == "unbounded"
        assert found.value == -np.inf
        way = found.certificate
        assert problem.f.value(1e3 * way) < problem.f.value(0 * way) - 1
        assert problem.inequality[0].value(1e3 * way) <= 1e-9


def test_a_local_minimum_is_not_called_optimal():
    # x^4 - 3 x^2 + x has its global minimum near -1.3; from 1 the search ends at the other one.
    problem = Problem(
        lambda x: x[0] ** 4 - 3 * x[0] ** 2 + x[0], inequality=[lambda x: x[0] - 3], x0=[1.0]
    )
    found = problem.solve()
    assert found.verdict == "local"
    assert found.gap > 2
    square = Problem(lambda x: x[0] * x[1], inequality=[lambda x: x @ x - 1], x0=[0.1, -0.2])
    # Not convex, but with one quadratic constraint the gap is closed, which proves the minimum.
    found = square.solve()
    assert found.value == pytest.approx(-0.5)
    assert found.verdict == "optimal"


# ---- other functions, against SciPy --------------------------------------------------------------


def test_smooth_problems_against_scipy():
    def f(x):
        return float(np.log(np.sum(np.exp(x)))) + x[0] ** 2

    problem = Problem(
        f,
        inequality=[lambda x: x @ x - 4, lambda x: 1 - x[1]],
        equality=[lambda x: x[0] + x[2] - 0.5],
        x0=np.zeros(3),
    )
    found = problem.solve()
    theirs = optimize.minimize(
        f, np.zeros(3), method="SLSQP", options={"ftol": 1e-15},
        constraints=[
            {"type": "ineq", "fun": lambda x: 4 - x @ x},
            {"type": "ineq", "fun": lambda x: x[1] - 1},
            {"type": "eq", "fun": lambda x: x[0] + x[2] - 0.5},
        ],
    )  # fmt: skip
    assert found.value == pytest.approx(theirs.fun, abs=1e-8)
    assert found.x == pytest.approx(theirs.x, abs=1e-6)
    assert found.verdict == "optimal"
    assert abs(found.gap) <= 1e-7


def test_gradients_that_are_given_are_used():
    calls = []

    def gradient(x):
        calls.append(1)
        return 4 * x**3

    problem = Problem(
        (lambda x: float(np.sum(x**4)), gradient),
        equality=[(lambda x: x.sum() - 2, np.ones_like, lambda x: 0 * np.outer(x, x))],
        x0=[2.0, 0.0],
    )
    found = problem.solve()
    assert found.x == pytest.approx([1, 1], abs=1e-7)
    assert found.equality_multipliers == pytest.approx([-4], abs=1e-6)
    assert calls


class Bowl:
    """A function that knows its derivatives and how many inputs it has."""

    inputs = 2

    def __call__(self, x):
        return float(np.sum(np.cosh(x)))

    def gradient(self, x):
        return np.sinh(x)

    def hessian(self, x):
        return np.diag(np.cosh(x))


def test_functions_with_methods_need_no_start():
    found = Problem(Bowl(), inequality=[lambda x: 2 - x.sum()]).solve()
    assert found.x == pytest.approx([1, 1])
    assert found.multipliers == pytest.approx([np.sinh(1)])


def test_what_is_quadratic_is_recognised_and_nothing_else():
    def parts(f, d=2):
        return Problem(f, x0=np.ones(d)).f.parts

    found = parts(lambda x: 3 * x[0] ** 2 - x[0] * x[1] + 0.5 * x[1] - 7)
    assert pytest.approx(np.array([[6, -1], [-1, 0]])) == found.Q
    assert found.c == pytest.approx([0, 0.5])
    assert found.constant == -7
    assert parts(lambda x: x[0]).affine
    for other in (
        lambda x: abs(x[0]),
        lambda x: np.exp(1e-3 * x[0]),
        lambda x: np.sin(2 * np.pi * x[0]),
        lambda x: np.log(x[0] + 2),
        lambda x: max(x[0] - 1e5, 0.0),
        lambda x: np.hypot(1, x[0]),
        lambda x: 1 / x[0],
        lambda x: x[0] ** 3,
        lambda x: x[0] ** 2 * x[1] ** 2,
    ):
        assert parts(other) is None
    assert repr(circle()) == "minimise -x0 - x1\n  x0^2 + x1^2 - 1 <= 0"


# ---- bad input -----------------------------------------------------------------------------------


def test_bad_input():
    with pytest.raises(ParameterError, match="x0 is missing"):
        Problem(lambda x: x[0])
    with pytest.raises(ParameterError, match="inequality is not a list"):
        Problem(lambda x: x[0], inequality=lambda x: x[0], x0=[0.0])
    with pytest.raises(ParameterError, match="f1=3 is not a function"):
        Problem(lambda x: x[0], inequality=[3], x0=[0.0])
    with pytest.raises(ParameterError, match="f has 4 parts"):
        Problem((1, 2, 3, 4), x0=[0.0])
    with pytest.raises(InputError, match="h1 is not a number at x0"):
        Problem(lambda x: x[0], equality=[lambda x: x[0] * np.nan], x0=[0.0])
    with pytest.raises(InputError, match="x0 has entries that are missing"):
        Problem(lambda x: x[0], x0=[np.nan])
    with pytest.raises(InputError, match="it has to return one number"):
        Problem(lambda x: x, x0=[0.0, 1.0])
    with pytest.raises(InputError, match=r"\[2, 3\] inputs"):
        Problem(Bowl(), x0=np.zeros(3))
    problem = circle()
    with pytest.raises(ParameterError, match=r"multipliers\[0\]=-1 is below 0"):
        problem.dual([-1])
    with pytest.raises(InputError, match=r"multipliers has shape \(2,\); give 1"):
        problem.dual([1, 1])
    with pytest.raises(InputError, match="multipliers has entries that are missing"):
        problem.lagrangian([0, 0], [np.nan])
    with pytest.raises(InputError, match="x has 3 entries; 2 are needed"):
        problem.kkt([0, 0, 0])
    with pytest.raises(ParameterError, match="tol=-1"):
        problem.kkt([0, 0], tol=-1)
