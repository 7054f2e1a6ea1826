"""Chords and graphs, sets with a witness, hulls: pictures of convexity."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._grid import cell_middles, contour
from bottega.plot._parts import colors, frame_of, plane, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["convexity_chart", "hull_chart", "set_chart"]

_POINTS = 201
_CELLS = 60
_MOST = 2_000


def convexity_chart(found: Any) -> Any:
    """Draw a graph with a chord: the witness that f is not convex, or the tightest chord met.

    A function of one number is drawn over its region, another one along the line between the two
    ends of the chord.

    Parameters
    ----------
    found : Convexity
        What `convexity` returned. It has a chord if samples were taken or f is not convex.

    Returns
    -------
    altair.LayerChart
        The graph, the chord, and the point where they are compared.

    Examples
    --------
    >>> from bottega.optimize import convexity
    >>> found = convexity(lambda x: float(x[0] ** 4 - x[0] ** 2), (-1.0, 1.0), random_state=0)
    >>> convexity_chart(found).to_dict()["title"]["text"]
    'Not convex: a chord below the graph'
    """
    alt = altair()
    chord = found.closest
    if chord is None:
        raise InputError(
            "There is no chord to draw: the function was proved convex without samples; "
            "print the result for the proof."
        )
    alone = len(chord.x) == 1
    if alone:
        low, high = (
            (float(each[0]) for each in found.box)
            if found.box is not None
            else sorted((float(chord.x[0]), float(chord.y[0])))
        )
        across = np.linspace(low, high, _POINTS)
        heights = np.array([found.f(np.array([t])) for t in across])
        ends, middle = (float(chord.x[0]), float(chord.y[0])), float(chord.between[0])
        name = "x"
    else:
        across = np.linspace(0, 1, _POINTS)
        heights = np.array([found.f((1 - t) * chord.x + t * chord.y) for t in across])
        ends, middle = (0.0, 1.0), 1 - chord.share
        name = "share of the way from x to y"
    tops = [found.f(chord.x), found.f(chord.y)]
    names = ["graph of f", "chord"]
    rows = records(x=across, y=np.where(np.isfinite(heights), heights, np.nan), series=names[0])
    rows += records(x=np.array(ends), y=np.array(tops), series=names[1])
    channels = {
        "x": x_axis("x", name, nice=False, zero=False, grid=False),
        "y": y_axis("y", "f", zero=False),
    }
    lines = (
        alt.Chart(alt.Data(values=[row for row in rows if row["y"] is not None]))
        .mark_line(strokeWidth=2)
        .encode(
            **channels,
            color=colors("series", names, symbolType="stroke"),
            tooltip=tips(("series:N",), ("x:Q", name, ".4~g"), ("y:Q", "f", ".4~g")),
        )
    )
    dots = (
        alt.Chart(alt.Data(values=records(x=np.array(ends), y=np.array(tops))))
        .mark_point(filled=True, opacity=1, size=60, style="picked")
        .encode(**channels)
    )
    gap = (
        alt.Chart(alt.Data(values=records(x=[middle], y=[chord.value], chord=[chord.chord])))
        .mark_rule(style="label", strokeWidth=2)
        .encode(
            **channels,
            y2="chord:Q",
            tooltip=tips(("y:Q", "f", ".4~g"), ("chord:Q", "chord", ".4~g")),
        )
    )
    wrong = found.witness is not None
    title = "Not convex: a chord below the graph" if wrong else "No chord below the graph was found"
    gap_words = (
        f"In between the graph is {number(chord.violation)} above the chord."
        if wrong
        else f"The tightest of the long chords: {number(-chord.violation)} above the graph."
    )
    return finish(
        alt.layer(lines, dots, gap),
        title=title,
        subtitle=gap_words,
        description=f"Line chart of a function and a chord. {title}. {gap_words}",
    )


def set_chart(found: Any) -> Any:
    """Draw a set of the plane, with two of its points and one between them outside of it.

    Parameters
    ----------
    found : SetConvexity
        What `bottega.optimize.convex_set` returned, for two coordinates in a box.

    Returns
    -------
    altair.LayerChart
        The set as small squares, and the witness if it has one.

    Examples
    --------
    >>> from bottega.optimize import convex_set
    >>> ring = convex_set(lambda x: 0.5 < x @ x < 1, ([-1, -1], [1, 1]), random_state=0)
    >>> set_chart(ring).to_dict()["title"]["text"]
    'A set that is not convex'
    """
    alt = altair()
    if found.box is None or len(found.box[0]) != 2:
        raise InputError("Only sets of the plane in a box are drawn; give region=(low, high).")
    low, high = found.box
    middles = cell_middles(low, high, _CELLS)
    half = (high - low) / _CELLS / 2
    kept = middles[[bool(found.contains(x)) for x in middles]]
    cells = records(left=kept[:, 0] - half[0], right=kept[:, 0] + half[0],
                    bottom=kept[:, 1] - half[1], top=kept[:, 1] + half[1])  # fmt: skip
    axes = plane(low, high, ("first coordinate", "second coordinate"))
    layers = [
        alt.Chart(alt.Data(values=cells))
        .mark_rect(style="honest", opacity=0.25, strokeWidth=0)
        .encode(**axes("left", "bottom"), x2="right:Q", y2="top:Q")
    ]
    if found.x is not None:
        ends = np.array([found.x, found.y])
        layers.append(
            alt.Chart(alt.Data(values=records(a=ends[:, 0], b=ends[:, 1])))
            .mark_line(style="label", strokeWidth=1.5, point={"filled": True, "size": 60})
            .encode(**axes("a", "b"))
        )
        layers.append(
            alt.Chart(alt.Data(values=records(a=found.between[:1], b=found.between[1:])))
            .mark_point(style="picked", filled=True, size=110, opacity=1, shape="diamond")
            .encode(**axes("a", "b"))
        )
    titles = {
        "convex": "A convex set",
        "not convex": "A set that is not convex",
        "no violation found": "A set with no violation found",
    }
    words = (
        "The orange point lies between two points of the set, and not in it."
        if found.x is not None
        else f"{number(found.tried)} segments were looked at."
    )
    return finish(
        alt.layer(*layers),
        title=titles[found.verdict],
        subtitle=words,
        description=f"{titles[found.verdict]} in the plane. {words}",
        width=380,
        height=380,
    )


def hull_chart(hull: Any, *, f: Any = None) -> Any:
    """Draw points of the plane, their convex hull and its vertices.

    Parameters
    ----------
    hull : Hull
        What `bottega.optimize.convex_hull` returned, in the plane.
    f : callable, optional
        A convex function, to draw its contours and the vertex where it is largest.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> from bottega.optimize import convex_hull
    >>> chart = hull_chart(convex_hull([[0, 0], [1, 0], [0, 1], [0.2, 0.2]]))
    >>> chart.to_dict()["title"]["text"]
    'Convex hull: 3 of 4 points are vertices'
    """
    alt = altair()
    if hull.points.shape[1] != 2:
        raise InputError(
            f"Only hulls in the plane are drawn; this has {hull.points.shape[1]} axes."
        )
    low, high = frame_of(hull.points, 0.12)
    axes = plane(low, high, ("first coordinate", "second coordinate"))
    corners = hull.vertices
    ring = np.vstack([corners, corners[:1]])
    shown = hull.points[thinned(len(hull.points), _MOST)]
    outline = alt.Chart(
        alt.Data(values=records(a=ring[:, 0], b=ring[:, 1], step=np.arange(len(ring))))
    ).encode(**axes("a", "b"), order="step:Q")
    layers: list[Any] = []
    words = f"Area {number(hull.volume)}."
    if f is not None:
        layers.append(_contours(f, low, high, axes))
    layers += [
        outline.mark_line(filled=True, opacity=0.1, style="honest"),
        outline.mark_line(strokeWidth=2, style="honest"),
        alt.Chart(alt.Data(values=records(a=shown[:, 0], b=shown[:, 1])))
        .mark_point(filled=True, size=22, opacity=0.8, style="faint")
        .encode(**axes("a", "b")),
        alt.Chart(alt.Data(values=records(a=corners[:, 0], b=corners[:, 1], i=hull.indices)))
        .mark_point(filled=True, size=60, opacity=1, style="honest")
        .encode(
            **axes("a", "b"),
            tooltip=tips(("i:Q", "point"), ("a:Q", "first", ".4~g"), ("b:Q", "second", ".4~g")),
        ),
    ]
    if f is not None:
        best = hull.maximize(f)
        layers.append(
            alt.Chart(alt.Data(values=records(a=best.x[:1], b=best.x[1:])))
            .mark_point(filled=True, size=150, opacity=1, style="picked", shape="diamond")
            .encode(**axes("a", "b"))
        )
        words = f"Contours of f, which is largest, {number(best.value)}, at the orange vertex."
    title = f"Convex hull: {len(corners)} of {number(len(hull.points))} points are vertices"
    return finish(
        alt.layer(*layers), title=title, subtitle=words, description=f"{title}. {words}",
        width=420, height=380,
    )  # fmt: skip


def _contours(f: Any, low: FloatArray, high: FloatArray, axes: Any) -> Any:
    alt = altair()
    grid = np.array([float(f(x)) for x in cell_middles(low, high, _CELLS)]).reshape(_CELLS, _CELLS)
    levels = np.quantile(grid[np.isfinite(grid)], np.linspace(0.05, 0.95, 8))
    pieces = [
        {**piece, "level": plain(float(level))}
        for level in np.unique(levels)
        for piece in contour(grid, float(level), low, high)
    ]
    return (
        alt.Chart(alt.Data(values=pieces))
        .mark_rule(style="faint")
        .encode(**axes("ax", "ay"), x2="bx:Q", y2="by:Q", tooltip=tips(("level:Q", "f", ".4~g")))
    )
