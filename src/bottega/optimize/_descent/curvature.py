r"""Step sizes of gradient steps that end in a projection or a proximal map.

A step :math:`t` from y to z is short enough if the parabola of curvature 1/t lies above f there,

.. math:: f(z) \le f(y) + \nabla f(y) \cdot (z - y) + \tfrac{1}{2t} \lVert z - y \rVert^2,

which every t up to 1/L fulfils if the gradient has the Lipschitz constant L.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import MOST_TRIALS, check_between
from bottega.optimize._descent.loop import Point
from bottega.optimize.objective import Objective

__all__ = ["STEPS", "CurvatureSearch", "curvature_search", "mapped"]

STEPS = ("fixed", "backtracking")

# Of |f|: parabolas above it by less are compared by gradients, as f has no digits left.
_SEEN = 1e-8
_ROUNDING, _MOVED = 1e-15, 1.5e-8  # of |x|: moves that are hidden, and that are well seen


@dataclass
class CurvatureSearch:
    """Step sizes, fixed or shortened until the parabola is above f.

    Attributes
    ----------
    kind : str
        One of `STEPS`.
    t : float
        The last step size, or the first trial.
    beta : float
        Factor that shortens a step.
    grows : bool
        Whether a search begins with a longer step than the last one.
    """

    kind: str
    t: float
    beta: float
    grows: bool = True
    begun: bool = False

    def step(
        self,
        smooth: Objective,
        y: FloatArray,
        value: float,
        gradient: FloatArray,
        arrive: Callable[[FloatArray, float], FloatArray],
    ) -> FloatArray | None:
        """Return where the step from y ends; None if none is short enough.

        ``arrive(v, t)`` maps the end of a plain gradient step of size t.
        """
        if self.kind == "fixed":
            return arrive(y - self.t * gradient, self.t)
        t = self.t / self.beta if self.grows and self.begun else self.t
        self.begun = True
        for _ in range(MOST_TRIALS):
            with np.errstate(all="ignore"):
                z = arrive(y - t * gradient, t)
                if self._below(smooth, y, value, gradient, z, t):
                    self.t = t
                    return z
            t *= self.beta
        return None

    def mapping(self, at: Point, arrive: Callable[[FloatArray, float], FloatArray]) -> float:
        """Return the largest entry of the gradient mapping, which is zero at a minimum.

        Its step is the last one, but not above 1, with which a far wall would make it look small;
        a step that rounding hides beside x is made longer.
        """
        t = min(self.t, 1.0)
        size, steep = (float(np.max(np.abs(each))) for each in (at.x, at.gradient))
        moved = float(np.max(np.abs(at.x - arrive(at.x - t * at.gradient, t))))
        if moved <= _ROUNDING * size and t * steep < _MOVED * size and steep > 0:
            t = _MOVED * size / steep
            moved = float(np.max(np.abs(at.x - arrive(at.x - t * at.gradient, t))))
        return moved / t

    @staticmethod
    def _below(
        smooth: Objective,
        y: FloatArray,
        value: float,
        gradient: FloatArray,
        z: FloatArray,
        t: float,
    ) -> bool:
        d = z - y
        room = float(d @ d) / (2 * t)
        if room == 0:
            return True
        if not np.isfinite(room):
            return False
        if room > _SEEN * abs(value):
            return smooth.value(z) <= value + float(gradient @ d) + room
        # For a convex f the gradients bound what the values cannot show any more.
        return float((smooth.gradient(z) - gradient) @ d) <= room


def curvature_search(kind: Any, learning_rate: float, beta: float) -> CurvatureSearch:
    """Return the search of that name, its numbers checked."""
    if kind not in STEPS:
        raise ParameterError(f"line_search={kind!r} is not known; give one of {', '.join(STEPS)}.")
    check_between("learning_rate", learning_rate, 0.0, np.inf)
    check_between("beta", beta, 0.0, 1.0)
    return CurvatureSearch(kind, float(learning_rate), float(beta))


def mapped(found: Any, d: int, name: str) -> FloatArray:
    """Return what a user's map returned, as a vector of finite numbers."""
    point = np.asarray(found, dtype=np.float64)
    if point.shape != (d,):
        raise InputError(f"{name} returned an array of shape {point.shape}; x asks for {(d,)}.")
    if not np.all(np.isfinite(point)):
        raise InputError(f"{name} returned entries that are missing or infinite.")
    return point
