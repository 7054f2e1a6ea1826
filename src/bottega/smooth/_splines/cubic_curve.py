"""A cubic spline by its values, slopes and second derivatives at the knots."""

from dataclasses import dataclass

import numpy as np

from bottega.core.loaded import insist, insist_on_length
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._kernels.state_space import evaluate
from bottega.smooth._splines.one_input import integrate


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

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        m = len(self.unit_knots)
        insist(m > 1 and np.all(np.diff(self.unit_knots) > 0), "knots that do not rise")
        insist_on_length(self, m, "value", "slope", "curvature")

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
        return integrate(self, self.knots, 3, a, b)
