"""Drawings of trees: their data against a small tree written by hand."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.plot import partition_chart, step_chart, tree_chart
from bottega.tree._grow.structure import Tree


def tree_of(children, *, value, n, feature, threshold, levels=None):
    """Write a tree: `children` lists, node by node, how many each has (breadth first)."""
    parent, depth, first = [-1], [0], []
    for node, count in enumerate(children):
        first.append(len(parent) if count else -1)
        parent += [node] * count
        depth += [depth[node] + 1] * count
    inner = np.array(children) > 0
    start = np.cumsum(inner) - inner
    tests = int(inner.sum())
    per_test = [{} if levels is None else (levels.get(t) or {}) for t in range(tests)]
    stops = np.cumsum([len(each) for each in per_test])

    def whole(values):
        return np.asarray(values, dtype=np.int32)

    n = np.asarray(n)
    return Tree(
        parent=whole(parent),
        depth=whole(depth),
        first_child=whole(first),
        n_children=whole(children),
        default_child=whole(np.zeros(len(children))),
        test_start=whole(start),
        test_stop=whole(start + inner),
        n=n.astype(np.int64),
        weight=n.astype(np.float64),
        value=np.asarray(value, dtype=np.float64).reshape(len(children), -1),
        impurity=np.zeros(len(children)),
        risk=np.zeros(len(children)),
        gain=np.where(inner, 0.25, 0.0),
        feature=whole(feature),
        threshold=np.asarray(threshold, dtype=np.float64),
        reverse=np.zeros(tests, dtype=bool),
        agreement=np.ones(tests),
        level_start=whole(np.concatenate([[0], stops])[:-1]),
        level_stop=whole(stops),
        levels=whole([code for each in per_test for code in each]),
        level_child=whole([child for each in per_test for child in each.values()]),
    )


@pytest.fixture
def flowers():
    """Petal width <= 0.8 is setosa (50 rows); of the rest, length <= 5 is versicolor."""
    tree = tree_of(
        [2, 0, 2, 0, 0],
        value=[[1 / 3] * 3, [1, 0, 0], [0, 0.5, 0.5], [0, 0.9, 0.1], [0, 0.1, 0.9]],
        n=[150, 50, 100, 50, 50],
        feature=[1, 0],
        threshold=[0.8, 5.0],
    )
    return SimpleNamespace(
        nodes_=tree,
        feature_names_in_=np.array(["petal length", "petal width"], dtype=object),
        classes_=np.array(["setosa", "versicolor", "virginica"]),
    )


def of_kind(rows, kind):
    return [row for row in rows if row.get("kind") == kind]


def test_tests_and_leaves_are_written(flowers, rows_of):
    chart = tree_chart(flowers)
    rows = rows_of(chart)
    assert [row["text"] for row in of_kind(rows, "inner")] == [
        "petal width <= 0.8",
        "petal length <= 5",
    ]
    assert [(row["text"], row["under"]) for row in of_kind(rows, "leaf")] == [
        ("setosa", "100% of 50"),
        ("versicolor", "90% of 50"),
        ("virginica", "90% of 50"),
    ]
    assert [row["part"] for row in of_kind(rows, "edge")] == pytest.approx(
        [1 / 3, 2 / 3, 1 / 3, 1 / 3]
    )
    assert chart.to_dict()["title"]["text"] == "Tree of 3 leaves"


def test_parents_stand_amid_their_children_and_boxes_do_not_touch(rows_of):
    """A lopsided tree of 31 leaves: layout properties that any drawing must have."""
    rng = np.random.default_rng(0)
    children, waiting = [], 1
    while waiting:
        grow = len(children) + waiting < 60 and (waiting == 1 or rng.random() < 0.6)
        children.append(2 if grow else 0)
        waiting += 1 if grow else -1
    size, inner = len(children), int(np.sum(np.array(children) > 0))
    tree = tree_of(
        children,
        value=rng.normal(size=size) * 1e4,
        n=np.full(size, 10),
        feature=rng.integers(0, 3, inner),
        threshold=rng.normal(size=inner),
    )
    chart = tree_chart(tree)
    rows = rows_of(chart)
    nodes = dict(enumerate(r for r in rows if r["kind"] != "edge"))
    for node in range(size):
        if children[node]:
            below = [nodes[child]["x"] for child in tree.children(node)]
            assert nodes[node]["x"] == pytest.approx(np.mean(below), abs=1e-3)
            assert below[0] < below[1]
    leaves = of_kind(rows, "leaf")
    for y in {row["y"] for row in leaves}:
        line = sorted((row["left"], row["right"]) for row in leaves if row["y"] == y)
        assert all(a[1] < b[0] for a, b in itertools.pairwise(line))
    spec = chart.to_dict()
    assert min(row["left"] for row in leaves) >= 0
    assert max(row["right"] for row in leaves) <= spec["width"]
    assert max(row["bottom"] for row in leaves) <= spec["height"]


def test_a_large_tree_is_cut_and_says_what_is_below(rows_of):
    depth = 6  # a full tree: 64 leaves
    inner = 2**depth - 1
    size = 2 * inner + 1
    tree = tree_of(
        [2] * inner + [0] * (inner + 1),
        value=np.arange(size),
        n=np.full(size, 8),
        feature=np.zeros(inner),
        threshold=np.zeros(inner),
    )
    chart = tree_chart(tree, max_leaf_nodes=20)
    leaves = of_kind(rows_of(chart), "leaf")
    assert [row["under"] for row in leaves] == ["4 leaves"] * 16
    assert chart.to_dict()["title"]["text"] == "Tree of 64 leaves"
    assert "first 4 levels" in chart.to_dict()["title"]["subtitle"][-1]
    # Exactly at the limit nothing is cut.
    assert len(of_kind(rows_of(tree_chart(tree, max_leaf_nodes=64)), "leaf")) == 64


def test_categories_are_written_with_their_names(rows_of):
    tree = tree_of(
        [2, 0, 0],
        value=[2.0, 1.0, 3.0],
        n=[10, 4, 6],
        feature=[0],
        threshold=[np.nan],
        levels={0: {0: 0, 1: 1, 2: 0}},
    )
    model = SimpleNamespace(
        nodes_=tree,
        feature_names_in_=["colour"],
        columns_in_=SimpleNamespace(levels=[["blue", "green", "red"]]),
    )
    rows = rows_of(tree_chart(model))
    assert of_kind(rows, "inner")[0]["text"] == "colour: blue, red"
    assert [row["under"] for row in of_kind(rows, "leaf")] == ["n 4", "n 6"]


def test_a_multiway_split_has_its_categories_on_the_lines(rows_of):
    tree = tree_of(
        [3, 0, 0, 0],
        value=[2.0, 1.0, 3.0, 5.0],
        n=[10, 4, 3, 3],
        feature=[0],
        threshold=[np.nan],
        levels={0: {0: 0, 1: 1, 2: 2}},
    )
    rows = rows_of(tree_chart(tree))
    assert of_kind(rows, "inner")[0]["text"] == "x0"
    assert [row["group"] for row in of_kind(rows, "edge")] == ["0", "1", "2"]


def test_a_root_alone_is_one_box(rows_of):
    tree = tree_of([0], value=[3.5], n=[7], feature=[], threshold=[])
    rows = rows_of(tree_chart(tree))
    assert [(row["kind"], row["text"], row["under"]) for row in rows] == [("leaf", "3.5", "n 7")]


def test_something_else_than_a_tree_is_refused(flowers):
    with pytest.raises(InputError, match="is not a fitted tree"):
        tree_chart(SimpleNamespace())
    with pytest.raises(InputError, match="max_leaf_nodes=1"):
        tree_chart(flowers, max_leaf_nodes=1)


def test_the_plane_is_cut_into_the_leaves(flowers, rows_of):
    X = np.array([[1.0, 0.2], [7.0, 2.2], [4.0, 1.2]])
    rows = rows_of(partition_chart(flowers, X, ["setosa", "virginica", "versicolor"]))
    cells = [row for row in rows if "left" in row]
    # The picture ends four hundredths beyond the points: 0.76..7.24 and 0.12..2.28.
    found = [(r["left"], r["right"], r["bottom"], r["top"], r["predicted"]) for r in cells]
    assert found == [
        (0.76, 7.24, 0.12, 0.8, "setosa"),
        (0.76, 5.0, 0.8, 2.28, "versicolor"),
        (5.0, 7.24, 0.8, 2.28, "virginica"),
    ]
    area = sum((r["right"] - r["left"]) * (r["top"] - r["bottom"]) for r in cells)
    assert area == pytest.approx((7.24 - 0.76) * (2.28 - 0.12))
    assert [(r["x"], r["y"], r["predicted"]) for r in rows if "x" in r] == [
        (1.0, 0.2, "setosa"),
        (7.0, 2.2, "virginica"),
        (4.0, 1.2, "versicolor"),
    ]


def test_steps_are_the_leaves_from_left_to_right(rows_of):
    tree = tree_of(
        [2, 2, 0, 0, 0],
        value=[2.0, 1.5, 3.0, 1.0, 2.0],
        n=[8, 4, 4, 2, 2],
        feature=[0, 0],
        threshold=[5.0, 2.0],
    )
    rows = rows_of(step_chart(tree, [0.0, 10.0], [1.0, 3.5], name="dose"))
    line = [(row["x"], row["step"]) for row in rows if "step" in row]
    # The picture ends 0.4 beyond the points.
    assert line == [(-0.4, 1.0), (2.0, 1.0), (2.0, 2.0), (5.0, 2.0), (5.0, 3.0), (10.4, 3.0)]
    assert [(row["at"], row["observed"]) for row in rows if "at" in row] == [(0, 1), (10, 3.5)]


def test_shares_of_classes_are_steps_too(rows_of):
    tree = tree_of(
        [2, 0, 0],
        value=[[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]],
        n=[20, 8, 12],
        feature=[0],
        threshold=[1.0],
    )
    model = SimpleNamespace(nodes_=tree, classes_=np.array(["a", "b"]), n_features_in_=1)
    rows = rows_of(step_chart(model, [[0.0], [2.0]], ["a", "b"]))
    share = {
        name: [r["step"] for r in rows if "step" in r and r["predicted"] == name] for name in "ab"
    }
    assert share == {"a": [0.9, 0.9, 0.2, 0.2], "b": [0.1, 0.1, 0.8, 0.8]}
    assert [(r["at"], r["predicted"]) for r in rows if "at" in r] == [(0, "a"), (2, "b")]


def test_many_points_are_thinned(rows_of):
    tree = tree_of([0], value=[0.0], n=[5000], feature=[], threshold=[])
    rows = rows_of(step_chart(tree, np.arange(5000.0), np.zeros(5000)))
    points = [row["at"] for row in rows if "at" in row]
    assert len(points) == 1500
    assert (points[0], points[-1]) == (0, 4999)


def test_partitions_of_other_inputs_are_refused(flowers, rows_of):
    with pytest.raises(InputError, match="for two inputs"):
        partition_chart(flowers, np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(InputError, match="for one input"):
        step_chart(flowers, np.zeros(3), np.zeros(3))
    by_category = tree_of(
        [2, 0, 0],
        value=[0, 0, 1],
        n=[2, 1, 1],
        feature=[0],
        threshold=[np.nan],
        levels={0: {0: 0, 1: 1}},
    )
    with pytest.raises(InputError, match="tests categories"):
        step_chart(by_category, [0.0, 1.0], [0.0, 1.0])
    with pytest.raises(InputError, match="No row of X is finite"):
        partition_chart(flowers, [[np.nan, 1.0]], ["setosa"])
