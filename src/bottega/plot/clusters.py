"""Clusters in the plane: rows by cluster, and centres step by step."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray
from bottega.plot._parts import (
    colors,
    facets,
    frame_of,
    plane,
    records,
    thinned,
    tips,
    x_axis,
    y_axis,
)
from bottega.plot.theme import altair, finish, number, panels

__all__ = [
    "cluster_path_chart",
    "cluster_steps_chart",
    "clusters_chart",
    "gap_chart",
    "k_distance_chart",
]

_MOST_POINTS = 1_500
_WORDS = {
    "silhouette": "mean silhouette (largest is best)",
    "gap": "gap (first that the next one does not beat)",
    "stability": "agreement of halves (most clusters at 0.8)",
}


def clusters_chart(
    X: Any, labels: Any, *, centers: Any = None, names: Sequence[str] | None = None
) -> Any:
    """Draw rows in the plane, coloured by cluster, with the centres.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        The two columns to draw.
    labels : array-like of shape (n,)
        The cluster of each row; -1 is noise.
    centers : array-like of shape (K, 2), optional
        Centres, drawn as crosses.
    names : sequence of two str, optional
        Names of the columns.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    alt = altair()
    points, given = _pair(X), np.asarray(labels)
    shown = thinned(len(points), _MOST_POINTS)
    titles = list(names) if names is not None else ["x0", "x1"]
    axes = plane(*frame_of(points, 0.05), titles)
    kinds = [_cluster(label) for label in np.unique(given)]
    rows = records(
        x=points[shown, 0], y=points[shown, 1], cluster=[_cluster(k) for k in given[shown]]
    )
    dots = alt.Chart(alt.Data(values=rows)).mark_circle(size=30, opacity=0.65)
    layers = [
        dots.encode(
            **axes("x", "y"),
            color=colors("cluster", kinds, columns=6),
            tooltip=tips(("cluster:N",), ("x:Q", titles[0], ".4~g"), ("y:Q", titles[1], ".4~g")),
        )
    ]
    if centers is not None:
        layers.append(_crosses(_pair(centers), axes))
    return finish(
        alt.layer(*layers),
        title=f"{len(kinds)} clusters",
        subtitle="Crosses mark the centres." if centers is not None else (),
        description=f"Scatter plot of {len(points)} rows in {len(kinds)} clusters.",
        width=460,
        height=400,
    )


def cluster_steps_chart(
    X: Any,
    steps: Sequence[Any],
    *,
    labels: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    most: int = 6,
) -> Any:
    """Draw the centres of k-means step by step, each row in the colour of its nearest centre.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        The rows.
    steps : sequence of array-like of shape (K, 2)
        Centres before each pass, as `KMeans.steps` returns them.
    labels : sequence of array-like of shape (n,), optional
        The cluster of each row in each step; the nearest centre in the plane by default.
    names : sequence of two str, optional
        Names of the columns.
    most : int
        Panels: the first steps, and some of the later ones.

    Returns
    -------
    altair.FacetChart
        One panel per step, with the way of the centres so far.
    """
    alt = altair()
    points = _pair(X)
    shown = thinned(len(points), 400)
    points = points[shown]
    ways = np.stack([_pair(step) for step in steps])
    # The first steps are the long ones.
    last = len(ways) - 1
    picked = sorted({round(last * (i / max(most - 1, 1)) ** 2) for i in range(most)} | {0})
    titles = list(names) if names is not None else ["x0", "x1"]
    everything = np.vstack([points, *ways])
    axes = plane(*frame_of(everything, 0.05), titles)
    heads = [f"step {step}" for step in picked]
    kinds = [f"cluster {k}" for k in range(ways.shape[1])]
    rows: list[dict[str, Any]] = []
    for step, head in zip(picked, heads, strict=True):
        if labels is None:
            near = np.argmin(((points[:, None] - ways[step][None]) ** 2).sum(axis=2), axis=1)
        else:
            near = np.asarray(labels[step])[shown]
        rows += records(
            x=points[:, 0],
            y=points[:, 1],
            cluster=[kinds[k] for k in near],
            step=head,
            kind="row",
            at=0,
        )
        for k, name in enumerate(kinds):
            way = ways[: step + 1, k]
            rows += records(
                x=way[:, 0],
                y=way[:, 1],
                cluster=name,
                step=head,
                kind="way",
                at=np.arange(len(way)),
            )
            rows += records(
                x=way[-1:, 0], y=way[-1:, 1], cluster=name, step=head, kind="centre", at=0
            )
    base = alt.Chart().encode(**axes("x", "y"), color=colors("cluster", kinds, columns=8))
    layers = alt.layer(
        base.transform_filter("datum.kind == 'row'").mark_circle(size=14, opacity=0.5),
        base.transform_filter("datum.kind == 'way'")
        .mark_line(strokeWidth=1.5)
        .encode(order="at:Q", detail="cluster:N"),
        base.transform_filter("datum.kind == 'centre'").mark_point(
            shape="cross", size=130, filled=True, opacity=1
        ),
        data=alt.Data(values=rows),
    ).properties(width=200, height=180)
    return panels(
        facets(layers, "step", heads, 3),
        title=f"K-means in {last} steps",
        subtitle="Rows in the colour of the nearest centre; lines show the way of the centres.",
        description=f"{len(heads)} scatter plots of {len(points)} rows and {len(kinds)} centres.",
    )


