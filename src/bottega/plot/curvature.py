"""Where a smooth curve bends, or rises, for sure."""

from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.plot._parts import colors, only, records, some_points, values_along, x_axis, y_axis
from bottega.plot.theme import WIDTH, altair, number, panels, plain

__all__ = ["curvature_chart"]

_SIGNS = {1: {1: "rises", 2: "convex: bends up"}, -1: {1: "falls", 2: "concave: bends down"}}


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
    mean = values_along(mean, "mean", x)
    order = found.derivative
    words = {sign: _SIGNS[sign][order] for sign in (1, -1)}
    regions = _regions(x, np.asarray(found.sign))
    limits = {"low": found.lower, "high": found.upper}
    rows = records(kind="fit", x=x, y=mean, slope=found.estimate, **limits)
    for k, (first, last, sign) in enumerate(regions):
        inside = (x >= first) & (x <= last)
        rows += records(kind="sure", x=x[inside], y=mean[inside], sign=words[sign], part=k)
    if points is not None:
        rows += records(kind="data", **dict(zip("xy", some_points(points), strict=True)))
    span = {"domain": [plain(x.min()), plain(x.max())], "nice": False, "grid": False}
    curve = alt.Chart().encode(
        x=x_axis("x", None, labels=False, **span), y=y_axis("y", names[1], zero=False)
    )
    layers = []
    if points is not None:
        layers.append(only(curve, "data").mark_circle(style="faint", size=18, clip=True))
    solid = {"strokeWidth": 2, "strokeDash": [1, 0]}
    layers.append(only(curve, "fit").mark_line(style="reference", **solid))
    color = colors("sign", list(words.values()), symbolType="stroke")
    sure = only(curve, "sure").mark_line(strokeWidth=4)
    layers.append(sure.encode(color=color, detail="part:N"))
    what = "second derivative" if order == 2 else "slope"
    below = only(alt.Chart(), "fit").encode(
        x=x_axis("x", names[0], labels=True, **span), y=y_axis("slope", what)
    )
    area = below.mark_area(style="honest", opacity=0.2).encode(y="low:Q", y2="high")
    zero = alt.Chart().mark_rule(style="reference").encode(y=alt.datum(0))
    lower = alt.layer(area, zero, below.mark_line(style="honest", strokeWidth=2))
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
