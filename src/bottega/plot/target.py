"""How the target is distributed."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, tips, x_axis, y_axis, y_names
from bottega.plot.theme import altair, finish, number

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
    rows = records(low=edges[:-1], high=edges[1:], rows=counts)
    bars = alt.Chart(alt.Data(values=rows)).mark_bar(style="honest", binSpacing=1)
    across = x_axis("low", name, zero=False, nice=True, grid=False, tickCount=8)
    across.bin = "binned"
    chart = bars.encode(
        x=across,
        x2="high",
        y=y_axis("rows", "rows"),
        tooltip=tips(("low:Q", "from", ".5~g"), ("high:Q", "to", ".5~g"), ("rows:Q", "rows", ",")),
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
    names, sizes = labels[order[:_MOST_BARS]].tolist(), counts[order[:_MOST_BARS]].tolist()
    if order.size > _MOST_BARS:
        names.append(f"{order.size - _MOST_BARS:,} other classes")
        sizes.append(int(counts[order[_MOST_BARS:]].sum()))
    names = list(map(str, names))
    rows = records(label=names, rows=sizes, share=np.array(sizes) / values.size)
    base = alt.Chart().encode(
        y=y_names("label", names, name, labelPadding=8),
        x=x_axis("rows", "rows", tickCount=6),
        tooltip=tips(("label:N", name), ("rows:Q", "rows", ","), ("share:Q", "share", ".1%")),
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
