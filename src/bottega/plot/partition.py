"""What a tree does to the space of its inputs: rectangles of the plane, steps over a line."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import default_names
from bottega.core.typing import Array, FloatArray
from bottega.plot._parts import (
    colors,
    frame_of,
    plane,
    records,
    shade,
    thinned,
    tips,
    x_axis,
    y_axis,
)
from bottega.plot.theme import altair, finish, plain
from bottega.plot.tree import DrawnTree, describe, leaves_in_words

__all__ = ["partition_chart", "step_chart"]

_MOST = 1500  # points; more of them hide the picture


def partition_chart(model: Any, X: Any, y: Any, *, names: Any = None) -> Any:
    """Draw the rectangles into which a tree of two inputs cuts the plane, with the points.

    Parameters
    ----------
    model : TreeClassifier or TreeRegressor
        Fitted to two columns of numbers.
    X : array-like of shape (n, 2)
        Points to draw. Of many, some that are spread evenly over the rows are drawn.
    y : array-like of shape (n,)
        Their labels or responses.
    names : sequence of str, optional
        Of the two inputs; those of the fit by default.

    Returns
    -------
    altair.LayerChart
        Classes: colour of the label, darker where it is purer. Regression: darker is higher, of
        rectangles and points alike.

    Examples
    --------
    >>> from bottega.tree import TreeRegressor
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 3.0]
    >>> partition_chart(TreeRegressor(ccp_alpha=0.0).fit(X, y), X, y).to_dict()["title"]["text"]
    'Partition by 3 leaves'
    """
    alt = altair()
    drawn, X, y = _ready(model, X, y, 2)
    names = drawn.names if names is None else [str(name) for name in names]
    low, high = frame_of(X, 0.04)
    leaves, lower, upper = _cells(drawn.tree, low, high)
    rows = records(
        left=lower[:, 0],
        right=upper[:, 0],
        bottom=lower[:, 1],
        top=upper[:, 1],
        predicted=[drawn.prediction(leaf) for leaf in leaves],
        n=drawn.tree.n[leaves].astype(int),
        tint=[_darkness(drawn, leaf, y) for leaf in leaves],
    )
    shown = thinned(len(y), _MOST)
    points: dict[str, Any] = {"x": X[shown, 0], "y": X[shown, 1]}
    if drawn.label is not None:
        points["predicted"] = [str(label) for label in y[shown]]
    else:
        points |= {"tint": [_height(value, y) for value in y[shown]], "observed": y[shown]}
    rows += records(**points)
    channels = plane(low, high, names, tickCount=6)
    shades = (0.04, 0.55 if drawn.label is None else 0.36)
    cells = (
        alt.Chart()
        .transform_filter("isValid(datum.left)")
        .encode(
            **channels("left", "bottom"),
            x2="right",
            y2="top",
            fillOpacity=shade(alt.FillOpacity, "tint", *shades),
            tooltip=tips(("predicted:N", "predicts"), ("n:Q", "training rows", ",")),
        )
    )
    dots = alt.Chart().transform_filter("isValid(datum.x)").encode(**channels("x", "y"))
    frame = cells.mark_rect(style="faint", filled=False, strokeWidth=1)
    if drawn.label is None:
        layers = [
            cells.mark_rect(style="honest", strokeWidth=0),
            frame,
            dots.mark_point(
                style="honest", filled=True, size=26, stroke=None, opacity=1, clip=True
            ).encode(
                fillOpacity=shade(alt.FillOpacity, "tint", 0.15, 1),
                tooltip=tips(("observed:Q", "observed", ".4~g")),
            ),
            dots.mark_point(style="label", size=26, strokeWidth=0.5, opacity=0.6, clip=True),
        ]
        note = "Rectangles: mean of their rows; points: observed. The darker the higher."
    else:
        color = colors("predicted", drawn.labels, symbolOpacity=1)
        layers = [
            cells.mark_rect(strokeWidth=0).encode(color=color),
            frame,
            dots.mark_point(filled=True, size=26, opacity=0.9, clip=True).encode(
                color=color, tooltip=tips(("predicted:N", "observed"))
            ),
        ]
        note = "Rectangles: label of the leaf, the darker the purer; points: observed."
    total = leaves_in_words(len(leaves))
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"Partition by {total}",
        subtitle=note,
        description=(
            f"The plane of {names[0]} and {names[1]}, cut into {len(leaves)} rectangles by a tree, "
            f"with {len(y)} points."
        ),
        width=440,
        height=400,
    )


def step_chart(model: Any, X: Any, y: Any, *, name: str | None = None) -> Any:
    """Draw the step function of a tree of one input over the points.

    Parameters
    ----------
    model : TreeClassifier or TreeRegressor
        Fitted to one column of numbers.
    X : array-like of shape (n,) or (n, 1)
        Points to draw. Of many, some that are spread evenly over the rows are drawn.
    y : array-like of shape (n,)
        Their responses or labels.
    name : str, optional
        Of the input; that of the fit by default.

    Returns
    -------
    altair.LayerChart
        Regression: the mean of each leaf. Classes: the share of each class in each leaf, and the
        points as ticks below.

    Examples
    --------
    >>> from bottega.tree import TreeRegressor
    >>> x, y = [[0.0], [1.0], [2.0]], [1.0, 1.0, 4.0]
    >>> step_chart(TreeRegressor(ccp_alpha=0.0).fit(x, y), x, y).to_dict()["title"]["text"]
    'Step function of 2 leaves'
    """
    alt = altair()
    X = np.asarray(X)
    drawn, X, y = _ready(model, X[:, None] if X.ndim == 1 else X, y, 1)
    name = drawn.names[0] if name is None else str(name)
    low, high = frame_of(X, 0.04)
    leaves, lower, upper = _cells(drawn.tree, low, high)
    order = np.argsort(lower[:, 0])
    leaves, lower, upper = leaves[order], lower[order], upper[order]
    curves = drawn.labels or [""]
    rows = []
    corners = np.column_stack([lower, upper]).ravel()
    for k, curve in enumerate(curves):
        steps = np.repeat(drawn.tree.value[leaves, k], 2)
        place = np.repeat(np.arange(len(leaves)), 2)
        rows += records(x=corners, step=steps, predicted=curve, leaf=place)
    points = [
        {"at": plain(X[i, 0]), "observed": _observed(drawn, y[i])} for i in thinned(len(y), _MOST)
    ]
    if drawn.classes is not None:
        lane = {curve: -0.05 - 0.05 * k for k, curve in enumerate(curves)}
        points = [
            {**row, "predicted": row["observed"], "rug": plain(lane.get(row["observed"]))}
            for row in points
        ]
    span = {"domain": [plain(low[0]), plain(high[0])], "nice": False, "zero": False}

    def along(field: str) -> Any:
        base = alt.Chart().transform_filter(f"isValid(datum.{'step' if field == 'x' else field})")
        return base.encode(x=x_axis(field, name, grid=False, tickCount=7, **span))

    lines, dots = along("x").encode(order="leaf:Q"), along("at")
    if drawn.classes is None:
        shown = [row["observed"] for row in points] + [row["step"] for row in rows]
        bottom, top = min(shown), max(shown)
        margin = 0.05 * ((top - bottom) or 1.0)
        room = {"domain": [plain(bottom - margin), plain(top + margin)], "nice": False}
        layers = [
            dots.mark_point(style="faint", filled=True, size=26, opacity=0.9).encode(
                y=y_axis("observed", "response", zero=False, **room),
                tooltip=tips(("at:Q", name, ".4~g"), ("observed:Q", "observed", ".4~g")),
            ),
            lines.mark_line(style="picked", strokeWidth=2.4).encode(
                y=y_axis("step", "response", zero=False, **room),
                tooltip=tips(("step:Q", "mean", ".4~g")),
            ),
        ]
        note = "The line is the mean of the rows of each leaf."
    else:
        share = {"domain": [plain(min(lane.values()) - 0.04), 1.02], "nice": False}
        share |= {"values": [0, 0.25, 0.5, 0.75, 1], "format": "%"}
        color = colors("predicted", drawn.labels, symbolOpacity=1)
        ticks = dots.mark_tick(orient="vertical", size=10, thickness=1.2, opacity=0.7)
        layers = [
            lines.mark_line(strokeWidth=2.4).encode(
                y=y_axis("step", "share", **share), color=color
            ),
            ticks.encode(y=y_axis("rug", "share", **share), color=color),
        ]
        note = "Lines: share of each class among the rows of a leaf; ticks: the rows."
    total = leaves_in_words(len(leaves))
    return finish(
        alt.layer(*layers, data=alt.Data(values=[*points, *rows])),
        title=f"Step function of {total}",
        subtitle=note,
        description=f"Step function of {name} with {len(leaves)} steps, over {len(y)} points.",
    )


def _ready(model: Any, X: Any, y: Any, inputs: int) -> tuple[DrawnTree, FloatArray, Array]:
    """Check that the tree has so many columns of numbers, and the points too."""
    drawn = describe(model)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    words = {1: "one input", 2: "two inputs"}[inputs]
    if X.ndim != 2 or X.shape[1] != inputs or len(drawn.names) > inputs or y.shape != (len(X),):
        raise InputError(
            f"The chart is for {words}: X has shape {X.shape}, y {y.shape}, and the tree was "
            f"fitted to {max(len(drawn.names), 1)}."
        )
    drawn.names.extend(default_names(inputs)[len(drawn.names) :])  # a stump may use none
    if np.any(np.isnan(drawn.tree.threshold)):
        raise InputError("The tree tests categories; this chart is for numbers. Use tree_chart.")
    known = np.isfinite(X).all(axis=1)
    if not known.any():
        raise InputError("No row of X is finite; there is nothing to draw.")
    return drawn, X[known], y[known]


def _cells(tree: Any, low: FloatArray, high: FloatArray) -> tuple[Array, FloatArray, FloatArray]:
    """Return the leaves whose cells are in the picture, with their lower and upper corners."""
    lower = np.tile(low, (tree.n_nodes, 1))
    upper = np.tile(high, (tree.n_nodes, 1))
    for node in np.argsort(tree.depth, kind="stable"):
        if tree.n_children[node] == 0:
            continue
        at = int(tree.test_start[node])
        j, cut = int(tree.feature[at]), float(tree.threshold[at])
        first, second = tree.children(int(node))
        for child in (first, second):
            lower[child], upper[child] = lower[node], upper[node]
        upper[first, j] = min(upper[node, j], cut)
        lower[second, j] = max(lower[node, j], cut)
    inside = tree.is_leaf & np.all(lower < upper, axis=1)
    leaves = np.flatnonzero(inside)
    return leaves, lower[leaves], upper[leaves]


def _darkness(drawn: DrawnTree, leaf: int, y: Array) -> float:
    """Return how dark a leaf is drawn, from 0 to 1: the share of its label, or how high it is."""
    if drawn.label is not None:
        return float(drawn.tree.value[leaf, drawn.label[leaf]])
    return _height(drawn.tree.value[leaf, 0], y)


def _height(value: float, y: Array) -> float:
    low, high = float(np.min(y)), float(np.max(y))
    return float(np.clip((value - low) / ((high - low) or 1.0), 0, 1))


def _observed(drawn: DrawnTree, value: Any) -> Any:
    return plain(float(value)) if drawn.label is None else str(value)
