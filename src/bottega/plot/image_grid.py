"""Images in a grid: originals beside what a method makes of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import tips
from bottega.plot.theme import altair, panels, plain

__all__ = ["image_grid_chart"]

_MOST = 40_000  # pixels of all images together
_PANEL = 92  # pixels of the screen per image


def image_grid_chart(
    columns: Sequence[Any],
    titles: Sequence[str],
    shape: tuple[int, int],
    *,
    title: str = "Images",
    subtitle: str = "One image per row; all panels have one scale of grey.",
) -> Any:
    """Draw images, one row of panels per image.

    Parameters
    ----------
    columns : sequence of array-like of shape (m, p)
        For each column of panels the m images, pixels row by row.
    titles : sequence of str
        What each column of panels shows.
    shape : tuple of int
        Height and width of an image in pixels, with product p.
    title, subtitle : str
        What is to be seen.

    Returns
    -------
    altair.FacetChart
        Darker is larger. Values beyond the range of the first column are drawn as its ends.

    Examples
    --------
    >>> chart = image_grid_chart([[[0, 1, 1, 0]], [[0.2, 0.8, 0.8, 0.2]]], ["image", "1"], (2, 2))
    >>> chart.to_dict()["title"]["text"]
    'Images'
    """
    alt = altair()
    tables = [np.asarray(each, dtype=np.float64) for each in columns]
    height, width = (int(side) for side in shape)
    wanted = (len(tables[0]) if tables else 0, height * width)
    if not tables or len(titles) != len(tables) or any(each.shape != wanted for each in tables):
        shapes = ", ".join(str(each.shape) for each in tables)
        raise InputError(
            f"columns has the shapes {shapes or 'none'} and {len(titles)} titles; with images of "
            f"{height} by {width} give every column the same number of rows of {height * width}."
        )
    pixels = len(tables) * tables[0].size
    if pixels > _MOST:
        raise InputError(
            f"These images have {pixels:,} pixels together, and {_MOST:,} can be drawn; give fewer "
            "or smaller images."
        )
    low, high = float(tables[0].min()), float(tables[0].max())
    down, across = np.divmod(np.arange(height * width), width)
    rows = [
        {
            "column": str(name),
            "image": i,
            "x": int(a),
            "y": int(d),
            "value": plain(v),
        }
        for name, table in zip(titles, tables, strict=True)
        for i, image in enumerate(table)
        for d, a, v in zip(down, across, image, strict=True)
    ]
    side = max(1, round(_PANEL / max(height, width)))  # whole: no seams between pixels
    hidden = alt.Axis(labels=False, ticks=False, domain=False, title=None, grid=False)
    order = [str(name) for name in titles]
    head = alt.Header(title=None, labelAnchor="middle")
    blank = alt.Header(title=None, labels=False)
    base = (
        alt.Chart(alt.Data(values=rows), width=side * width, height=side * height)
        .mark_rect()
        .encode(
            x=alt.X("x:O", axis=hidden, scale=alt.Scale(padding=0)),
            y=alt.Y("y:O", axis=hidden, scale=alt.Scale(padding=0)),
            color=alt.Color(
                "value:Q",
                scale=alt.Scale(scheme="greys", domain=[plain(low), plain(high)], clamp=True),
                legend=None,
            ),
            tooltip=tips(("column:N", "panel"), ("value:Q", "value", ".4~g")),
        )
    )
    chart = base.facet(
        column=alt.Column("column:N", sort=order, header=head),
        row=alt.Row("image:O", header=blank),
        spacing=6,
    )
    return panels(
        chart,
        title=title,
        subtitle=subtitle,
        description=f"{wanted[0]} images, each as {', '.join(order)}.",
    )