def cluster_path_chart(path: Any) -> Any:
    """Draw what judges each number of clusters, one panel per criterion.

    Parameters
    ----------
    path : Path
        A path over the number of clusters, of `KMeans` or `Hierarchical`.

    Returns
    -------
    altair.FacetChart
        The training loss, and what the criteria are made from; a ring marks what each picks.
    """
    alt = altair()
    counts = path.values
    columns = {"loss of the rows": path.train_error}
    columns |= {_WORDS.get(name, name): column for name, column in path.judged.items()}
    picks = {_WORDS.get(name, name): path.best(name) for name in path.criteria}
    rows = [
        {
            "n": int(counts[i]),
            "value": float(column[i]),
            "criterion": name,
            "picked": picks.get(name) == i,
        }
        for name, column in columns.items()
        for i in range(len(counts))
        if np.isfinite(column[i])
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=x_axis("n", path.knob.replace("_", " "), tickMinStep=1, format="d", zero=False),
        y=y_axis("value", None, zero=False),
        tooltip=tips(("n:Q", "clusters"), ("value:Q", "value", ".4~g")),
    )
    layers = alt.layer(
        base.mark_line(strokeWidth=2, style="honest"),
        base.mark_point(size=26, filled=True, opacity=1, style="honest"),
        base.transform_filter("datum.picked").mark_point(
            size=170, strokeWidth=2.5, opacity=1, style="picked"
        ),
    ).properties(width=290, height=150)
    chosen = "; ".join(f"{name}: {counts[i]}" for name, i in picks.items())
    return panels(
        facets(layers, "criterion", list(columns), 2).resolve_scale(y="independent"),
        title="How many clusters",
        subtitle="Rings mark what each criterion picks; the loss falls with every cluster.",
        description=f"Line charts over the number of clusters. Picked by {chosen}.",
    )


def gap_chart(gap: Any) -> Any:
    """Draw the gap statistic with its standard errors.

    Parameters
    ----------
    gap : GapStatistic
        Anything with `n_clusters`, `gap`, `gap_se` and `best`.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    alt = altair()
    rows = records(
        n=gap.n_clusters, gap=gap.gap, low=gap.gap - gap.gap_se, high=gap.gap + gap.gap_se
    )
    picked = gap.best()
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=x_axis("n", "clusters", tickMinStep=1, format="d", zero=False, padding=12),
        tooltip=tips(("n:Q", "clusters"), ("gap:Q", "gap", ".4~g")),
    )
    heights = y_axis("gap", "gap", zero=False)
    return finish(
        alt.layer(
            base.mark_rule(style="honest").encode(y=y_axis("low", "gap", zero=False), y2="high:Q"),
            base.mark_line(strokeWidth=2, style="honest").encode(y=heights),
            base.mark_point(size=26, filled=True, opacity=1, style="honest").encode(y=heights),
            base.transform_filter(f"datum.n == {picked}")
            .mark_point(size=170, strokeWidth=2.5, opacity=1, style="picked")
            .encode(y=heights),
        ),
        title=f"Gap statistic: {picked} clusters",
        subtitle="The fewest clusters whose gap is within one standard error of the next.",
        description=f"Line chart of the gap of 1 to {len(rows)} clusters; {picked} are picked.",
    )


def k_distance_chart(distances: Any, *, eps: float | None = None, min_samples: int = 5) -> Any:
    """Draw the distances of rows to their neighbour number `min_samples`, sorted.

    Parameters
    ----------
    distances : array-like of shape (n,)
        Sorted distances.
    eps : float, optional
        The radius in use.
    min_samples : int
        Number of the neighbour, for the title.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    alt = altair()
    curve = np.sort(np.asarray(distances, dtype=np.float64))
    shown = thinned(len(curve), 1_000)
    rows = records(share=(shown + 1) / len(curve), distance=curve[shown])
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=x_axis("share", "share of the rows", domain=[0, 1], format="%", grid=False),
        y=y_axis("distance", f"distance to neighbour {min_samples}"),
    )
    layers = [base.mark_line(strokeWidth=2, style="honest")]
    if eps is not None and np.isfinite(eps):
        line = alt.Chart(alt.Data(values=[{"eps": float(eps)}])).mark_rule(style="reference")
        layers.append(line.encode(y="eps:Q"))
    used = "" if eps is None or not np.isfinite(eps) else f"; eps = {number(float(eps), 3)}"
    return finish(
        alt.layer(*layers),
        title=f"k-distance curve{used}",
        subtitle="Rows to the left of where it bends up are dense; those above the line are noise.",
        description=f"Curve of the sorted distances of {len(curve)} rows{used}.",
    )


def _crosses(centers: FloatArray, axes: Any) -> Any:
    data = altair().Data(values=records(x=centers[:, 0], y=centers[:, 1]))
    cross = {"shape": "cross", "size": 220, "filled": True, "opacity": 1, "style": "label"}
    return altair().Chart(data).mark_point(**cross).encode(**axes("x", "y"))


def _cluster(label: Any) -> str:
    return "noise" if str(label) == "-1" else f"cluster {label}"


def _pair(X: Any) -> Array:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"A plane has two columns; got an array of shape {points.shape}.")
    return points
