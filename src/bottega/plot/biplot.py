"""Rows in two components, with an arrow per column."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, thinned, tips, words_apart, x_axis, y_axis
from bottega.plot.theme import altair, finish, plain

__all__ = ["biplot_chart"]

_MOST = 1_500  # rows drawn
_ARROWS = 30  # the longest are drawn
_REACH = 0.85  # of the way from the centre to the edge, by the longest arrow
_SIZE = 460


def biplot_chart(
    scores: Any,
    arrows: Any,
    names: Sequence[str],
    *,
    titles: Sequence[str] = ("PC1", "PC2"),
    labels: Any = None,
) -> Any:
    """Draw rows in two components, and the columns as arrows from the centre.

    Parameters
    ----------
    scores : array-like of shape (n, 2)
        Components of the rows.
    arrows : array-like of shape (p, 2)
        What each column has to do with the two components; the longest 30 are drawn.
    names : sequence of str
        Names of the columns.
    titles : sequence of str
        Titles of the axes.
    labels : array-like of shape (n,), optional
        Groups that give the rows their colours.

    Returns
    -------
    altair.LayerChart
        Both axes have one scale. Rows that lie in the direction of an arrow have large values of
        its column; columns with a small angle between their arrows are correlated. All arrows are
        stretched by one factor.

    Examples
    --------
    >>> chart = biplot_chart([[1.0, 0.0], [-1.0, 0.5]], [[0.8, 0.1], [0.2, -0.4]], ["a", "b"])
    >>> chart.to_dict()["title"]["text"]
    'Biplot'
    """
    alt = altair()
    Z, V = (np.asarray(each, dtype=np.float64) for each in (scores, arrows))
    if Z.ndim != 2 or Z.shape[1] != 2 or V.shape != (len(names), 2):
        raise InputError(
            f"scores has shape {Z.shape} and arrows {V.shape}; give two components per row, and an "
            f"arrow for each of the {len(names)} names."
        )
    groups = None if labels is None else np.asarray(labels)
    if groups is not None and groups.shape != (len(Z),):
        raise InputError(f"labels has shape {groups.shape}; there are {len(Z)} rows.")
    kept = thinned(len(Z), _MOST)
    size = float(np.max(np.abs(Z), initial=0.0)) or 1.0
    length = np.linalg.norm(V, axis=1)
    longest = np.sort(np.argsort(-length, kind="stable")[:_ARROWS])
    V, length = V[longest], length[longest]
    stretch = _REACH * size / (float(np.max(np.abs(V), initial=0.0)) or 1.0)
    tip = V * stretch
    edge = plain(1.12 * size)
    words = words_apart(tip * 1.07, 0.075 * size)
    options = {"domain": [-edge, edge], "nice": False, "grid": False}
    shown: dict[str, Any] = {"x": Z[kept, 0], "y": Z[kept, 1]}
    if groups is not None:
        shown["label"] = [str(label) for label in groups[kept].tolist()]
    rows = records(kind="row", place=kept, **shown)
    rows += records(
        kind="arrow",
        name=[str(names[j]) for j in longest],
        tx=tip[:, 0],
        ty=tip[:, 1],
        lx=words[:, 0],
        ly=words[:, 1],
        angle=90 - np.degrees(np.arctan2(tip[:, 1], tip[:, 0])),
    )

    def axes(x: str, y: str) -> dict[str, Any]:
        return {"x": x_axis(x, titles[0], **options), "y": y_axis(y, titles[1], **options)}

    points = alt.Chart().transform_filter("datum.kind == 'row'")
    points = points.mark_point(
        filled=True, size=24, opacity=0.55, **({"style": "honest"} if groups is None else {})
    )
    told = tips(("place:Q", "row"), *([("label:N", "group")] if groups is not None else []))
    points = points.encode(**axes("x", "y"), tooltip=told)
    if groups is not None:
        known = [str(label) for label in np.unique(groups).tolist()]
        points = points.encode(color=colors("label", known, symbolType="circle"))
    drawn = alt.Chart().transform_filter("datum.kind == 'arrow'")
    start = {"x2": alt.datum(0), "y2": alt.datum(0)}
    layers = [
        points,
        drawn.mark_rule(style="label", strokeWidth=1.4).encode(**axes("tx", "ty"), **start),
        drawn.mark_point(
            style="label", shape="triangle-up", filled=True, size=60, opacity=1
        ).encode(**axes("tx", "ty"), angle=alt.Angle("angle:Q", scale=None)),
        drawn.mark_text(style="label", fontWeight=600).encode(**axes("lx", "ly"), text="name:N"),
    ]
    more = "" if len(longest) == len(names) else f" The {_ARROWS} longest of {len(names)} arrows."
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Biplot",
        subtitle=f"Points: rows; arrows: columns, pointing to where they grow.{more}",
        description=(
            f"{len(Z):,} rows in {titles[0]} and {titles[1]}, with arrows of the columns "
            f"{', '.join(str(names[j]) for j in longest)}."
        ),
        width=_SIZE,
        height=_SIZE,
    )
