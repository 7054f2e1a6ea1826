"""Chapter 7: minima under constraints, their duals and their conditions."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.optimize import (
    Problem,
    QuadraticFunction,
    gradient_descent,
    onto_ball,
    onto_box,
    onto_l1_ball,
    projected_gradient,
    quadratic_program,
)
from bottega.plot import dual_chart, lines_chart

__all__ = ["bounds_by_duals", "conditions_at_the_optimum", "projected_steps"]

_SHOWN = 100  # steps in the picture


@experiment(
    "M-X45",
    claim="Plain gradient descent leaves the feasible set, and projection repairs it.",
    items="M705-M709",
    verdict="holds only if every step is projected: the projection of where plain descent ends is "
    "feasible, but not the minimum",
)
def projected_steps(*, repeats: int = 10, d: int = 5, random_state: int = 0) -> Experiment:
    """Minimise random quadratics over a box, a ball and a ball of the L1 norm.

    The least values to compare with are those of `quadratic_program` and, over the ball, of
    `Problem`.

    Parameters
    ----------
    repeats : int
        Random quadratics.
    d : int
        Inputs.
    random_state : int
        Of the quadratics.
    """
    sets: dict[str, Any] = {
        "box": partial(onto_box, low=-0.5, high=0.5),
        "ball": onto_ball,
        "L1 ball": onto_l1_ball,
    }
    rng = np.random.default_rng(random_state)
    outside, off, last = ({name: np.zeros(repeats) for name in sets} for _ in range(3))
    curves: dict[str, FloatArray] = {}
    for k in range(repeats):
        A, b = _random_quadratic(d, rng)
        f = QuadraticFunction(A, b)
        plain = gradient_descent(f, np.zeros(d), gradient=f.gradient)
        for name, onto in sets.items():
            least = _least_over(name, A, b)
            found = projected_gradient(
                f, np.zeros(d), onto, gradient=f.gradient, tol=1e-8, max_iter=5000
            )
            if k == repeats - 1 and name == "ball":
                assert plain.trace.points is not None and found.trace.points is not None  # noqa: PT018
                curves["plain, distance from the ball"] = _padded(
                    [np.linalg.norm(x - onto(x)) for x in plain.trace.points]
                )
                curves["projected, distance from the solution"] = _padded(
                    np.linalg.norm(found.trace.points - found.x, axis=1)
                )
            outside[name][k] = np.linalg.norm(plain.x - onto(plain.x))
            off[name][k] = (found.value - least) / abs(least)
            last[name][k] = (f(onto(plain.x)) - least) / abs(least)
    parts = []
    for name in sets:
        parts += [
            Proof(f"{name}: distance of plain descent from the set, least", outside[name].min(),
                  0, outside[name].min() > 0.1),
            Proof(f"{name}: value of projected steps above the minimum, most",
                  np.abs(off[name]).max(), 0, np.abs(off[name]).max() < 1e-6),
            Proof(f"{name}: value of one projection at the end above it, mean", last[name].mean(),
                  0, last[name].mean() > 0.1),
        ]  # fmt: skip
    edge = projected_gradient(
        QuadraticFunction(np.eye(2), [5.0, -10.0]), [0.0, 0.0], partial(onto_box, low=0.0)
    )
    parts.append(
        Proof("orthant: second entry for a minimum at (-5, 10)", edge.x[1], 10,
              bool(np.allclose(edge.x, [0, 10], atol=1e-5)))
    )  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding="plain descent ends at least "
        f"{min(each.min() for each in outside.values()):.2f} outside of the sets; projected steps "
        f"are within {max(np.abs(each).max() for each in off.values()):.0e} of the least value, "
        "one projection at the end on average "
        f"{min(each.mean() for each in last.values()):.0%} above it or more",
        draw=partial(
            lines_chart,
            np.arange(_SHOWN),
            curves,
            x_title="step",
            y_title="distance",
            title="Plain descent leaves the set, projected steps stay and arrive",
            subtitle="A quadratic function whose minimum is outside of the unit ball",
            log_y=True,
            points=False,
        ),
    )


def _padded(values: Any) -> FloatArray:
    """Return the first values, missing after the last."""
    found = np.full(_SHOWN, np.nan)
    kept = np.asarray(values)[:_SHOWN]
    found[: len(kept)] = kept
    return found


def _random_quadratic(d: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the matrix and the slope of a quadratic whose minimum is far from zero."""
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    A = (turn * np.geomspace(1, 100, d)) @ turn.T
    center = rng.normal(size=d)
    return A, np.asarray(-A @ (3 * center / np.linalg.norm(center)))


