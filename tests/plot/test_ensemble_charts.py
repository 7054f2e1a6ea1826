"""Charts of ensembles: their data against numbers computed by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.data import make
from bottega.plot import (
    boundaries_chart,
    effects_chart,
    error_against_trees_chart,
    importance_chart,
    margin_chart,
)

# ---- error against trees ------------------------------------------------------------------------


def test_each_curve_is_drawn_with_its_gaps(rows_of, layers_of):
    chart = error_against_trees_chart(
        [1, 2, 3], train=[0.3, 0.1, 0.0], oob=[np.nan, 0.4, 0.2], bayes=0.05
    )
    curve = {}
    for row in rows_of(chart):
        curve.setdefault(row["series"], []).append(row["error"])
    assert curve == {"out of bag": [None, 0.4, 0.2], "training rows": [0.3, 0.1, 0.0]}
    title = chart.to_dict()["title"]
    assert title["subtitle"] == [
        "At 3 trees: out of bag 0.2, training rows 0.",
        "Dashed: the least error possible, 0.05.",
    ]
    assert layers_of(chart)[0]["encoding"]["x"]["scale"]["type"] == "linear"
    assert layers_of(chart)[-1]["encoding"]["y"]["datum"] == 0.05


def test_many_trees_are_on_a_logarithmic_axis_and_thinned(rows_of, layers_of):
    count = np.arange(1, 2001)
    chart = error_against_trees_chart(count, test=1 / count, unit="rounds")
    rows = rows_of(chart)
    assert len(rows) == 400
    assert (rows[0]["x"], rows[-1]["x"]) == (1, 2000)
    assert layers_of(chart)[0]["encoding"]["x"]["scale"]["type"] == "log"
    assert chart.to_dict()["title"]["text"] == "Error against rounds"


@pytest.mark.parametrize(
    ("count", "curves", "message"),
    [
        ([1, 2], {}, "nothing to draw"),
        ([2, 1], {"oob": [0.1, 0.2]}, "positive and rising"),
        ([1, 2], {"oob": [0.1]}, r"shape \(1,\); it needs \(2,\)"),
        ([1, 2], {"oob": [np.nan, np.nan]}, "No error is a finite number"),
    ],
)
def test_bad_curves_are_refused(count, curves, message):
    with pytest.raises(InputError, match=message):
        error_against_trees_chart(count, **curves)


# ---- importance ---------------------------------------------------------------------------------


def test_the_most_important_is_on_top_with_its_interval(rows_of):
    chart = importance_chart(["a", "b", "c"], [0.1, 0.5, 0.3], [0.2, 0.1, 0.05], most=2)
    rows = rows_of(chart)
    assert [(row["name"], row["low"], row["high"]) for row in rows] == [
        ("b", 0.4, 0.6),
        ("c", 0.25, 0.35),
    ]
    assert "1 less important inputs are left out" in chart.to_dict()["title"]["subtitle"][0]


def test_intervals_may_be_given_by_their_ends(rows_of, layers_of):
    rows = rows_of(importance_chart(["a"], [1.0], [[0.5, 3.0]]))
    assert (rows[0]["low"], rows[0]["high"]) == (0.5, 3.0)
    assert len(layers_of(importance_chart(["a"], [1.0]))) == 1  # without intervals bars alone


@pytest.mark.parametrize(
    ("values", "intervals", "message"),
    [([1.0], None, "2 names"), ([1.0, 2.0], [[1.0, 2.0, 3.0]], "intervals has shape")],
)
def test_bad_importances_are_refused(values, intervals, message):
    with pytest.raises(InputError, match=message):
        importance_chart(["a", "b"], values, intervals)


# ---- margins ------------------------------------------------------------------------------------


def test_the_distribution_of_margins_rises_by_one_row_each(rows_of):
    chart = margin_chart([0.4, -0.2, 0.0, 0.8])
    rows = rows_of(chart)
    assert [(row["margin"], row["share"]) for row in rows] == [
        (-0.2, 0.0),
        (-0.2, 0.25),
        (0.0, 0.5),
        (0.4, 0.75),
        (0.8, 1.0),
    ]
    assert "50.0% at or below zero" in chart.to_dict()["title"]["subtitle"][0]


def test_several_margins_are_named_with_their_error(rows_of):
    rows = rows_of(margin_chart({"5 rounds": [-1.0, 1.0], "50 rounds": [0.5, 1.0]}))
    assert list(dict.fromkeys(row["series"] for row in rows)) == [
        "5 rounds: 50.0% at or below zero",
        "50 rounds: 0.0% at or below zero",
    ]


def test_bad_margins_are_refused():
    with pytest.raises(InputError, match="must be finite"):
        margin_chart({"a": [np.nan]})


# ---- effects ------------------------------------------------------------------------------------


def test_effects_are_steps_in_the_order_of_their_width(rows_of):
    chart = effects_chart(
        {"narrow": ([1.0], [0.0, 0.1]), "unused": ([], [0.0]), "wide": ([0.0, 10.0], [-1, 2, 0])}
    )
    rows = rows_of(chart)
    wide = [(row["x"], row["effect"]) for row in rows if row["input"] == "wide"]
    # A tenth of the thresholds' span is drawn beyond them.
    assert wide == [(-1, -1), (0, -1), (0, 2), (10, 2), (10, 0), (11, 0)]
    assert list(dict.fromkeys(row["input"] for row in rows)) == ["wide", "narrow"]
    assert chart.to_dict()["facet"]["sort"] == ["wide", "narrow"]


def test_levels_of_a_category_stand_side_by_side(rows_of):
    effects = SimpleNamespace(
        names=["age", "colour", "idle"],
        cuts=[np.array([5.0]), np.zeros(0), np.zeros(0)],
        steps=[np.array([-0.1, 0.1]), np.array([0.4, -0.3]), np.array([0.0])],
        levels=[None, ["blue", "red"], None],
    )
    rows = rows_of(effects_chart(effects))
    colour = [(row["x"], row["effect"]) for row in rows if row["input"] == "colour: blue | red"]
    assert colour == [(-0.5, 0.4), (0.5, 0.4), (0.5, -0.3), (1.5, -0.3)]
    assert {row["input"] for row in rows} == {"colour: blue | red", "age"}


def test_bad_effects_are_refused():
    with pytest.raises(InputError, match="2 values for 2 thresholds"):
        effects_chart([([0.0, 1.0], [1.0, 2.0])])
    with pytest.raises(InputError, match="No input has an effect"):
        effects_chart({"a": ([], [0.0])})


# ---- boundaries ---------------------------------------------------------------------------------


def half_plane(cut):
    return SimpleNamespace(predict=lambda X: np.where(np.asarray(X)[:, 0] <= cut, "no", "yes"))


def test_regions_of_straight_cuts_are_two_rectangles(rows_of):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.2, 0.9]])
    y = np.array(["no", "yes", "yes"])
    chart = boundaries_chart({"middle": half_plane(0.5)}, X, y, bayes=half_plane(0.1).predict)
    rows = rows_of(chart)
    cells = [row for row in rows if "left" in row]
    # The grid of 110 cells over -0.06 .. 1.06 is cut at its middle, 0.5.
    assert [(r["left"], r["right"], r["label"]) for r in cells] == [
        (-0.06, 0.5, "no"),
        (0.5, 1.06, "yes"),
    ]
    assert {(r["bottom"], r["top"]) for r in cells} == {(-0.06, 1.06)}
    assert {row["panel"] for row in rows} == {"middle: 33.3% wrong"}
    (edge,) = [row for row in rows if "ax" in row]  # one piece from bottom to top
    assert (edge["ay"], edge["by"]) == (-0.06, 1.06)
    assert edge["ax"] == edge["bx"] == pytest.approx(0.1, abs=1.12 / 220)  # a cell of the grid


def test_rectangles_cover_the_plane_once(rows_of):
    sample = make.lipschitz(60, c=5.0, random_state=3)
    model = SimpleNamespace(predict=lambda X: (np.sin(9 * X[:, 0]) * X[:, 1] > 0.2).astype(int))
    rows = rows_of(boundaries_chart({"waves": model}, sample.X, sample.y))
    cells = [row for row in rows if "left" in row]
    low, high = sample.X.min(axis=0), sample.X.max(axis=0)
    whole = np.prod((high - low) * 1.12)
    area = sum((r["right"] - r["left"]) * (r["top"] - r["bottom"]) for r in cells)
    assert area == pytest.approx(whole, rel=1e-5)  # corners hold seven digits


def test_other_than_two_inputs_are_refused():
    with pytest.raises(InputError, match="for two inputs"):
        boundaries_chart({"a": half_plane(0)}, np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(InputError, match="no model"):
        boundaries_chart({}, np.zeros((3, 2)), np.zeros(3))
