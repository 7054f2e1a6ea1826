"""Smooth curves: one with its band, several side by side, and where one bends for sure."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot.band import band_chart
from bottega.plot.theme import WIDTH, altair, number, panels, plain

__all__ = ["curvature_chart", "smooth_chart", "smooths_chart"]

_MOST_POINTS = 2_000  # more data points than this only darken the picture
_SIGNS = {
    1: {1: "rises", 2: "convex: bends up"},
    -1: {1: "falls", 2: "concave: bends down"},
}


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
    truth : array-like of shape (m,), optional
        The true mean at the points of the band, where it is known.
    names : pair of str
        What stands at the axes.

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
    shown = None if points is None else _some(*points)
    chart = band_chart(
        band.X[:, 0],
        band.mean,
        (band.lower, band.upper),
        points=shown,
        truth=truth,
        names=names,
    )
    reach = {
        "pointwise": "about noise at each x by itself; bias is not in it.",
        "simultaneous": "about noise at all x at once; bias is not in it.",
    }[band.kind]
    said = f"{band.kind.capitalize()} {100 * band.level:g}% band: {reach}"
    first = str(chart.title.subtitle[0])
    if shown is not None and len(shown[0]) < len(points[0]):
        first = first.replace("data points", f"of {len(points[0]):,} data points")
    chart.title.subtitle = [first[:1].upper() + first[1:], said]
    chart.description = f"{chart.description} {said}"
    return chart


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
    rows = []
    for name, curve in curves.items():
        values = _along(curve, repr(name), x)
        rows += [
            {"kind": "fit", "panel": str(name), "x": plain(x[i]), "y": plain(values[i])}
            for i in order
        ]
    if truth is not None:
        values = _along(truth, "truth", x)
        rows += [{"kind": "truth", "x": plain(x[i]), "y": plain(values[i])} for i in order]
    n = 0
    if points is not None:
        shown = _some(*points)
        n = len(shown[0])
        rows += [
            {"kind": "data", "x": plain(a), "y": plain(b)} for a, b in zip(*shown, strict=True)
        ]
    across = min(columns, len(curves))
    size = max(150, (WIDTH - 60 * (across - 1)) // across)
    # The data set the scale: a curve that runs wild would flatten all the others.
    seen = [row["y"] for row in rows if row["y"] is not None and (not n or row["kind"] != "fit")]
    drawn = []
    for k, name in enumerate(map(str, curves)):
        base = alt.Chart().encode(
            x=alt.X(
                "x",
                type="quantitative",
                title=names[0] if k >= len(curves) - across else None,
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(tickCount=4, grid=False),
            ),
            y=alt.Y(
                "y",
                type="quantitative",
                title=names[1] if k % across == 0 else None,
                scale=alt.Scale(domain=[min(seen), max(seen)], nice=True),
                axis=alt.Axis(tickCount=4),
            ),
        )

        def only(test: str, base: Any = base) -> Any:
            return base.transform_filter(test)

        layers = [only("datum.kind == 'data'").mark_circle(style="faint", size=14)] if n else []
        if truth is not None:
            layers.append(only("datum.kind == 'truth'").mark_line(style="reference"))
        test = alt.FieldEqualPredicate(field="panel", equal=name)
        layers.append(only(test).mark_line(style="honest", strokeWidth=2, clip=True))
        heading = alt.TitleParams(name, anchor="middle", fontSize=12.5, offset=6)
        drawn.append(alt.layer(*layers).properties(title=heading, width=size, height=170))
    said = ["the fit (solid)"]
    said += ["the truth (dashed)"] if truth is not None else []
    said += [f"{n:,} data points"] if n else []
    return panels(
        alt.concat(*drawn, columns=across, spacing=24, data=alt.Data(values=rows)),
        title=f"{names[1]} against {names[0]}, {len(curves)} smooths",
        subtitle=(", ".join(said)).capitalize(),
        description=(
            f"{len(curves)} line charts of {names[1]} against {names[0]} side by side: "
            f"{'; '.join(map(str, curves))}. Each shows {', '.join(said)}."
        ),
    )


def curvature_chart(
    found: Any, mean: Any, *, points: Any = None, names: tuple[str, str] = ("x", "response")
) -> Any:
    """Draw a smooth coloured by where it bends (or rises) for sure, above its derivative.

    Parameters
    ----------
    found : SignificantCurvature
        What `bottega.smooth.significant_curvature` returns.
    mean : array-like of shape (m,)
        The curve itself at ``found.x``.
    points : pair of array-like of shape (n,), optional
        Input and response of the data.
    names : pair of str
        What stands at the axes.

    Returns
    -------
    altair.VConcatChart
        Above, the curve; below, the derivative with its limits and the line of zero.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> found = SimpleNamespace(x=x, estimate=x, lower=x - 0.5, upper=x + 0.5,
    ...                         sign=np.array([0, 1, 1]), level=0.95, derivative=2)
    >>> curvature_chart(found, x**2).to_dict()["title"]["text"]
    'Where response bends for sure'
    """
    alt = altair()
    x = np.asarray(found.x, dtype=np.float64)
    mean = _along(mean, "mean", x)
    order = found.derivative
    words = {sign: _SIGNS[sign][order] for sign in (1, -1)}
    regions = _regions(x, np.asarray(found.sign))
    rows: list[dict[str, Any]] = [
        {
            "kind": "fit",
            "x": plain(x[i]),
            "y": plain(mean[i]),
            "slope": plain(found.estimate[i]),
            "low": plain(found.lower[i]),
            "high": plain(found.upper[i]),
        }
        for i in range(len(x))
    ]
    for k, (first, last, sign) in enumerate(regions):
        inside = np.flatnonzero((x >= first) & (x <= last))
        rows += [
            {"kind": "sure", "x": plain(x[i]), "y": plain(mean[i]), "sign": words[sign], "part": k}
            for i in inside
        ]
    if points is not None:
        rows += [
            {"kind": "data", "x": plain(a), "y": plain(b)}
            for a, b in zip(*_some(*points), strict=True)
        ]
    span = alt.Scale(domain=[plain(x.min()), plain(x.max())], nice=False)

    def across(title: str | None) -> Any:
        axis = alt.Axis(grid=False, labels=title is not None)
        return alt.X("x", type="quantitative", title=title, scale=span, axis=axis)

    curve = alt.Chart().encode(
        x=across(None),
        y=alt.Y("y", type="quantitative", title=names[1], scale=alt.Scale(zero=False)),
    )
    color = alt.Color(
        "sign",
        type="nominal",
        scale=alt.Scale(domain=list(words.values()), range="category"),
        legend=alt.Legend(title=None, symbolType="stroke"),
    )
    layers = []
    if points is not None:
        dots = curve.transform_filter("datum.kind == 'data'")
        layers.append(dots.mark_circle(style="faint", size=18, clip=True))
    whole = curve.transform_filter("datum.kind == 'fit'")
    layers.append(whole.mark_line(style="reference", strokeWidth=2, strokeDash=[1, 0]))
    layers.append(
        curve.transform_filter("datum.kind == 'sure'")
        .mark_line(strokeWidth=4)
        .encode(color=color, detail=alt.Detail("part", type="nominal"))
    )
    what = "second derivative" if order == 2 else "slope"
    below = (
        alt.Chart()
        .transform_filter("datum.kind == 'fit'")
        .encode(x=across(names[0]), y=alt.Y("slope", type="quantitative", title=what))
    )
    limits = below.mark_area(style="honest", opacity=0.2).encode(
        y=alt.Y("low", type="quantitative"), y2="high"
    )
    zero = alt.Chart().mark_rule(style="reference").encode(y=alt.datum(0))
    lower = alt.layer(limits, zero, below.mark_line(style="honest", strokeWidth=2))
    stretches = [f"{words[sign]} from {number(a)} to {number(b)}" for a, b, sign in regions]
    verb = "bends" if order == 2 else "rises or falls"
    return panels(
        alt.vconcat(
            alt.layer(*layers).properties(width=WIDTH, height=230),
            lower.properties(width=WIDTH, height=130),
            data=alt.Data(values=rows),
            spacing=10,
        ),
        title=f"Where {names[1]} {verb} for sure",
        subtitle=[
            f"Coloured where the {100 * found.level:g}% limits of the {what} leave out zero, grey "
            "elsewhere.",
            "At each point by itself, bias not included: among many points some err by chance.",
        ],
        description=(
            f"Curve of {names[1]} against {names[0]} above its {what} with limits: "
            f"{'; '.join(stretches) or 'sure nowhere'}."
        ),
    )


def _regions(x: FloatArray, sign: Any) -> list[tuple[float, float, int]]:
    starts = np.flatnonzero(np.diff(sign, prepend=sign[:1] - 5))
    ends = np.append(starts[1:], len(sign)) - 1
    return [
        (float(x[a]), float(x[b]), int(sign[a]))
        for a, b in zip(starts, ends, strict=True)
        if sign[a] != 0
    ]


def _some(x: Any, y: Any) -> tuple[FloatArray, FloatArray]:
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


def _along(values: Any, name: str, x: FloatArray) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != x.shape:
        raise InputError(f"{name} has shape {found.shape}; x has {len(x)} points.")
    return found
