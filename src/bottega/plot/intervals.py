"""Estimates of things that have names, with their intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, tips, x_axis, y_names
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["intervals_chart", "parts_chart"]


def intervals_chart(
    names: Sequence[str],
    estimates: Any,
    intervals: Any,
    *,
    x_title: str,
    title: str,
    subtitle: str | Sequence[str] = (),
    reference: float | None = None,
) -> Any:
    """Draw one row per name: an estimate and its interval.

    Parameters
    ----------
    names : sequence of str
        The rows, from the top.
    estimates : array-like of shape (m,)
        Their estimates.
    intervals : array-like of shape (m, 2)
        Lower and upper ends; missing ones are not drawn.
    x_title, title : str
        Titles.
    subtitle : str or sequence of str
        What to see in it.
    reference : float, optional
        A value to compare with, drawn as a dashed line.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> chart = intervals_chart(["a"], [1.0], [[0.5, 1.5]], x_title="x", title="One interval")
    >>> chart.to_dict()["data"]["values"]
    [{'name': 'a', 'estimate': 1.0, 'low': 0.5, 'high': 1.5}]
    """
    alt = altair()
    values, ends = np.asarray(estimates, dtype=np.float64), np.asarray(intervals, dtype=np.float64)
    if values.shape != (len(names),) or ends.shape != (len(names), 2):
        raise InputError(
            f"There are {len(names)} names, estimates of shape {values.shape} and intervals of "
            f"shape {ends.shape}; give one estimate and two ends for each name."
        )
    rows = records(name=list(names), estimate=values, low=ends[:, 0], high=ends[:, 1])
    base = alt.Chart().encode(
        y=y_names("name", list(names), labelPadding=8, labelLimit=220, grid=True),
        tooltip=tips(
            ("name:N",),
            ("estimate:Q", x_title, ".4~g"),
            ("low:Q", "from", ".4~g"),
            ("high:Q", "to", ".4~g"),
        ),
    )
    across = {"zero": False, "padding": 12, "grid": False}
    layers = []
    if reference is not None:
        rule = alt.Chart().mark_rule(style="reference", aria=False)
        layers.append(rule.encode(x=alt.datum(plain(float(reference)))))
    bar = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    layers += [
        bar.mark_rule(style="honest", strokeWidth=1.6).encode(
            x=x_axis("low", x_title, **across), x2="high"
        ),
        base.mark_point(style="honest", filled=True, size=80, opacity=1).encode(
            x=x_axis("estimate", x_title, **across)
        ),
    ]
    spoken = ", ".join(f"{n} {number(v)}" for n, v in zip(names, values.tolist(), strict=True))
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=title,
        subtitle=subtitle,
        description=f"{title}: {x_title} of {spoken}.",
        height=max(90, 34 * len(names)),
    )


def parts_chart(parts: Any, *, total: str = "total") -> Any:
    """Draw numbers that add up, as steps from zero to their sum.

    Parameters
    ----------
    parts : mapping of str to float
        The parts in their order; a negative one steps down.
    total : str
        Name of the sum.

    Returns
    -------
    altair.LayerChart
        One bar per part, from where the one above it ends, and a bar of the sum.

    Examples
    --------
    >>> chart = parts_chart({"up": 3.0, "down": -1.0}, total="left")
    >>> [(row["start"], row["end"]) for row in chart.to_dict()["data"]["values"]]
    [(0.0, 3.0), (3.0, 2.0), (0.0, 2.0)]
    """
    alt = altair()
    sizes = np.array([float(value) for value in parts.values()])
    ends = np.cumsum(sizes)
    names = [*map(str, parts), total]
    kinds = ["raises" if size >= 0 else "lowers" for size in sizes] + ["sum"]
    rows = records(
        name=names,
        start=np.concatenate([[0.0], ends[:-1], [0.0]]),
        end=np.append(ends, ends[-1]),
        size=np.append(sizes, ends[-1]),
        kind=kinds,
    )
    base = alt.Chart().encode(
        y=y_names("name", names, labelPadding=8, labelLimit=220),
        tooltip=tips(("name:N",), ("size:Q", "size", ".4~g")),
    )
    scale = alt.Scale(domain=["sum", "raises", "lowers"], range="category")
    color = alt.Color("kind", type="nominal", scale=scale, legend=None)
    bar = base.mark_bar(height={"band": 0.55}).encode(
        x=x_axis("start", None, zero=True, grid=True), x2="end", color=color
    )
    text = base.mark_text(style="label", align="left", dx=6).encode(
        x=alt.X("right:Q"), text=alt.Text("size", type="quantitative", format=".3~g")
    )
    text = text.transform_calculate(right="max(datum.start, datum.end)")
    spoken = ", ".join(f"{n} {number(v)}" for n, v in zip(parts, sizes.tolist(), strict=True))
    return finish(
        alt.layer(bar, text, data=alt.Data(values=rows)),
        title=f"What the {total} is made of",
        subtitle="Each bar starts where the one above it ends; the last is their sum.",
        description=f"Parts of the {total}: {spoken}; together {number(float(ends[-1]))}.",
        height=34 * len(names),
    )
