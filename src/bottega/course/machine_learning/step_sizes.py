"""Chapter 6: how far to go down the slope."""

from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope, without_warnings
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.optimize import Minimum, QuadraticFunction, gradient_descent, pieces
from bottega.plot import lines_chart

__all__ = ["lengths_of_steps", "linear_convergence", "two_line_searches"]


def _descend(f: Any, x0: Any, kind: str, **options: Any) -> Minimum:
    return gradient_descent(f, x0, gradient=f.gradient, line_search=kind, **options)


@experiment(
    "M-X37",
    claim="Exact line search takes fewer steps than backtracking, and backtracking cheaper ones.",
    items="M619, M620",
    verdict="holds only if the function is not a badly scaled quadratic of many inputs: there "
    "exact searches zigzag, and backtracking takes fewer steps too",
)
def two_line_searches(
    *, conditions: tuple[float, ...] = (10.0, 30.0, 100.0, 300.0), starts: int = 4
) -> Experiment:
    """Minimise logistic losses and quadratics with both searches, and count.

    The logistic losses of 200 rows are flat, so that the first trial of backtracking, 1, is
    mostly taken although a longer step would be better. The quadratics have ten inputs, with
    curvatures from 1 to the condition number.

    Parameters
    ----------
    conditions : tuple of float
        Condition numbers of the quadratics.
    starts : int
        Random starts on each function.
    """
    functions: dict[str, Any] = {"logistic loss": _logistic_loss(200, 4)}
    for each in conditions:
        functions[f"{each:g}"] = QuadraticFunction(np.diag(np.geomspace(1, each, 10)))
    steps = {kind: np.zeros((len(functions), starts)) for kind in ("exact", "backtracking")}
    costs = {kind: np.zeros((len(functions), starts)) for kind in steps}
    for k in range(starts):
        for i, f in enumerate(functions.values()):
            d = 4 if i == 0 else 10
            x0 = np.random.default_rng([k, i]).normal(size=d)
            for kind in steps:
                run = _descend(f, x0, kind, max_iter=20_000, tol=1e-4)
                steps[kind][i, k] = run.n_iter
                costs[kind][i, k] = run.evaluations / run.n_iter
    taken = {kind: each.mean(axis=1) for kind, each in steps.items()}
    cost = {kind: each.mean(axis=1) for kind, each in costs.items()}
    parts = [
        Proof("steps on the logistic loss, exact and backtracking", taken["exact"][0],
              taken["backtracking"][0],
              bool(np.all(steps["exact"][0] < steps["backtracking"][0]))),
        *(Proof(f"values of f per step on {name}, exact and backtracking", a, b, a > b)
          for name, a, b in zip(
              ["the logistic loss", *(f"condition {c:g}" for c in conditions)],
              cost["exact"], cost["backtracking"], strict=True)),
        Proof(f"steps at condition {conditions[-1]:g}, exact and backtracking",
              taken["exact"][-1], taken["backtracking"][-1],
              bool(np.all(steps["exact"][-1] > steps["backtracking"][-1]))),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"exact searches take {taken['exact'][0]:.0f} steps on a logistic loss and "
        f"{taken['exact'][-1]:.0f} on a quadratic of condition {conditions[-1]:g}, backtracking "
        f"{taken['backtracking'][0]:.0f} and {taken['backtracking'][-1]:.0f}; an exact step costs "
        f"{cost['exact'].min():.0f} to {cost['exact'].max():.0f} values of f, one of backtracking "
        f"{cost['backtracking'].min():.0f} to {cost['backtracking'].max():.0f}",
        draw=partial(
            lines_chart,
            np.array(conditions),
            {
                "steps, exact": taken["exact"][1:],
                "steps, backtracking": taken["backtracking"][1:],
                "values of f per step, exact": cost["exact"][1:],
                "values of f per step, backtracking": cost["backtracking"][1:],
            },
            x_title="condition number of a quadratic of ten inputs",
            y_title="count",
            title="An exact search pays more per step, and need not take fewer",
            subtitle="On badly scaled quadratics it zigzags",
            log_x=True,
            log_y=True,
        ),
    )


