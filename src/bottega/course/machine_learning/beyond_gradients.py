"""Chapter 6: memory, rates of their own for every input, and second derivatives."""

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope, without_warnings
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.optimize import (
    Minimum,
    QuadraticFunction,
    adagrad,
    adam,
    gradient_descent,
    lbfgs,
    momentum,
    newton,
    pieces,
)
from bottega.plot import lines_chart

__all__ = ["memory_of_gradients", "price_of_newton"]

_RULES: dict[str, Callable[..., Minimum]] = {
    "plain": partial(gradient_descent, line_search="fixed"),
    "momentum": momentum,
    "AdaGrad": adagrad,
    "Adam": adam,
}
_NEAR = 1e-6  # of the first gap


@experiment(
    "M-X40",
    claim="Momentum, AdaGrad and Adam beat plain gradient descent.",
    items="M624-M626",
    verdict="holds only if the function is badly scaled: on a round one plain descent is faster "
    "than momentum and Adam; and AdaGrad loses most of its lead if the axes of the function are "
    "not those of the inputs",
)
def memory_of_gradients(
    *, conditions: tuple[float, ...] = (3.0, 30.0, 300.0), random_state: int = 1
) -> Experiment:
    """Count the steps to a millionth of the gap on quadratics, each method with its best rate.

    Each quadratic of ten inputs is tried as it is, with curvatures along the inputs, and rotated.

    Parameters
    ----------
    conditions : tuple of float
        Condition numbers of the quadratics.
    random_state : int
        Of start and rotation.
    """
    rng = np.random.default_rng(random_state)
    x0 = rng.normal(size=10)
    turn = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    steps = {name: np.zeros((2, len(conditions))) for name in _RULES}
    for k, condition in enumerate(conditions):
        bends = np.geomspace(1 / condition, 1, 10)
        for j, A in enumerate((np.diag(bends), (turn * bends) @ turn.T)):
            f = QuadraticFunction(A)
            for name in _RULES:
                best = 2 / (1 + 1 / condition)  # of plain descent
                rates = (
                    [best, best / 2] if name in ("plain", "momentum") else [0.03, 0.125, 0.5, 1, 2]
                )
                steps[name][j, k] = min(_steps_to(name, f, x0, rate) for rate in rates)
    plain = steps["plain"]
    first = without_warnings(
        adam, lambda x: float(x @ [3.0, -0.01]), [0.0, 0.0], learning_rate=0.1, max_iter=1
    )
    lead = {name: plain[:, -1] / steps[name][:, -1] for name in _RULES}
    parts = [
        *(Proof(f"steps at condition {conditions[-1]:g}, plain and {name}", plain[0, -1],
                steps[name][0, -1], plain[0, -1] > 2 * steps[name][0, -1])
          for name in ("momentum", "AdaGrad", "Adam")),
        *(Proof(f"steps at condition {conditions[0]:g}, plain and {name}", plain[0, 0],
                steps[name][0, 0], plain[0, 0] < steps[name][0, 0])
          for name in ("momentum", "Adam")),
        Proof("lead of AdaGrad as it is and rotated", lead["AdaGrad"][0], lead["AdaGrad"][1],
              lead["AdaGrad"][0] > 5 * lead["AdaGrad"][1]),
        Proof("lead of momentum as it is and rotated", lead["momentum"][0], lead["momentum"][1],
              0.5 < lead["momentum"][0] / lead["momentum"][1] < 2),
        # With the bias corrected the first step is the rate, whatever the gradient's size.
        Proof("first step of Adam, along a slope of 3 and one of -0.01", first.x[0], -first.x[1],
              bool(np.allclose(first.x, [-0.1, 0.1], rtol=1e-5))),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"at condition {conditions[-1]:g} plain descent takes {plain[0, -1]:.0f} steps, "
        + ", ".join(f"{name} {steps[name][0, -1]:.0f}" for name in list(_RULES)[1:])
        + f" (AdaGrad {steps['AdaGrad'][1, -1]:.0f} of {plain[1, -1]:.0f} on a rotated function); "
        f"at condition {conditions[0]:g} plain descent takes {plain[0, 0]:.0f}, momentum "
        f"{steps['momentum'][0, 0]:.0f} and Adam {steps['Adam'][0, 0]:.0f}",
        draw=partial(
            lines_chart,
            np.array(conditions),
            {**{name: each[0] for name, each in steps.items()},
             "AdaGrad, rotated": steps["AdaGrad"][1]},
            x_title="condition number",
            y_title="steps to a millionth of the gap",
            title="Memory of gradients pays where scales are far apart",
            subtitle="Each method with the best of its rates; Adam takes as long as momentum",
            log_x=True,
            log_y=True,
            dashed=("Adam", "AdaGrad, rotated"),
        ),
    )  # fmt: skip


def _steps_to(name: str, f: QuadraticFunction, x0: FloatArray, rate: float) -> float:
    """Return the steps to a share of the first gap, infinite if there are not enough."""
    run = without_warnings(
        _RULES[name], f, x0, gradient=f.gradient, learning_rate=rate, max_iter=1500, tol=1e-7
    )
    values = run.trace.values
    reached = values <= _NEAR * values[0]
    return float(np.argmax(reached)) if reached.any() else np.inf


