"""Charts that explain a model: their data against numbers given."""

from types import SimpleNamespace

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.plot import (
    calibration_chart,
    contributions_chart,
    effect_chart,
    importance_chart,
    lift_chart,
    partial_effects_chart,
    terms_chart,
    worst_rows_chart,
)


def effect(kind="number", **more):
    given = {
        "column": "age",
        "kind": kind,
        "values": np.array([1.0, 2.0, 4.0]),
        "average": np.array([0.0, 1.0, 5.0]),
        "by_fold": np.array([[-1.0, 1.0, 4.0], [1.0, 1.0, 6.0]]),
        "single": np.array([[0.0, 2.0, 7.0]]),
        "local": np.array([0.5, 1.0, 4.0]),
        "outcome": "predicted price",
    }
    return SimpleNamespace(**(given | more))


def test_calibration_is_drawn_as_given(rows_of, layers_of):
    chart = calibration_chart(
        [0.1, 0.6], [0.2, 0.5], [[0.1, 0.3], [0.4, 0.65]], n=[10, 12], what="probability of yes"
    )
    assert rows_of(chart) == [
        {"predicted": 0.1, "observed": 0.2, "low": 0.1, "high": 0.3, "n": 10},
        {"predicted": 0.6, "observed": 0.5, "low": 0.4, "high": 0.65, "n": 12},
    ]
    diagonal, bar, point = layers_of(chart)
    assert [diagonal["encoding"][c]["datum"] for c in ("x", "x2", "y", "y2")] == [0, 0.65, 0, 0.65]
    assert bar["encoding"]["y2"] == {"field": "high"}
    assert point["encoding"]["x"]["scale"]["domain"] == [0, 0.65]
    assert point["encoding"]["x"]["axis"]["format"] == "~%"


def test_calibration_of_numbers_has_their_range(layers_of):
    chart = calibration_chart([10.0, 20.0], [12.0, 19.0], share=False, what="price")
    point = layers_of(chart)[-1]["encoding"]
    assert point["x"]["scale"]["domain"] == [10.0, 20.0]
    assert "format" not in point["x"]["axis"]
    assert len(layers_of(chart)) == 2


def test_infinite_ends_do_not_stretch_the_axis(layers_of):
    chart = calibration_chart([1.0, 2.0], [1.0, 2.0], [[-np.inf, np.inf], [1.0, 3.0]], share=False)
    assert layers_of(chart)[-1]["encoding"]["y"]["scale"]["domain"] == [1.0, 3.0]


def test_gain_curve_and_its_references(rows_of):
    rows = rows_of(lift_chart([0, 0.1, 1], [0, 0.4, 1], base=0.25, label="ill"))
    assert [(r["rows"], r["found"]) for r in rows if r["curve"] == "model"] == [
        (0, 0), (0.1, 0.4), (1, 1)
    ]  # fmt: skip
    assert [(r["rows"], r["found"]) for r in rows if r["curve"] == "perfect"] == [
        (0, 0), (0.25, 1), (1, 1)
    ]  # fmt: skip


def test_contributions_are_steps_that_end_at_the_prediction(rows_of):
    chart = contributions_chart(["a = 1", "b = 2", "c = 3"], [-1.0, 4.0, 0.5], average=10.0)
    rows = rows_of(chart)
    assert [(r["name"], r["start"], r["end"], r["kind"]) for r in rows] == [
        ("b = 2", 10.0, 14.0, "raises"),
        ("a = 1", 14.0, 13.0, "lowers"),
        ("c = 3", 13.0, 13.5, "raises"),
    ]
    assert "13.5" in chart.to_dict()["title"]["subtitle"][0]


def test_many_contributions_end_in_one_step(rows_of):
    rows = rows_of(contributions_chart(list("abcde"), [5, 4, 3, 2, 1], average=0, most=2))
    assert [(r["name"], r["end"]) for r in rows] == [("a", 5), ("b", 9), ("3 other inputs", 15)]