def _logistic_loss(rows: int, d: int) -> Any:
    """Return a mean logistic loss with a small ridge penalty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, d)) * np.geomspace(1, 0.3, d)
    signs = np.where(X.sum(axis=1) + rng.logistic(size=rows) > 0, 1.0, -1.0)
    return (1 / rows) * pieces.logistic().of(signs[:, None] * X) + 0.01 * pieces.square()


@experiment(
    "M-X38",
    claim="The values of gradient descent approach the minimum by a constant factor c < 1 per "
    "step, so that log(gap / eps) / log(1 / c) steps are enough.",
    items="M618",
    verdict="holds only if the function is strongly convex: on x^4 the factor tends to 1, and the "
    "gap falls as a power of the steps",
)
def linear_convergence(
    *, conditions: tuple[float, ...] = (2.0, 5.0, 20.0, 100.0), gap: float = 1e-8
) -> Experiment:
    r"""Measure the factor on quadratics, and count the steps to a small gap.

    With curvatures from m to L and the steps 2 / (m + L), c = ((L - m) / (L + m))^2; with exact
    searches the same c is a bound, which the worst start meets.

    Parameters
    ----------
    conditions : tuple of float
        Values of L / m.
    gap : float
        Share of the first gap that is to be reached.
    """
    parts: list[Proof] = []
    curves: dict[str, FloatArray] = {}
    shown = 121
    worst = 0.0
    for condition in conditions:
        f = QuadraticFunction(np.diag([1.0, condition]))
        c = ((condition - 1) / (condition + 1)) ** 2
        bound = np.log(1 / gap) / np.log(1 / c)
        # The worst start of exact searches: both gradients of the same size.
        x0 = np.array([condition, 1.0])
        rate = 2 / (1 + condition)
        runs = {
            "fixed steps": _descend(f, x0, "fixed", learning_rate=rate, tol=0.1 * gap**0.5),
            "exact searches": _descend(f, x0, "exact", tol=0.1 * gap**0.5),
        }
        for name, run in runs.items():
            values = run.trace.values / run.trace.values[0]
            # The slope over the steps before rounding.
            seen = values[values > gap]
            factor = float(np.exp(np.polyfit(np.arange(len(seen)), np.log(seen), 1)[0]))
            off = abs(np.log(factor) / np.log(c) - 1)
            worst = max(worst, off)
            needed = int(np.argmax(values <= gap))
            parts += [
                Proof(f"factor per step, {name}, condition {condition:g}", factor, c, off < 0.05),
                Proof(f"steps to {gap:g} of the gap, {name}, condition {condition:g}", needed,
                      np.ceil(bound), needed <= np.ceil(bound)),
            ]  # fmt: skip
        curves[f"condition {condition:g}"] = _padded(runs["fixed steps"].trace.values, shown)
    flat = without_warnings(
        gradient_descent, lambda x: x[0] ** 4, [1.0], gradient=lambda x: 4 * x**3,
        line_search="fixed", learning_rate=0.05, tol=0.0, max_iter=4000,
    ).trace.values  # fmt: skip
    late = float(flat[-1] / flat[-2])
    power = log_slope(np.arange(400, 4001), flat[400:])
    parts += [
        Proof("x^4: factor of step 4000", late, 1, 0.99 < late < 1),
        Proof("x^4: power of the number of steps", power, -2, abs(power + 2) < 0.1),
    ]
    curves["x^4"] = _padded(flat, shown)
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"on quadratics the logarithm of the gap falls at the rate of theory to "
        f"{worst:.1%}, and {gap:g} of it is reached within the bound on the steps; on x^4 the "
        f"factor of step 4000 is {late:.4f} and the gap falls as the number of steps to the power "
        f"{power:.2f}",
        draw=partial(
            lines_chart,
            np.arange(shown),
            curves,
            x_title="step",
            y_title="share of the first gap",
            title="Straight lines on a logarithmic axis",
            subtitle="The flatter, the worse the scaling; x^4 has no slope to keep",
            log_y=True,
            points=False,
        ),
    )


def _padded(values: FloatArray, count: int) -> FloatArray:
    """Return the first values as shares of the first, missing after the last."""
    found = np.full(count, np.nan)
    kept = min(count, len(values))
    found[:kept] = values[:kept] / values[0]
    return found


@experiment(
    "M-X39",
    claim="Too short steps crawl, too long ones swing or diverge, and steps that decay converge.",
    items="M622, M623",
    verdict="holds only if the steps decay slowly enough: those that shrink by a factor below 1 "
    "sum to a finite length, and may end before the minimum",
)
def lengths_of_steps(*, curvature: float = 4.0, decay: float = 0.9, steps: int = 40) -> Experiment:
    """Descend on a parabola, whose distance from the minimum is multiplied by 1 - step curvature.

    Parameters
    ----------
    curvature : float
        Second derivative of the parabola.
    decay : float
        Factor of the decaying steps.
    steps : int
        Steps of each run.
    """
    f = QuadraticFunction([[curvature]])
    shares = (0.05, 0.5, 1.0, 1.9, 2.0, 2.1)  # in units of 1 / curvature
    runs = {
        f"{share:g}": without_warnings(
            _descend, f, [1.0], "fixed", learning_rate=share / curvature, tol=0.0, max_iter=steps
        )
        for share in shares
    }
    first = 0.3
    decaying = without_warnings(
        _descend, f, [1.0], "decaying", learning_rate=first / curvature, decay=decay, tol=0.0,
        max_iter=400,
    )  # fmt: skip
    runs[f"{first:g}, decaying"] = decaying
    left = float(np.prod(1 - first * decay ** np.arange(400)))
    end = {name: float(_places(run)[-1]) for name, run in runs.items()}
    parts = [
        Proof(f"distance after {len(run.trace.steps)} steps of {name} / curvature", abs(end[name]),
              abs(1 - share) ** len(run.trace.steps),
              bool(np.isclose(abs(end[name]), abs(1 - share) ** len(run.trace.steps), atol=1e-14)))
        for (name, run), share in zip(runs.items(), shares, strict=False)
    ]  # fmt: skip
    swings = {name: _sign_changes(run) for name, run in runs.items()}
    names = list(runs)
    parts += [
        Proof("changes of side with half the best step", swings[names[1]], 0,
              swings[names[1]] == 0),
        Proof("changes of side with 1.9 of it", swings[names[3]], steps,
              swings[names[3]] == steps),
        Proof("beyond twice the best step, the distance grows", abs(end[names[5]]), 1,
              abs(end[names[5]]) > 1),
        Proof("distance that decaying steps leave, and the product of theory",
              abs(end[names[6]]), left, abs(abs(end[names[6]]) - left) < 1e-12 and left > 0.01),
    ]  # fmt: skip
    shown = 16
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"after {steps} steps of 0.05 and 1.9 times the best the distance is "
        f"{abs(end[names[0]]):.2f} and {abs(end[names[3]]):.3f} of the first; twice the best "
        f"swings for ever, and 2.1 times is {abs(end[names[5]]):.0f} away after "
        f"{len(runs[names[5]].trace.steps)} steps; steps that shrink by {decay:g} never come "
        f"closer than {left:.2f}",
        draw=partial(
            lines_chart,
            np.arange(shown),
            {name: _places(run)[:shown] for name, run in runs.items()
             if len(_places(run)) >= shown},
            x_title="step",
            y_title="x, from the minimum",
            title="A parabola decides by its curvature which steps arrive",
            subtitle="Steps in units of 1 / curvature: up to 1 straight on, up to 2 swinging, "
            "beyond 2 never",
        ),
    )  # fmt: skip


def _sign_changes(run: Minimum) -> int:
    """Return how often a run of one input passes the minimum at zero."""
    x = _places(run)
    return int(np.sum(x[1:] * x[:-1] < 0))


def _places(run: Minimum) -> FloatArray:
    """Return the points of a run of one input."""
    assert run.trace.points is not None
    return np.asarray(run.trace.points[:, 0])
