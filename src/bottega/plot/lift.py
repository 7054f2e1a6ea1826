"""How soon the rows of a class are found: the gain curve."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._curve_bands import band_layer, band_rows, words_of_bands
from bottega.plot._parts import colors, dashes, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["lift_chart", "lift_curve_chart"]

_MOST_POINTS = 300
_FIRST = 0.1


def lift_chart(
    rows: Any, found: Any, *, base: float, label: Any = "the class", band: Any = None
) -> Any:
    """Draw the share of a class that is found against the share of rows that are looked at.

    Parameters
    ----------
    rows, found : array-like of shape (m,)
        Shares from 0 to 1, rising: of all rows, taken by falling score, and of the rows of the
        class among them.
    base : float
        Share of the class among all rows.
    label : object
        The class.
    band : CurveBand, optional
        Limits of the curve: an object with `at`, `lower`, `upper`, `level` and `kind`.

    Returns
    -------
    altair.LayerChart
        Between the curve of perfect scores, which find nothing but rows of the class until all are
        found, and the diagonal of chance.

    Examples
    --------
    >>> chart = lift_chart([0, 0.1, 1], [0, 0.4, 1], base=0.2, label="ill")
    >>> chart.to_dict()["title"]["subtitle"]
    ['The first 10 % of the rows hold 40 % of ill: 4.0 times as many as by chance.']
    """
    alt = altair()
    x, y = (np.asarray(each, dtype=np.float64) for each in (rows, found))
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2 or not 0 < base <= 1:
        raise InputError(
            "rows and found must be two rising lists of equal length, and base a share; they have "
            f"shapes {x.shape} and {y.shape}, and base is {base!r}."
        )
    kept = thinned(len(x), _MOST_POINTS)
    names = ["model", "perfect", "chance"]
    data = records(curve="model", rows=x[kept], found=y[kept])
    data += records(curve="perfect", rows=[0.0, base, 1.0], found=[0.0, 1.0, 1.0])
    data += records(curve="chance", rows=[0.0, 1.0], found=[0.0, 1.0])
    early = float(np.interp(_FIRST, x, y))
    share = {"domain": [0, 1], "format": "~%", "tickCount": 5}
    line = alt.Chart().mark_line(strokeWidth=2, interpolate="linear")
    color = colors("curve", names, symbolType="stroke", symbolOpacity=1)
    across = x_axis("rows", "rows looked at, the highest scores first", **share)
    upward = f"share of {label} found"
    layers = []
    if band is not None:
        data += band_rows({"model": band}, "rows")
        line = line.transform_filter("isValid(datum.found)")
        layers.append(band_layer(across, y_axis("low", upward, **share), color))
    line = line.encode(
        x=across,
        y=y_axis("found", upward, **share),
        order="rows:Q",
        color=color,
        strokeDash=dashes("curve", names, [[1, 0], [6, 4], [2, 3]]).legend(color["legend"]),
        tooltip=tips(("curve:N",), ("rows:Q", "rows", ".1%"), ("found:Q", "found", ".1%")),
    )
    words = (
        f"The first {100 * _FIRST:g} % of the rows hold {100 * early:.3g} % of {label}: "
        f"{early / _FIRST:.1f} times as many as by chance."
    )
    return finish(
        alt.layer(*layers, line, data=alt.Data(values=data)),
        title="How soon the class is found (gain)",
        subtitle=[words, *([words_of_bands({"model": band})] if band is not None else [])],
        description=f"Gain curve with those of chance and of perfect scores. {words}",
        width=380,
        height=330,
    )


def lift_curve_chart(
    rows: Any, lift: Any, *, base: float, label: Any = "the class", band: Any = None
) -> Any:
    """Draw how many times more frequent a class is among the rows of the highest scores.

    Parameters
    ----------
    rows : array-like of shape (m,)
        Share of all rows, taken by falling score; positive and rising.
    lift : array-like of shape (m,)
        The lift there.
    base : float
        Share of the class among all rows; one over it is the largest possible lift.
    label : object
        The class.
    band : CurveBand, optional
        Limits of the curve: an object with `at`, `lower`, `upper`, `level` and `kind`.

    Returns
    -------
    altair.LayerChart
        With the dashed line of chance at 1.

    Examples
    --------
    >>> chart = lift_curve_chart([0.1, 1.0], [4.0, 1.0], base=0.2, label="ill")
    >>> chart.to_dict()["title"]["text"]
    'How much more frequent ill is (lift)'
    """
    alt = altair()
    x, y = (np.asarray(each, dtype=np.float64) for each in (rows, lift))
    if x.ndim != 1 or x.shape != y.shape or not len(x) or not 0 < base <= 1:
        raise InputError(
            "rows and lift must be two lists of equal length, and base a share; they have shapes "
            f"{x.shape} and {y.shape}, and base is {base!r}."
        )
    kept = thinned(len(x), _MOST_POINTS)
    data = records(curve="model", rows=x[kept], lift=y[kept])
    across = x_axis(
        "rows", "rows looked at, the highest scores first", domain=[0, 1], format="~%", tickCount=5
    )
    most = 1 / base
    up = {"domain": [0, float(f"{min(most, 1.15 * max(float(y.max()), 1.0)):.4g}")], "nice": False}
    color = colors("curve", ["model"], show=False)
    layers = [alt.Chart().mark_rule(style="reference", aria=False).encode(y=alt.datum(1))]
    line = alt.Chart()
    if band is not None:
        data += band_rows({"model": band}, "rows")
        line = line.transform_filter("isValid(datum.lift)")
        layers.append(band_layer(across, y_axis("low", "lift", **up), color))
    layers.append(
        line.mark_line(strokeWidth=2, interpolate="linear", clip=True).encode(
            x=across,
            y=y_axis("lift", "lift", **up),
            order="rows:Q",
            color=color,
            tooltip=tips(("rows:Q", "rows", ".1%"), ("lift:Q", "lift", ".3~g")),
        )
    )
    words = f"Dashed: chance; the largest possible lift is {most:.3g}."
    return finish(
        alt.layer(*layers, data=alt.Data(values=data)),
        title=f"How much more frequent {label} is (lift)",
        subtitle=[words, *([words_of_bands({"model": band})] if band is not None else [])],
        description=f"Lift curve of {label} with the line of chance. {words}",
        width=380,
        height=330,
    )
