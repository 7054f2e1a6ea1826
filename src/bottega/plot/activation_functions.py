"""Activation functions of networks, each with its derivative."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, dashes, facets, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, panels

__all__ = ["activation_functions_chart"]

_WIDTH, _HEIGHT = 128, 150
_LOW, _HIGH = -1.25, 2.0  # heights that are drawn: the same in all panels


def activation_functions_chart(
    x: Any,
    curves: Mapping[str, tuple[Any, Any]],
    *,
    title: str = "Activation functions",
    columns: int = 5,
) -> Any:
    """Draw functions and their derivatives, one panel per function.

    Parameters
    ----------
    x : array-like of shape (m,)
        Inputs.
    curves : mapping of name to (values, slopes)
        Heights at x.
    title : str
        Title.
    columns : int
        Panels side by side.

    Returns
    -------
    altair.FacetChart
        Where the derivative is zero, nothing is learnt. Heights beyond 2 are cut off.

    Examples
    --------
    >>> chart = activation_functions_chart([-1.0, 1.0], {"relu": ([0.0, 1.0], [0.0, 1.0])})
    >>> len(chart.to_dict()["data"]["values"])
    4
    """
    alt = altair()
    places = np.asarray(x, dtype=np.float64)
    kinds = ["function", "derivative"]
    rows: list[dict[str, Any]] = []
    for name, pair in curves.items():
        for kind, heights in zip(kinds, pair, strict=True):
            heights = np.asarray(heights, dtype=np.float64)
            if heights.shape != places.shape:
                raise InputError(
                    f"The {kind} of {name!r} has shape {heights.shape}; x has {len(places)} points."
                )
            rows += records(name=name, kind=kind, x=places, y=heights)
    base = (
        alt.Chart(alt.Data(values=rows), width=_WIDTH, height=_HEIGHT)
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=x_axis("x", "input", nice=False, grid=False, tickCount=5),
            y=y_axis("y", None, domain=[_LOW, _HIGH], nice=False, tickCount=5),
            color=colors("kind", kinds, symbolType="stroke"),
            strokeDash=dashes("kind", kinds, [[1, 0], [5, 4]]),
            tooltip=tips(("name:N",), ("kind:N",), ("x:Q", "input", ".3~g"), ("y:Q", "", ".3~g")),
        )
    )
    chart = facets(base, "name", list(curves), columns)
    return panels(
        chart,
        title=title,
        subtitle="Where the derivative is zero nothing is learnt: the function is saturated.",
        description=f"{title} and their derivatives: {', '.join(curves)}.",
    )
