r"""How far to go along a direction: a given step, the exact minimum, or backtracking.

.. math::
    t_{\text{exact}} = \arg\min_{s \ge 0} f(x + s \Delta x), \qquad
    t_{\text{back}} = \max\{\beta^k : f(x + \beta^k \Delta x) < f(x)
        + \alpha \beta^k \nabla f(x)^\top \Delta x\}
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._descent.loop import Point
from bottega.optimize.objective import Objective

__all__ = [
    "LINE_SEARCHES",
    "MOST_TRIALS",
    "LineSearch",
    "check_between",
    "line_minimum",
    "search_of",
]

LINE_SEARCHES = ("fixed", "decaying", "exact", "backtracking")

_EPS = float(np.finfo(np.float64).eps)
_FAR = 2.0**60  # a first trial so much too long or too short is not where the next one begins
MOST_TRIALS = 2200  # halvings from the largest number to the smallest


@dataclass
class LineSearch:
    """Step sizes by one of `LINE_SEARCHES`.

    Attributes
    ----------
    kind : str
        One of `LINE_SEARCHES`.
    learning_rate : float
        The fixed step, the first one of the decaying, and the first trial of the searches.
    decay : float
        The decaying step is multiplied by it after each iteration.
    alpha, beta : float
        Of backtracking: the share of the promised decrease that is asked for, and the factor that
        shortens the step.
    taken : int
        Steps so far.
    """

    kind: str
    learning_rate: float = 1.0
    decay: float = 0.99
    alpha: float = 0.25
    beta: float = 0.5
    taken: int = 0

    def size(self, objective: Objective, at: Point, direction: FloatArray) -> float | None:
        """Return how far to go along the direction; None if no step lowers f, inf if all do."""
        self.taken += 1
        if self.kind == "fixed":
            return self.learning_rate
        if self.kind == "decaying":
            return self.learning_rate * self.decay ** (self.taken - 1)
        if self.kind == "exact":
            t = line_minimum(objective, at.x, at.value, direction, self.learning_rate)
            if t is not None and np.isfinite(t):
                self.learning_rate = t  # where the next search begins
            return t
        return self._backtracking(objective, at, direction)

    def _backtracking(self, objective: Objective, at: Point, direction: FloatArray) -> float | None:
        # Of its largest entry apart, so that no product overflows.
        size = float(np.max(np.abs(at.gradient)))
        slope = float((at.gradient / size) @ direction)
        rounding = _EPS * abs(at.value)

        def fall(t: float) -> float:
            """Return what the slope promises of a step."""
            return -(t * size) * slope

        def tried(t: float) -> float:
            with np.errstate(all="ignore"):
                return objective.value(at.x + t * direction)

        t = self.learning_rate
        unseen = slope < 0 and fall(t) < rounding
        if unseen and not _flatter(objective, at, at.x + t * direction, 0.5):  # t is too short
            while fall(t) < 1e4 * rounding or tried(t) < at.value - self.alpha * fall(t):
                t /= self.beta
        for _ in range(MOST_TRIALS):
            found = tried(t)
            if found < at.value - self.alpha * fall(t) or (
                found <= at.value + 4 * rounding
                and fall(t) < 100 * rounding  # f is too coarse to judge: let the gradient
                and _flatter(objective, at, at.x + t * direction)
            ):
                if not 1 / _FAR < t / self.learning_rate < _FAR:
                    # The units of f and x ask for other steps: begin near this one.
                    self.learning_rate = t / self.beta**10
                return t
            t *= self.beta
            if np.array_equal(at.x + t * direction, at.x):
                break
        return None


def line_minimum(
    objective: Objective, x: FloatArray, value: float, direction: FloatArray, first: float
) -> float | None:
    """Return the step to the minimum along a ray, to the precision that values of f allow.

    The first trial is doubled until f rises, or halved until it falls; the minimum is then in
    between. If f falls without end, inf is returned; if it does not fall by more than rounding,
    None.
    """

    def along(s: float) -> float:
        with np.errstate(all="ignore"):
            found = objective.value(x + s * direction)
        return np.inf if np.isnan(found) else found

    rounding = 4 * _EPS * abs(value)
    high = float(first)
    here = along(high)
    if here <= value + rounding:
        for _ in range(MOST_TRIALS):
            if not np.isfinite(2 * high):
                return np.inf if here < value - rounding else None
            there = along(2 * high)
            if there == -np.inf:
                return np.inf
            # A step too short to be seen is lengthened as one that goes down is.
            falls = there < here or abs(there - value) <= rounding
            high, here = 2 * high, there
            if not falls:
                break
    else:
        for _ in range(MOST_TRIALS):
            if along(high / 2) < value or np.array_equal(x + high / 2 * direction, x):
                break
            high /= 2
    # In units of the bracket, which the search would otherwise overflow in.
    unit = abs(here - value) if np.isfinite(here) and here != value else max(abs(value), 1e-300)
    search: Callable[..., Any] = optimize.minimize_scalar
    found = search(
        lambda share: min((along(share * high) - value) / unit, 1e10),
        bounds=(0.0, 1.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    # A fall within rounding says nothing about the direction.
    return float(found.x) * high if found.fun * unit < -rounding else None


def search_of(
    kind: Any, *, learning_rate: float, decay: float, alpha: float, beta: float
) -> LineSearch:
    """Return the line search of that name, its numbers checked."""
    if kind not in LINE_SEARCHES:
        raise ParameterError(
            f"line_search={kind!r} is not known; give one of {', '.join(LINE_SEARCHES)}."
        )
    check_between("learning_rate", learning_rate, 0.0, np.inf)
    check_between("decay", decay, 0.0, 1.0)
    check_between("alpha", alpha, 0.0, 0.5)
    check_between("beta", beta, 0.0, 1.0)
    return LineSearch(kind, float(learning_rate), float(decay), float(alpha), float(beta))


def check_between(name: str, value: Any, low: float, high: float, closed: bool = False) -> None:
    """Refuse a number outside of an open interval, or one that is closed on the left."""
    try:
        inside = (low <= value if closed else low < value) and value < high
    except TypeError:
        inside = False
    if not inside:
        where = f"from {low:g} to below {high:g}" if closed else f"between {low:g} and {high:g}"
        raise ParameterError(f"{name}={value!r} is not allowed; give a number {where}.")


def _flatter(objective: Objective, at: Point, x: FloatArray, share: float = 1.0) -> bool:
    """Return True if the gradient at x is below a share of that where the run stands."""
    with np.errstate(all="ignore"):
        found = np.max(np.abs(objective.gradient(x)))
    return bool(found < share * np.max(np.abs(at.gradient)))
