"""Bisection: the minimum of a convex function of one variable, between two slopes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.optimize._descent.loop import check_start, check_stopping
from bottega.optimize.minimum import Minimum, Recorder
from bottega.optimize.objective import Objective

__all__ = ["Bracket", "bisection"]


@dataclass(frozen=True, eq=False, repr=False)
class Bracket(Minimum):
    """The minimum that `bisection` found, with the intervals that hold it.

    Attributes
    ----------
    brackets : ndarray of shape (t + 1, 2)
        The interval before each halving, and after the last.
    slopes : ndarray of shape (t + 1, 2)
        The derivative at their ends.
    """

    brackets: FloatArray
    slopes: FloatArray

    @property
    def bounds(self) -> FloatArray:
        """What f at the flatter end is above the least value by, at most, for each interval."""
        width = self.brackets[:, 1] - self.brackets[:, 0]
        return np.asarray(width * np.min(np.abs(self.slopes), axis=1))

    @property
    def midpoint(self) -> float:
        """The middle of the last interval, which the bound does not hold for."""
        return float(np.mean(self.brackets[-1]))

    def summary(self) -> Summary:
        """Return what was found as a table that shows itself."""
        found = super().summary()
        low, high = self.brackets[-1]
        facts = {"low": [float(low)], "high": [float(high)], "f above the least by at most": [
            float(self.bounds[-1])]}  # fmt: skip
        return Summary(found.title, (*found.sections, Section("Interval", facts)), found.notes)


def bisection(
    f: Any, a: float, b: float, *, gradient: Any = None, tol: float = 1e-10, max_iter: int = 200
) -> Bracket:
    r"""Minimise a convex function of one variable by halving an interval at the sign of its slope.

    Start with :math:`A = a, B = b`. Repeat: if the slope in the middle is positive let B be the
    middle, else A; until :math:`(B - A) \min(|f'(A)|, |f'(B)|) \le` `tol`. A convex function lies
    above its tangents, so at the end with the smaller slope f is at most `tol` above its least
    value on [a, b]: that end is returned.

    Parameters
    ----------
    f : callable
        ``f(x)`` of a number returns a number. It has to be convex; nothing is certified otherwise.
    a, b : float
        The interval.
    gradient : callable, True, "torch" or None
        The derivative, as in `gradient_descent`; None takes differences.
    tol : float, default=1e-10
        How far f may be above its least value, in the units of f.
    max_iter : int, default=200
        The most halvings: some 60 reach rounding.

    Returns
    -------
    Bracket
        The end that is certified, the intervals and the slopes at their ends. The middle of the
        last interval is ``midpoint``. It is not certified: :math:`(x - 2)^2` on [0, 4] stops
        after one halving, at the minimum 2, with 3 in the middle of what is left.

    Raises
    ------
    InputError
        If the interval is empty or not finite, or f or its slope is not finite at its ends.

    Warns
    -----
    ConvergenceWarning
        If the bound is above `tol` in the end.

    Notes
    -----
    Each halving costs one derivative, and a value of f for the trace. Where f is least at an end
    of the interval that end is found.

    References
    ----------
    .. [1] Boyd, S. and Vandenberghe, L. (2004). Convex Optimization, section 3.1.3. Cambridge.

    Examples
    --------
    >>> found = bisection(lambda x: (x - 2) ** 2, 0, 5, gradient=lambda x: 2 * (x - 2))
    >>> round(float(found.x[0]), 4), bool(found.bounds[-1] <= 1e-10)
    (2.0, True)
    """
    check_stopping(tol, max_iter)
    low, high = _ends(a, b)
    of_number = gradient if not callable(gradient) else lambda x: gradient(x[0])
    if not callable(f):
        raise ParameterError(f"f={f!r} is not a function; give one that takes a number.")
    objective = Objective(lambda x: f(x[0]), of_number)
    recorder = Recorder(objective, keep=True)

    def slope(x: float) -> float:
        with np.errstate(all="ignore"):
            return float(objective.gradient(np.array([x]))[0])

    brackets, slopes = [(low, high)], [(slope(low), slope(high))]
    for end, steepness in zip((low, high), slopes[0], strict=True):
        check_start(objective.value(np.array([end])), np.array([steepness]))
    _write(recorder, brackets[-1], slopes[-1], None)
    verdict = "converged" if recorder.residuals[-1] <= tol else None
    while verdict is None and len(recorder.steps) < max_iter:
        (low, high), (left, right) = brackets[-1], slopes[-1]
        middle = low + (high - low) / 2
        if middle in (low, high):
            verdict = "stalled"
            break
        found = slope(middle)
        if not np.isfinite(found):
            verdict = "not finite"
            break
        brackets.append((low, middle) if found > 0 else (middle, high))
        slopes.append((left, found) if found > 0 else (found, right))
        _write(recorder, brackets[-1], slopes[-1], (high - low) / 2)
        if not np.isfinite(recorder.values[-1]):
            verdict = "not finite"
        elif recorder.residuals[-1] <= tol:
            verdict = "converged"
    verdict = verdict or "max_iter"
    message = _message(verdict, recorder, brackets, tol)
    if slopes[0][0] > 0 or slopes[0][1] < 0:
        message += " The least value is at an end of the interval; widen it to go on."
    if verdict != "converged":
        warn_caller(message, ConvergenceWarning)
    plain = recorder.result("bisection", recorder.points[-1], verdict, message)
    return Bracket(**plain.__dict__, brackets=np.array(brackets), slopes=np.array(slopes))


def _ends(a: Any, b: Any) -> tuple[float, float]:
    try:
        low, high = float(a), float(b)
    except (TypeError, ValueError) as error:
        raise InputError(f"a={a!r} and b={b!r} have to be two numbers.") from error
    if not (np.isfinite(low) and np.isfinite(high - low) and low < high):
        raise InputError(f"a={a!r} has to lie below b={b!r}, and both have to be finite.")
    return low, high


def _write(
    recorder: Recorder,
    bracket: tuple[float, float],
    slopes: tuple[float, float],
    step: float | None,
) -> None:
    """Write down the end with the smaller slope, and what it is certified to."""
    end = int(abs(slopes[1]) < abs(slopes[0]))
    x = np.array([bracket[end]])
    with np.errstate(all="ignore"):
        value = recorder.objective.value(x)
    bound = (bracket[1] - bracket[0]) * abs(slopes[end])
    recorder.add(x, value, np.array([slopes[end]]), bound, step)


def _message(
    verdict: str, recorder: Recorder, brackets: list[tuple[float, float]], tol: float
) -> str:
    low, high = brackets[-1]
    bound = f"f is at most {recorder.residuals[-1]:.3g} above its least value"
    messages = {
        "converged": f"{bound} (tol={tol:g}).",
        "max_iter": f"{bound} (tol={tol:g}) after {len(recorder.steps)} halvings; raise max_iter.",
        "stalled": f"{bound} (tol={tol:g}), and there is no number between {low:.17g} and "
        f"{high:.17g}: f has a corner there, or tol asks for more than rounding allows.",
        "not finite": f"f or its slope is not finite between {low:.6g} and {high:.6g}; choose an "
        "interval where f is defined.",
    }
    return f"bisection: {messages[verdict]}"
