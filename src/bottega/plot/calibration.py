"""Whether predictions mean what they say: observed against predicted means."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, segment, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["calibration_chart"]


def calibration_chart(
    predicted: Any,
    observed: Any,
    intervals: Any = None,
    *,
    n: Any = None,
    what: str = "probability",
    share: bool = True,
) -> Any:
    """Draw observed against predicted means of bins of rows, with the line where both agree.

    Parameters
    ----------
    predicted, observed : array-like of shape (b,)
        Means of each bin.
    intervals : array-like of shape (b, 2), optional
        Lower and upper ends for the observed means.
    n : array-like of shape (b,), optional
        Rows of each bin, for the tooltips.
    what : str
        What is predicted, for the axes.
    share : bool
        Whether these are shares, written in percent.

    Returns
    -------
    altair.LayerChart
        A bin whose interval does not reach the dashed line is predicted too high or too low.

    Examples
    --------
    >>> chart = calibration_chart([0.1, 0.6], [0.2, 0.5], [[0.1, 0.3], [0.4, 0.6]])
    >>> chart.to_dict()["title"]["text"]
    'Observed against predicted'
    """
    alt = altair()
    x, y = (np.asarray(each, dtype=np.float64) for each in (predicted, observed))
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InputError(
            f"predicted and observed must be two lists of equal length; they have shapes {x.shape} "
            f"and {y.shape}."
        )
    ends = None if intervals is None else np.asarray(intervals, dtype=np.float64)
    if ends is not None and ends.shape != (len(x), 2):
        raise InputError(f"intervals has shape {ends.shape}; it must be ({len(x)}, 2).")
    columns: dict[str, Any] = {"predicted": x, "observed": y}
    if ends is not None:
        columns |= {"low": ends[:, 0], "high": ends[:, 1]}
    if n is not None:
        columns["n"] = np.asarray(n, dtype=np.int64)
    drawn = np.concatenate([x, y, *([] if ends is None else [ends.ravel()])])
    low, high = float(drawn[np.isfinite(drawn)].min()), float(drawn[np.isfinite(drawn)].max())
    if share:
        low, high = min(low, 0.0), max(high, 0.1)
    written = {"format": "~%"} if share else {}
    axis = {"domain": [plain(low), plain(high)], "nice": not share, "zero": False, "tickCount": 6}
    form = ".1%" if share else ".5~g"
    lines = [("predicted:Q", "predicted", form), ("observed:Q", "observed", form)]
    lines += [] if ends is None else [("low:Q", "from", form), ("high:Q", "to", form)]
    lines += [] if n is None else [("n:Q", "rows", ",")]
    base = alt.Chart().encode(
        x=x_axis("predicted", f"mean {what}", **axis, **written), tooltip=tips(*lines)
    )
    layers = [segment(plain(low), plain(high), style="reference", clip=True, aria=False)]
    title = "observed share" if share else "observed mean"
    if ends is not None:
        rule = base.mark_rule(style="honest", strokeWidth=1.6, clip=True)
        layers.append(rule.encode(y=y_axis("low", title, **axis, **written), y2="high"))
    point = base.mark_point(style="honest", filled=True, size=70, opacity=1)
    layers.append(point.encode(y=y_axis("observed", title, **axis, **written)))
    bars = "" if ends is None else "; bars are 95 % intervals"
    rows = records(**columns)
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Observed against predicted",
        subtitle=f"Bins of about as many rows each{bars}. On the dashed line both agree.",
        description=(
            f"Observed against predicted means of {len(x)} bins of rows with the diagonal; the "
            f"predictions run from {number(float(x.min()))} to {number(float(x.max()))}."
        ),
        width=380,
        height=330,
    )
