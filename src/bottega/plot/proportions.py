"""Proportions of classes: bars with intervals, and lines with bands over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bottega.plot._parts import colors, facets, records, tips, x_axis, y_axis, y_names
from bottega.plot.theme import WIDTH, altair, finish, panels

__all__ = ["proportions_chart", "proportions_over_time_chart"]

_MOST_COLUMNS = 2  # panels side by side


def proportions_chart(columns: Mapping[str, Any], classes: Sequence[str], *, level: float) -> Any:
    """Draw one bar per class with its interval, in one panel per group.

    Parameters
    ----------
    columns : mapping
        ``class``, ``proportion``, ``conf_low``, ``conf_high``, ``texts`` and perhaps ``group``, as
        `Proportions.to_frame` has them.
    classes : sequence of str
        The classes, from the top.
    level : float
        Level of the intervals.

    Returns
    -------
    altair.LayerChart or altair.FacetChart
        The chart.

    Examples
    --------
    >>> columns = {"class": ["for", "against"], "proportion": [0.3, 0.7], "texts": [90, 90],
    ...            "conf_low": [0.2, 0.6], "conf_high": [0.4, 0.8]}
    >>> chart = proportions_chart(columns, ["for", "against"], level=0.95)
    >>> chart.to_dict()["title"]["subtitle"]
    ['90 texts; bars are estimates, lines 95% intervals.']
    """
    alt = altair()
    names = list(classes)
    grouped = "group" in columns
    base = alt.Chart().encode(y=y_names("class", names), tooltip=_tips(grouped, False))
    across = {"domain": [0, _top(columns)], "format": ".0%", "grid": True, "nice": True}
    across |= {"tickCount": 6}
    bar = base.mark_bar(style="honest", height={"band": 0.6}, opacity=0.75).encode(
        x=x_axis("proportion", "proportion of texts", **across)
    )
    line = base.mark_rule(style="label", strokeWidth=2).encode(
        x=x_axis("conf_low", "proportion of texts", **across), x2="conf_high"
    )
    layers = alt.layer(bar, line, data=alt.Data(values=_records(columns)))
    return _finished(layers, columns, 34 * len(names), "Proportions of classes", "bars", level)


def proportions_over_time_chart(
    columns: Mapping[str, Any], classes: Sequence[str], *, level: float
) -> Any:
    """Draw one line per class over time with its band, in one panel per group.

    Parameters
    ----------
    columns : mapping
        As for `proportions_chart`, with ``time``: dates, numbers, or texts in their order.
    classes : sequence of str
        The classes.
    level : float
        Level of the intervals.

    Returns
    -------
    altair.LayerChart or altair.FacetChart
        The chart.

    Examples
    --------
    >>> columns = {"time": [1, 1, 2, 2], "class": ["for", "against"] * 2, "texts": [90] * 4,
    ...            "proportion": [0.3, 0.7, 0.4, 0.6], "conf_low": [0.2, 0.6, 0.3, 0.5],
    ...            "conf_high": [0.4, 0.8, 0.5, 0.7]}
    >>> chart = proportions_over_time_chart(columns, ["for", "against"], level=0.95)
    >>> chart.to_dict()["title"]["text"]
    'Proportions of classes over time'
    """
    alt = altair()
    names = list(classes)
    base = alt.Chart().encode(
        x=_time_axis(columns["time"]),
        color=colors("class", names, symbolType="stroke", symbolOpacity=1),
        tooltip=_tips("group" in columns, True),
    )
    up = {"domain": [0, _top(columns)], "format": ".0%", "nice": True}
    band = base.mark_area(opacity=0.18).encode(
        y=y_axis("conf_low", "proportion of texts", **up), y2="conf_high"
    )
    middle = y_axis("proportion", "proportion of texts", **up)
    line = base.mark_line(strokeWidth=2).encode(y=middle)
    point = base.mark_point(size=26, filled=True, opacity=1).encode(y=middle)
    layers = alt.layer(band, line, point, data=alt.Data(values=_records(columns)))
    return _finished(layers, columns, 260, "Proportions of classes over time", "lines", level)


def _records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    plain = dict(columns)
    for name in ("group", "time"):
        if name in plain and np.asarray(plain[name]).dtype.kind not in "iuf":
            plain[name] = [str(value) for value in plain[name]]
    return records(**plain)


def _time_axis(times: Any) -> Any:
    found = np.asarray(times)
    if found.dtype.kind in "iuf":
        return x_axis("time", "time", zero=False, nice=False, padding=8, grid=False)
    axis = altair().Axis(grid=False, labelAngle=0, labelOverlap=True)
    order = list(dict.fromkeys(str(value) for value in found))
    dated = found.dtype.kind == "M" or hasattr(times[0], "isoformat")
    kind = "temporal" if dated else "ordinal"
    sort = {} if dated else {"sort": order}
    return altair().X("time", type=kind, title=None if dated else "time", axis=axis, **sort)


def _top(columns: Mapping[str, Any]) -> float:
    return float(min(1.0, np.max(columns["conf_high"])))


def _tips(grouped: bool, timed: bool) -> list[Any]:
    lines: list[tuple[str, ...]] = [("group:N",)] if grouped else []
    lines += [("time:N",)] if timed else []
    lines += [("class:N",), ("proportion:Q", "proportion", ".1%")]
    lines += [("conf_low:Q", "from", ".1%"), ("conf_high:Q", "to", ".1%"), ("texts:Q",)]
    return tips(*lines)


def _finished(
    layers: Any, columns: Mapping[str, Any], height: int, title: str, marks: str, level: float
) -> Any:
    """Return the chart with its words, in one panel per group where there are groups."""
    kinds = [name for name in ("group", "time") if name in columns]
    sizes = {
        tuple(str(columns[name][i]) for name in kinds): int(n)
        for i, n in enumerate(columns["texts"])
    }
    ranges = "bands" if marks == "lines" else "lines"
    total = f"{sum(sizes.values()):,} texts"
    subtitle = f"{total}; {marks} are estimates, {ranges} {100 * level:g}% intervals."
    words = {"title": title, "subtitle": subtitle, "description": f"{title}: {subtitle}"}
    if "group" not in columns:
        return finish(layers, height=max(90, height), **words)
    names = list(dict.fromkeys(str(value) for value in columns["group"]))
    across = min(_MOST_COLUMNS, len(names))
    size = (WIDTH - 90 * (across - 1)) // across
    inner = layers.properties(width=size, height=max(60, height * 2 // 3))
    return panels(facets(inner, "group", names, across), **words)
