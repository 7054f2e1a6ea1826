"""A number column on a scale of its own: symmetric where it was skewed, in standard deviations."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from bottega.core.typing import FloatArray

__all__ = ["ColumnScale"]

_SKEWED = 0.3  # (q90 + q10 - 2 q50) / (q90 - q10): 0.47 for an exponential distribution
_NEARER = 0.6  # a logarithm must bring the column so much nearer to a normal distribution,
_NEAR = 0.12  # and so near, as the largest distance of distribution functions
_SEEN = 2_000  # values that these distances are taken from
_EDGE = 0.5  # of the lowest decile, in units of the logarithm's argument: linear below it


@dataclass(frozen=True)
class ColumnScale:
    """A monotone map of a column to mean 0 and standard deviation 1, and back.

    A skewed column that a logarithm makes nearly normal is taken as the logarithm of its distance
    from a point, chosen so that the first, fifth and ninth decile are equally spaced. Below half of
    the lowest decile the logarithm goes on as its tangent. The map follows a change of units.

    Attributes
    ----------
    unit : float
        A power of two near the largest absolute value, by which values are divided first.
    side : int
        0 for a linear scale; 1 or -1 for the logarithm of a column with a long upper or lower tail.
    origin, shift : float
        What is subtracted and then added before the logarithm, in units: the median, and a length.
    edge : float
        Argument of the logarithm below which it goes on as its tangent.
    center, width : float
        Mean and standard deviation on the scale, of which values far beyond the others are no part:
        they are drawn in to 1.5 times the distance of the outer deciles beyond these.
    """

    unit: float
    side: int
    origin: float
    shift: float
    edge: float
    center: float
    width: float

    @classmethod
    def of(cls, values: FloatArray) -> "ColumnScale":
        """Choose the scale of a column; missing values (NaN) are left out."""
        known = values[~np.isnan(values)]
        largest = float(np.max(np.abs(known))) if known.size else 0.0
        unit = 2.0 ** np.clip(np.frexp(largest)[1], -1000, 1000) if largest > 0 else 1.0
        scaled = known / unit
        linear = cls._finished(cls(unit, 0, 0.0, 0.0, 0.0, 0.0, 1.0), scaled)
        if known.size < 20:
            return linear
        low, middle, high = (float(q) for q in np.quantile(scaled, (0.1, 0.5, 0.9)))
        bend = high + low - 2 * middle
        if not high > low or abs(bend) < _SKEWED * (high - low):
            return linear
        side = 1 if bend > 0 else -1
        below, above = middle - low, high - middle
        if side < 0:
            below, above = above, below
        if not 0 < below < above:  # many equal values
            return linear
        shift = below * above / (above - below)
        edge = _EDGE * (shift - below)
        bent = cls._finished(cls(unit, side, middle, shift, edge, 0.0, 1.0), scaled)
        before, after = _from_normal(scaled), _from_normal(bent._bend(scaled))
        return bent if after <= min(_NEARER * before, _NEAR) else linear

    @classmethod
    def _finished(cls, scale: "ColumnScale", scaled: FloatArray) -> "ColumnScale":
        values = _within_reach(scale._bend(scaled))
        center = float(np.mean(values)) if values.size else 0.0
        width = float(np.std(values)) if values.size else 1.0
        steady = not width > 10 * np.finfo(float).eps * max(abs(center), 1.0)
        return replace(scale, center=center, width=1.0 if steady else width)

    def _bend(self, scaled: FloatArray) -> FloatArray:
        if self.side == 0:
            return scaled
        moved = self.side * (scaled - self.origin) + self.shift
        above = np.log(np.maximum(moved, self.edge))
        below = np.minimum(moved - self.edge, 0.0) / self.edge
        return self.side * (above + below)

    def forward(self, values: FloatArray) -> FloatArray:
        """Return values on the scale."""
        return (self._bend(values / self.unit) - self.center) / self.width

    def backward(self, z: FloatArray) -> FloatArray:
        """Return the values that points of the scale stand for."""
        bent = z * self.width + self.center
        if self.side == 0:
            return bent * self.unit
        logs = self.side * bent
        edge = np.log(self.edge)
        moved = np.where(
            logs >= edge, np.exp(np.minimum(logs, 700.0)), self.edge * (1 + logs - edge)
        )
        return (self.side * (moved - self.shift) + self.origin) * self.unit


def _within_reach(values: FloatArray) -> FloatArray:
    """Return values with those far beyond the others drawn in, some 5 standard deviations off."""
    if not values.size:
        return values
    low, high = np.quantile(values, (0.1, 0.9))
    reach = 1.5 * (high - low)
    return np.clip(values, low - reach, high + reach) if reach > 0 else values


def _from_normal(values: FloatArray) -> float:
    """Return the largest distance between a sample's distribution function and a normal one."""
    ordered = np.sort(_within_reach(values))
    ordered = ordered[np.linspace(0, len(ordered) - 1, min(len(ordered), _SEEN)).astype(int)]
    spread = float(np.std(ordered))
    if not spread > 0:
        return 1.0
    ranks = (np.arange(len(ordered)) + 0.5) / len(ordered)
    return float(np.max(np.abs(ndtr((ordered - np.mean(ordered)) / spread) - ranks)))
