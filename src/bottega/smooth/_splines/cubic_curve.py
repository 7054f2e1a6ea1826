"""A cubic spline by its values, slopes and second derivatives at the knots."""

from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._kernels.cubic import evaluate
from bottega.smooth._splines.one_input import check_ends

__all__ = ["CubicCurve"]


@stored
@dataclass(frozen=True)
class CubicCurve:
    """A piecewise cubic, linear beyond its end knots, on the unit scale ``(x - low) / span``.

    Attributes
    ----------
    low, span : float
        Origin and length of the unit scale.
    unit_knots : ndarray of shape (m,)
        Knots on the unit scale, rising.
    value, slope, curvature : ndarray of shape (m,)
        The curve and its first two derivatives at the knots, per unit.
    """

    low: float
    span: float
    unit_knots: FloatArray
    value: FloatArray
    slope: FloatArray
    curvature: FloatArray

    @property
    def knots(self) -> FloatArray:
        """The knots on the scale of x."""
        return self.low + self.span * self.unit_knots

    def unit(self, x: FloatArray) -> FloatArray:
        """Return x on the unit scale."""
        return np.asarray((x - self.low) / self.span)

    def __call__(self, x: FloatArray, derivative: int = 0) -> FloatArray:
        """Return the curve, or its first, second or third derivative, at each x."""
        found = evaluate(
            self.unit(x), self.unit_knots, self.value, self.slope, self.curvature, derivative
        )
        return np.asarray(found / self.span**derivative)

    def integral(self, a: float, b: float) -> float:
        """Return the integral of the curve from a to b."""
        check_ends(a, b)
        knots, h = self.unit_knots, np.diff(self.unit_knots)
        jerk = np.append(np.diff(self.curvature) / h, 0.0)
        # Beyond an end the curve goes on with the value and slope it has there.
        pieces = (self.value, self.slope / 2, self.curvature / 6, jerk / 24)
        whole = sum(part[:-1] * h ** (k + 1) for k, part in enumerate(pieces))
        before = np.concatenate([[0.0], np.cumsum(whole)])
        u = self.unit(np.array([a, b], dtype=np.float64))
        t = np.clip(np.searchsorted(knots, u, side="right") - 1, 0, len(knots) - 1)
        d = u - knots[t]
        inside = (u >= knots[0]) & (u < knots[-1])
        part = d * (self.value[t] + d * self.slope[t] / 2)
        part += np.where(inside, d**3 * (self.curvature[t] / 6 + d * jerk[t] / 24), 0.0)
        upper = before[t] + part
        return float(self.span * (upper[1] - upper[0]))
