"""Variances along the directions of principal components, and what chance would give."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number

__all__ = ["scree_chart"]


def scree_chart(
    variances: Any, *, total: float | None = None, limits: Any = None, kept: int | None = None
) -> Any:
    """Draw eigenvalues in their order, with the limits of parallel analysis.

    Parameters
    ----------
    variances : array-like of shape (m,)
        Variances along the directions, largest first.
    total : float, optional
        Variance of all directions, of which shares are told; the sum of `variances` by default.
    limits : array-like of shape (m,), optional
        What the variances seldom exceed by chance.
    kept : int, optional
        How many components are kept: they are filled.

    Returns
    -------
    altair.LayerChart
        A direction below the dashed line may be chance.

    Examples
    --------
    >>> scree_chart([3.0, 1.0, 0.5], kept=1).to_dict()["title"]["text"]
    'Variance of the components'
    """
    alt = altair()
    values = np.asarray(variances, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise InputError(f"variances must be a list of numbers; got shape {values.shape}.")
    whole = float(values.sum() if total is None else total) or 1.0
    place = np.arange(1, len(values) + 1)
    kept = len(values) if kept is None else int(kept)
    data: dict[str, Any] = {
        "place": place,
        "variance": values,
        "share": values / whole,
        "reached": np.cumsum(values) / whole,
        "kept": place <= kept,
    }
    names = ["variance"]
    if limits is not None:
        bound = np.asarray(limits, dtype=np.float64)
        if bound.shape != values.shape:
            raise InputError(f"limits has shape {bound.shape}; there are {len(values)} variances.")
        data["limit"] = bound
        names.append("95 % quantile of independent columns")
    step = max(1, len(values) // 15)
    x = x_axis(
        "place",
        "component",
        domain=[0.5, len(values) + 0.5],
        nice=False,
        values=[1, *range(1 + step, len(values) + 1, step)] if len(values) > 1 else [1],
        format="d",
        grid=False,
    )
    y = y_axis("variance", "variance", zero=True)
    tooltip = tips(
        ("place:Q", "component"),
        ("variance:Q", "variance", ".4~g"),
        ("share:Q", "share", ".1%"),
        ("reached:Q", "up to here", ".1%"),
        *([("limit:Q", "by chance up to", ".4~g")] if limits is not None else []),
    )
    base = alt.Chart().encode(x=x)
    color = colors("series", names, show=limits is not None, symbolType="stroke")
    line = base.transform_calculate(series=f"'{names[0]}'").mark_line(strokeWidth=2)
    point = {"size": 62, "opacity": 1, "strokeWidth": 2, "style": "honest"}
    layers = [line.encode(y=y, color=color)]
    for chosen, filled in (("datum.kept", True), ("!datum.kept", False)):
        marks = base.transform_filter(chosen).mark_point(filled=filled, **point)
        layers.append(marks.encode(y=y, tooltip=tooltip))
    above = ""
    if limits is not None:
        bound_line = base.transform_calculate(series=f"'{names[1]}'")
        bound_line = bound_line.mark_line(strokeWidth=1.8, strokeDash=[5, 4])
        layers.append(bound_line.encode(y=y_axis("limit", "variance"), color=color))
        below = np.flatnonzero(values <= bound)
        count = int(below[0]) if len(below) else len(values)
        above = f" Parallel analysis would keep {count or 'none'}."
    share = float(np.sum(values[:kept])) / whole
    words = f"Filled: the {kept} kept, with {share:.1%} of the variance." if kept else "None kept."
    return finish(
        alt.layer(*layers, data=alt.Data(values=records(**data))),
        title="Variance of the components",
        subtitle=words + above,
        description=(
            f"Scree plot of {len(values)} variances from {number(values[0])} to "
            f"{number(values[-1])}; {kept} components kept with {share:.1%} of the variance.{above}"
        ),
    )
