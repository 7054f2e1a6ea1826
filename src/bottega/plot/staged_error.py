"""The error of an ensemble against the number of its members."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, decades, finish, number, plain

__all__ = ["error_against_trees_chart"]

_MOST = 400  # more points than pixels show nothing more


def error_against_trees_chart(
    n_estimators: Any,
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
    n_estimators : array-like of shape (B,)
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
    count = np.asarray(n_estimators, dtype=np.float64)
    given = {"test rows": test, "out of bag": oob, "training rows": train}
    curves = {
        name: np.asarray(values, dtype=np.float64)
        for name, values in given.items()
        if values is not None
    }
    if count.ndim != 1 or not count.size or np.any(np.diff(count) <= 0) or count[0] <= 0:
        raise InputError(f"n_estimators must be positive and rising; it is {n_estimators!r}.")
    if not curves:
        raise InputError("There is nothing to draw: give train, oob or test.")
    for name, values in curves.items():
        if values.shape != count.shape:
            raise InputError(
                f"The error on {name} has shape {values.shape}; it needs {count.shape}, one value "
                f"for each number of {unit}."
            )
    shown = thinned(len(count), _MOST)
    rows = []
    for name, values in curves.items():
        rows += records(x=count[shown], error=values[shown], series=name)
    if not any(row["error"] is not None for row in rows):
        raise InputError("No error is a finite number; there is nothing to draw.")
    names = list(curves)
    log = count[-1] > 50
    ticks = {"values": decades(count[0], count[-1]), "format": "~g"} if log else {"tickCount": 8}
    words = f"{unit} (logarithmic)" if log else unit
    kind = "log" if log else "linear"
    base = alt.Chart().transform_filter("isValid(datum.series)")
    lines = base.encode(
        x=x_axis("x", words, type=kind, nice=False, zero=False, grid=False, **ticks),
        y=y_axis("error", f"mean {loss}", zero=True),
        color=colors("series", names),
        tooltip=tips(("series:N", "error on"), ("x:Q", unit), ("error:Q", loss, ".4~g")),
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
