"""Decision regions of several models side by side, with the best possible boundary over them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray
from bottega.plot._parts import colors, facets, frame_of, plane, records, thinned
from bottega.plot.theme import altair, panels, plain

__all__ = ["boundaries_chart"]

_CELLS = 110  # a side of the grid; two pixels each, so that neighbours leave no seam
_SIDE = 2 * _CELLS
_MOST = 300  # points of a panel


def boundaries_chart(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    bayes: Callable[[Any], Any] | None = None,
    names: Any = ("x1", "x2"),
    columns: int = 3,
) -> Any:
    """Draw the regions in which each model predicts each class.

    Parameters
    ----------
    models : mapping of str to model
        Fitted classifiers of two inputs, by the names to show.
    X : array-like of shape (n, 2)
        Points to draw over the regions; they also set what part of the plane is shown.
    y : array-like of shape (n,)
        Their labels.
    bayes : callable, optional
        From inputs to the best possible labels, as ``Sample.bayes`` of ``bottega.data.make``; its
        boundary is drawn as a line.
    names : sequence of str
        Of the two inputs.
    columns : int
        Panels side by side.

    Returns
    -------
    altair.FacetChart
        One panel per model; its title gives its error on the given points.

    Examples
    --------
    >>> from bottega.neighbors import NearestNeighborsClassifier
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ["a", "b", "b", "a"]
    >>> model = NearestNeighborsClassifier(n_neighbors=1).fit(X, y)
    >>> boundaries_chart({"1-NN": model}, X, y).to_dict()["title"]["text"]
    'Regions of 1 model'
    """
    alt = altair()
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2 or y.shape != (len(X),):
        raise InputError(
            f"The chart is for two inputs; X has shape {X.shape} and y {y.shape}. Fit the models "
            "to two columns to draw them."
        )
    if not models:
        raise InputError("There is no model to draw.")
    low, high = frame_of(X, 0.06)
    titles, rows = [], []
    edges = [] if bayes is None else _edges(_on_grid(bayes, low, high, _SIDE), low, high)
    shown = thinned(len(y), _MOST)
    labels = sorted({str(label) for label in np.unique(y)})
    for name, model in models.items():
        regions = _on_grid(model.predict, low, high, _CELLS)
        wrong = float(np.mean(np.asarray(model.predict(X)) != y))
        title = f"{name}: {wrong:.1%} wrong"
        titles.append(title)
        labels = sorted({*labels, *(str(label) for label in np.unique(regions))})
        rows += [{"panel": title, **row} for row in _rectangles(regions, low, high)]
        rows += [{"panel": title, **row} for row in edges]
        seen = [str(label) for label in y[shown]]
        rows += records(panel=title, px=X[shown, 0], py=X[shown, 1], label=seen)

    channels = plane(low, high, names, tickCount=5)
    color = colors("label", labels, symbolOpacity=1)
    base = alt.Chart()
    layers = [
        base.transform_filter("isValid(datum.left)")
        .mark_rect(strokeWidth=0, opacity=0.28)
        .encode(**channels("left", "bottom"), x2="right", y2="top", color=color),
        base.transform_filter("isValid(datum.px)")
        .mark_point(filled=True, size=13, opacity=0.85)
        .encode(**channels("px", "py"), color=color),
    ]
    if bayes is not None:
        layers.append(
            base.transform_filter("isValid(datum.ax)")
            .mark_rule(style="label", strokeWidth=1.5, strokeCap="square")
            .encode(**channels("ax", "ay"), x2="bx", y2="by")
        )
    panel = alt.layer(*layers, data=alt.Data(values=rows)).properties(width=_SIDE, height=_SIDE)
    note = "Colour: predicted class; points: observed, and what share of them is wrong."
    if bayes is not None:
        note += " Line: best boundary."
    count = f"{len(titles)} model{'' if len(titles) == 1 else 's'}"
    return panels(
        facets(panel, "panel", titles, columns),
        title=f"Regions of {count}",
        subtitle=note,
        description=f"The plane as {count} see it. " + "; ".join(titles) + ".",
    )


def _on_grid(predict: Callable[[Any], Any], low: FloatArray, high: FloatArray, cells: int) -> Array:
    """Return the predictions at the middles of the cells of a grid, row by row from below."""
    middle = (np.arange(cells) + 0.5) / cells
    first, second = np.meshgrid(*(low[:, None] + (high - low)[:, None] * middle))
    found = np.asarray(predict(np.column_stack([first.ravel(), second.ravel()])))
    return found.reshape(cells, cells)


def _rectangles(grid: Array, low: FloatArray, high: FloatArray) -> list[dict[str, Any]]:
    """Cover the grid by rectangles of one label: runs along a row, joined with those above."""
    cells = len(grid)
    at = [low[j] + (high[j] - low[j]) * np.arange(cells + 1) / cells for j in (0, 1)]
    open_runs: dict[tuple[int, int, str], int] = {}
    rows = []

    def close(run: tuple[int, int, str], bottom: int, top: int) -> None:
        rows.append(
            {
                "left": plain(at[0][run[0]]),
                "right": plain(at[0][run[1]]),
                "bottom": plain(at[1][bottom]),
                "top": plain(at[1][top]),
                "label": run[2],
            }
        )

    for i in range(cells):
        runs = set(_runs(grid[i]))
        for run in [run for run in open_runs if run not in runs]:
            close(run, open_runs.pop(run), i)
        for run in sorted(runs):
            open_runs.setdefault(run, i)
    for run, bottom in open_runs.items():
        close(run, bottom, cells)
    return rows


def _runs(labels: Array) -> list[tuple[int, int, str]]:
    """Return the stretches of equal labels of a row: start, stop, label."""
    cuts = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    starts, stops = [0, *cuts.tolist()], [*cuts.tolist(), len(labels)]
    return [(a, b, str(labels[a])) for a, b in zip(starts, stops, strict=True)]


def _edges(grid: Array, low: FloatArray, high: FloatArray) -> list[dict[str, Any]]:
    """Return the boundary of a grid of labels as straight pieces, as long as they go."""
    cells = len(grid)
    at = [low[j] + (high[j] - low[j]) * np.arange(cells + 1) / cells for j in (0, 1)]
    rows = []
    for upright in (False, True):
        table = grid.T if upright else grid  # a piece lies between two rows of the table
        along, across = (at[1], at[0]) if upright else (at[0], at[1])
        for i, differs in enumerate(table[1:] != table[:-1], start=1):
            for a, b, word in _runs(differs):
                if word == "True":
                    start, stop = plain(along[a]), plain(along[b])
                    level = plain(across[i])
                    ends = (level, start, level, stop) if upright else (start, level, stop, level)
                    rows.append(dict(zip(("ax", "ay", "bx", "by"), ends, strict=True)))
    return rows
