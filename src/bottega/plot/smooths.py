"""Several smooth curves of the same data side by side."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import only, records, some_points, values_along, x_axis, y_axis
from bottega.plot.theme import WIDTH, altair, panels

__all__ = ["smooths_chart"]


def smooths_chart(
    x: Any,
    curves: Mapping[str, Any],
    *,
    points: Any = None,
    truth: Any = None,
    names: tuple[str, str] = ("x", "response"),
    columns: int = 3,
) -> Any:
    """Draw several smooths of the same data side by side, as for several values of a knob.

    Parameters
    ----------
    x : array-like of shape (m,)
        The input.
    curves : mapping of str to array-like of shape (m,)
        The title of each panel and its curve.
    points : pair of array-like of shape (n,), optional
        Input and response of the data, drawn in every panel.
    truth : array-like of shape (m,), optional
        The true mean, drawn in every panel.
    names : pair of str
        What stands at the axes.
    columns : int
        Panels in a row.

    Returns
    -------
    altair.ConcatChart
        All panels have the same axes: those of the data, where they are given. A wild curve is cut
        off.

    Examples
    --------
    >>> chart = smooths_chart([0, 1], {"lam = 1": [0, 1], "lam = 9": [0.4, 0.6]})
    >>> len(chart.to_dict()["concat"])
    2
    """
    alt = altair()
    x = np.asarray(x, dtype=np.float64)
    if not curves:
        raise InputError("There is no curve to draw; give at least one.")
    order = np.argsort(x, kind="stable")
    rows: list[dict[str, Any]] = []
    for name, curve in curves.items():
        values = values_along(curve, repr(name), x)
        rows += records(kind="fit", panel=str(name), x=x[order], y=values[order])
    if truth is not None:
        rows += records(kind="truth", x=x[order], y=values_along(truth, "truth", x)[order])
    n = 0
    if points is not None:
        shown = some_points(points)
        n = len(shown[0])
        rows += records(kind="data", x=shown[0], y=shown[1])
    across = min(columns, len(curves))
    size = max(150, (WIDTH - 60 * (across - 1)) // across)
    # The data set the scale: a curve that runs wild would flatten all the others.
    seen = [row["y"] for row in rows if row["y"] is not None and (not n or row["kind"] != "fit")]
    drawn = []
    for k, name in enumerate(map(str, curves)):
        across_title = names[0] if k >= len(curves) - across else None
        up_title = names[1] if k % across == 0 else None
        base = alt.Chart().encode(
            x=x_axis("x", across_title, zero=False, nice=False, tickCount=4, grid=False),
            y=y_axis("y", up_title, domain=[min(seen), max(seen)], nice=True, tickCount=4),
        )
        layers = [only(base, "data").mark_circle(style="faint", size=14)] if n else []
        if truth is not None:
            layers.append(only(base, "truth").mark_line(style="reference"))
        own = base.transform_filter(alt.FieldEqualPredicate(field="panel", equal=name))
        layers.append(own.mark_line(style="honest", strokeWidth=2, clip=True))
        heading = alt.TitleParams(name, anchor="middle", fontSize=12.5, offset=6)
        drawn.append(alt.layer(*layers).properties(title=heading, width=size, height=170))
    legend = ["the fit (solid)"]
    legend += ["the truth (dashed)"] if truth is not None else []
    legend += [f"{n:,} data points"] if n else []
    return panels(
        alt.concat(*drawn, columns=across, spacing=24, data=alt.Data(values=rows)),
        title=f"{names[1]} against {names[0]}, {len(curves)} smooths",
        subtitle=(", ".join(legend)).capitalize(),
        description=(
            f"{len(curves)} line charts of {names[1]} against {names[0]} side by side: "
            f"{'; '.join(map(str, curves))}. Each shows {', '.join(legend)}."
        ),
    )
