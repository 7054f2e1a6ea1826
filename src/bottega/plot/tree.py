"""A tree as a drawing: tests at the inner nodes, predictions in the boxes of the leaves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import default_names
from bottega.core.typing import Array
from bottega.plot._parts import colors, only, shade, tips
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["tree_chart"]

_LEVEL = 78  # pixels from one depth to the next
_BOX = 42  # height of a leaf's box
_ROW = 22  # height of the text of a test
_GAP = 14  # between neighbours of one depth
_CHARACTER = 6.7  # mean width of one, in the font of the labels
_LONGEST = 26  # characters of a label


@dataclass(frozen=True)
class DrawnTree:
    """A tree with the words for its columns, levels and classes (None for regression).

    `levels` has the names of each column's categories, None for numbers; `label` the number of the
    class that each node predicts.
    """

    tree: Any
    names: list[str]
    levels: list[Any]
    classes: Array | None
    label: Array | None

    @property
    def labels(self) -> list[str]:
        """The classes as text; empty for regression."""
        return [] if self.classes is None else [str(label) for label in self.classes]

    def prediction(self, node: int) -> str:
        """Write what a node predicts."""
        if self.classes is None or self.label is None:
            return number(float(self.tree.value[node, 0]))
        return str(self.classes[self.label[node]])

    def test(self, node: int) -> str:
        """Write the test of an inner node; a row goes left (to the first child) where it holds."""
        tree, at = self.tree, int(self.tree.test_start[node])
        name = self.names[int(tree.feature[at])]
        if not np.isnan(tree.threshold[at]):
            return f"{_short(name, 18)} <= {number(float(tree.threshold[at]))}"
        if tree.n_children[node] > 2:
            return _short(name)
        return _short(f"{_short(name, 14)}: {self.group(node, 0)}")

    def group(self, node: int, child: int) -> str:
        """Write the categories that a node sends to one of its children."""
        tree, at = self.tree, int(self.tree.test_start[node])
        own = slice(int(tree.level_start[at]), int(tree.level_stop[at]))
        codes = tree.levels[own][tree.level_child[own] == child]
        known = self.levels[int(tree.feature[at])]
        return ", ".join(str(code) if known is None else str(known[code]) for code in codes)


def describe(model: Any) -> DrawnTree:
    """Find the arrays and the words of a fitted tree (or of the arrays alone)."""
    tree = getattr(model, "nodes_", model)
    if not hasattr(tree, "test_start"):
        raise InputError(
            f"{type(model).__name__} is not a fitted tree; give a TreeClassifier or TreeRegressor "
            "after fit, or its nodes_."
        )
    reader = getattr(model, "columns_in_", None)
    n_columns = int(tree.feature.max(initial=-1)) + 1
    names = getattr(reader, "names", None) or getattr(model, "feature_names_in_", None)
    if names is None:
        names = default_names(max(n_columns, getattr(model, "n_features_in_", 0)))
    levels = getattr(reader, "levels", None)
    levels = [None] * len(names) if levels is None else list(levels)
    classes = getattr(model, "classes_", None)
    label = None
    if tree.value.shape[1] == 1 and classes is None:
        return DrawnTree(tree, [str(name) for name in names], levels, None, None)
    classes = np.arange(tree.value.shape[1]) if classes is None else np.asarray(classes)
    # Costs, and a label that wins ties, are the model's to know; arrays alone show the majority.
    shown = getattr(model, "_shown", None)
    label = tree.value.argmax(axis=1) if shown is None else np.searchsorted(classes, shown(tree))
    return DrawnTree(tree, [str(name) for name in names], levels, classes, label)


def tree_chart(model: Any, *, max_leaf_nodes: int = 40) -> Any:
    """Draw a tree from its root downwards.

    Parameters
    ----------
    model : TreeClassifier or TreeRegressor
        Fitted; or the arrays of a tree.
    max_leaf_nodes : int
        A larger tree is cut at the deepest level that keeps the drawing to so many boxes; the boxes
        say how many leaves are below them.

    Returns
    -------
    altair.LayerChart
        At an inner node stands its test: a row goes left where it holds. A box is a leaf: its label
        with the share of its training rows that have it, or its mean. Lines are as thick as the
        share of the rows that go along them. The tooltip of a node has the rest.

    Examples
    --------
    >>> from bottega.tree import TreeRegressor
    >>> model = TreeRegressor(ccp_alpha=0.0).fit([[0.0], [1.0], [2.0]], [1.0, 1.0, 4.0])
    >>> tree_chart(model).to_dict()["title"]["text"]
    'Tree of 2 leaves'
    """
    alt = altair()
    drawn = describe(model)
    tree = drawn.tree
    limit = _depth_shown(tree, max_leaf_nodes)
    x, width = _layout(drawn, limit)
    shown = np.flatnonzero(tree.depth <= limit)
    rows = _nodes(drawn, shown, limit, x) + _edges(drawn, shown, x)
    total = leaves_in_words(tree.n_leaves)
    depth = int(tree.depth[shown].max())

    height = depth * _LEVEL + _BOX + 8

    def at(x: str, y: str) -> dict[str, Any]:
        across = alt.Scale(domain=[0, plain(width)], nice=False, zero=False)
        down = alt.Scale(domain=[0, height], nice=False, reverse=True)
        return {
            "x": alt.X(x, type="quantitative", scale=across, axis=None),
            "y": alt.Y(y, type="quantitative", scale=down, axis=None),
        }

    base = alt.Chart().encode(**at("x", "y"))
    tooltip = tips(
        ("predicted:N", "predicts"),
        ("n:Q", "training rows", ","),
        ("part:Q", "share of all rows", ".1%"),
        *([] if drawn.classes is None else [("detail:N", "classes")]),
        ("impurity:Q", "impurity", ".4~g"),
        ("test:N", "test"),
        ("gain:Q", "gain of the test", ".4~g"),
    )
    boxes = only(alt.Chart(), "leaf").encode(
        **at("left", "top"),
        x2="right",
        y2="bottom",
        fillOpacity=shade(alt.FillOpacity, "tint", 0.06, 0.5),
        tooltip=tooltip,
    )
    if drawn.classes is None:
        boxes = boxes.mark_rect(style="honest", cornerRadius=5)
    else:
        boxes = boxes.mark_rect(cornerRadius=5).encode(
            color=colors("predicted", drawn.labels, show=len(drawn.labels) <= 10, symbolOpacity=0.5)
        )
    edges = only(base.mark_rule(style="faint", strokeCap="round"), "edge")
    groups = base.mark_text(style="label", fontSize=11, baseline="top", dy=1)
    inner, leaf = (only(base, kind).encode(tooltip=tooltip) for kind in ("inner", "leaf"))
    layers = [
        edges.encode(x2="x2", y2="y2", strokeWidth=shade(alt.StrokeWidth, "part", 0.8, 7)),
        groups.transform_filter("datum.group").encode(**at("x2", "y2"), text="group:N"),
        boxes,
        inner.mark_text(style="label").encode(text="text:N"),
        leaf.mark_text(style="label", fontWeight=600, dy=-8).encode(text="text:N"),
        leaf.mark_text(style="label", fontSize=11, dy=8).encode(text="under:N"),
    ]
    boxed = "label, its share, rows" if drawn.classes is not None else "mean (dark is high), rows"
    notes = ["A row goes left where the test holds.", f"Boxes: {boxed}. Lines: share of the rows."]
    if limit < tree.max_depth:
        notes.append(f"The first {limit} levels; the tree goes down to level {tree.max_depth}.")
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"Tree of {total}",
        subtitle=notes,
        description=(
            f"Drawing of a tree of {total} and depth {tree.max_depth}. "
            + (f"First test: {drawn.test(0)}." if tree.n_nodes > 1 else drawn.prediction(0))
        ),
        width=max(int(width), 160),
        height=height,
    )


def leaves_in_words(n: int) -> str:
    """Write a number of leaves."""
    return f"{n:,} {'leaf' if n == 1 else 'leaves'}"


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _depth_shown(tree: Any, most: int) -> int:
    """Return the deepest level at which cutting the tree leaves at most so many boxes."""
    if most < 2:
        raise InputError(f"max_leaf_nodes={most!r} is not allowed; a drawing needs at least 2.")
    leaves_above = np.bincount(tree.depth[tree.is_leaf], minlength=tree.max_depth + 1)
    nodes_at = np.bincount(tree.depth, minlength=tree.max_depth + 1)
    boxes = np.cumsum(leaves_above) - leaves_above + nodes_at
    return max(int(np.flatnonzero(boxes <= most)[-1]), min(1, tree.max_depth))


def _leaves_below(tree: Any) -> Array:
    """Count the leaves under each node; children stand behind their parents."""
    below = tree.is_leaf.astype(np.int64)
    for node in np.argsort(-tree.depth, kind="stable"):
        if tree.parent[node] >= 0:
            below[tree.parent[node]] += below[node]
    return below


def _layout(drawn: DrawnTree, limit: int) -> tuple[dict[int, float], float]:
    """Place the nodes: parents amid their children, neighbours of a depth apart (tidy drawing).

    Each subtree is laid out by itself and remembers how far it reaches at every depth below its
    root; children are then pushed together until their outlines touch.
    """
    tree = drawn.tree
    order = [node for node in np.argsort(-tree.depth, kind="stable") if tree.depth[node] <= limit]
    shift: dict[int, float] = {0: 0.0}  # of a node against its parent
    left: dict[int, list[float]] = {}
    right: dict[int, list[float]] = {}
    for node in order:
        half = _width(drawn, int(node), limit) / 2
        if tree.n_children[node] == 0 or tree.depth[node] == limit:
            left[node], right[node] = [-half], [half]
            continue
        places: list[float] = []
        reach_left: list[float] = []
        reach_right: list[float] = []
        for child in tree.children(node):
            near = zip(reach_right, left[child], strict=False)
            place = max((r - x + _GAP for r, x in near), default=0.0)
            places.append(place)
            reach_left += [x + place for x in left[child][len(reach_left) :]]
            new = [x + place for x in right[child]]
            reach_right = new + reach_right[len(new) :]
        middle = (places[0] + places[-1]) / 2
        for child, place in zip(tree.children(node), places, strict=True):
            shift[child] = place - middle
        left[node] = [-half] + [x - middle for x in reach_left]
        right[node] = [half] + [x - middle for x in reach_right]
    x = {0: -min(left[0]) + 4}
    for node in reversed(order):
        if node != 0:
            x[int(node)] = x[int(tree.parent[node])] + shift[int(node)]
    return x, x[0] + max(right[0]) + 4


def _width(drawn: DrawnTree, node: int, limit: int) -> float:
    """Return how wide a node is drawn."""
    tree = drawn.tree
    up = int(tree.parent[node])
    group = ""
    if up >= 0 and tree.n_children[up] > 2:
        group = _short(drawn.group(up, node - int(tree.first_child[up])), 18)
    if tree.n_children[node] and tree.depth[node] < limit:
        return max(len(drawn.test(node)), len(group)) * _CHARACTER
    lines = (_short(drawn.prediction(node), 16), _under(drawn, node, None), group)
    return max(*(len(line) * _CHARACTER for line in lines), 34) + 10


def _under(drawn: DrawnTree, node: int, below: Array | None) -> str:
    """Write the second line of a box."""
    tree = drawn.tree
    if tree.n_children[node]:
        return f"{below[node]:,} leaves" if below is not None else "99 leaves"
    if drawn.label is None:
        return f"n {int(tree.n[node]):,}"
    return f"{tree.value[node, drawn.label[node]]:.0%} of {int(tree.n[node]):,}"


def _nodes(drawn: DrawnTree, shown: Array, limit: int, x: dict[int, float]) -> list[dict[str, Any]]:
    tree = drawn.tree
    below = _leaves_below(tree)
    tint = _tint(drawn, shown)
    rows = []
    for node in shown.tolist():
        inner = bool(tree.n_children[node]) and tree.depth[node] < limit
        middle = int(tree.depth[node]) * _LEVEL + _BOX / 2 + 2
        row = {
            "kind": "inner" if inner else "leaf",
            "x": plain(x[node]),
            "y": middle,
            "predicted": drawn.prediction(node),
            "text": drawn.test(node) if inner else _short(drawn.prediction(node), 16),
            "n": int(tree.n[node]),
            "part": plain(tree.weight[node] / tree.weight[0]),
            "impurity": plain(tree.impurity[node]),
            "detail": _shares(drawn, node),
        }
        if tree.n_children[node]:
            row |= {"test": drawn.test(node), "gain": plain(tree.gain[node])}
        if not inner:
            half = _width(drawn, node, limit) / 2
            row |= {
                "under": _under(drawn, node, below),
                "left": plain(x[node] - half),
                "right": plain(x[node] + half),
                "top": middle - _BOX / 2,
                "bottom": middle + _BOX / 2,
                "tint": plain(tint[node]),
            }
        rows.append(row)
    return rows


def _shares(drawn: DrawnTree, node: int) -> str:
    """Write the shares of the classes of a node, the largest five."""
    if drawn.classes is None:
        return ""
    share = drawn.tree.value[node]
    order = np.argsort(-share, kind="stable")[:5]
    return ", ".join(f"{drawn.classes[k]} {share[k]:.0%}" for k in order if share[k] > 0)


def _tint(drawn: DrawnTree, shown: Array) -> Array:
    """Return how dark each node's box is: purity of a class, height of a mean."""
    value = drawn.tree.value
    if drawn.label is not None:
        return np.asarray(value[np.arange(len(value)), drawn.label])
    low, high = value[shown, 0].min(), value[shown, 0].max()
    return np.asarray((value[:, 0] - low) / ((high - low) or 1.0))


def _edges(drawn: DrawnTree, shown: Array, x: dict[int, float]) -> list[dict[str, Any]]:
    tree = drawn.tree
    deepest = tree.depth[shown].max()
    rows = []
    for node in shown.tolist():
        up = int(tree.parent[node])
        if up < 0:
            continue
        boxed = tree.n_children[node] == 0 or tree.depth[node] == deepest
        middle = int(tree.depth[node]) * _LEVEL + _BOX / 2 + 2
        many = tree.n_children[up] > 2
        row = {
            "kind": "edge",
            "x": plain(x[up]),
            "y": middle - _LEVEL + _ROW / 2,
            "x2": plain(x[node]),
            "y2": middle - (_BOX if boxed else _ROW) / 2 - (14 if many else 1),
            "part": plain(tree.weight[node] / tree.weight[0]),
        }
        if many:
            row["group"] = _short(drawn.group(up, node - int(tree.first_child[up])), 18)
        rows.append(row)
    return rows
