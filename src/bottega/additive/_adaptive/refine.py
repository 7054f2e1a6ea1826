"""The best knot among the rows about a knot that was found between bins."""

import numpy as np

from bottega.additive._adaptive.span import Span
from bottega.additive._kernels.adaptive_knots import NEW, TIED
from bottega.core.typing import FloatArray


def refined(
    span: Span,
    g: FloatArray,
    x: FloatArray,
    mass: FloatArray,
    about: tuple[float, float, float],
    spacing: float,
    margin: float,
    *,
    leftwards: bool,
) -> int | None:
    """Return the row whose value is the best knot, or None if there is none but the one known.

    `about` are the knots before and after, and the known one between them. `x` is NaN, and `g`
    zero, where a row does not count. The span holds the parent's line already.
    """
    low, knot, high = about
    if leftwards:  # the hinge rises to the left: the mirror image
        x, low, knot, high = -x, -high, -knot, -low
    counts = g != 0.0
    near = np.flatnonzero(counts & (x > low) & (x < high))
    if len(near) < 2:
        return None
    near = near[np.argsort(-x[near], kind="stable")]
    beyond = counts & (x >= high)
    h = np.where(beyond, x - high, 0.0)
    ends = np.stack([np.where(beyond, g, 0.0), g * h])
    Q = span.Q[: span.size]
    base = np.hstack([ends @ Q.T, ends @ span.R.T])
    d = x[near] - high
    products = g[near, None] * np.vstack([Q[:, near], span.R[:, near]]).T
    c = base[1] - d[:, None] * base[0]
    c += _before(products * d[:, None]) - d[:, None] * _before(products)
    gg = g[near] ** 2
    length = ends[1] @ ends[1] - 2 * d * (ends[0] @ ends[1]) + d * d * (ends[0] @ ends[0])
    length += _before(gg * d * d) - 2 * d * _before(gg * d) + d * d * _before(gg)
    left = length - np.sum(c[:, : span.size] ** 2, axis=1)
    gain = np.sum(c[:, span.size :] ** 2, axis=1)
    above = _before(mass[near]) + mass[beyond].sum()
    below = mass[counts & (x == x)].sum() - above - mass[near]
    steps = np.floor((above - above[np.argmin(np.abs(x[near] - knot))]) / spacing)
    first = np.append(True, steps[1:] > steps[:-1])
    allowed = first & (left > NEW * length) & (np.minimum(above, below) >= margin)
    if not allowed.any():
        return None
    gain = np.where(allowed, gain / np.where(allowed, left, 1.0), -1.0)
    best = np.flatnonzero(gain >= gain.max() * (1 - TIED))
    return int(near[best[0] if leftwards else best[-1]])  # of ties the least value


def _before(values: FloatArray) -> FloatArray:
    """Return the sums of all that comes before each."""
    return np.cumsum(values, axis=0) - values
