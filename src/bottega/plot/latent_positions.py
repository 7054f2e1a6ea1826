"""Rows at their latent variables: a map of a table."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["latent_map_chart"]

_MOST = 1_500
_MOST_BARS = 150  # rows whose uncertainty can still be seen


def latent_map_chart(
    positions: Any, *, std: Any = None, labels: Any = None, title: str = "Map of the rows"
) -> Any:
    """Draw rows at their first two latent variables, with bars of one standard deviation.

    Parameters
    ----------
    positions : array-like of shape (n, K)
        Latent variables of the rows, K at least 1; with K = 1 the rows are drawn in their order.
    std : array-like of shape (n, K), optional
        Their standard deviations; drawn for some 150 rows at most.
    labels : array-like of shape (n,), optional
        Groups, which give the colours.
    title : str
        Title of the chart.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> chart = latent_map_chart([[0.0, 1.0], [2.0, 0.0]], labels=["a", "b"])
    >>> chart.to_dict()["title"]["subtitle"]
    ['2 rows at their first two latent variables.']
    """
    alt = altair()
    Z = np.asarray(positions, dtype=np.float64)
    if Z.ndim != 2 or not Z.size:
        raise InputError(
            f"positions has shape {Z.shape}; give one row and latent variable or more."
        )
    spread = None if std is None else np.asarray(std, dtype=np.float64)
    if spread is not None and spread.shape != Z.shape:
        raise InputError(f"std has shape {spread.shape}; positions has {Z.shape}.")
    groups = None if labels is None else np.asarray(labels)
    if groups is not None and groups.shape != (len(Z),):
        raise InputError(f"labels has shape {groups.shape}; there are {len(Z)} rows.")
    flat = Z.shape[1] == 1
    shown = thinned(len(Z), _MOST)
    x = np.arange(len(Z)) if flat else Z[:, 0]
    y = Z[:, 0] if flat else Z[:, 1]
    columns: dict[str, Any] = {"x": x[shown], "y": y[shown], "row": shown}
    bars = spread is not None and len(Z) > 0
    if bars and spread is not None:
        few = np.isin(shown, thinned(len(Z), _MOST_BARS))
        up = np.where(few, spread[shown, 0 if flat else 1], np.nan)
        columns |= {"low": columns["y"] - up, "high": columns["y"] + up}
        if not flat:
            across = np.where(few, spread[shown, 0], np.nan)
            columns |= {"left": columns["x"] - across, "right": columns["x"] + across}
    names = [] if groups is None else sorted({str(each) for each in groups.tolist()})
    if groups is not None:
        columns["label"] = [str(each) for each in groups[shown].tolist()]
    options = {"zero": False, "padding": 10, "grid": False}
    titles = ("row", "latent variable 1") if flat else ("latent variable 1", "latent variable 2")
    place = {"x": x_axis("x", titles[0], **options), "y": y_axis("y", titles[1], **options)}
    look: dict[str, Any] = {} if groups is None else {"color": colors("label", names)}
    plain: dict[str, Any] = {"style": "honest"} if groups is None else {}
    base = alt.Chart()
    layers = []
    if bars:
        seen = base.transform_filter("isValid(datum.low)").mark_rule(opacity=0.35, **plain)
        layers.append(seen.encode(x=place["x"], y=y_axis("low", titles[1]), y2="high", **look))
        if not flat:
            layers.append(
                seen.encode(x=x_axis("left", titles[0]), x2="right", y=place["y"], **look)
            )
    points = base.mark_point(filled=True, size=24, opacity=0.7, **plain)
    lines = [("row:Q", "row"), ("x:Q", titles[0], ".3f"), ("y:Q", titles[1], ".3f")]
    if groups is not None:
        lines.append(("label:N", "group"))
    layers.append(points.encode(**place, **look, tooltip=tips(*lines)))
    words = (
        f"{len(Z):,} rows at their first {'latent variable' if flat else 'two latent variables'}"
    )
    words += "; bars: one standard deviation." if bars else "."
    return finish(
        alt.layer(*layers, data=alt.Data(values=records(**columns))),
        title=title,
        subtitle=words,
        description=words,
        width=440,
        height=360,
    )
