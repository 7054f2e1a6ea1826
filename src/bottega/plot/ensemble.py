"""Many models as one: error against their number, and what the inputs are worth."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray
from bottega.plot.theme import altair, decades, finish, number, plain

__all__ = ["error_against_trees_chart", "importance_chart", "seen"]

_MOST = 400  # more points than pixels show nothing more


def error_against_trees_chart(
    n_trees: Any,
    *,
    train: Any = None,
    oob: Any = None,
    test: Any = None,
    bayes: float | None = None,
    loss: str = "error",
    unit: str = "trees",
) -> Any:
    """Draw the error of an ensemble against the number of its members.

    Parameters
    ----------
    n_trees : array-like of shape (B,)
        Numbers of members, rising.
    train, oob, test : array-like of shape (B,), optional
        Error on the training rows, out of bag, on test rows; at least one of them. Where a value is
        not a number (no row is out of bag yet) the curve has a gap.
    bayes : float, optional
        The least error that is possible, where it is known; a dashed line.
    loss : str
        What the errors average.
    unit : str
        What the members are called: ``"trees"``, ``"rounds"``.

    Returns
    -------
    altair.LayerChart
        The members are on a logarithmic axis when there are more than fifty.

    Examples
    --------
    >>> chart = error_against_trees_chart([1, 2, 4], train=[0.2, 0.1, 0.0], oob=[0.4, 0.3, 0.2])
    >>> chart.to_dict()["title"]["text"]
    'Error against trees'
    """
    alt = altair()
    count = np.asarray(n_trees, dtype=np.float64)
    given = {"test rows": test, "out of bag": oob, "training rows": train}
    curves = {
        name: np.asarray(values, dtype=np.float64)
        for name, values in given.items()
        if values is not None
    }
    if count.ndim != 1 or not count.size or np.any(np.diff(count) <= 0) or count[0] <= 0:
        raise InputError(f"n_trees must be positive and rising; it is {n_trees!r}.")
    if not curves:
        raise InputError("There is nothing to draw: give train, oob or test.")
    for name, values in curves.items():
        if values.shape != count.shape:
            raise InputError(
                f"The error on {name} has shape {values.shape}; it needs {count.shape}, one value "
                f"for each number of {unit}."
            )
    shown = seen(count)
    rows = [
        {"x": plain(count[i]), "error": plain(values[i]), "series": name}
        for name, values in curves.items()
        for i in shown
    ]
    if not any(row["error"] is not None for row in rows):
        raise InputError("No error is a finite number; there is nothing to draw.")
    names = list(curves)
    log = count[-1] > 50
    ticks = {"values": decades(count[0], count[-1]), "format": "~g"} if log else {"tickCount": 8}
    x = alt.X(
        "x",
        type="quantitative",
        title=unit if not log else f"{unit} (logarithmic)",
        scale=alt.Scale(type="log" if log else "linear", nice=False, zero=False),
        axis=alt.Axis(grid=False, **ticks),
    )
    y = alt.Y("error", type="quantitative", title=f"mean {loss}", scale=alt.Scale(zero=True))
    base = alt.Chart().transform_filter("isValid(datum.series)")
    lines = base.encode(
        x=x,
        y=y,
        color=alt.Color(
            "series",
            type="nominal",
            scale=alt.Scale(domain=names, range="category"),
            legend=alt.Legend(title=None),
        ),
        tooltip=[
            alt.Tooltip("series", type="nominal", title="error on"),
            alt.Tooltip("x", type="quantitative", title=unit),
            alt.Tooltip("error", type="quantitative", title=loss, format=".4~g"),
        ],
    )
    layers = [lines.mark_line(strokeWidth=2)]
    if len(shown) <= 40:
        layers.append(lines.mark_point(size=24, filled=True, opacity=1))
    if bayes is not None:
        layers.append(alt.Chart().mark_rule(style="reference").encode(y=alt.datum(plain(bayes))))
    ends = {name: values[np.isfinite(values)] for name, values in curves.items()}
    last = [f"{name} {number(values[-1])}" for name, values in ends.items() if values.size]
    notes = [f"At {number(int(count[-1]))} {unit}: {', '.join(last)}."]
    if bayes is not None:
        notes.append(f"Dashed: the least error possible, {number(float(bayes))}.")
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"Error against {unit}",
        subtitle=notes,
        description=f"Line chart of the mean {loss} against {unit}. {' '.join(notes)}",
    )


def importance_chart(
    names: Any, values: Any, intervals: Any = None, *, most: int = 25, what: str = "importance"
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
        Of more inputs the most important are drawn, and how many are left out is said.
    what : str
        Name of the measure, for the axis.

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
    rows = []
    for i in order:
        row = {"name": labels[i], "value": plain(worth[i])}
        if ends is not None:
            row |= {"low": plain(ends[i, 0]), "high": plain(ends[i, 1])}
        rows.append(row)
    y = alt.Y(
        "name",
        type="nominal",
        sort=[row["name"] for row in rows],
        title=None,
        axis=alt.Axis(
            domain=False, ticks=False, labelPadding=8, labelLimit=190, labelFontSize=12.5
        ),
    )
    base = alt.Chart().encode(y=y)
    x = alt.X(
        "value",
        type="quantitative",
        title=what,
        scale=alt.Scale(zero=True, nice=False, padding=8),
        axis=alt.Axis(tickCount=6),
    )
    tooltip = [
        alt.Tooltip("name", type="nominal", title="input"),
        alt.Tooltip("value", type="quantitative", title=what, format=".4~g"),
    ]
    layers = [base.mark_bar(style="honest", height={"band": 0.62}, opacity=0.55).encode(x=x)]
    note = "The most important on top"
    if ends is not None:
        tooltip += [
            alt.Tooltip("low", type="quantitative", title="from", format=".4~g"),
            alt.Tooltip("high", type="quantitative", title="to", format=".4~g"),
        ]
        layers.append(
            base.mark_rule(style="label", strokeWidth=1.6).encode(
                x=alt.X("low", type="quantitative", title=what), x2="high"
            )
        )
        note += "; lines are intervals"
    layers[0] = layers[0].encode(tooltip=tooltip)
    left_out = len(labels) - len(rows)
    rest = f" {left_out} less important inputs are left out." if left_out else ""
    best = rows[0]
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Importance of the inputs",
        subtitle=f"{note}.{rest}",
        description=(
            f"Bars of the {what} of {len(rows)} inputs; the greatest is {best['name']} with "
            f"{number(best['value'])}.{rest}"
        ),
        width=480,
        height=max(24 * len(rows), 60),
    )


def seen(values: Array) -> Array:
    """Return the positions to draw: all, or as many as pixels can show, the ends among them."""
    n = len(values)
    return (
        np.arange(n) if n <= _MOST else np.unique(np.linspace(0, n - 1, _MOST).round()).astype(int)
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
