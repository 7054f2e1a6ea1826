"""The likelihood of one parameter, the others being maximised over."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.frames import make_frame
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.probability._likelihood.search import NegativeLogLikelihood, held_at
from bottega.probability._likelihood.space import LIMIT

__all__ = ["ProfileLikelihood", "profile_of"]

_MAX_ITER = 100
_BEYOND = 1.3  # how much further than the interval the profile goes


@stored
@dataclass(frozen=True, eq=False, repr=False)
class ProfileLikelihood(Shown):
    """The likelihood as a function of one parameter.

    Attributes
    ----------
    parameter : str
        Its name.
    estimate : float
        Where the likelihood is highest.
    values : ndarray of shape (m,)
        Values of the parameter.
    log_likelihood : ndarray of shape (m,)
        The greatest log-likelihood over the other parameters, less that of the estimate.
    others : dict of str to ndarray of shape (m,)
        The other parameters that were estimated, at each value.
    level : float
        Confidence of the interval.
    interval : (float, float)
        Values that the likelihood-ratio test does not reject at this level; the end of the range
        where the likelihood does not fall far enough.
    """

    parameter: str
    estimate: float
    values: FloatArray
    log_likelihood: FloatArray
    others: dict[str, FloatArray]
    level: float
    interval: tuple[float, float]

    @property
    def cutoff(self) -> float:
        """Log-likelihood, less that of the estimate, at the ends of the interval."""
        return -0.5 * float(stats.chi2.ppf(self.level, 1))

    def to_frame(self, like: Any = None) -> Any:
        """Return the profile as a data frame, one row per value.

        Columns: ``value``, ``log_likelihood`` (relative) and the other parameters.
        """
        columns = {"value": self.values, "log_likelihood": self.log_likelihood}
        return make_frame(columns | self.others, like)

    def summary(self) -> Summary:
        """Return the estimate and its interval as a table that shows itself."""
        percent = f"{100 * self.level:g} %"
        low, high = self.interval
        columns: dict[str, list[Any]] = {
            "parameter": [self.parameter],
            "estimate": [self.estimate],
            f"{percent} low": [low],
            f"{percent} high": [high],
        }
        return Summary("Profile likelihood", (Section("", columns),))

    def plot(self) -> Any:
        """Draw the profile, with the interval where it is above the cutoff.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import profile_chart

        return profile_chart(
            self.values,
            self.log_likelihood,
            parameter=self.parameter,
            estimate=self.estimate,
            interval=self.interval,
            level=self.level,
        )


def profile_of(
    objective: NegativeLogLikelihood,
    u: FloatArray,
    index: int,
    error: float,
    level: float,
    n_points: int,
) -> ProfileLikelihood:
    """Return the profile of the parameter at a place among the coordinates.

    `error` is the standard error of its coordinate, NaN if it has none.
    """
    space = objective.space
    axis = space.axes[index]
    lowest = objective(u)
    known: dict[float, tuple[float, FloatArray]] = {float(u[index]): (0.0, u)}

    def drop(c: float) -> float:
        """Return by how much the log-likelihood falls at a coordinate of the parameter."""
        if c not in known:
            start = known[min(known, key=lambda each: abs(each - c))][1].copy()
            start[index] = c
            end = held_at(objective, start, np.arange(len(u)) == index, _MAX_ITER)
            known[c] = (end.value - lowest, end.u)
        return known[c][0]

    wanted = 0.5 * float(stats.chi2.ppf(level, 1))
    step = error if math.isfinite(error) and error > 0 else 0.1
    most = math.inf if axis.is_open else LIMIT
    ends = [_crossing(drop, float(u[index]), side * step, wanted, most) for side in (-1, 1)]
    center = float(u[index])
    reach = [
        center + (_BEYOND * (end - center) if math.isfinite(end) else 8 * side * step)
        for side, end in zip((-1, 1), ends, strict=True)
    ]
    reach = [min(max(each, -most), most) for each in reach]
    half = max(n_points // 2, 2)
    for end in reach:  # outwards: each search starts where the one before ended
        for c in np.linspace(center, end, half + 1)[1:].tolist():
            drop(c)
    places = [c for c in sorted(known) if math.isfinite(known[c][0])]
    falls = np.array([known[c][0] for c in places])
    if falls.min() < -1e-4:
        warn_caller(
            f"maximum_likelihood: the profile of {axis.name} found a log-likelihood higher by "
            f"{-falls.min():.3g} than the fit; there are several maxima: fit again with a "
            "parameter fixed.",
            ConvergenceWarning,
        )
    values = [space.values(known[c][1]) for c in places]
    borders = (axis.low, axis.high)
    return ProfileLikelihood(
        parameter=axis.name,
        estimate=space.values(u)[axis.name],
        values=np.array([each[axis.name] for each in values]),
        log_likelihood=-falls,
        others={
            name: np.array([each[name] for each in values])
            for name in space.free
            if name != axis.name
        },
        level=level,
        interval=(
            axis.value(ends[0]) if math.isfinite(ends[0]) else borders[0],
            axis.value(ends[1]) if math.isfinite(ends[1]) else borders[1],
        ),
    )


def _crossing(drop: Any, center: float, step: float, wanted: float, most: float) -> float:
    """Return where the log-likelihood has fallen by `wanted`, infinite if it never does."""
    inside, outside = center, center + step
    for _ in range(60):
        if abs(outside) > most:
            outside = math.copysign(most, step)
            if drop(outside) < wanted:
                return math.copysign(math.inf, step)
        if drop(outside) >= wanted:
            break
        inside, outside = outside, outside + 1.6 * (outside - inside)
    else:
        return math.copysign(math.inf, step)
    for _ in range(200):  # past the edge of the support nothing is finite: halve up to it
        if math.isfinite(drop(outside)) or abs(outside - inside) <= 1e-9 * (1 + abs(inside)):
            break
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if drop(middle) < wanted else (inside, middle)
    if not math.isfinite(drop(outside)):
        return inside
    return float(
        optimize.brentq(lambda c: drop(c) - wanted, inside, outside, xtol=1e-9 * (1 + abs(inside)))
    )