def _least_over(name: str, A: FloatArray, b: FloatArray) -> float:
    """Return the least value of a quadratic over one of the sets."""
    d = len(b)
    if name == "box":
        return quadratic_program(A, b, low=-0.5, high=0.5).value
    if name == "L1 ball":  # x = u - v with u, v >= 0 that sum to at most 1
        Q = np.block([[A, -A], [-A, A]])
        return quadratic_program(
            Q, np.append(b, -b), A_ub=np.ones((1, 2 * d)), b_ub=[1.0], low=0.0
        ).value
    ball = QuadraticFunction(2 * np.eye(d), 0.0, -1.0)
    return Problem(QuadraticFunction(A, b), inequality=[ball]).solve().value


@experiment(
    "M-X46",
    claim="The dual function is concave and nowhere above the minimum, and its maximum is the "
    "minimum under Slater's condition.",
    items="M714-M720",
)
def bounds_by_duals(*, problems: int = 8, draws: int = 40, random_state: int = 0) -> Experiment:
    """Evaluate the duals of random convex quadratic programs, and of problems without Slater.

    Without a strictly feasible point: minimise exp(-x) where x^2 / y <= 0, y > 0, which is convex
    and has the minimum 1 at x = 0, while the Lagrangian comes near 0 for every multiplier. Without
    convexity: minimise (x^2 - 1)^2 + 0.3 x where x >= 0.5, which shuts out the deeper of two wells,
    from which the Lagrangian cannot be kept.

    Parameters
    ----------
    problems : int
        Random problems with a quadratic objective and linear and quadratic constraints.
    draws : int
        Pairs of multipliers for each.
    random_state : int
        Of problems and multipliers.
    """
    rng = np.random.default_rng(random_state)
    above, bent, gaps, strict = [], [], [], 0
    for _ in range(problems):
        problem = _random_problem(rng)
        strict += problem.slater().holds
        least = problem.solve().value
        size = max(abs(least), 1.0)
        m = len(problem.inequality)
        for _ in range(draws):
            one, two = rng.exponential(size=(2, m))
            ends = problem.dual(one).value, problem.dual(two).value
            middle = problem.dual((one + two) / 2).value
            above.append((max(ends) - least) / size)
            bent.append((sum(ends) / 2 - middle) / size)
        gaps.append(abs(least - problem.solve_dual().value) / size)
    without = [_lagrangian_without_slater(alpha) for alpha in (0.0, 1.0, 100.0)]
    best, least_in_wells = _two_wells()
    parts = [
        Proof("problems with a strictly feasible point", strict, problems, strict == problems),
        Proof("dual values above the minimum, most", max(above), 0, max(above) < 1e-8),
        Proof("chords of the dual above it, most", max(bent), 0, max(bent) < 1e-8),
        Proof("gap of the best multipliers, most", max(gaps), 0, max(gaps) < 1e-6),
        Proof("without Slater's condition: best bound, minimum", max(without), 1,
              max(without) < 1e-6),
        Proof("not convex: best bound, minimum", best, least_in_wells,
              best < least_in_wells - 0.1),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"of {len(above)} pairs of multipliers of {problems} convex problems none gives a "
        f"bound above the minimum or a chord above the dual, and the best bound is the minimum to "
        f"{max(gaps):.0e}; without Slater's condition the best is {max(without):.0e} for a minimum "
        f"of 1, and without convexity {best:.2f} for {least_in_wells:.2f}",
        draw=partial(dual_chart, _circle()),
    )


def _random_problem(rng: np.random.Generator, d: int = 3) -> Problem:
    """Return a convex problem: a quadratic, a ball around zero, two half-spaces that hold zero."""
    A, b = _random_quadratic(d, rng)
    ball = QuadraticFunction(2 * np.eye(d), 0.0, -1.0)
    planes = [
        QuadraticFunction(np.zeros((d, d)), rng.normal(size=d), -float(rng.uniform(0.1, 0.5)))
        for _ in range(2)
    ]
    return Problem(QuadraticFunction(A, b), inequality=[ball, *planes])


def _circle() -> Problem:
    """Return the problem of the notes: the largest x + y in the unit disc."""
    disc = QuadraticFunction(2 * np.eye(2), 0.0, -1.0)
    return Problem(QuadraticFunction(np.zeros((2, 2)), [-1.0, -1.0]), inequality=[disc])


def _lagrangian_without_slater(alpha: float) -> float:
    """Return the least value met of exp(-x) + alpha x^2 / y along x = t, y = t^3."""
    t = np.geomspace(1, 1e10, 101)
    with np.errstate(under="ignore"):
        return float(np.min(np.exp(-t) + alpha * t**2 / t**3))


