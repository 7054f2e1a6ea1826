"""Numbers of things that have names: one row per name, one dot per series."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bottega.plot._parts import colors, tips, x_axis
from bottega.plot.theme import altair, finish

__all__ = ["dots_chart"]


def dots_chart(
    names: Sequence[str],
    series: Mapping[str, Any],
    *,
    x_title: str,
    title: str,
    subtitle: str | Sequence[str] = (),
    log_x: bool = False,
    zero: bool = True,
    rings: Sequence[str] = (),
) -> Any:
    """Draw one row per name and one dot per series.

    Parameters
    ----------
    names : sequence of str
        The rows, from the top.
    series : mapping of str to array-like of shape (m,)
        Numbers by name of the series; what is not finite is left out.
    x_title, title : str
        Titles.
    subtitle : str or sequence of str
        What to see in it.
    log_x : bool
        A logarithmic axis (numbers that are not positive are left out).
    zero : bool
        Start the axis at zero, unless it is logarithmic.
    rings : sequence of str
        Series drawn as rings, which show what lies under them: targets and bounds.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    alt = altair()
    kinds = list(series)
    rows = [
        {"name": name, "x": float(value), "series": kind}
        for kind in kinds
        for name, value in zip(names, np.asarray(series[kind]), strict=True)
        if np.isfinite(value) and (value > 0 or not log_x)
    ]
    # Padding would draw an axis that starts at zero on below it.
    fit = {"type": "log"} if log_x else {"zero": zero, **({} if zero else {"padding": 12})}
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("name", type="nominal", sort=list(names), title=None, axis=alt.Axis(grid=True)),
        x=x_axis("x", x_title, grid=False, format="~g", **fit),
        color=colors("series", kinds, show=len(kinds) > 1, symbolType="circle"),
        tooltip=tips(("name:N",), ("series:N",), ("x:Q", x_title, ".4~g")),
    )
    solid = [kind for kind in kinds if kind not in rings]
    marks = [_of(base, solid).mark_point(size=90, filled=True, opacity=1)]
    if rings:
        marks.append(_of(base, list(rings)).mark_point(size=220, strokeWidth=2, opacity=1))
    return finish(
        alt.layer(*marks),
        title=title,
        subtitle=subtitle,
        description=f"{title}: {x_title} of {', '.join(map(str, names))} ({', '.join(kinds)}).",
        height=max(120, 34 * len(names)),
    )


def _of(base: Any, kinds: Sequence[str]) -> Any:
    """Return a chart of some series only."""
    return base.transform_filter(altair().FieldOneOfPredicate(field="series", oneOf=list(kinds)))
