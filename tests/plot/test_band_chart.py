"""The curve of one input: band, draws, truth and data (M429, M433)."""

import numpy as np
import pytest

from bottega.linear import BayesianRegression
from bottega.plot import band_chart


def kinds(rows):
    return {
        kind: [row for row in rows if row["kind"] == kind] for kind in {r["kind"] for r in rows}
    }


def test_posterior_of_a_line(rows_of, layers_of):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=20)
    model = BayesianRegression(2.0, 25.0).fit(x[:, None], -0.3 + 0.5 * x)
    grid = np.linspace(-1, 1, 9)
    mean = model.predict(grid[:, None])
    band = model.interval(grid[:, None], kind="prediction")
    lines = model.sample(6, random_state=0) @ np.stack([np.ones(9), grid])
    chart = band_chart(
        grid, mean, band, points=(x, -0.3 + 0.5 * x), truth=-0.3 + 0.5 * grid, curves=lines
    )
    found = kinds(rows_of(chart))
    assert {kind: len(rows) for kind, rows in found.items()} == {
        "fit": 9,
        "draw": 6 * 9,
        "truth": 9,
        "data": 20,
    }
    assert [row["y"] for row in found["fit"]] == pytest.approx(mean, rel=1e-6)
    assert [row["low"] for row in found["fit"]] == pytest.approx(band[0], rel=1e-6)
    assert [row["high"] for row in found["fit"]] == pytest.approx(band[1], rel=1e-6)
    assert [row["y"] for row in found["draw"] if row["curve"] == 4] == pytest.approx(
        lines[4], rel=1e-6
    )
    marks = [layer["mark"]["type"] for layer in layers_of(chart)]
    assert marks == ["area", "line", "line", "line", "circle"]
    assert "6 draws" in chart.to_dict()["description"]
    assert "20 data points" in chart.to_dict()["description"]


def test_points_out_of_order_are_drawn_from_left_to_right(rows_of, layers_of):
    chart = band_chart([2.0, 0.0, 1.0], [20.0, 0.0, 10.0], names=("age", "price"))
    rows = rows_of(chart)
    assert [(row["x"], row["y"]) for row in rows] == [(0, 0), (1, 10), (2, 20)]
    assert [layer["mark"]["type"] for layer in layers_of(chart)] == ["line"]
    assert chart.to_dict()["title"]["text"] == "price against age"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0], [1.0]), "at least two numbers"),
        (([0.0, 1.0], [1.0]), "mean has shape"),
        (([0.0, 1.0], [1.0, 2.0], ([0.0], [1.0])), "band has shape"),
    ],
)
def test_bad_curves_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        band_chart(*given)


def test_bad_extras_are_refused():
    with pytest.raises(ValueError, match="curves has shape"):
        band_chart([0.0, 1.0], [0.0, 1.0], curves=[[1.0]])
    with pytest.raises(ValueError, match="truth has shape"):
        band_chart([0.0, 1.0], [0.0, 1.0], truth=[1.0])
    with pytest.raises(ValueError, match="two lists of one length"):
        band_chart([0.0, 1.0], [0.0, 1.0], points=([1.0, 2.0], [1.0]))