def _two_wells() -> tuple[float, float]:
    """Return the best bound and the minimum of the problem that is not convex, on a grid."""
    x = np.linspace(-2, 2, 40_001)
    f = (x**2 - 1) ** 2 + 0.3 * x
    bounds = [float(np.min(f + alpha * (0.5 - x))) for alpha in np.linspace(0, 2, 201)]
    return max(bounds), float(np.min(f[x >= 0.5]))


@experiment(
    "M-X47",
    claim="The conditions of Karush, Kuhn and Tucker hold at the optimum, and only there.",
    items="M710-M713, M722",
    verdict="holds only if the problem is convex and has strong duality: without convexity they "
    "hold at points that are not optimal, and without Slater's condition they may fail at the "
    "optimum",
)
def conditions_at_the_optimum(
    *, problems: int = 8, draws: int = 40, random_state: int = 1
) -> Experiment:
    """Check the conditions at the solutions of random convex problems, and at other points.

    At a point that is not the solution the multipliers are those that fit best.

    Parameters
    ----------
    problems : int
        Random convex problems.
    draws : int
        Feasible points of each.
    random_state : int
        Of problems and points.
    """
    rng = np.random.default_rng(random_state)
    at_best, elsewhere, excess = [], [], []
    distances = np.geomspace(1e-4, 1, 13)
    away = np.zeros((problems, len(distances)))
    for k in range(problems):
        problem = _random_problem(rng)
        solved = problem.solve()
        assert solved.x is not None
        check = problem.kkt(solved.x, solved.multipliers)
        at_best.append(max(check.residuals.values()))
        way = rng.normal(size=3)
        way /= np.linalg.norm(way)
        for j, distance in enumerate(distances):
            moved = problem.kkt(solved.x + distance * way, solved.multipliers)
            away[k, j] = max(moved.residuals.values())
        for _ in range(draws):
            x = rng.normal(size=3)
            x = solved.x + rng.uniform(0.05, 1) * (0.9 * x / np.linalg.norm(x) - solved.x)
            if max(each.value(x) for each in problem.inequality) > 0:
                continue
            elsewhere.append(max(problem.kkt(x).residuals.values()))
            excess.append(problem.f.value(x) - solved.value)
    circle = _circle()
    corner = np.full(2, 0.5**0.5)
    toy = circle.kkt(corner)
    hill = Problem(  # -x^2 on [-1, 2]: 0 is the maximum, -1 a local minimum, 2 the minimum
        QuadraticFunction([[-2.0]]),
        inequality=[
            QuadraticFunction([[0.0]], [-1.0], -1.0),
            QuadraticFunction([[0.0]], [1.0], -2.0),
        ],
    )
    wrong = [max(hill.kkt([x]).residuals.values()) for x in (0.0, -1.0)]
    point = Problem(QuadraticFunction([[0.0]], [1.0]), inequality=[QuadraticFunction([[2.0]])])
    missed = max(point.kkt([0.0]).residuals.values())
    parts = [
        Proof("largest residual at solutions", max(at_best), 0, max(at_best) < 1e-6),
        Proof("least residual elsewhere", min(elsewhere), 1e-3,
              len(elsewhere) > 50 and min(elsewhere) > 1e-3),
        Proof("least residual at 1e-4 from solutions, the same multipliers", away[:, 0].min(), 1e-6,
              away[:, 0].min() > 1e-6),
        Proof("least value at those points above the minimum", min(excess), 0, min(excess) > 0),
        Proof("circle: multiplier at the solution", float(toy.multipliers[0]), 0.5**0.5,
              toy.passed and abs(toy.multipliers[0] - 0.5**0.5) < 1e-9),
        Proof("circle: value at the solution", circle.f.value(corner), -(2**0.5),
              abs(circle.solve().value + 2**0.5) < 1e-9),
        Proof("not convex: residual at the maximum", wrong[0], 0, wrong[0] < 1e-6),
        Proof("not convex: residual at a local minimum", wrong[1], 0, wrong[1] < 1e-6),
        Proof("without Slater's condition: residual at the optimum", missed, 1e-3, missed > 1e-3),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"residuals are at most {max(at_best):.0e} at {problems} solutions and at least "
        f"{min(elsewhere):.2f} at {len(elsewhere)} other feasible points; they are 0 at the "
        f"maximum of a function that is not convex, and {missed:.2g} at the only feasible point "
        "of a problem without Slater's condition",
        draw=partial(
            lines_chart,
            distances,
            {
                "largest of the problems": away.max(axis=0),
                "median": np.median(away, axis=0),
                "least": away.min(axis=0),
            },
            x_title="distance from the solution",
            y_title="largest residual of the four conditions",
            title="The conditions hold at the solution and nowhere else",
            subtitle=f"{problems} convex problems, with the multipliers of their solutions",
            log_x=True,
            log_y=True,
        ),
    )
