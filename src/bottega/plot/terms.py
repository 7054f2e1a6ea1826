"""Coefficients with their intervals."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, tips, x_axis, y_names
from bottega.plot.theme import altair, finish, number

__all__ = ["terms_chart"]


def terms_chart(names: Any, estimates: Any, intervals: Any = None, *, most: int = 20) -> Any:
    """Draw the coefficients of a model, the largest in size on top.

    Parameters
    ----------
    names : sequence of str
        The terms.
    estimates : array-like of shape (p,)
        Their coefficients; those that are missing (of aliased terms) are not drawn.
    intervals : array-like of shape (p, 2), optional
        Lower and upper ends; missing ones are not drawn.
    most : int
        Of more terms the largest are drawn, and the subtitle counts the others.

    Returns
    -------
    altair.LayerChart
        A term whose interval crosses zero may have no effect, or one of the other sign.

    Examples
    --------
    >>> chart = terms_chart(["age", "bmi"], [0.1, -2.0], [[-0.1, 0.3], [-3.0, -1.0]])
    >>> [row["term"] for row in chart.to_dict()["data"]["values"]]
    ['bmi', 'age']
    """
    alt = altair()
    labels, values = [str(name) for name in names], np.asarray(estimates, dtype=np.float64)
    if values.shape != (len(labels),) or not labels:
        raise InputError(
            f"One number for each term is needed; there are {len(labels)} terms and the estimates "
            f"have shape {values.shape}."
        )
    ends = np.full((len(labels), 2), np.nan)
    if intervals is not None:
        ends = np.asarray(intervals, dtype=np.float64)
        if ends.shape != (len(labels), 2):
            raise InputError(f"intervals has shape {ends.shape}; it must be ({len(labels)}, 2).")
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        raise InputError("No coefficient is a finite number: there is nothing to draw.")
    order = known[np.argsort(-np.abs(values[known]), kind="stable")][:most]
    shown = [labels[i] for i in order]
    rows = records(term=shown, estimate=values[order], low=ends[order, 0], high=ends[order, 1])
    base = alt.Chart().encode(
        y=y_names("term", shown, labelPadding=8, labelLimit=220, grid=True),
        tooltip=tips(
            ("term:N",),
            ("estimate:Q", "estimate", ".4~g"),
            ("low:Q", "from", ".4~g"),
            ("high:Q", "to", ".4~g"),
        ),
    )
    x = x_axis("estimate", "coefficient", zero=True, nice=True, tickCount=6)
    layers = [alt.Chart().mark_rule(style="reference", aria=False).encode(x=alt.datum(0))]
    has_intervals = bool(np.any(np.isfinite(ends[order])))
    if has_intervals:
        rule = base.transform_filter("isValid(datum.low)").mark_rule(style="honest", strokeWidth=2)
        layers.append(rule.encode(x=x_axis("low", "coefficient"), x2="high"))
    layers.append(base.mark_point(style="honest", filled=True, size=80, opacity=1).encode(x=x))
    left_out = len(known) - len(shown)
    rest = f" {left_out} smaller ones are left out." if left_out else ""
    lines = "; lines are 95 % intervals" if has_intervals else ""
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Coefficients",
        subtitle=f"The largest on top{lines}.{rest}",
        description=(
            f"Dot chart of {len(shown)} coefficients; the largest is {shown[0]} with "
            f"{number(float(values[order[0]]))}.{rest}"
        ),
        width=460,
        height=max(24 * len(shown), 60),
    )
