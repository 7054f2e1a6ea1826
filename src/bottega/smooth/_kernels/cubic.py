"""A cubic spline at points, from its values and derivatives at the knots."""

import numpy as np

from bottega._jit import kernel


@kernel
def evaluate(x, knots, f, slope, curvature, derivative):
    """Return a cubic spline (or a derivative), linear beyond its ends, at each x."""
    m = len(knots)
    found = np.empty(len(x))
    for i in range(len(x)):
        t = np.searchsorted(knots, x[i], side="right") - 1
        inside = 0 <= t < m - 1
        t = min(max(t, 0), m - 1)
        d = x[i] - knots[t]
        bend = curvature[t] if inside else 0.0
        jerk = (curvature[t + 1] - curvature[t]) / (knots[t + 1] - knots[t]) if inside else 0.0
        if derivative == 0:
            found[i] = f[t] + d * (slope[t] + d * (bend / 2 + d * jerk / 6))
        elif derivative == 1:
            found[i] = slope[t] + d * (bend + d * jerk / 2)
        elif derivative == 2:
            found[i] = bend + d * jerk
        else:
            found[i] = jerk
    return found
