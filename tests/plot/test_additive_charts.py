"""Charts of additive models: their data against numbers given."""

from types import SimpleNamespace

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.plot import additive_effects_chart, model_check_chart


def term(name="smooth(x)", columns=("x",), points=None, effect=(-1.0, 0.0, 1.0), **more):
    effect = np.array(effect)
    given = {
        "name": name,
        "columns": columns,
        "points": (np.array([0.0, 1.0, 2.0]),) if points is None else points,
        "effect": effect,
        "lower": effect - 0.5,
        "upper": effect + 0.5,
        "edf": 2.3,
        "response": "",
    }
    return SimpleNamespace(**(given | more))


def panels_of(chart):
    spec = chart.to_dict()
    # One panel alone has its data at the top.
    return [{"data": spec.get("data"), **panel} for panel in spec["concat"]]


def test_a_curve_is_drawn_with_its_band():
    chart = additive_effects_chart([term()], level=0.9, band="simultaneous")
    (panel,) = panels_of(chart)
    assert panel["data"]["values"] == [
        {"x": 0.0, "effect": -1.0, "low": -1.5, "high": -0.5},
        {"x": 1.0, "effect": 0.0, "low": -0.5, "high": 0.5},
        {"x": 2.0, "effect": 1.0, "low": 0.5, "high": 1.5},
    ]
    zero, area, line = panel["layer"]
    assert zero["encoding"]["y"]["datum"] == 0
    assert (area["encoding"]["y"]["field"], area["encoding"]["y2"]["field"]) == ("low", "high")
    assert line["encoding"]["x"]["title"] == "x"
    assert panel["title"]["text"] == "smooth(x), df 2.3"
    assert "simultaneous 90 %" in chart.to_dict()["title"]["subtitle"][0]


def test_the_widest_effects_come_first_on_one_height():
    chart = additive_effects_chart([term(), term("wide", effect=(-3.0, 0.0, 4.0))], most=1)
    assert [panel["title"]["text"] for panel in panels_of(chart)] == ["wide, df 2.3"]
    assert "1 narrower effects" in chart.to_dict()["title"]["subtitle"][0]
    both = panels_of(additive_effects_chart([term(), term("wide", effect=(-3.0, 0.0, 4.0))]))
    domains = [panel["layer"][2]["encoding"]["y"]["scale"]["domain"] for panel in both]
    assert domains[0] == domains[1]
    assert domains[0][0] < -3.5
    assert domains[0][1] > 4.5


def test_levels_stand_in_the_order_of_their_effects():
    chart = additive_effects_chart([term("factor(g)", ("g",), (["a", "b", "c"],))])
    (panel,) = panels_of(chart)
    assert [row["level"] for row in panel["data"]["values"]] == ["c", "b", "a"]
    many = [f"l{k}" for k in range(50)]
    heights = np.arange(50.0)
    (panel,) = panels_of(additive_effects_chart([term("random(id)", ("id",), (many,), heights)]))
    shown = [row["level"] for row in panel["data"]["values"]]
    assert (len(shown), shown[0], shown[-1]) == (20, "l49", "l0")  # both ends


@pytest.mark.parametrize(("count", "overlap"), [(5, False), (15, "greedy")])
def test_few_levels_all_have_their_name(count, overlap):
    names = [f"a long name {k}" for k in range(count)]
    effect = term("factor(g)", ("g",), (names,), np.arange(float(count)))
    (panel,) = panels_of(additive_effects_chart([effect]))
    axes = [
        layer["encoding"]["x"].get("axis") for layer in panel["layer"] if "x" in layer["encoding"]
    ]
    assert overlap in [axis["labelOverlap"] for axis in axes if axis]


def test_a_surface_is_drawn_by_colour():
    x, y = np.repeat([0.0, 1.0], 2), np.tile([5.0, 7.0], 2)
    surface = term("tensor(x, y)", ("x", "y"), (x, y), (-2.0, 0.0, 1.0, 2.0))
    (panel,) = panels_of(additive_effects_chart([surface]))
    rows = panel["data"]["values"]
    assert [row["size"] for row in rows] == [1.0, 0.0, 0.5, 1.0]
    assert [row["sign"] for row in rows] == ["below the mean", *["above the mean"] * 3]
    assert (rows[0]["left"], rows[0]["right"], rows[0]["bottom"], rows[0]["top"]) == (
        *(-0.5, 0.5),
        *(4.0, 6.0),
    )


def test_surfaces_are_shaded_on_one_scale():
    x, y = np.repeat([0.0, 1.0], 2), np.tile([0.0, 1.0], 2)
    flat = term("tensor(x, y)", ("x", "y"), (x, y), (-0.5, 0.0, 0.25, 0.5))
    steep = term("tensor(x, z)", ("x", "z"), (x, y), (-2.0, 0.0, 1.0, 2.0))
    first, second = panels_of(additive_effects_chart([flat, steep]))
    sizes = [[row["size"] for row in panel["data"]["values"]] for panel in (first, second)]
    assert sizes == [[1.0, 0.0, 0.5, 1.0], [0.25, 0.0, 0.125, 0.25]]


def test_a_curve_without_a_band_is_drawn():
    gone = np.full(3, np.nan)
    chart = additive_effects_chart([term(lower=gone, upper=gone)])
    assert chart.to_dict()["title"]["subtitle"] == ["The widest first."]
    (panel,) = panels_of(chart)
    assert panel["data"]["values"][0]["low"] is None
    assert panel["layer"][2]["encoding"]["y"]["scale"]["domain"] == [-1.1, 1.1]


def test_no_effects_are_refused():
    with pytest.raises(InputError, match="no effect"):
        additive_effects_chart([])


def test_the_four_looks_at_residuals():
    residual = np.array([-1.0, 0.0, 2.0, -0.5, 0.5])
    check = SimpleNamespace(
        quantiles={
            "expected": np.linspace(-1, 1, 5),
            "observed": np.sort(residual),
            "low": np.linspace(-2, 0, 5),
            "high": np.linspace(0, 2, 5),
        },
        residual=residual,
        predictor=np.arange(5.0),
        fitted=np.arange(5.0),
        y=np.arange(5.0) + residual,
        outside=0.2,
        level=0.95,
    )
    chart = model_check_chart(check)
    quantiles, cloud, bars, observed = panels_of(chart)
    assert [row["observed"] for row in quantiles["data"]["values"]] == [-1.0, -0.5, 0.0, 0.5, 2.0]
    assert [row["residual"] for row in cloud["data"]["values"]] == residual.tolist()
    assert sum(row["rows"] for row in bars["data"]["values"]) == 5
    assert bars["encoding"]["y2"] == {"datum": 0}
    assert observed["data"]["values"][2] == {"fitted": 2.0, "observed": 4.0}
    assert "20 % of them" in chart.to_dict()["title"]["subtitle"][0]
