"""Pieces that several charts share: axes, colours, tooltips, the points that can be seen."""

from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.plot.theme import altair, plain

_MOST_POINTS = 2_000  # more data points than this only darken the picture
_OF_SCALE = ("type", "domain", "zero", "nice", "padding", "reverse", "constant")


def colors(field: str, names: list[str], *, show: bool = True, **legend: Any) -> Any:
    """Return the channel that gives each name its colour, with a legend unless `show` is False."""
    alt = altair()
    return alt.Color(
        field,
        type="nominal",
        scale=alt.Scale(domain=names, range="category"),
        legend=alt.Legend(title=None, **legend) if show else None,
    )


def apart(channel: Any, field: str, names: list[str], values: Any) -> Any:
    """Return the channel that gives each name its dashes, size or the like, without a legend."""
    scale = altair().Scale(domain=names, range=values)
    return channel(field, type="nominal", scale=scale, legend=None)


def dashes(field: str, names: list[str], patterns: list[list[int]]) -> Any:
    """Return the channel that gives each name its pattern of dashes."""
    return apart(altair().StrokeDash, field, names, patterns)


def shade(channel: Any, field: str, low: float, high: float) -> Any:
    """Return the channel that turns shares from 0 to 1 into values from low to high."""
    scale = altair().Scale(domain=[0, 1], range=[low, high])
    return channel(field, type="quantitative", scale=scale, legend=None)


def x_axis(field: str, title: str | None, channel: Any = "X", **options: Any) -> Any:
    """Return a channel of numbers across; options are of the scale or of the axis."""
    alt = altair()
    scale = alt.Scale(**{name: options.pop(name) for name in _OF_SCALE if name in options})
    make, labels = getattr(alt, channel), alt.Axis(**options)
    return make(field, type="quantitative", title=title, scale=scale, axis=labels)


def y_axis(field: str, title: str | None, **options: Any) -> Any:
    """Return a channel of numbers upwards, as `x_axis` does across."""
    return x_axis(field, title, "Y", **options)


def plane(low: FloatArray, high: FloatArray, names: Any, **options: Any) -> Callable[..., Any]:
    """Return the function from two fields to the axes of a plane between two corners."""
    across, up = ([plain(float(a)), plain(float(b))] for a, b in zip(low, high, strict=True))
    options |= {"nice": False, "zero": False, "grid": False}

    def channels(x: str, y: str) -> dict[str, Any]:
        return {
            "x": x_axis(x, str(names[0]), domain=across, **options),
            "y": y_axis(y, str(names[1]), domain=up, **options),
        }

    return channels


def y_names(field: str, names: list[str], title: str | None = None, **options: Any) -> Any:
    """Return the channel of named rows, from the top; options are of the axis."""
    alt = altair()
    words = alt.Axis(domain=False, ticks=False, **options)
    return alt.Y(field, type="nominal", sort=names, title=title, axis=words)


def tips(*lines: tuple[Any, ...]) -> list[Any]:
    """Return the lines of a tooltip: a field ("x:Q", "name:N"), its title, its format."""
    alt = altair()
    return [
        alt.Tooltip(field, **dict(zip(("title", "format"), more, strict=False)))
        for field, *more in lines
    ]


def records(**columns: Any) -> list[dict[str, Any]]:
    """Return one row per entry of the columns, ready for JSON; a single value stands in each."""
    lists = [repeat(each) if np.ndim(each) == 0 else each for each in columns.values()]
    return [dict(zip(columns, map(plain, row), strict=True)) for row in zip(*lists, strict=False)]


def only(chart: Any, kind: str, field: str = "kind") -> Any:
    """Return a chart of the rows of one kind."""
    return chart.transform_filter(f"datum.{field} == '{kind}'")


def segment(start: Any, stop: Any, **mark: Any) -> Any:
    """Return the piece of the diagonal between two values."""
    alt = altair()
    ends = {"x": start, "y": start, "x2": stop, "y2": stop}
    return alt.Chart().mark_rule(**mark).encode(**{at: alt.datum(v) for at, v in ends.items()})


def facets(chart: Any, field: str, names: list[str], columns: int) -> Any:
    """Return a chart as one panel per name."""
    alt = altair()
    head = alt.Header(labelAnchor="start")
    facet = alt.Facet(field, type="nominal", title=None, sort=names, header=head)
    return chart.facet(facet=facet, columns=columns)


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


def pair_of(points: Any) -> tuple[FloatArray, FloatArray]:
    """Return input and response of the data, which must be of one length."""
    x, y = (np.array(each, dtype=np.float64, ndmin=1) for each in points)
    if not x.size == len(x) == len(y) == y.size:
        raise InputError(
            f"points must be two lists of one length; got {x.size} and {y.size} numbers of shapes "
            f"{x.shape} and {y.shape}."
        )
    return x.ravel(), y.ravel()


def some_points(points: Any) -> tuple[FloatArray, FloatArray]:
    """Return the data, or some 2,000 of them spread along x."""
    x, y = pair_of(points)
    if len(x) <= _MOST_POINTS:
        return x, y
    kept = np.argsort(x, kind="stable")[:: -(-len(x) // _MOST_POINTS)]
    return x[kept], y[kept]


def words_apart(places: Any, gap: float) -> Any:
    """Return places of words on the same side moved up or down until they are a line apart."""
    found = places.copy()
    for side in (found[:, 0] >= 0, found[:, 0] < 0):
        members = np.flatnonzero(side)
        members = members[np.argsort(found[members, 1], kind="stable")]
        if not len(members):
            continue
        heights = found[members, 1].copy()
        for i in range(1, len(heights)):
            heights[i] = max(heights[i], heights[i - 1] + gap)
        # What was pushed up moves back by half, so that both words of a pair move.
        found[members, 1] = heights - (heights - found[members, 1]).max() / 2
    return found
