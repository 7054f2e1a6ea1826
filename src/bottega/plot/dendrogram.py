"""The tree of a hierarchical clustering."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.plot._parts import colors, tips, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["dendrogram_chart"]


def dendrogram_chart(
    merges: Any,
    *,
    cut: float | None = None,
    labels: Any = None,
    most: int = 40,
    names: Sequence[str] | None = None,
) -> Any:
    """Draw the joins of a hierarchical clustering as a tree.

    Parameters
    ----------
    merges : array-like of shape (n - 1, 4)
        The joins, as SciPy's linkage matrix.
    cut : float, optional
        Height of the cut, drawn as a line.
    labels : array-like of shape (n,), optional
        Clusters of the rows, which give the colours.
    most : int
        Leaves to draw: of a larger tree the last joins, with the number of rows at each leaf.
    names : sequence of str, optional
        Names of the rows; their numbers by default.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    alt = altair()
    joins = np.asarray(merges, dtype=np.float64)
    n = len(joins) + 1
    clusters = None if labels is None else np.asarray(labels)
    leaves, lines = _lines(joins, min(most, n), clusters)
    spelled = [_leaf(leaf, joins, n, names) for leaf in leaves]
    kinds = sorted({line["cluster"] for line in lines} - {"joined"}, key=lambda k: (len(k), k))
    words = "datum.value % 1 == 0 ? " + str([str(each) for each in spelled]) + "[datum.value] : ''"
    axis = alt.Axis(
        values=list(range(len(leaves))),
        labelExpr=words,
        grid=False,
        ticks=False,
        domain=False,
        labelAngle=-90 if max(map(len, spelled)) > 2 else 0,
        labelLimit=120,
        labelOverlap=False,
    )
    across = alt.Scale(domain=[-0.5, len(leaves) - 0.5], nice=False)
    base = alt.Chart(alt.Data(values=lines)).encode(
        x=alt.X("x", type="quantitative", title=None, axis=axis, scale=across),
        y=y_axis("y", "height of the join", zero=True),
        detail="join:N",
        order="step:Q",
        tooltip=tips(("height:Q", "height", ".4~g"), ("rows:Q", "rows"), ("cluster:N", "cluster")),
    )
    above = base.transform_filter("datum.cluster == 'joined'")
    layers = [above.mark_line(style="faint", strokeWidth=1.6)]
    if kinds:
        within = base.transform_filter("datum.cluster != 'joined'")
        by_cluster = colors("cluster", kinds, columns=8, symbolType="stroke")
        layers.append(within.mark_line(strokeWidth=1.6).encode(color=by_cluster))
    if cut is not None:
        data = alt.Data(values=[{"cut": plain(float(cut))}])
        layers.append(alt.Chart(data).mark_rule(style="reference").encode(y="cut:Q"))
    shown = f"the last {len(leaves) - 1} of {n - 1:,} joins" if len(leaves) < n else "all joins"
    found = f"; cut into {len(np.unique(clusters))} clusters" if clusters is not None else ""
    return finish(
        alt.layer(*layers),
        title=f"Tree of {n:,} rows",
        subtitle=f"Shows {shown}{found}."
        + (" A leaf (12) stands for 12 rows." if len(leaves) < n else ""),
        description=(
            f"Dendrogram of {n} rows, {shown}; heights up to {number(float(joins[-1, 2]))}{found}."
        ),
        height=340,
    )


def _lines(joins: FloatArray, most: int, clusters: Any) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the leaves from left to right, and four corners for each join."""
    n = len(joins) + 1
    first = n - most  # the joins before it are within leaves
    top = 2 * n - 2
    leaves: list[int] = []
    stack = [top]
    while stack:
        node = stack.pop()
        if node >= n + first:
            left, right = joins[node - n, :2].astype(int)
            stack += [int(right), int(left)]
        else:
            leaves.append(node)
    place: dict[int, float] = {leaf: float(i) for i, leaf in enumerate(leaves)}
    cluster = _cluster_of(joins, clusters)
    lines = []
    for i in range(first, n - 1):
        left, right = joins[i, :2].astype(int)
        height = float(joins[i, 2])
        place[n + i] = (place[left] + place[right]) / 2
        corners = [
            (place[left], _height(joins, left, n, first)),
            (place[left], height),
            (place[right], height),
            (place[right], _height(joins, right, n, first)),
        ]
        lines += [
            {
                "join": i,
                "step": step,
                "x": plain(x),
                "y": plain(y),
                "height": plain(height),
                "rows": int(joins[i, 3]),
                "cluster": cluster[n + i],
            }
            for step, (x, y) in enumerate(corners)
        ]
    return leaves, lines


def _height(joins: FloatArray, node: int, n: int, first: int) -> float:
    return float(joins[node - n, 2]) if node >= n + first else 0.0


def _cluster_of(joins: FloatArray, clusters: Any) -> list[str]:
    """Return the cluster of each node; "joined" where it holds rows of several."""
    n = len(joins) + 1
    found = ["joined"] * n if clusters is None else [f"cluster {each}" for each in clusters]
    for left, right in joins[:, :2].astype(int):
        found.append(found[left] if found[left] == found[right] else "joined")
    return found


def _leaf(node: int, joins: FloatArray, n: int, names: Sequence[str] | None) -> str:
    if node >= n:
        return f"({int(joins[node - n, 3])})"
    return str(node) if names is None else str(names[node])
