"""Steps of a fixed-point iteration that raises a bound, extrapolated to where they would vanish."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["ExtrapolatedSteps", "Extrapolation"]

_RIDGE = 1e-10  # relative; keeps extrapolations from dividing by rounding


@dataclass(frozen=True)
class Extrapolation:
    """How the steps of `em` are extrapolated, for fewer of them (Anderson acceleration).

    Near a maximum EM steps shrink by nearly constant factors. The last few of them tell where they
    would vanish; that point is tried, and left for the plain step where the bound there is lower
    than before, so the bound never falls.

    Parameters
    ----------
    vector : callable
        ``vector(parameters)`` returns them as an array of comparable, unconstrained entries.
    parameters : callable
        ``parameters(vector)`` returns what `vector` was made from, or None where no parameters
        are allowed.
    slope : callable, optional
        ``slope(q, parameters)`` returns the gradient of the bound in the vector. It tells how much
        a step still promises, and `em` stops when that is at most `tol` (in the unit of the
        slope); otherwise it stops by the rise of the bound.
    memory : int, default=6
        Steps that are looked at; more of them help where many directions converge slowly.

    References
    ----------
    .. [1] Walker, H. and Ni, P. (2011). Anderson acceleration for fixed-point iterations. SIAM
       Journal on Numerical Analysis 49, 1715-1735.
    """

    vector: Callable[[Any], FloatArray]
    parameters: Callable[[FloatArray], Any]
    slope: Callable[[Any, Any], FloatArray] | None = None
    memory: int = 6


@dataclass
class ExtrapolatedSteps:
    """The last points and EM steps from them, as vectors, and where they lead."""

    how: Extrapolation
    points: list[FloatArray] = field(default_factory=list)
    steps: list[FloatArray] = field(default_factory=list)

    def add(self, theta: Any, plain: Any) -> None:
        """Take in a point, and the parameters after a plain step from it."""
        x, most = self.how.vector(theta), self.how.memory
        self.points = [*self.points, x][-most:]
        self.steps = [*self.steps, self.how.vector(plain) - x][-most:]

    def point(self) -> FloatArray:
        """Return where the steps, taken as linear between the points, would vanish."""
        plain = self.points[-1] + self.steps[-1]
        if len(self.points) == 1:
            return np.asarray(plain)
        moved = np.diff(np.stack(self.points), axis=0)
        turned = np.diff(np.stack(self.steps), axis=0)
        gram = turned @ turned.T
        gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram) + 1e-300
        share = np.linalg.solve(gram, turned @ self.steps[-1])
        return np.asarray(plain - share @ (moved + turned))

    def promise(self, q: Any, theta: Any) -> float:
        """Return how much the better of the two steps would raise a bound that is linear."""
        assert self.how.slope is not None
        slope = self.how.slope(q, theta)
        return max(float(slope @ self.steps[-1]), float(slope @ (self.point() - self.points[-1])))

    def best(
        self, plain: Any, value: float, judged: Callable[[Any], Any]
    ) -> tuple[Any, Any, float]:
        """Return parameters, q and bound after the extrapolated step, or else the plain one."""
        if len(self.points) > 1:
            theta = self.how.parameters(self.point())
            if theta is not None:
                q, reached = judged(theta)
                if reached >= value:  # false too where it is no number
                    return theta, q, reached
            self.points, self.steps = self.points[-1:], self.steps[-1:]
        return plain, *judged(plain)
