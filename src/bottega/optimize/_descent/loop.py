"""One loop for every method that goes from point to point: judge, step, write down."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.typing import FloatArray
from bottega.optimize.minimum import Minimum, Recorder
from bottega.optimize.objective import Objective

__all__ = ["Point", "Rule", "check_start", "check_stopping", "descend", "falls_for_ever"]


_ROUNDING = 1e-12
_FARTHEST = 100  # doublings of the way that f has to keep falling for, to count as unbounded


@dataclass(frozen=True)
class Point:
    """Where a run stands: x, f(x) and the gradient there (nan if the rule needs none)."""

    x: FloatArray
    value: float
    gradient: FloatArray


class Rule(Protocol):
    """One method: how it gets from a point to the next, and what it wants at zero.

    It may also have ``needs_gradient``, False if f need not be smooth, and ``note``, a sentence
    that goes with the verdict.
    """

    name: str

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float] | None:
        """Return the next x and the step size; None if no step lowers f, size inf if all do."""
        ...

    def residual(self, at: Point) -> float:
        """Return a number that is zero at a minimum."""
        ...


def descend(
    rule: Rule,
    objective: Objective,
    x0: FloatArray,
    *,
    tol: float,
    max_iter: int,
    trace: bool,
    relative: bool = False,
) -> Minimum:
    """Repeat the step of a rule until its residual is at most `tol`, and say how it ended.

    With `relative` the residual is compared with the largest one met at points no higher than
    the start, so that the units of f and x do not matter.
    """
    check_stopping(tol, max_iter)
    smooth = bool(getattr(rule, "needs_gradient", True))
    recorder = Recorder(objective, trace)
    at = _point(objective, x0, smooth)
    check_start(at.value, at.gradient if smooth else None)
    first, scale = at, 1.0
    with np.errstate(all="ignore"):  # what overflows is said by the verdict
        residual = rule.residual(at)
    recorder.add(at.x, at.value, at.gradient if smooth else None, residual)
    if relative:
        scale = recorder.residuals[0]
    verdict = "converged" if recorder.residuals[0] <= (0 if relative else tol) else None
    while verdict is None and len(recorder.steps) < max_iter:
        with np.errstate(all="ignore"):
            found = rule.step(objective, at)
        if found is None or found[1] == np.inf:
            verdict = "stalled" if found is None else "unbounded"
            break
        x, step = found
        at = _point(objective, x, smooth)
        verdict = _write(recorder, rule, at, step, smooth)
        if relative and at.value <= first.value:
            scale = max(scale, recorder.residuals[-1])
        if verdict is None and recorder.residuals[-1] <= tol * scale:
            verdict = "converged"
    verdict = verdict or _unfinished(recorder, objective, first, at)
    if verdict in ("stalled", "max_iter") and at.value - first.value > _ROUNDING * abs(first.value):
        verdict = "diverged"  # it ended above where it began
    message = _message(rule.name, verdict, recorder, at, tol * scale)
    if getattr(rule, "note", ""):
        message = f"{message} {rule.note}"  # type: ignore[attr-defined]
    if verdict != "converged":
        warn_caller(message, ConvergenceWarning)
    return recorder.result(rule.name, at.x, verdict, message)


def check_stopping(tol: float, max_iter: int) -> None:
    """Refuse a tolerance or a number of steps that makes no sense."""
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise ParameterError(f"max_iter={max_iter!r} is not allowed; give a whole number above 0.")
    if not (isinstance(tol, int | float | np.number) and tol >= 0):
        raise ParameterError(f"tol={tol!r} is not allowed; give a number that is not negative.")


def check_start(value: float, gradient: FloatArray | None = None) -> None:
    """Refuse a start where f or its gradient is no number."""
    if not np.isfinite(value):
        raise InputError(f"f(x0) is {value}; start at a point where f is a finite number.")
    if gradient is not None and not np.all(np.isfinite(gradient)):
        raise InputError(
            "The gradient at x0 has entries that are not finite; start where f is smooth."
        )


def _point(objective: Objective, x: FloatArray, smooth: bool) -> Point:
    with np.errstate(all="ignore"):
        value = objective.value(x)
        # Where f is no number its gradient is not asked for.
        wanted = smooth and np.isfinite(value)
        gradient = objective.gradient(x) if wanted else np.full_like(x, np.nan)
    return Point(x, value, gradient)


def _unfinished(recorder: Recorder, objective: Objective, first: Point, at: Point) -> str:
    """Return the verdict of a run that used all its steps."""
    if recorder.falls_steadily and falls_for_ever(objective, at.x, at.x - first.x):
        return "unbounded"
    steps = len(recorder.steps)
    return "stalled" if steps >= 10 and recorder.last_fall <= steps // 2 else "max_iter"


def falls_for_ever(objective: Objective, x: FloatArray, way: FloatArray) -> bool:
    """Return True if f keeps falling on the way taken so far, however far one goes."""
    lowest = np.inf
    for k in range(_FARTHEST):
        try:
            with np.errstate(all="ignore"):
                found = objective.value(x + 2.0**k * way)
        except Exception:  # the user's function, far outside of where it is used
            return False
        if found == -np.inf:
            return True
        if not found < lowest:
            return False
        lowest = found
    return True


def _write(recorder: Recorder, rule: Rule, at: Point, step: float, smooth: bool) -> str | None:
    gradient = at.gradient if smooth else None
    fine = np.isfinite(at.value) and (gradient is None or np.all(np.isfinite(gradient)))
    with np.errstate(all="ignore"):
        residual = rule.residual(at) if fine else np.nan
    recorder.add(at.x, at.value, gradient, residual, step)
    return recorder.astray(at.x, at.value, gradient)


def _message(name: str, verdict: str, recorder: Recorder, at: Point, limit: float) -> str:
    steps = len(recorder.steps)
    residual = recorder.residuals[-1]
    where = np.array2string(at.x[:5], precision=4, threshold=5)
    messages: dict[str, Any] = {
        "converged": f"the residual is {residual:.3g} after {steps} steps (limit {limit:.3g}).",
        "max_iter": f"the residual is still {residual:.3g} after {steps} steps (limit "
        f"{limit:.3g}); raise max_iter, take other steps, or start elsewhere.",
        "stalled": f"f has not fallen since step {recorder.last_fall} of {steps}, at a residual of "
        f"{residual:.3g} (limit {limit:.3g}): rounding hides what is left, the steps are too long, "
        "f is not smooth there, or its gradient is wrong (check_gradient tells).",
        "diverged": f"f rose to {at.value:.3g} in step {steps}, from {recorder.values[0]:.3g} at "
        "the start: the steps are too long; make them shorter, or search along the line. x is the "
        "best point met.",
        "unbounded": f"f still falls steadily, to {at.value:.3g} after {steps} steps: it may have "
        "no minimum; check its sign, or add constraints.",
        "not finite": f"f or its gradient is not finite at step {steps}, x = {where}; keep to "
        "where f is defined, or take shorter steps. x is the best point met.",
    }
    return f"{name}: {messages[verdict]}"