@experiment(
    "M-X41",
    claim="Newton's method takes few steps, and memory of the square of the number of inputs.",
    items="M627",
    verdict="holds only if the steps are damped: from a start that is too far, whole steps "
    "diverge on sqrt(1 + x^2)",
)
def price_of_newton(
    *, inputs: tuple[int, ...] = (25, 50, 100, 200, 400), condition: float = 1e4
) -> Experiment:
    """Minimise badly scaled functions of more and more inputs, and measure memory.

    The functions are sums of sqrt(1 + c x^2), with c from 1 to the condition number, plus a small
    quadratic. The memory is the most that Python's allocator held at a time, on top of f.

    Parameters
    ----------
    inputs : tuple of int
        Numbers of inputs.
    condition : float
        Ratio of the largest to the smallest c.
    """
    steps: dict[str, list[int]] = {"Newton": [], "gradient descent": [], "L-BFGS": []}
    memory: dict[str, list[float]] = {"Newton": [], "L-BFGS": []}
    for d in inputs:
        c = np.geomspace(1, condition, d)
        f = _Hyperbolas(c)
        x0 = np.full(d, 0.5)
        known = {"gradient": f.gradient, "trace": False}
        slow = without_warnings(gradient_descent, f.value, x0, max_iter=300, **known)
        steps["gradient descent"].append(slow.n_iter)
        for name, call in (
            ("Newton", partial(newton, hessian=f.hessian)),
            ("L-BFGS", partial(lbfgs, max_iter=5000)),
        ):
            run, most = _measured(call, f.value, x0, **known)
            steps[name].append(run.n_iter)
            memory[name].append(most)
    power = {name: log_slope(inputs[-2:], each[-2:]) for name, each in memory.items()}
    far = {
        kind: without_warnings(
            newton, pieces.norm().of([[1.0], [0.0]], [0.0, 1.0]), [2.0],
            gradient=lambda x: x / np.hypot(1, x),
            hessian=lambda x: np.atleast_2d(np.hypot(1, x) ** -3.0), line_search=kind,
        )
        for kind in ("backtracking", "fixed")
    }  # fmt: skip
    most = max(steps["Newton"])
    parts = [
        Proof("most steps of Newton, of gradient descent", most, min(steps["gradient descent"]),
              most <= 30 and min(steps["gradient descent"]) >= 5 * most),
        Proof("steps of Newton, fewest inputs and most", steps["Newton"][0], steps["Newton"][-1],
              steps["Newton"][-1] <= 2 * steps["Newton"][0]),
        Proof("power of the inputs in the memory of Newton", power["Newton"], 2,
              abs(power["Newton"] - 2) < 0.25),
        Proof("power of the inputs in the memory of L-BFGS", power["L-BFGS"], 1,
              power["L-BFGS"] < 1.25),
        Proof("damped steps from 2 on sqrt(1 + x^2), distance",
              abs(float(far["backtracking"].x[0])), 0, far["backtracking"].converged),
        Proof("whole steps: second value, above the first",
              far["fixed"].trace.values[1], far["fixed"].trace.values[0],
              far["fixed"].verdict == "diverged"),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"Newton takes {min(steps['Newton']):.0f} to {most:.0f} steps for {inputs[0]} to "
        f"{inputs[-1]} inputs, gradient descent {min(steps['gradient descent']):.0f} or more; its "
        f"memory grows as the inputs to the power {power['Newton']:.2f}, to "
        f"{memory['Newton'][-1] / 1e6:.1f} MB, that of L-BFGS to the power {power['L-BFGS']:.2f}; "
        f"whole steps from 2 on sqrt(1 + x^2) have the verdict {far['fixed'].verdict!r}",
        draw=partial(
            lines_chart,
            np.array(inputs),
            {name: np.array(each) / 1e3 for name, each in memory.items()},
            x_title="inputs",
            y_title="memory in kB",
            title="Newton pays for its few steps with a matrix",
            subtitle=f"{most:.0f} steps at most; gradient descent takes "
            f"{min(steps['gradient descent']):.0f} or more",
            log_x=True,
            log_y=True,
        ),
    )


class _Hyperbolas:
    """Sum of sqrt(1 + c x^2) + 0.05 x^2, which is convex and badly scaled."""

    def __init__(self, c: FloatArray) -> None:
        self.c = c

    def value(self, x: FloatArray) -> float:
        return float(np.sum(np.sqrt(1 + self.c * x**2)) + 0.05 * x @ x)

    def gradient(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.c * x / np.sqrt(1 + self.c * x**2) + 0.1 * x)

    def hessian(self, x: FloatArray) -> FloatArray:
        return np.diag(self.c * (1 + self.c * x**2) ** -1.5 + 0.1)


def _measured(call: Callable[..., Minimum], *given: Any, **options: Any) -> tuple[Minimum, float]:
    """Return what a call found, and the most bytes that it held at a time."""
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        found = call(*given, **options)
        return found, float(tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not running:
            tracemalloc.stop()
