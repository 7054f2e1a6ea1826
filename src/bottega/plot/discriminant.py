"""Rows in the coordinates that tell their classes apart best."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, thinned, tips, x_axis, y_axis, y_names
from bottega.plot.theme import altair, finish

__all__ = ["discriminant_chart"]

_MOST = 1_500


def discriminant_chart(
    coordinates: Any, labels: Any, centers: Any, classes: Any, share: Any = None
) -> Any:
    """Draw rows in their first two discriminant coordinates, with the means of the classes.

    Parameters
    ----------
    coordinates : array-like of shape (n, d)
        Discriminant coordinates of the rows; with d = 1 each class has a strip of its own.
    labels : array-like of shape (n,)
        Their classes.
    centers : array-like of shape (K, d)
        Means of the classes in these coordinates.
    classes : array-like of shape (K,)
        The classes.
    share : array-like of shape (d,), optional
        Share of the between-class variance of each coordinate, for the titles of the axes.

    Returns
    -------
    altair.LayerChart
        Distances are in standard deviations within classes. Without priors a row belongs to the
        nearest mean.

    Examples
    --------
    >>> chart = discriminant_chart(
    ...     [[0.0, 1.0], [2.0, 0.0]], ["a", "b"], [[0.0, 1.0], [2.0, 0.0]], ["a", "b"])
    >>> chart.to_dict()["title"]["text"]
    'Discriminant coordinates'
    """
    alt = altair()
    Z, M = (np.asarray(each, dtype=np.float64) for each in (coordinates, centers))
    y, names = np.asarray(labels), [str(label) for label in np.asarray(classes).tolist()]
    if Z.ndim != 2 or Z.shape[1] < 1 or y.shape != (len(Z),) or M.shape != (len(names), Z.shape[1]):
        raise InputError(
            f"coordinates has shape {Z.shape}, labels {y.shape} and centers {M.shape}; give one "
            f"label per row and one mean per class, here ({len(names)}, {Z.shape[-1]})."
        )
    kept = thinned(len(Z), _MOST)
    seen = [str(label) for label in y[kept].tolist()]
    titles = [f"coordinate {k + 1}" for k in range(Z.shape[1])]
    if share is not None:
        shares = np.asarray(share, dtype=np.float64)
        titles = [f"{t} ({s:.1%} between classes)" for t, s in zip(titles, shares, strict=False)]
    across = x_axis("x", titles[0], zero=False, padding=10, grid=False)
    note = f"First of {Z.shape[1]} coordinates" if Z.shape[1] > 2 else "Coordinates"
    note = "First two of several coordinates" if Z.shape[1] > 2 else note
    words = f"{note}, in standard deviations within classes; crosses: class means."
    if Z.shape[1] == 1:
        rows = records(x=Z[kept, 0], label=seen) + records(cx=M[:, 0], label=names)
        up: dict[str, Any] = {"y": y_names("label", names)}
        center = {"x": x_axis("cx", titles[0]), **up}
        spread = {"yOffset": "jitter:Q"}
        base = alt.Chart().transform_calculate(jitter="random()")
        height = max(110, 46 * len(names))
    else:
        rows = records(x=Z[kept, 0], y=Z[kept, 1], label=seen)
        rows += records(cx=M[:, 0], cy=M[:, 1], label=names)
        options = {"zero": False, "padding": 10, "grid": False}
        up = {"y": y_axis("y", titles[1], **options)}
        center = {"x": x_axis("cx", titles[0]), "y": y_axis("cy", titles[1], **options)}
        spread = {}
        base = alt.Chart()
        height = 340
    color = colors("label", names, show=Z.shape[1] > 1)
    points = base.transform_filter("isValid(datum.x)").mark_point(filled=True, size=22, opacity=0.6)
    mark = alt.Chart().transform_filter("isValid(datum.cx)")
    cross = {"shape": "cross", "filled": True, "size": 190, "opacity": 1, "strokeWidth": 1}
    layers = [
        points.encode(x=across, **up, **spread, color=color, tooltip=tips(("label:N", "class"))),
        mark.mark_point(style="label", **cross).encode(
            **center, tooltip=tips(("label:N", "mean of"))
        ),
        mark.mark_point(shape="cross", filled=True, size=110, opacity=1).encode(
            **center, color=color, tooltip=tips(("label:N", "mean of"))
        ),
    ]
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Discriminant coordinates",
        subtitle=words,
        description=f"{len(Z):,} rows of {len(names)} classes in discriminant coordinates.",
        width=420,
        height=height,
    )
