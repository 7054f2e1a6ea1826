"""Fitted curves of one input with the data and the truth: one with its band, or side by side."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.plot._parts import only, pair_of, records, some_points, values_along, x_axis, y_axis
from bottega.plot.theme import WIDTH, altair, finish, number, panels

__all__ = ["band_chart", "smooth_chart", "smooths_chart"]


def band_chart(
    x: Any,
    mean: Any,
    band: Any = None,
    *,
    points: Any = None,
    truth: Any = None,
    curves: Any = None,
    names: tuple[str, str] = ("x", "response"),
) -> Any:
    """Draw a fitted mean against one input, with what is known about it.

    Parameters
    ----------
    x, mean : array-like of shape (m,)
        The input, in any order, and the fitted (or predictive) mean there.
    band : pair of array-like of shape (m,), optional
        Lower and upper limits, as `interval` returns them.
    points : pair of array-like of shape (n,), optional
        Input and response of the data.
    truth : array-like of shape (m,), optional
        The true mean at the same points, where it is known.
    curves : array-like of shape (k, m), optional
        Further curves, such as draws from a posterior: ``model.sample(6) @ design.T``.
    names : pair of str
        What stands at the axes.

    Returns
    -------
    altair.LayerChart
        The band is wide where little is known: far from the data, and where they are few.

    Examples
    --------
    >>> band_chart([0, 1], [1, 2], ([0, 1], [2, 3])).to_dict()["title"]["text"]
    'response against x'
    """
    alt = altair()
    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 1 or len(x) < 2:
        raise InputError(f"x must be a list of at least two numbers; got shape {x.shape}.")
    mean = values_along(mean, "mean", x)
    low, high = (mean, mean) if band is None else (values_along(each, "band", x) for each in band)
    drawn = [values_along(each, "curves", x) for each in (() if curves is None else curves)]
    order = np.argsort(x, kind="stable")

    def curve(kind: str, y: Any, place: int = 0, **more: Any) -> list[dict[str, Any]]:
        return records(kind=kind, curve=place, x=x[order], y=y[order], **more)

    rows = curve("fit", mean, low=low[order], high=high[order])
    for k, each in enumerate(drawn):
        rows += curve("draw", each, k)
    if truth is not None:
        rows += curve("truth", values_along(truth, "truth", x))
    n = 0
    if points is not None:
        data_x, data_y = pair_of(points)
        n = len(data_x)
        rows += records(kind="data", curve=0, x=data_x, y=data_y)
    base = alt.Chart().encode(
        x=x_axis("x", names[0], zero=False), y=y_axis("y", names[1], zero=False)
    )
    fit = only(base, "fit")
    layers = []
    if band is not None:
        area = fit.mark_area(style="honest", opacity=0.2)
        layers.append(area.encode(y="low:Q", y2="high"))
    if drawn:
        lines = only(base, "draw").mark_line(style="faint", strokeWidth=1.2)
        layers.append(lines.encode(detail="curve:N"))
    if truth is not None:
        layers.append(only(base, "truth").mark_line(style="reference"))
    layers.append(fit.mark_line(style="honest", strokeWidth=2.2))
    if n:
        layers.append(only(base, "data").mark_circle(style="picked", size=36, opacity=0.8))
    legend = ["fitted mean (solid)"]
    legend += ["its band"] if band is not None else []
    legend += [f"{len(drawn)} draws (thin)"] if drawn else []
    legend += ["the truth (dashed)"] if truth is not None else []
    legend += [f"{n:,} data points"] if n else []
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"{names[1]} against {names[0]}",
        subtitle=", ".join(legend),
        description=(
            f"Line chart of {names[1]} against {names[0]} from {number(x.min())} to "
            f"{number(x.max())}: {', '.join(legend)}."
        ),
    )


@documented_like(band_chart)
def smooth_chart(
    band: Any, *, points: Any = None, truth: Any = None, names: tuple[str, str] = ("x", "response")
) -> Any:
    """Draw a smooth of one input with its band, over the data.

    Parameters
    ----------
    band : Band
        What `bottega.smooth.bands` returns.
    points : pair of array-like of shape (n,), optional
        Input and response of the data; of many, some 2,000 spread along x are drawn.

    Returns
    -------
    altair.LayerChart
        Its subtitle says what the band leaves out.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 5)
    >>> band = SimpleNamespace(X=x[:, None], mean=x, lower=x - 1, upper=x + 1, level=0.95,
    ...                        kind="pointwise")
    >>> smooth_chart(band).to_dict()["title"]["subtitle"][1]
    'Pointwise 95% band: about noise at each x by itself; bias is not in it.'
    """
    if band.X.shape[1] != 1:
        raise InputError(
            f"A smooth over {band.X.shape[1]} inputs is no curve; draw it along one input, with "
            "the others fixed."
        )
    shown = None if points is None else some_points(points)
    limits = (band.lower, band.upper)
    chart = band_chart(band.X[:, 0], band.mean, limits, points=shown, truth=truth, names=names)
    reach = {
        "pointwise": "about noise at each x by itself; bias is not in it.",
        "simultaneous": "about noise at all x at once; bias is not in it.",
    }[band.kind]
    note = f"{band.kind.capitalize()} {100 * band.level:g}% band: {reach}"
    first = str(chart.title.subtitle[0])
    if shown is not None and len(shown[0]) < len(points[0]):
        first = first.replace("data points", f"of {len(points[0]):,} data points")
    chart.title.subtitle = [first[:1].upper() + first[1:], note]
    chart.description = f"{chart.description} {note}"
    return chart


@documented_like(smooth_chart)
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
    columns : int
        Panels in a row.

    Returns
    -------
    altair.ConcatChart
        All panels show the data and the truth and have the same axes: those of the data, where
        they are given. A wild curve is cut off.

    Examples
    --------
    >>> chart = smooths_chart([0, 1], {"alpha = 1": [0, 1], "alpha = 9": [0.4, 0.6]})
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
