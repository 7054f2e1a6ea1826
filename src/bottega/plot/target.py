"""How the target is distributed."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["target_chart"]

_MOST_BARS = 20
_MOST_BINS = 40


def target_chart(y: Any, task: str, *, name: str = "target") -> Any:
    """Draw the distribution of the target: a histogram of numbers, bars of classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        The target.
    task : {"regression", "classification"}
        Numbers or labels.
    name : str
        Its name, for the axis.

    Returns
    -------
    altair.Chart
        Of more than 20 classes the most frequent 20 are shown and the rest is counted together.

    Examples
    --------
    >>> target_chart(["a", "b", "b"], "classification").to_dict()["title"]["text"]
    'How often each class occurs'
    """
    if task not in ("regression", "classification"):
        raise InputError(f"task is 'regression' or 'classification', not {task!r}.")
    values = np.asarray(y)
    return _histogram(values, name) if task == "regression" else _bars(values, name)


def _histogram(values: Any, name: str) -> Any:
    alt = altair()
    values = values.astype(np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        raise InputError(f"{name} has no number to draw.")
    edges = np.histogram_bin_edges(values, bins="auto")
    if edges.size - 1 > _MOST_BINS:
        edges = np.histogram_bin_edges(values, bins=_MOST_BINS)
    counts, edges = np.histogram(values, bins=edges)
    rows = [
        {"low": plain(low), "high": plain(high), "rows": int(count)}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(style="honest", binSpacing=1)
        .encode(
            x=alt.X(
                "low",
                type="quantitative",
                bin="binned",
                title=name,
                scale=alt.Scale(zero=False, nice=True),
                axis=alt.Axis(grid=False, tickCount=8),
            ),
            x2="high",
            y=alt.Y("rows", type="quantitative", title="rows"),
            tooltip=[
                alt.Tooltip("low", type="quantitative", title="from", format=".5~g"),
                alt.Tooltip("high", type="quantitative", title="to", format=".5~g"),
                alt.Tooltip("rows", type="quantitative", title="rows", format=","),
            ],
        )
    )
    middle = float(np.median(values))
    return finish(
        chart,
        title="How the target is distributed",
        subtitle=(
            f"From {number(float(values.min()))} to {number(float(values.max()))}, "
            f"half of the rows below {number(middle)}."
        ),
        description=(
            f"Histogram of {values.size:,} values of {name}: median {number(middle)}, mean "
            f"{number(float(values.mean()))}, standard deviation {number(float(values.std()))}."
        ),
        height=200,
    )


def _bars(values: Any, name: str) -> Any:
    alt = altair()
    labels, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = order[:_MOST_BARS]
    rows = [
        {
            "label": str(labels[i]),
            "rows": int(counts[i]),
            "share": plain(counts[i] / values.size),
        }
        for i in shown
    ]
    if order.size > shown.size:
        rest = int(counts[order[_MOST_BARS:]].sum())
        rows.append(
            {
                "label": f"{order.size - shown.size:,} other classes",
                "rows": rest,
                "share": plain(rest / values.size),
            }
        )
    names = [row["label"] for row in rows]
    base = alt.Chart().encode(
        y=alt.Y(
            "label",
            type="nominal",
            sort=names,
            title=name,
            axis=alt.Axis(domain=False, ticks=False, labelPadding=8),
        ),
        x=alt.X("rows", type="quantitative", title="rows", axis=alt.Axis(tickCount=6)),
        tooltip=[
            alt.Tooltip("label", type="nominal", title=name),
            alt.Tooltip("rows", type="quantitative", title="rows", format=","),
            alt.Tooltip("share", type="quantitative", title="share", format=".1%"),
        ],
    )
    bars = base.mark_bar(style="honest", cornerRadiusEnd=2)
    words = base.mark_text(style="label", align="left", dx=6).encode(
        text=alt.Text("share", type="quantitative", format=".1%")
    )
    return finish(
        alt.layer(bars, words, data=alt.Data(values=rows)),
        title="How often each class occurs",
        description=(
            f"Bar chart of {labels.size:,} classes of {name}: "
            + ", ".join(f"{row['label']} {row['share']:.1%}" for row in rows[:5])
            + ("." if len(rows) <= 5 else ", ...")
        ),
        height=26 * len(rows),
    )
