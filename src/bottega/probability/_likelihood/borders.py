"""Parameters whose likelihood is highest at the end of their range, or without any end."""

import math

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.probability._likelihood.search import NegativeLogLikelihood, held_at
from bottega.probability._likelihood.space import LIMIT

__all__ = ["find_borders", "refuse_unbounded"]

_FAR = 14.0  # a million times the unit: as good as the end of the range
_LOSS = 1e-3  # of log-likelihood, which is not worth an estimate
_NUDGE = 1e-5


def find_borders(
    objective: NegativeLogLikelihood, u: FloatArray, max_iter: int
) -> tuple[FloatArray, dict[str, str]]:
    """Return the coordinates, with those at a border set there, and the status of each parameter.

    A parameter is at a border if its likelihood there is no lower than at the estimate, the others
    being maximised over; on the edge of the support if a step to one side is impossible.
    """
    u = u.copy()
    status = {}
    for j, axis in enumerate(objective.space.axes):
        status[axis.name] = "estimated"
        if not axis.is_open and abs(u[j]) > _FAR / 2:
            far = u.copy()
            far[j] = math.copysign(_FAR, u[j])
            # The others may have to follow: n and p of a negative binomial, say.
            end = held_at(objective, far, np.arange(len(u)) == j, max_iter)
            if end.value <= objective(u) + _LOSS + _noise(objective, float(u[j])):
                u = end.u
                status[axis.name] = "at the border"
                continue
        sides = []
        for nudge in (_NUDGE, -_NUDGE):
            moved = u.copy()
            moved[j] += nudge
            sides.append(objective(moved))
        if not np.isfinite(sides).all():
            status[axis.name] = "on the edge of the support"
    return u, status


def refuse_unbounded(objective: NegativeLogLikelihood, u: FloatArray) -> None:
    """Refuse a likelihood that grows without bound as a parameter nears the edge of the support."""
    space = objective.space
    for j, axis in enumerate(space.axes):
        if axis.name == "scale" and u[j] < -LIMIT + 2:
            raise InputError(
                "maximum_likelihood: the likelihood grows without bound as the scale shrinks to 0; "
                "fix the scale, or another parameter."
            )
        if axis.name != "loc":
            continue
        for target, side in ((objective.data.min(), -1), (objective.data.max(), 1)):
            values = []
            for gap in (1e-3, 1e-5, 1e-7, 1e-9):
                moved = u.copy()
                moved[j] = axis.coordinate(float(target + side * gap * axis.unit))
                values.append(objective(moved))
            # By as much with each step as with the one before: a logarithm of the gap.
            if np.isfinite(values).all() and (np.diff(values) < -0.1).all():
                raise InputError(
                    "maximum_likelihood: the likelihood grows without bound as loc nears the "
                    f"observation {target:g}; it has no maximum. Fix loc, as in "
                    "fixed={'loc': 0}."
                )


def _noise(objective: NegativeLogLikelihood, u: float) -> float:
    """Return what rounding does to a log-likelihood with a parameter so large."""
    return 4 * float(np.finfo(np.float64).eps) * len(objective.data) * abs(u) * math.exp(abs(u))
