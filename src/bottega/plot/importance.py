"""What each input of a model is worth."""

from textwrap import wrap
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._parts import records, tips, x_axis, y_names
from bottega.plot.theme import altair, finish, number

__all__ = ["importance_chart"]


def importance_chart(
    names: Any,
    values: Any,
    intervals: Any = None,
    *,
    most: int = 25,
    what: str = "importance",
    note: str = "",
    title: str = "Importance of the inputs",
) -> Any:
    """Draw what each input is worth, the most important on top, with its interval.

    Parameters
    ----------
    names : sequence of str
        Of the inputs.
    values : array-like of shape (p,)
        Their importance.
    intervals : array-like of shape (p, 2) or (p,), optional
        Lower and upper end for each; or one number each, drawn to both sides.
    most : int
        Of more inputs the most important are drawn, and the subtitle counts the others.
    what : str
        Name of the measure, for the axis.
    note : str
        A sentence for the subtitle.
    title : str
        The title.

    Returns
    -------
    altair.LayerChart
        An input whose interval reaches zero (or below) cannot be told from one of no use.

    Examples
    --------
    >>> chart = importance_chart(["a", "b"], [0.3, 0.1], [0.05, 0.2])
    >>> [row["name"] for row in chart.to_dict()["data"]["values"]]
    ['a', 'b']
    """
    alt = altair()
    labels, worth = [str(name) for name in names], np.asarray(values, dtype=np.float64)
    if worth.shape != (len(labels),) or not labels:
        raise InputError(
            f"One number for each name is needed; there are {len(labels)} names and the values "
            f"have shape {worth.shape}."
        )
    ends = _ends(worth, intervals)
    order = np.argsort(-np.nan_to_num(worth, nan=-np.inf), kind="stable")[:most]
    columns: dict[str, Any] = {"name": [labels[i] for i in order], "value": worth[order]}
    if ends is not None:
        columns |= {"low": ends[order, 0], "high": ends[order, 1]}
    rows = records(**columns)
    base = alt.Chart().encode(
        y=y_names("name", columns["name"], labelPadding=8, labelLimit=190, labelFontSize=12.5)
    )
    x = x_axis("value", what, zero=True, nice=False, padding=8, tickCount=6)
    lines = [("name:N", "input"), ("value:Q", what, ".4~g")]
    layers = [base.mark_bar(style="honest", height={"band": 0.62}, opacity=0.55).encode(x=x)]
    words = "The most important on top"
    if ends is not None:
        lines += [("low:Q", "from", ".4~g"), ("high:Q", "to", ".4~g")]
        rule = base.mark_rule(style="label", strokeWidth=1.6)
        layers.append(rule.encode(x=x_axis("low", what), x2="high"))
        words += "; lines are intervals"
    layers[0] = layers[0].encode(tooltip=tips(*lines))
    left_out = len(labels) - len(rows)
    rest = f" {left_out} less important inputs are left out." if left_out else ""
    best = rows[0]
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=title,
        subtitle=[f"{words}.{rest}", *wrap(note, 90)],
        description=(
            f"Bars of the {what} of {len(rows)} inputs; the greatest is {best['name']} with "
            f"{number(best['value'])}.{rest}"
        ),
        width=480,
        height=max(24 * len(rows), 60),
    )


def _ends(worth: FloatArray, intervals: Any) -> FloatArray | None:
    if intervals is None:
        return None
    ends = np.asarray(intervals, dtype=np.float64)
    if ends.shape == worth.shape:
        return np.column_stack([worth - ends, worth + ends])
    if ends.shape == (*worth.shape, 2):
        return ends
    raise InputError(
        f"intervals has shape {ends.shape}; it must be ({len(worth)}, 2), lower and upper ends, or "
        f"({len(worth)},), half widths."
    )
