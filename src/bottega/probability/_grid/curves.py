"""Readings off a curve that is known at increasing places."""

import numpy as np

from bottega.core.typing import BoolArray, FloatArray

__all__ = ["peak_of", "runs_of"]


def peak_of(x: FloatArray, log_height: FloatArray, ends: tuple[float, float]) -> float:
    """Return where a curve is highest: the top of a parabola through its highest three points.

    A curve that is highest at its first or last place has its top at that end; one without any
    differences has none (NaN).
    """
    known = log_height[np.isfinite(log_height)]
    if known.max() - known.min() <= 1e-12 * max(1.0, abs(known.max())):
        return float("nan")
    i = int(np.argmax(log_height))
    if i in (0, len(x) - 1):
        return ends[0] if i == 0 else ends[1]
    left, right = x[i - 1] - x[i], x[i + 1] - x[i]
    falls = log_height[i - 1] - log_height[i], log_height[i + 1] - log_height[i]
    if not np.isfinite(falls).all():
        return float(x[i])
    below = falls[0] * right - falls[1] * left
    if below == 0:
        return float(x[i])
    top = 0.5 * (falls[0] * right**2 - falls[1] * left**2) / below
    return float(x[i] + np.clip(top, left, right))


def runs_of(inside: BoolArray) -> list[tuple[int, int]]:
    """Return first and last place of each run of True.

    Examples
    --------
    >>> runs_of(np.array([True, False, True, True]))
    [(0, 0), (2, 3)]
    """
    steps = np.diff(np.r_[0, inside.astype(np.int8), 0])
    starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    return [(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]
