"""The parameters of a distribution of SciPy as numbers without limits."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.typing import FloatArray

__all__ = ["LIMIT", "Space", "space_of"]

LIMIT = 25.0  # of a logarithm or log odds: beyond it floating-point sums have too few digits
_PROBES = (-3.0, -1.0, -0.3, 0.25, 0.6, 1.0, 1.3, 2.0, 3.0, 7.5)


@dataclass(frozen=True)
class ParameterAxis:
    """The range of one parameter, and its unit where it is a place or a size in the data."""

    name: str
    low: float
    high: float
    center: float = 0.0
    unit: float = 1.0

    @property
    def is_open(self) -> bool:
        """True if the parameter has no limits."""
        return math.isinf(self.low) and math.isinf(self.high)

    def value(self, u: float) -> float:
        """Return the parameter at a coordinate."""
        if self.is_open:
            return self.center + self.unit * u
        if math.isinf(self.high):
            return self.low + self.unit * math.exp(u)
        if math.isinf(self.low):
            return self.high - self.unit * math.exp(-u)
        return self.low + (self.high - self.low) / (1 + math.exp(-u))

    def coordinate(self, value: float) -> float:
        """Return the coordinate of a value, within the limits of the search."""
        if self.is_open:
            return (value - self.center) / self.unit
        above, below = value - self.low, self.high - value
        if above <= 0 or below <= 0:
            return -LIMIT if above <= 0 else LIMIT
        if math.isinf(self.high):
            u = math.log(above) - math.log(self.unit)
        elif math.isinf(self.low):
            u = math.log(self.unit) - math.log(below)
        else:
            u = math.log(above) - math.log(below)
        return min(max(u, -LIMIT), LIMIT)

    def slope(self, u: float) -> float:
        """Return the derivative of the value by the coordinate."""
        if self.is_open:
            return self.unit
        if math.isinf(self.high) or math.isinf(self.low):
            return self.unit * math.exp(u if math.isinf(self.high) else -u)
        share = 1 / (1 + math.exp(-u))
        return (self.high - self.low) * share * (1 - share)


@dataclass(frozen=True)
class Space:
    """The parameters of a distribution: those that are held, and those to be found."""

    distribution: Any
    names: tuple[str, ...]
    held: Mapping[str, float]
    axes: tuple[ParameterAxis, ...]

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the parameters to be found."""
        return tuple(axis.name for axis in self.axes)

    def values(self, u: Iterable[float]) -> dict[str, float]:
        """Return all parameters at coordinates, in SciPy's order."""
        found = {axis.name: axis.value(float(c)) for axis, c in zip(self.axes, u, strict=True)}
        return {name: found.get(name, self.held.get(name, 0.0)) for name in self.names}

    def coordinates(self, values: Mapping[str, float]) -> FloatArray:
        """Return the coordinates of parameters."""
        return np.array([axis.coordinate(values[axis.name]) for axis in self.axes])

    def slopes(self, u: FloatArray) -> FloatArray:
        """Return the derivative of each parameter by its coordinate."""
        return np.array([axis.slope(float(c)) for axis, c in zip(self.axes, u, strict=True)])


def space_of(
    distribution: Any, fixed: Mapping[str, float], free: Iterable[str], data: FloatArray
) -> Space:
    """Return the parameters of a distribution: ranges by trial, units from the data.

    A location is held at 0 where the support has an end that does not depend on the shapes, and
    the scale at 1 where it has two, unless nothing else is left to be found.
    """
    shapes = tuple(word.strip() for word in (distribution.shapes or "").split(",") if word.strip())
    discrete = hasattr(distribution, "pmf")
    names = (*shapes, "loc") if discrete else (*shapes, "loc", "scale")
    wanted = tuple(free)
    for name in (*fixed, *wanted):
        if name not in names:
            raise ParameterError(
                f"maximum_likelihood: {distribution.name} has no parameter {name!r}; it has "
                f"{', '.join(names)}.{did_you_mean(name, names)}"
            )
    for name, value in fixed.items():
        if name in wanted:
            raise ParameterError(f"maximum_likelihood: {name!r} cannot be both fixed and free.")
        if not np.isfinite(float(value)):
            raise ParameterError(f"maximum_likelihood: fixed {name}={value!r} must be finite.")
    held = {name: float(value) for name, value in fixed.items()}
    valid, supports = _probed(distribution, shapes, held)
    for name, value in _usual(supports, discrete).items():
        if name not in wanted:
            held.setdefault(name, value)
    if all(name in held for name in names):
        held = {name: float(value) for name, value in fixed.items()}
    if discrete:
        held.setdefault("loc", 0.0)
    if all(name in held for name in names):
        raise ParameterError(
            f"maximum_likelihood: all parameters of {distribution.name} are fixed; leave at least "
            "one to be found."
        )
    axes = []
    center, unit = _place_and_size(data)
    if "loc" in held:  # a scale is then a distance from there, however near the data are together
        unit = max(unit, 1e-6 * float(np.median(np.abs(data - held["loc"]))))
    for j, name in enumerate(names):
        if name in held:
            continue
        if name == "loc":
            axes.append(ParameterAxis(name, -math.inf, math.inf, center, unit))
        elif name == "scale":
            axes.append(ParameterAxis(name, 0.0, math.inf, 0.0, unit))
        else:
            axes.append(_shape_axis(distribution, shapes, j, valid))
    return Space(distribution, names, held, tuple(axes))


