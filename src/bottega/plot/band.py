"""A fitted curve of one input with its band, the data, the truth, and draws from a posterior."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["band_chart"]


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
        The true mean, where it is known.
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
    mean = _along(mean, "mean", x)
    low, high = (mean, mean) if band is None else (_along(each, "band", x) for each in band)
    drawn = [_along(each, "curves", x) for each in (() if curves is None else curves)]
    order = np.argsort(x, kind="stable")
    rows = [
        _row("fit", 0, x[i], mean[i]) | {"low": plain(low[i]), "high": plain(high[i])}
        for i in order
    ]
    for k, each in enumerate(drawn):
        rows += [_row("draw", k, x[i], each[i]) for i in order]
    if truth is not None:
        right = _along(truth, "truth", x)
        rows += [_row("truth", 0, x[i], right[i]) for i in order]
    n = 0
    if points is not None:
        data_x, data_y = (np.asarray(each, dtype=np.float64) for each in points)
        if data_x.ndim != 1 or data_x.shape != data_y.shape:
            raise InputError(
                "points must be two lists of one length; got shapes "
                f"{data_x.shape} and {data_y.shape}."
            )
        n = len(data_x)
        rows += [_row("data", 0, a, b) for a, b in zip(data_x, data_y, strict=True)]
    base = alt.Chart().encode(
        x=alt.X("x", type="quantitative", title=names[0], scale=alt.Scale(zero=False)),
        y=alt.Y("y", type="quantitative", title=names[1], scale=alt.Scale(zero=False)),
    )

    def only(kind: str) -> Any:
        return base.transform_filter(f"datum.kind == '{kind}'")

    layers = []
    if band is not None:
        area = only("fit").mark_area(style="honest", opacity=0.2)
        layers.append(area.encode(y=alt.Y("low", type="quantitative"), y2="high"))
    if drawn:
        lines = only("draw").mark_line(style="faint", strokeWidth=1.2)
        layers.append(lines.encode(detail=alt.Detail("curve", type="nominal")))
    if truth is not None:
        layers.append(only("truth").mark_line(style="reference"))
    layers.append(only("fit").mark_line(style="honest", strokeWidth=2.2))
    if n:
        layers.append(only("data").mark_circle(style="picked", size=36, opacity=0.8))
    said = ["fitted mean (solid)"]
    said += ["its band"] if band is not None else []
    said += [f"{len(drawn)} draws (thin)"] if drawn else []
    said += ["the truth (dashed)"] if truth is not None else []
    said += [f"{n:,} data points"] if n else []
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"{names[1]} against {names[0]}",
        subtitle=", ".join(said),
        description=(
            f"Line chart of {names[1]} against {names[0]} from {number(x.min())} to "
            f"{number(x.max())}: {', '.join(said)}."
        ),
    )


def _row(kind: str, curve: int, x: Any, y: Any) -> dict[str, Any]:
    return {"kind": kind, "curve": curve, "x": plain(x), "y": plain(y)}


def _along(values: Any, name: str, x: FloatArray) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != x.shape:
        raise InputError(f"{name} has shape {found.shape}; x has {len(x)} points.")
    return found
