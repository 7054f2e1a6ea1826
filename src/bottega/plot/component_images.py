"""The rows of a matrix of components as small images: what the parts of a picture look like."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, facets, records, shade, tips, x_axis, y_axis
from bottega.plot.theme import altair, panels

__all__ = ["component_images_chart"]

_MOST = 36  # images; more are too small to see
_SIDE = 110


def component_images_chart(
    components: Any,
    shape: Sequence[int] | None = None,
    *,
    names: Sequence[str] | None = None,
    title: str = "Components",
    subtitle: str | Sequence[str] = (),
    columns: int = 6,
) -> Any:
    """Draw each component as an image, the darker a cell the larger its entry.

    Parameters
    ----------
    components : array-like of shape (k, p)
        One component per row.
    shape : (int, int), optional
        Rows and columns of each image; by default a square, or one line where p is not a square.
    names : sequence of str, optional
        One per component.
    title : str
        Title of the chart.
    subtitle : str or sequence of str
        What to see in it.
    columns : int
        Images side by side.

    Returns
    -------
    altair.FacetChart
        Each image has a scale of its own; entries below zero have another colour. Cells of zero
        are left out.

    Examples
    --------
    >>> chart = component_images_chart([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0]])
    >>> len(chart.to_dict()["data"]["values"])
    4
    """
    alt = altair()
    C = np.asarray(components, dtype=np.float64)
    if C.ndim != 2 or not C.size or not np.all(np.isfinite(C)):
        raise InputError(f"components has shape {C.shape}; give finite numbers, a row per image.")
    high, wide = _shape(C.shape[1], shape)
    words = [f"component {j + 1}" for j in range(len(C))] if names is None else list(names)
    if len(words) != len(C):
        raise InputError(f"There are {len(words)} names for {len(C)} components; give one each.")
    notes = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    if len(C) > _MOST:
        notes.append(f"The first {_MOST} of {len(C)} components.")
        C, words = C[:_MOST], words[:_MOST]
    size = np.max(np.abs(C), axis=1)
    shares = np.abs(C) / np.where(size > 0, size, 1.0)[:, None]
    at = np.argwhere(shares > 0.005)
    if not len(at):
        raise InputError("All components are zero; there is nothing to draw.")
    kind = np.where(C < 0, "below zero", "above zero")
    rows = records(
        name=[str(words[j]) for j, _ in at],
        left=at[:, 1] % wide,
        right=at[:, 1] % wide + 1,
        top=at[:, 1] // wide,
        bottom=at[:, 1] // wide + 1,
        value=C[at[:, 0], at[:, 1]],
        share=shares[at[:, 0], at[:, 1]],
        kind=kind[at[:, 0], at[:, 1]],
    )
    signed = bool(np.any(C < 0))
    fixed = {"nice": False, "zero": False, "labels": False, "ticks": False, "grid": False}
    longest = max(high, wide)
    mark = {"strokeWidth": 0} if signed else {"strokeWidth": 0, "style": "honest"}
    encoding = {"color": colors("kind", ["above zero", "below zero"])} if signed else {}
    cells = (
        alt.Chart(alt.Data(values=rows))
        .mark_rect(**mark)
        .encode(
            x=x_axis("left", None, domain=[0, wide], domainWidth=0, **fixed),
            y=y_axis("top", None, domain=[0, high], reverse=True, domainWidth=0, **fixed),
            x2="right",
            y2="bottom",
            opacity=shade(alt.Opacity, "share", 0.0, 1.0),
            tooltip=tips(("name:N",), ("top:Q", "row"), ("left:Q", "column"), ("value:Q",)),
            **encoding,
        )
        .properties(width=_SIDE * wide / longest, height=max(8, _SIDE * high / longest))
    )
    return panels(
        facets(cells, "name", [str(word) for word in words], columns),
        title=title,
        subtitle=[note for note in notes if note],
        description=f"{len(words)} components as images of {high} by {wide} cells.",
    )


def _shape(p: int, shape: Sequence[int] | None) -> tuple[int, int]:
    if shape is None:
        side = round(p**0.5)
        return (side, side) if side * side == p else (1, p)
    if len(shape) != 2 or shape[0] * shape[1] != p:
        raise InputError(
            f"shape={tuple(shape)!r} has not the {p} cells of a component; give two whole numbers "
            f"whose product is {p}."
        )
    return int(shape[0]), int(shape[1])
