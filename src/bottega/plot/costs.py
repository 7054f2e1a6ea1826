"""What decisions by a score cost."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._curve_bands import band_layer, band_rows, words_of_bands
from bottega.plot._parts import colors, dashes, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["cost_curve_chart", "threshold_cost_chart"]

_MOST_POINTS = 300


def cost_curve_chart(
    at: Any, cost: Any, trivial: Any, *, band: Any = None, label: Any = "the class"
) -> Any:
    """Draw the least expected cost against how much misses cost, with that of no model.

    Parameters
    ----------
    at : array-like of shape (m,)
        Share of the expected costs that misses of the class would have, from 0 to 1.
    cost, trivial : array-like of shape (m,)
        Least expected cost with the model and without, as shares of the largest possible.
    band : CurveBand, optional
        Limits: an object with `at`, `lower`, `upper`, `level` and `kind`.
    label : object
        The class.

    Returns
    -------
    altair.LayerChart
        The model is worth its use where its curve lies below the other.

    Examples
    --------
    >>> chart = cost_curve_chart([0, 0.5, 1], [0, 0.2, 0], [0, 0.5, 0])
    >>> chart.to_dict()["title"]["text"]
    'Expected cost for every ratio of costs'
    """
    alt = altair()
    x, y, z = (np.asarray(each, dtype=np.float64) for each in (at, cost, trivial))
    if x.ndim != 1 or not x.shape == y.shape == z.shape:
        raise InputError(
            f"at, cost and trivial must be lists of equal length; they have shapes {x.shape}, "
            f"{y.shape} and {z.shape}."
        )
    names = ["model", "no model"]
    rows = records(curve="model", at=x, cost=y) + records(curve="no model", at=x, cost=z)
    share = {"domain": [0, 1], "format": "~g", "tickCount": 5}
    color = colors("curve", names, symbolType="stroke", symbolOpacity=1)
    across = x_axis("at", f"weight of missing {label} among all costs", **share)
    up = {"domain": [0, 0.5], "format": "~g", "tickCount": 5}
    layers = []
    line = alt.Chart()
    if band is not None:
        rows += band_rows({"model": band}, "at")
        line = line.transform_filter("isValid(datum.cost)")
        layers.append(band_layer(across, y_axis("low", "expected cost", **up), color))
    layers.append(
        line.mark_line(strokeWidth=2, interpolate="linear").encode(
            x=across,
            y=y_axis("cost", "expected cost", **up),
            color=color,
            strokeDash=dashes("curve", names, [[1, 0], [6, 4]]).legend(color["legend"]),
            tooltip=tips(("curve:N",), ("at:Q", "weight", ".2~f"), ("cost:Q", "cost", ".3~f")),
        )
    )
    words = "As a share of the largest cost; below the dashed line the model is worth its use."
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Expected cost for every ratio of costs",
        subtitle=[words, *([words_of_bands({"model": band})] if band is not None else [])],
        description=f"Cost curve of {label}. {words}",
        width=380,
        height=330,
    )


def threshold_cost_chart(thresholds: Any, cost: Any, *, best: float, none: float) -> Any:
    """Draw the cost per row against the threshold, the best one marked.

    Parameters
    ----------
    thresholds, cost : array-like of shape (m,)
        Scores from which rows are called positive, and the cost per row there.
    best : float
        The threshold of least cost; infinity if no row should be called positive.
    none : float
        Cost of calling no row positive, drawn as a dashed line.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> chart = threshold_cost_chart([0.9, 0.5, 0.1], [0.4, 0.2, 0.5], best=0.5, none=0.6)
    >>> chart.to_dict()["title"]["subtitle"][0]
    'Least cost 0.2 from the score 0.5 on; dashed: calling no row positive costs 0.6.'
    """
    alt = altair()
    x, y = (np.asarray(each, dtype=np.float64) for each in (thresholds, cost))
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InputError(
            f"thresholds and cost must be two lists of equal length; they have shapes {x.shape} "
            f"and {y.shape}."
        )
    kept = thinned(len(x), _MOST_POINTS)
    rows = records(threshold=x[kept], cost=y[kept])
    least = min(float(y.min()), none)
    base = alt.Chart().encode(
        x=x_axis("threshold", "threshold on the score", zero=False, nice=False),
        y=y_axis("cost", "cost per row", zero=True),
        tooltip=tips(("threshold:Q", "threshold", ".4~g"), ("cost:Q", "cost", ".4~g")),
    )
    layers = [
        alt.Chart().mark_rule(style="reference").encode(y=alt.datum(plain(float(none)))),
        base.mark_line(style="honest", strokeWidth=2, interpolate="step-before"),
    ]
    words = f"No threshold costs less than calling no row positive, {number(none)}."
    if np.isfinite(best):
        point = {"x": alt.datum(plain(float(best))), "y": alt.datum(plain(least))}
        mark = alt.Chart().mark_point(style="picked", filled=True, size=90, opacity=1)
        layers.append(mark.encode(**point))
        words = (
            f"Least cost {number(least)} from the score {number(float(best))} on; dashed: calling "
            f"no row positive costs {number(none)}."
        )
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="What each threshold costs",
        subtitle=words,
        description=f"Cost per row against the threshold on the score. {words}",
        width=420,
        height=300,
    )
