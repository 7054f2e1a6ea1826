"""Functions of one number, with what is known of their shape on intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, xlogy

from bottega.core.typing import FloatArray

__all__ = ["CURVES", "Curve"]

_INF = float("inf")
# Labels of consecutive stretches of the line: each holds up to a place.
Stretches = tuple[tuple[float, str], ...]
_ALL_CONVEX: Stretches = ((_INF, "convex"),)
_ALL_CONCAVE: Stretches = ((_INF, "concave"),)
_RISING: Stretches = ((_INF, "rising"),)
_FALLING: Stretches = ((_INF, "falling"),)
_TURNING: Stretches = ((0.0, "falling"), (_INF, "rising"))


@dataclass(frozen=True)
class Curve:
    """A function of one number: value, two derivatives, and its shape.

    Attributes
    ----------
    name : str
        How it is called.
    value, slope, bend : callable
        The function and its derivatives, entry by entry. At a kink the slope is one between the
        slopes of the two sides.
    shape, direction : tuple of (float, str)
        ``"convex"``, ``"concave"`` or ``"unknown"``, and ``"rising"``, ``"falling"`` or
        ``"unknown"`` (not strictly), stretch by stretch.
    domain : tuple of float
        Where it is finite; elsewhere a convex one is infinite and a concave one minus infinite.
    range : tuple of float
        Least and largest value.
    bends : tuple of float
        Least and largest second derivative; infinite at kinks.
    differentiable : bool
        True if it has a slope everywhere in its domain.
    """

    name: str
    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    bend: Callable[[Any], Any]
    shape: Stretches
    direction: Stretches
    domain: tuple[float, float] = (-_INF, _INF)
    range: tuple[float, float] = (-_INF, _INF)
    bends: tuple[float, float] = (-_INF, _INF)
    differentiable: bool = True

    def shape_on(self, low: float, high: float) -> str:
        """Return the shape on an interval: "convex", "concave" or "unknown"."""
        return _on(self.shape, low, high)

    def direction_on(self, low: float, high: float) -> str:
        """Return the direction on an interval: "rising", "falling" or "unknown"."""
        return _on(self.direction, low, high)

    def range_on(self, low: float, high: float) -> tuple[float, float]:
        """Return bounds of the values on an interval."""
        way = self.direction_on(low, high)
        if way == "unknown":
            return self.range
        ends = [float(self.value(np.array([at]))[0]) for at in (low, high)]
        bottom, top = ends if way == "rising" else ends[::-1]
        return (
            self.range[0] if np.isnan(bottom) else max(bottom, self.range[0]),
            self.range[1] if np.isnan(top) else min(top, self.range[1]),
        )


def _on(stretches: Stretches, low: float, high: float) -> str:
    start, found = -_INF, set()
    for stop, label in stretches:
        if max(low, start) < min(high, stop) or (low == high and start <= low <= stop):
            found.add(label)
        start = stop
    return found.pop() if len(found) == 1 else "unknown"


def _inside(
    inner: Callable[[Any], Any], outside: float, low: float, closed: bool
) -> Callable[[Any], FloatArray]:
    """Return the function above a bound, and a constant below it."""

    def value(z: Any) -> FloatArray:
        z = np.asarray(z, dtype=np.float64)
        kept = z >= low if closed else z > low
        return np.where(kept, inner(np.where(kept, z, 1.0)), outside)

    return value


def _curves() -> list[Curve]:
    above = (0.0, _INF)
    return [
        Curve("square", lambda z: z * z, lambda z: 2 * z, lambda z: np.full_like(z, 2.0),
              _ALL_CONVEX, _TURNING, range=above, bends=(2.0, 2.0)),
        Curve("absolute", np.abs, np.sign, np.zeros_like,
              _ALL_CONVEX, _TURNING, range=above, bends=(0.0, _INF), differentiable=False),
        Curve("exponential", np.exp, np.exp, np.exp,
              _ALL_CONVEX, _RISING, range=above, bends=(0.0, _INF)),
        Curve("negative_log", _inside(lambda z: -np.log(z), _INF, 0.0, False),
              _inside(lambda z: -1 / z, np.nan, 0.0, False),
              _inside(lambda z: 1 / (z * z), np.nan, 0.0, False),
              _ALL_CONVEX, _FALLING, domain=above, bends=(0.0, _INF)),
        Curve("logarithm", _inside(np.log, -_INF, 0.0, False),
              _inside(lambda z: 1 / z, np.nan, 0.0, False),
              _inside(lambda z: -1 / (z * z), np.nan, 0.0, False),
              _ALL_CONCAVE, _RISING, domain=above, bends=(-_INF, 0.0)),
        Curve("square_root", _inside(np.sqrt, -_INF, 0.0, True),
              _inside(lambda z: 0.5 / np.sqrt(z), np.nan, 0.0, False),
              _inside(lambda z: -0.25 / (z * np.sqrt(z)), np.nan, 0.0, False),
              _ALL_CONCAVE, _RISING, domain=above, bends=(-_INF, 0.0)),
        Curve("reciprocal", _inside(lambda z: 1 / z, _INF, 0.0, False),
              _inside(lambda z: -1 / (z * z), np.nan, 0.0, False),
              _inside(lambda z: 2 / (z * z * z), np.nan, 0.0, False),
              _ALL_CONVEX, _FALLING, domain=above, range=above, bends=(0.0, _INF)),
        Curve("negative_entropy", _inside(lambda z: xlogy(z, z), _INF, 0.0, True),
              _inside(lambda z: 1 + np.log(z), np.nan, 0.0, False),
              _inside(lambda z: 1 / z, np.nan, 0.0, False), _ALL_CONVEX,
              ((float(np.exp(-1)), "falling"), (_INF, "rising")),
              domain=above, range=(-float(np.exp(-1)), _INF), bends=(0.0, _INF)),
        Curve("hinge", lambda z: np.maximum(0.0, 1 - z), lambda z: np.where(z < 1, -1.0, 0.0),
              np.zeros_like, _ALL_CONVEX, _FALLING, range=above, bends=(0.0, _INF),
              differentiable=False),
        Curve("positive_part", lambda z: np.maximum(0.0, z), lambda z: np.where(z > 0, 1.0, 0.0),
              np.zeros_like, _ALL_CONVEX, _RISING, range=above, bends=(0.0, _INF),
              differentiable=False),
        Curve("logistic", lambda z: np.logaddexp(0.0, -z), lambda z: -expit(-z),
              lambda z: expit(z) * expit(-z), _ALL_CONVEX, _FALLING, range=above,
              bends=(0.0, 0.25)),
        Curve("huber", lambda z: np.where(np.abs(z) <= 1, z * z / 2, np.abs(z) - 0.5),
              lambda z: np.clip(z, -1.0, 1.0), lambda z: np.where(np.abs(z) <= 1, 1.0, 0.0),
              _ALL_CONVEX, _TURNING, range=above, bends=(0.0, 1.0)),
        Curve("cube", lambda z: z * z * z, lambda z: 3 * z * z, lambda z: 6 * z,
              ((0.0, "concave"), (_INF, "convex")), _RISING),
        Curve("sigmoid", expit, lambda z: expit(z) * expit(-z),
              lambda z: expit(z) * expit(-z) * (expit(-z) - expit(z)),
              ((0.0, "convex"), (_INF, "concave")), _RISING, range=(0.0, 1.0),
              bends=(-0.0963, 0.0963)),  # sqrt(3) / 18 is 0.09622...
        Curve("sine", np.sin, np.cos, lambda z: -np.sin(z), ((_INF, "unknown"),),
              ((_INF, "unknown"),), range=(-1.0, 1.0), bends=(-1.0, 1.0)),
    ]  # fmt: skip


CURVES: dict[str, Curve] = {curve.name: curve for curve in _curves()}