def test_the_largest_terms_are_on_top_and_missing_intervals_are_not_drawn(rows_of, layers_of):
    chart = terms_chart(["a", "b", "c"], [0.1, -2.0, 1.0], most=2)
    assert [row["term"] for row in rows_of(chart)] == ["b", "c"]
    assert len(layers_of(chart)) == 2
    assert "1 smaller ones are left out" in chart.to_dict()["title"]["subtitle"][0]
    assert [row["term"] for row in rows_of(terms_chart(["a", "b"], [np.nan, 1.0]))] == ["b"]
    nan = [[np.nan, np.nan]] * 3
    assert len(layers_of(terms_chart(["a", "b", "c"], [1, 2, 3], nan))) == 2


def test_worst_rows_from_the_top(rows_of):
    rows = rows_of(worst_rows_chart(["row 1", "row 2"], [1.0, 3.0]))
    assert rows == [{"name": "row 2", "loss": 3.0}, {"name": "row 1", "loss": 1.0}]


def test_effect_of_a_number(rows_of, layers_of):
    chart = effect_chart(effect())
    rows = rows_of(chart)
    assert rows[2] == {
        "x": 4, "partial dependence": 5, "local effects": 4, "low": 4, "high": 6, "r0": 7
    }  # fmt: skip
    single, _, curves, _ = layers_of(chart)
    assert single["transform"] == [{"fold": ["r0"], "as": ["row", "y"]}]
    assert curves["transform"][0]["fold"] == ["partial dependence", "local effects"]
    low, high = single["encoding"]["y"]["scale"]["domain"]
    assert low < -1
    assert high > 6


def test_effect_of_dates_is_in_milliseconds(rows_of, layers_of):
    chart = effect_chart(effect("date", local=None))
    assert rows_of(chart)[0]["x"] == 86_400_000
    assert "local effects" not in rows_of(chart)[0]
    assert layers_of(chart)[2]["transform"][0]["fold"] == ["partial dependence"]
    assert layers_of(chart)[0]["encoding"]["x"]["type"] == "temporal"


def test_effect_of_levels_is_sorted_by_height(rows_of):
    chart = effect_chart(effect("category", values=np.array(["u", "v", "w"]), local=None))
    assert [(r["level"], r["y"], r["low"], r["high"]) for r in rows_of(chart)] == [
        ("w", 5, 4, 6),
        ("v", 1, 1, 1),
        ("u", 0, -1, 1),
    ]


def test_panels_share_their_height():
    several = [
        effect(),
        effect("category", column="c", values=np.array(["u", "v", "w"]), local=None),
    ]
    spec = partial_effects_chart(several).to_dict()
    domains = [panel["layer"][0]["encoding"]["y"]["scale"]["domain"] for panel in spec["concat"]]
    assert domains[0] == domains[1]
    assert [panel["title"]["text"] for panel in spec["concat"]] == ["age", "c"]


def test_a_note_below_the_importances():
    chart = importance_chart(["a"], [1.0], note="These go together: a + b.")
    assert chart.to_dict()["title"]["subtitle"][1] == "These go together: a + b."


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: calibration_chart([0.1], [0.1, 0.2]), "equal length"),
        (lambda: calibration_chart([0.1], [0.1], [[0.1]]), r"must be \(1, 2\)"),
        (lambda: lift_chart([0, 1], [0, 1], base=0), "base a share"),
        (lambda: contributions_chart(["a"], [1, 2], average=0), "One contribution for each name"),
        (lambda: terms_chart([], []), "One number for each term"),
        (lambda: terms_chart(["a"], [np.nan]), "No coefficient is a finite number"),
        (lambda: terms_chart(["a"], [1.0], [[1.0]]), r"must be \(1, 2\)"),
        (lambda: worst_rows_chart(["a"], [1.0, 2.0]), "One loss for each name"),
        (lambda: partial_effects_chart([]), "no effect to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(InputError, match=message):
        draw()
