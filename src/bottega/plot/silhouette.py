"""Silhouettes of rows, sorted within their clusters."""

from typing import Any

import numpy as np

from bottega.plot._parts import colors, records, thinned, tips, x_axis
from bottega.plot.theme import altair, finish, number

__all__ = ["silhouette_chart"]

_MOST = 800  # rows that can be told apart


def silhouette_chart(silhouettes: Any) -> Any:
    """Draw one bar per row, the clusters below one another, and the mean.

    Parameters
    ----------
    silhouettes : Silhouettes
        Anything with `values`, `labels`, `mean` and `by_cluster`.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    alt = altair()
    values, labels = np.asarray(silhouettes.values), np.asarray(silhouettes.labels)
    means = silhouettes.by_cluster()
    names = [f"cluster {label}: {number(mean, 2)}" for label, mean in means.items()]
    order = np.lexsort((-values, labels))
    order = order[thinned(len(order), _MOST)]
    gap = max(2, len(order) // 60)  # rows left free between clusters
    kinds = {label: i for i, label in enumerate(means)}
    code = np.array([kinds[label.item()] for label in labels[order]])
    rows = records(
        place=np.arange(len(order)) + gap * code,
        end=np.arange(len(order)) + gap * code + 1,
        silhouette=values[order],
        cluster=np.array(names, dtype=object)[code],
        zero=0.0,
    )
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("place", type="quantitative", title=None, axis=None, scale=alt.Scale(reverse=True)),
        y2="end:Q",
        x=x_axis("zero", "silhouette", domain=[min(0.0, float(values.min())), 1.0]),
        x2="silhouette:Q",
        color=colors("cluster", names, columns=4),
        tooltip=tips(("cluster:N",), ("silhouette:Q", "silhouette", ".3~g")),
    )
    mean = float(silhouettes.mean)
    rule = alt.Chart(alt.Data(values=[{"mean": mean}])).mark_rule(style="reference")
    below = int(np.sum(values < 0))
    return finish(
        alt.layer(base.mark_rect(strokeWidth=0), rule.encode(x="mean:Q")),
        title=f"Silhouettes: mean {number(mean, 3)}",
        subtitle=f"1: far from other clusters; 0: between two; {below:,} rows are nearer to "
        "another cluster than to their own.",
        description=f"Bars of the silhouettes of {len(order)} rows in {len(names)} clusters: "
        + "; ".join(names),
        height=max(220, min(560, 60 * len(names))),
    )
