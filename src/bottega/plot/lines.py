"""Lines over one axis: the chart of most experiments of the course."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bottega.plot._parts import colors, dashes, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["lines_chart"]


def lines_chart(
    x: Any,
    lines: Mapping[str, Any],
    *,
    x_title: str,
    y_title: str,
    title: str,
    subtitle: str | Sequence[str] = (),
    log_x: bool = False,
    log_y: bool = False,
    dashed: Sequence[str] = (),
    points: bool = True,
) -> Any:
    """Draw one line per name over a common axis.

    Parameters
    ----------
    x : array-like of shape (m,)
        The common axis: numbers, or texts in their order.
    lines : mapping of str to array-like of shape (m,)
        Heights by name; what is not finite is left out.
    x_title, y_title, title : str
        Titles.
    subtitle : str or sequence of str
        What to see in it.
    log_x, log_y : bool
        Logarithmic axes (heights that are not positive are left out).
    dashed : sequence of str
        Lines that are bounds or references: drawn dashed, without points.
    points : bool
        Mark the points.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    alt = altair()
    names = list(lines)
    places = np.asarray(x)
    named = places.dtype.kind not in "biuf"
    rows = [
        {"x": str(at) if named else float(at), "y": float(height), "line": name}
        for name in names
        for at, height in zip(places, np.asarray(lines[name]), strict=True)
        if np.isfinite(height) and (height > 0 or not log_y)
    ]
    patterns = [[6, 4] if name in dashed else [1, 0] for name in names]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=_across(places.tolist() if named else None, x_title, log_x),
        y=y_axis("y", y_title, **_numbers(log_y), zero=False),
        color=colors("line", names, symbolType="stroke", labelLimit=320),
        tooltip=tips(
            ("line:N",),
            ("x:N", x_title) if named else ("x:Q", x_title, ".4~g"),
            ("y:Q", y_title, ".4~g"),
        ),
    )
    layers = [base.mark_line(strokeWidth=2).encode(strokeDash=dashes("line", names, patterns))]
    marked = [name for name in names if name not in dashed]
    if points and marked:
        solid = base.transform_filter(alt.FieldOneOfPredicate(field="line", oneOf=marked))
        layers.append(solid.mark_point(size=26, filled=True, opacity=1))
    return finish(
        alt.layer(*layers),
        title=title,
        subtitle=subtitle,
        description=f"{title}: {y_title} against {x_title}; lines: {', '.join(names)}.",
    )


def _across(names: Sequence[str] | None, title: str, log: bool) -> Any:
    if names is None:
        return x_axis("x", title, **_numbers(log), zero=False, nice=False, padding=8, grid=False)
    words = altair().Axis(grid=False, labelAngle=0, labelLimit=140)
    return altair().X("x", type="ordinal", title=title, sort=list(names), axis=words)


def _numbers(log: bool) -> dict[str, str]:
    """Return how numbers are written: on a linear axis "~g" would make 100 into 1e+2."""
    return {"type": "log", "format": "~g"} if log else {"type": "linear"}
