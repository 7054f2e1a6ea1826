"""Every pair of inputs, with the classes: the first look at a classification."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import default_names, is_frame
from bottega.plot._parts import colors, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, panels

__all__ = ["scatter_matrix_chart"]

_MOST_COLUMNS = 6
_MOST_ROWS = 400
_MOST_CLASSES = 10
_BINS = 18
_SIDE = 120


def scatter_matrix_chart(X: Any, y: Any = None, *, names: Sequence[str] | None = None) -> Any:
    """Draw every pair of inputs against each other, and how often each value occurs in each class.

    Parameters
    ----------
    X : array-like or data frame of shape (n, p)
        Inputs; of more than 6 columns the first 6 are drawn, of many rows some 400.
    y : array-like of shape (n,), optional
        Classes; of more than 10 the others are one.
    names : sequence of str, optional
        Names of the columns; those of a frame, or ``x0, x1, ...``.

    Returns
    -------
    altair.VConcatChart
        On the diagonal the frequencies of an input by class, elsewhere a pair of inputs.

    Examples
    --------
    >>> chart = scatter_matrix_chart([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], ["a", "b", "b"])
    >>> chart.to_dict()["title"]["text"]
    'Pairs of 2 inputs'
    """
    alt = altair()
    known = list(X.columns) if is_frame(X) else None
    table = np.asarray(X.to_numpy() if is_frame(X) else X, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise InputError(f"X has shape {table.shape}; give a table of at least one row and column.")
    titles = names if names is not None else known
    titles = default_names(table.shape[1]) if titles is None else list(titles)
    if len(titles) != table.shape[1]:
        raise InputError(f"names has {len(titles)} entries for {table.shape[1]} columns.")
    if y is not None and np.shape(y) != (len(table),):
        raise InputError(f"y has shape {np.shape(y)}; X has {len(table)} rows.")
    shown = thinned(len(table), _MOST_ROWS)
    p = min(table.shape[1], _MOST_COLUMNS)
    labels, classes = _classes(y, shown)
    columns = {f"c{j}": table[shown, j] for j in range(p)}
    data = records(label=labels, **columns)
    color = colors("label", classes, show=len(classes) > 1, orient="right", columns=1)
    ends = []
    for j in range(p):
        finite = table[np.isfinite(table[:, j]), j]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        gap = 0.04 * ((high - low) or 1.0)
        ends.append([low - gap, high + gap])

    def cell(i: int, j: int) -> Any:
        below, first = i == p - 1, j == 0
        look = {"domain": ends[j], "nice": False, "zero": False, "grid": False, "tickCount": 3}
        across = x_axis(f"c{j}", titles[j] if below else None, labels=below, ticks=below, **look)
        base = alt.Chart()
        if i == j:
            across.bin = alt.Bin(extent=ends[j], maxbins=_BINS)
            up = alt.Y("count()", stack=None, title=titles[i] if first else None,
                       axis=alt.Axis(labels=False, ticks=False, grid=False))  # fmt: skip
            bars = base.mark_bar(opacity=0.45, binSpacing=0)
            return bars.encode(x=across, y=up, color=color, tooltip=tips(("label:N", "class")))
        look["domain"] = ends[i]
        up = y_axis(f"c{i}", titles[i] if first else None, labels=first, ticks=first, **look)
        points = base.mark_point(filled=True, size=9, opacity=0.65)
        return points.encode(x=across, y=up, color=color, tooltip=tips(("label:N", "class")))

    grid = [
        alt.hconcat(
            *(cell(i, j).properties(width=_SIDE, height=_SIDE) for j in range(p)), spacing=6
        )
        for i in range(p)
    ]
    counted = f"{p} of {table.shape[1]}" if p < table.shape[1] else str(p)
    note = "Diagonal: how often each value occurs"
    note += " in each class; colour: class." if y is not None else "."
    if len(shown) < len(table):
        note += f" {len(shown)} of {len(table):,} rows."
    return panels(
        alt.vconcat(*grid, spacing=6, data=alt.Data(values=data)),
        title=f"Pairs of {counted} inputs",
        subtitle=note,
        description=f"Scatter-plot matrix of {', '.join(map(str, titles[:p]))}.",
    )


def _classes(y: Any, shown: Any) -> tuple[list[str], list[str]]:
    """Return the class of each row drawn, and the classes."""
    if y is None:
        return ["rows"] * len(shown), ["rows"]
    values, counts = np.unique(np.asarray(y), return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CLASSES])
    names = [str(label) for label in values[kept].tolist()]
    rest = "other"
    while rest in names:
        rest += "…"
    found = [str(label) for label in np.asarray(y)[shown].tolist()]
    labels = [label if label in names else rest for label in found]
    return labels, names + ([rest] if len(values) > _MOST_CLASSES else [])
