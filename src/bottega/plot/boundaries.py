"""Decision regions of several models side by side, with the best possible boundary over them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._grid import contour, edges, on_grid, rectangles
from bottega.plot._parts import colors, facets, frame_of, plane, records, thinned
from bottega.plot.theme import altair, panels

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
    margins: bool | None = None,
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
    margins : bool, optional
        Whether to draw the lines where the decision function of two classes is 0, -1 and 1, and
        rings around support vectors. By default for models that have support vectors.

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
    best = [] if bayes is None else edges(on_grid(bayes, low, high, _SIDE), low, high)
    shown = thinned(len(y), _MOST)
    labels = sorted({str(label) for label in np.unique(y)})
    for name, model in models.items():
        regions = on_grid(model.predict, low, high, _CELLS)
        wrong = float(np.mean(np.asarray(model.predict(X)) != y))
        title = f"{name}: {wrong:.1%} wrong"
        titles.append(title)
        labels = sorted({*labels, *(str(label) for label in np.unique(regions))})
        rows += [{"panel": title, **row} for row in rectangles(regions, low, high)]
        rows += [{"panel": title, "line": "best", **row} for row in best]
        rows += [{"panel": title, **row} for row in _margins(model, margins, low, high)]
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
    widths = {"best": 1.5, "boundary": 1.2, "margin": 0.8}
    drawn = [name for name in widths if any(row.get("line") == name for row in rows)]
    for name in drawn:
        style = "label" if name == "best" else "strong-label"
        layers.append(
            base.transform_filter(f"datum.line == '{name}'")
            .mark_rule(style=style, strokeWidth=widths[name], strokeCap="square")
            .encode(**channels("ax", "ay"), x2="bx", y2="by")
        )
    if any("sx" in row for row in rows):
        layers.append(
            base.transform_filter("isValid(datum.sx)")
            .mark_point(style="label", filled=False, size=55, strokeWidth=1, opacity=0.9)
            .encode(**channels("sx", "sy"))
        )
    panel = alt.layer(*layers, data=alt.Data(values=rows)).properties(width=_SIDE, height=_SIDE)
    note = "Colour: predicted class; points: observed, and what share of them is wrong."
    if bayes is not None:
        note += " Line: best boundary."
    notes = [note]
    if "margin" in drawn:
        rings = " Rings: support vectors." if any("sx" in row for row in rows) else ""
        notes.append(f"Coloured lines: decision function 0, and (thin) -1 and 1.{rings}")
    count = f"{len(titles)} model{'' if len(titles) == 1 else 's'}"
    return panels(
        facets(panel, "panel", titles, columns),
        title=f"Regions of {count}",
        subtitle=notes,
        description=f"The plane as {count} see it. " + "; ".join(titles) + ".",
    )


def _margins(
    model: Any, wanted: bool | None, low: FloatArray, high: FloatArray
) -> list[dict[str, Any]]:
    """Return the boundary, the margins and the support vectors of a model of two classes."""
    vectors = getattr(model, "support_vectors_", None)
    if not (vectors is not None if wanted is None else wanted):
        return []
    rows: list[dict[str, Any]] = []
    if hasattr(model, "decision_function") and len(getattr(model, "classes_", ())) == 2:
        found = on_grid(model.decision_function, low, high, _CELLS)
        for level, line in ((0.0, "boundary"), (-1.0, "margin"), (1.0, "margin")):
            rows += [{"line": line, **piece} for piece in contour(found, level, low, high)]
    if vectors is not None and np.ndim(vectors) == 2:
        shown = np.asarray(vectors, dtype=np.float64)[thinned(len(vectors), _MOST)]
        rows += records(sx=shown[:, 0], sy=shown[:, 1])
    return rows
