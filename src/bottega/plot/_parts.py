"""Pieces that several charts share: the colour of a series, the points that can be seen."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.plot.theme import altair

_MOST_POINTS = 2_000  # more data points than this only darken the picture


def colors(field: str, names: list[str], *, show: bool = True, **legend: Any) -> Any:
    """Return the channel that gives each name its colour, with a legend unless `show` is False."""
    alt = altair()
    return alt.Color(
        field,
        type="nominal",
        scale=alt.Scale(domain=names, range="category"),
        legend=alt.Legend(title=None, **legend) if show else None,
    )


def dashes(field: str, names: list[str], patterns: list[list[int]]) -> Any:
    """Return the channel that gives each name its pattern of dashes."""
    alt = altair()
    scale = alt.Scale(domain=names, range=patterns)
    return alt.StrokeDash(field, type="nominal", scale=scale, legend=None)


def thinned(n: int, most: int) -> IntArray:
    """Return the positions to draw: all n, or `most` of them spread evenly, both ends included.

    Examples
    --------
    >>> thinned(3, 10).tolist(), thinned(9, 3).tolist()
    ([0, 1, 2], [0, 4, 8])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def frame_of(X: FloatArray, margin: float) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper limits of a picture of points, with a margin around them."""
    low, high = X.min(axis=0), X.max(axis=0)
    gap = margin * np.where(high > low, high - low, 1.0)
    return low - gap, high + gap


def values_along(values: Any, name: str, x: FloatArray) -> FloatArray:
    """Return values as an array after checking that there is one for each point of x."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape != x.shape:
        raise InputError(f"{name} has shape {found.shape}; x has {len(x)} points.")
    return found


def some_points(x: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    """Return the data, or some 2,000 of them spread along x."""
    x, y = (np.asarray(each, dtype=np.float64).ravel() for each in (x, y))
    if x.shape != y.shape:
        raise InputError(
            f"points must be two lists of one length; got {len(x)} and {len(y)} numbers."
        )
    if len(x) <= _MOST_POINTS:
        return x, y
    kept = np.argsort(x, kind="stable")[:: -(-len(x) // _MOST_POINTS)]
    return x[kept], y[kept]
