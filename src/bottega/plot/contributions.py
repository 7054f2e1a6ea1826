"""One prediction taken apart: what each value of a row adds."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, tips, x_axis, y_names
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["contributions_chart"]


def contributions_chart(
    names: Any,
    contributions: Any,
    *,
    average: float,
    std_error: Any = None,
    what: str = "prediction",
    most: int = 12,
) -> Any:
    """Draw contributions as steps from an average to a prediction.

    Parameters
    ----------
    names : sequence of str
        The inputs with their values, such as ``"age = 41"``.
    contributions : array-like of shape (p,)
        What each adds to the prediction.
    average : float
        Where the steps start; they end at the prediction.
    std_error : array-like of shape (p,), optional
        Standard errors of the contributions, for the tooltips.
    what : str
        What is predicted, for the axis.
    most : int
        Of more inputs the largest contributions are drawn one by one, the others as one.

    Returns
    -------
    altair.LayerChart
        The dashed lines are the average and the prediction.

    Examples
    --------
    >>> chart = contributions_chart(["age = 41", "bmi = 30"], [-1.0, 3.0], average=10.0)
    >>> chart.to_dict()["title"]["subtitle"]
    ['From the average of 10 to the prediction of 12.']
    """
    alt = altair()
    labels, values = [str(name) for name in names], np.asarray(contributions, dtype=np.float64)
    if values.shape != (len(labels),) or not labels:
        raise InputError(
            f"One contribution for each name is needed; there are {len(labels)} names and the "
            f"contributions have shape {values.shape}."
        )
    error = None if std_error is None else np.asarray(std_error, dtype=np.float64)
    order = np.argsort(-np.abs(values), kind="stable")
    shown = [labels[i] for i in order[:most]]
    steps = values[order[:most]]
    errors = np.full(len(steps), np.nan) if error is None else error[order[:most]]
    if len(order) > most:
        shown.append(f"{len(order) - most} other inputs")
        steps, errors = np.append(steps, values[order[most:]].sum()), np.append(errors, np.nan)
    ends = average + np.cumsum(steps)
    starts = np.append(average, ends[:-1])
    kinds = ["raises", "lowers"]
    rows = records(
        name=shown,
        contribution=steps,
        error=errors,
        start=starts,
        end=ends,
        kind=[kinds[int(step < 0)] for step in steps],
        words=[f"{'+' if step >= 0 else ''}{number(float(step), 3)}" for step in steps],
        right=np.maximum(starts, ends),
    )
    lines = [("name:N", "input"), ("contribution:Q", "adds", ".4~g")]
    lines += [] if error is None else [("error:Q", "standard error", ".2~g")]
    base = alt.Chart().encode(
        y=y_names("name", shown, labelPadding=8, labelLimit=240), tooltip=tips(*lines)
    )
    x = x_axis("start", what, zero=False, nice=True, padding=24, tickCount=6)
    bars = base.mark_bar(height={"band": 0.62}, opacity=0.8)
    bars = bars.encode(x=x, x2="end", color=colors("kind", kinds))
    text = base.mark_text(style="label", align="left", dx=6).encode(x="right:Q", text="words:N")
    edges = [
        alt.Chart().mark_rule(style="reference", aria=False).encode(x=alt.datum(plain(float(at))))
        for at in (average, float(ends[-1]))
    ]
    words = (
        f"From the average of {number(float(average))} to the prediction of "
        f"{number(float(ends[-1]))}."
    )
    return finish(
        alt.layer(*edges, bars, text, data=alt.Data(values=rows)),
        title="One row explained",
        subtitle=words,
        description=f"Steps of {len(shown)} contributions to the {what}. {words}",
        width=460,
        height=max(28 * len(shown), 60),
    )
