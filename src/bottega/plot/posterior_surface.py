"""The probabilities of classes over a plane of two inputs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._grid import cell_middles, contour, edges, on_grid, rectangles
from bottega.plot._parts import colors, frame_of, plane, records, shade, thinned
from bottega.plot.theme import altair, finish

__all__ = ["posterior_surface_chart"]

_CELLS = 100  # per side
_SIDE = 400
_STEPS = 12  # shades
_MOST = 300  # points


def posterior_surface_chart(
    model: Any,
    X: Any,
    y: Any,
    *,
    bayes: Callable[[Any], Any] | None = None,
    names: Any = ("x1", "x2"),
) -> Any:
    """Draw how probable the most probable class is over the plane.

    Parameters
    ----------
    model : classifier
        Fitted to two inputs, with `predict_proba` and ``classes_``.
    X : array-like of shape (n, 2)
        Points to draw over it; they also set what part of the plane is shown.
    y : array-like of shape (n,)
        Their labels.
    bayes : callable, optional
        From inputs to the best possible labels; its boundary is drawn as a line.
    names : sequence of str
        Of the two inputs.

    Returns
    -------
    altair.LayerChart
        Colour is the most probable class, the deeper the surer: blank where all are alike.

    Examples
    --------
    >>> from bottega.neighbors import NearestNeighborsClassifier
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ["a", "b", "b", "a"]
    >>> model = NearestNeighborsClassifier(n_neighbors=1).fit(X, y)
    >>> posterior_surface_chart(model, X, y).to_dict()["title"]["text"]
    'Probabilities of 2 classes'
    """
    alt = altair()
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or X.shape[1] != 2 or y.shape != (len(X),):
        raise InputError(
            f"The chart is for two inputs; X has shape {X.shape} and y {y.shape}. Fit the model "
            "to two columns to draw it."
        )
    if not hasattr(model, "predict_proba"):
        raise InputError(f"{type(model).__name__} has no probabilities to draw (predict_proba).")
    low, high = frame_of(X, 0.06)
    classes = np.asarray(model.classes_)
    labels = [str(label) for label in classes.tolist()]

    shares = np.asarray(model.predict_proba(cell_middles(low, high, _CELLS)), dtype=np.float64)
    shares = shares.reshape(_CELLS, _CELLS, len(classes))
    sure = (shares.max(axis=2) - 1 / len(classes)) / (1 - 1 / len(classes))
    steps = np.clip(np.round(sure * _STEPS), 0, _STEPS).astype(int)
    rows = []
    # Class and shade in one number: cells of one number are one rectangle.
    for row in rectangles(np.argmax(shares, axis=2) * (_STEPS + 1) + steps, low, high):
        top, step = divmod(int(row.pop("label")), _STEPS + 1)
        if step:
            rows.append({**row, "label": labels[top], "sure": step / _STEPS})
    for k in range(len(classes) if len(classes) > 2 else 1):
        others = np.delete(shares, k, axis=2).max(axis=2)
        rows += contour(shares[:, :, k] - others, 0.0, low, high)
    kept = thinned(len(y), _MOST)
    seen = [str(label) for label in y[kept].tolist()]
    rows += records(px=X[kept, 0], py=X[kept, 1], label=seen)
    if bayes is not None:
        best = edges(on_grid(bayes, low, high, 2 * _CELLS), low, high)
        rows += [{f"b{name}": value for name, value in piece.items()} for piece in best]
    channels = plane(low, high, names, tickCount=5)
    color = colors("label", sorted({*labels, *seen}), symbolOpacity=1)
    base = alt.Chart()
    layers = [
        base.transform_filter("isValid(datum.left)")
        .mark_rect(strokeWidth=0)
        .encode(
            **channels("left", "bottom"),
            x2="right",
            y2="top",
            color=color,
            opacity=shade(alt.Opacity, "sure", 0, 0.5),
        ),
        base.transform_filter("isValid(datum.ax)")
        .mark_rule(style="reference", strokeDash=[1, 0], strokeWidth=1)
        .encode(**channels("ax", "ay"), x2="bx", y2="by"),
        base.transform_filter("isValid(datum.px)")
        .mark_point(filled=True, size=16, opacity=0.9)
        .encode(**channels("px", "py"), color=color),
    ]
    note = "Colour: most probable class, the deeper the surer; points: observed."
    if bayes is not None:
        note += " Dark line: best boundary."
        layers.append(
            base.transform_filter("isValid(datum.bax)")
            .mark_rule(style="label", strokeWidth=1.5, strokeCap="square")
            .encode(**channels("bax", "bay"), x2="bbx", y2="bby")
        )
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"Probabilities of {len(labels)} classes",
        subtitle=note,
        description=f"The plane shaded by the most probable of {', '.join(labels)}.",
        width=_SIDE,
        height=_SIDE,
    )
