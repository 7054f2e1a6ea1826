"""Rows as points of a plane: a map of the rows in two latent dimensions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array
from bottega.plot._parts import colors, frame_of, plane, records, shade, thinned, tips
from bottega.plot.theme import altair, finish, number

__all__ = ["latent_map_chart"]

_MOST = 2_000  # points; more only darken the picture
_NAMED = 30  # points up to which each has its name beside it
_CLASSES = 20  # different whole numbers up to which they are taken as classes
_BARS = 150  # rows whose uncertainty can still be seen
_SIDE = 440


def latent_map_chart(
    points: Any,
    labels: Any = None,
    *,
    names: Any = None,
    axes: Sequence[str] = ("dimension 1", "dimension 2"),
    title: str = "Map of the rows",
    subtitle: str | Sequence[str] = (),
    label_title: str = "group",
    show_names: bool | None = None,
    std: Any = None,
) -> Any:
    """Draw rows as points in two dimensions, coloured by a class, a cluster or a number.

    Parameters
    ----------
    points : array-like of shape (n, d)
        Coordinates of the rows; the first two are drawn, a single one lies on a line.
    labels : array-like of shape (n,), optional
        Groups of the rows, which give their colours. Texts, truth values and few different whole
        numbers are classes, with a legend (a number below zero is noise, drawn pale, as density
        clusters mark it); other numbers are drawn from pale (low) to dark (high).
    names : array-like of shape (n,), optional
        What each row is called: shown when it is pointed at, and beside it where there are few.
    axes : sequence of str
        Names of the two dimensions.
    title : str
        Title of the chart.
    subtitle : str or sequence of str
        What to see in it.
    label_title : str
        What the labels are, in words.
    show_names : bool, optional
        Whether names stand beside their points; where there are at most 30 by default.
    std : array-like of shape (n, d), optional
        Standard deviations of the coordinates: bars of one each way, for some 150 rows at most.

    Returns
    -------
    altair.LayerChart
        Of more than 2,000 rows some 2,000 are drawn, spread evenly over their order.

    Examples
    --------
    >>> cities = [[0.0, 1.0], [2.0, 0.0]]
    >>> chart = latent_map_chart(cities, ["south", "north"], names=["Rome", "Oslo"])
    >>> [row["name"] for row in chart.to_dict()["data"]["values"]]
    ['Rome', 'Oslo']
    """
    alt = altair()
    Z = np.asarray(points, dtype=np.float64)
    if Z.ndim == 1:
        Z = Z[:, None]
    if Z.ndim != 2 or not Z.size:
        raise InputError(f"points has shape {Z.shape}; give one row of coordinates per point.")
    Z = np.column_stack([Z[:, 0], Z[:, 1] if Z.shape[1] > 1 else np.zeros(len(Z))])
    n = len(Z)
    text, shown = _column("names", names, n), _column("labels", labels, n)
    seen = np.flatnonzero(np.all(np.isfinite(Z), axis=1))
    if not len(seen):
        raise InputError("points has no row of finite numbers; there is nothing to draw.")
    kept = seen[thinned(len(seen), _MOST)]
    columns: dict[str, Any] = {"x": Z[kept, 0], "y": Z[kept, 1]}
    hints: list[tuple[Any, ...]] = [("x:Q", str(axes[0]), ".4~g"), ("y:Q", str(axes[1]), ".4~g")]
    notes = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    encoding: dict[str, Any] = {}
    mark: dict[str, Any] = {"filled": True, "size": 26 if len(kept) > 300 else 44}
    if shown is not None and _are_classes(shown):
        words, order = _classes(shown)
        columns["label"] = [words[i] for i in kept]
        hints.insert(0, ("label:N", label_title))
        encoding["color"] = colors("label", order, symbolType="circle")
        if "noise" in order:
            columns["solid"] = [0.0 if words[i] == "noise" else 1.0 for i in kept]
            encoding["opacity"] = shade(alt.Opacity, "solid", 0.25, 0.8)
    elif shown is not None:
        values = shown.astype(np.float64)
        low, high = np.nanmin(values[kept]), np.nanmax(values[kept])
        columns["value"] = values[kept]
        columns["share"] = (values[kept] - low) / (high - low if high > low else 1.0)
        hints.insert(0, ("value:Q", label_title, ".4~g"))
        encoding["opacity"] = shade(alt.Opacity, "share", 0.12, 1.0)
        notes.append(f"{label_title}: from {number(low)} (pale) to {number(high)} (dark).")
    if "color" not in encoding:
        mark["style"] = "honest"
    if "opacity" not in encoding:
        mark["opacity"] = 0.7
    if text is not None:
        columns["name"] = [str(text[i]) for i in kept]
        hints.insert(0, ("name:N", "row"))
    if len(kept) < n:
        notes.append(f"{len(kept):,} of {n:,} rows are drawn.")
    low_corner, high_corner = frame_of(Z[kept], 0.06)
    channels = plane(low_corner, high_corner, axes, tickCount=5)
    base = alt.Chart()
    layers = []
    if std is not None:
        columns |= _bars(std, Z, kept, np.asarray(points).shape)
        look = {name: encoding[name] for name in ("color",) if name in encoding}
        bar = base.transform_filter("isValid(datum.low)").mark_rule(opacity=0.35)
        layers.append(bar.encode(**channels("x", "low"), y2="high", **look))
        layers.append(bar.encode(**channels("left", "y"), x2="right", **look))
        notes.append("Bars: one standard deviation.")
    layers.append(
        base.mark_point(**mark).encode(**channels("x", "y"), **encoding, tooltip=tips(*hints))
    )
    beside = len(kept) <= _NAMED if show_names is None else show_names
    if text is not None and beside:
        words_beside = base.mark_text(style="label", align="left", dx=7)
        layers.append(words_beside.encode(**channels("x", "y"), text="name:N"))
    return finish(
        alt.layer(*layers, data=alt.Data(values=records(**columns))),
        title=title,
        subtitle=[note for note in notes if note],
        description=f"{title}: {n:,} rows in two dimensions, {axes[0]} and {axes[1]}.",
        width=_SIDE,
        height=_SIDE,
    )


def _bars(std: Any, Z: Array, kept: Array, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the ends of the bars of the rows that have some; a single dimension lies across."""
    spread = np.asarray(std, dtype=np.float64)
    if spread.shape != shape:
        raise InputError(f"std has shape {spread.shape}; the points have {shape}.")
    spread = spread.reshape(len(Z), -1)
    few = np.isin(kept, kept[thinned(len(kept), _BARS)])
    across = np.where(few, spread[kept, 0], np.nan)
    up = np.where(few, spread[kept, 1], np.nan) if spread.shape[1] > 1 else 0 * across
    return {
        "left": Z[kept, 0] - across,
        "right": Z[kept, 0] + across,
        "low": Z[kept, 1] - up,
        "high": Z[kept, 1] + up,
    }


def _column(name: str, given: Any, n: int) -> Array | None:
    if given is None:
        return None
    found = np.asarray(given)
    if found.shape != (n,):
        raise InputError(f"{name} has shape {found.shape}; give one per point: ({n},).")
    return found


def _are_classes(values: Array) -> bool:
    if values.dtype.kind not in "iuf":
        return True
    return values.dtype.kind in "iu" and len(np.unique(values)) <= _CLASSES


def _classes(values: Array) -> tuple[list[str], list[str]]:
    """Return the name of each value, and all names in their order, noise last."""
    numbers = values.dtype.kind in "iu"
    words = ["noise" if numbers and v < 0 else str(v) for v in values.tolist()]
    by_size = sorted({v for v in values.tolist() if v >= 0}) if numbers else None
    order = list(dict.fromkeys(map(str, by_size))) if by_size is not None else sorted(set(words))
    return words, order + ["noise"] * (numbers and "noise" in words)