def _probed(
    distribution: Any, shapes: tuple[str, ...], held: Mapping[str, float]
) -> tuple[FloatArray, FloatArray]:
    """Return combinations of shapes that are allowed, and the supports there."""
    tries = np.array(list(product(*((held[s],) if s in held else _PROBES for s in shapes))))
    if not shapes:
        return np.zeros((1, 0)), np.array([distribution.support()], dtype=np.float64)
    with np.errstate(all="ignore"):
        ends = np.array([distribution.support(*row) for row in tries], dtype=np.float64)
    allowed = ~np.isnan(ends).any(axis=1)
    if not allowed.any():
        given = ", ".join(f"{name}={value:g}" for name, value in held.items() if name in shapes)
        raise ParameterError(
            f"maximum_likelihood: {distribution.name} with {given or 'any shapes tried'} is not a "
            "distribution; fix its shapes at values that are allowed."
        )
    return tries[allowed], ends[allowed]


def _usual(supports: FloatArray, discrete: bool) -> dict[str, float]:
    """Return what is held unless the user wants it found."""
    if discrete:
        return {"loc": 0.0}
    ends = [np.unique(supports[:, k]) for k in (0, 1)]
    stays = [len(each) == 1 and bool(np.isfinite(each[0])) for each in ends]
    if all(stays):
        return {"loc": 0.0, "scale": 1.0}
    return {"loc": 0.0} if any(stays) else {}


def _shape_axis(
    distribution: Any, shapes: tuple[str, ...], j: int, valid: FloatArray
) -> ParameterAxis:
    """Return the range of a shape, found by trial."""
    name = shapes[j]
    whole = valid[:, j] == np.round(valid[:, j])
    if whole.all():
        raise ParameterError(
            f"maximum_likelihood: {name} of {distribution.name} must be a whole number, which is "
            f"not searched for; give it, as in fixed={{{name!r}: 10}}."
        )
    low, high = float(valid[:, j].min()), float(valid[:, j].max())

    def allowed(value: float, row: FloatArray) -> bool:
        with np.errstate(all="ignore"):
            ends = distribution.support(*(*row[:j], value, *row[j + 1 :]))
        return not np.isnan(np.asarray(ends, dtype=np.float64)).any()

    bottom = valid[np.argmin(valid[:, j])]
    top = valid[np.argmax(valid[:, j])]
    if low == min(_PROBES):
        low = -math.inf
    else:
        low = _border(lambda value: allowed(value, bottom), low, low - 5.0)
    high = (
        math.inf
        if high == max(_PROBES)
        else _border(lambda value: allowed(value, top), high, high + 5.0)
    )
    return ParameterAxis(name, low, high)


def _border(allowed: Any, inside: float, outside: float) -> float:
    """Return the last value that is allowed, by bisection."""
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if allowed(middle) else (inside, middle)
    return round(inside, 9)


def _place_and_size(data: FloatArray) -> tuple[float, float]:
    """Return middle and spread of the data."""
    q = np.quantile(data, [0.25, 0.5, 0.75])
    spread = float(q[2] - q[0]) or float(data.max() - data.min()) or abs(float(q[1])) or 1.0
    return float(q[1]), spread
