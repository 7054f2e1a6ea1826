"""Where on the line a posterior is, and what a grid leaves out at the ends of the support."""

import numpy as np

from bottega.core.typing import FloatArray
from bottega.probability._grid.prior import Prior

__all__ = ["next_window", "with_ends"]

_DEEP = 50.0  # log density below its greatest where nothing is left to see


def next_window(
    theta: FloatArray, product: FloatArray, window: tuple[float, float], prior: Prior
) -> tuple[float, float]:
    """Return a window closer around the posterior, or wider, or the same if it is right."""
    low, high = window
    width = high - low
    inside = np.flatnonzero(product > product.max() - _DEEP)
    first, last = inside[0], inside[-1]
    # A window that the posterior reaches the end of grows, unless the support ends there.
    grown_low = max(low - width, prior.low) if first == 0 else low
    grown_high = min(high + width, prior.high) if last == len(theta) - 1 else high
    if (grown_low, grown_high) != window:
        return grown_low, grown_high
    near_low = low if first == 0 else float(theta[first - 1])
    near_high = high if last == len(theta) - 1 else float(theta[last + 1])
    is_small = near_high - near_low < 0.6 * width
    # Adjacent floating-point numbers end the search.
    if is_small and near_high - near_low > 1e-13 * max(abs(near_low), abs(near_high)):
        return near_low, near_high
    return window


def with_ends(
    edges: FloatArray,
    theta: FloatArray,
    weight: FloatArray,
    log_prior: FloatArray,
    prior: Prior,
) -> FloatArray:
    """Return the weights, those of the outermost panels with what the grid leaves out there.

    The masses of a prior that is infinite at an end form a geometric series in panels that halve
    towards it.
    """
    weight = weight.copy()
    place = np.searchsorted(edges, theta, side="right") - 1
    with np.errstate(over="ignore"):
        mass = np.bincount(place, np.exp(log_prior) * weight, minlength=len(edges) - 1)
    for is_end, panels in (
        (edges[0] == prior.low, np.arange(len(mass))),
        (edges[-1] == prior.high, np.arange(len(mass))[::-1]),
    ):
        known = [k for k in panels[:12].tolist() if mass[k] > 0 and np.sum(place == k) == 8]
        if not is_end or len(known) < 3:
            continue
        # The first panel ends at the border and is twice as wide as its own series says.
        outer, inner, next_inner = known[0], known[1], known[2]
        ratio = mass[inner] / mass[next_inner]
        rest = mass[inner] * ratio / (1 - ratio) if ratio < 1 else mass[outer]
        if rest > mass[outer]:
            weight[place == outer] *= rest / mass[outer]
    return weight
