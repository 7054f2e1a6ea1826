"""Charts of smooths: a band, several knobs, sure curvature."""

import numpy as np
import pytest

from bottega.plot import curvature_chart, smooth_chart, smooths_chart
from bottega.smooth import SmoothingSpline, ThinPlateSpline, bands, significant_curvature

GRID = np.linspace(0, 6, 40)


@pytest.fixture
def wave():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, size=120)
    y = np.sin(x) + 0.1 * rng.normal(size=120)
    return x, y, SmoothingSpline().fit(x[:, None], y)


def test_band_says_what_it_leaves_out(wave, rows_of):
    x, y, model = wave
    band = bands(model, GRID[:, None], kind="simultaneous")
    chart = smooth_chart(band, points=(x, y), truth=np.sin(GRID), names=("hour", "load"))
    rows = rows_of(chart)
    fit = [row for row in rows if row["kind"] == "fit"]
    assert [row["high"] for row in fit] == pytest.approx(band.upper, rel=1e-6)
    assert len([row for row in rows if row["kind"] == "data"]) == 120
    spec = chart.to_dict()
    assert spec["title"]["text"] == "load against hour"
    assert spec["title"]["subtitle"][1].startswith("Simultaneous 95% band: about noise at all x")
    assert "bias is not in it" in spec["description"]


def test_many_points_are_thinned_and_counted(rows_of):
    x = np.linspace(0, 6, 9_000)
    model = SmoothingSpline(0.1).fit(x[:, None], np.sin(x))
    chart = smooth_chart(bands(model, GRID[:, None]), points=(x, np.sin(x)))
    drawn = [row for row in rows_of(chart) if row["kind"] == "data"]
    assert len(drawn) == 1_800
    assert "1,800 of 9,000 data points" in chart.to_dict()["title"]["subtitle"][0]


def test_several_knobs_share_their_axes(wave):
    x, y, _ = wave
    curves = {}
    for alpha in (10.0, 0.1, 1e-9):
        curves[f"alpha = {alpha:g}"] = (
            SmoothingSpline(alpha).fit(x[:, None], y).predict(GRID[:, None])
        )
    spec = smooths_chart(GRID, curves, points=(x, y), columns=2).to_dict()
    assert [panel["title"]["text"] for panel in spec["concat"]] == list(curves)
    assert spec["columns"] == 2
    rows = spec["data"]["values"]
    assert len(rows) == 3 * 40 + 120
    scales = [panel["layer"][-1]["encoding"]["y"]["scale"]["domain"] for panel in spec["concat"]]
    assert scales[0] == scales[1] == scales[2] == pytest.approx([y.min(), y.max()], rel=1e-6)
    wild = [row["y"] for row in rows if row.get("panel") == "alpha = 1e-09"]
    assert wild == pytest.approx(curves["alpha = 1e-09"], rel=1e-6)


def test_sure_curvature_is_coloured_along_its_regions(wave):
    x, y, model = wave
    found = significant_curvature(model, GRID)
    spec = curvature_chart(found, model.predict(GRID[:, None]), points=(x, y)).to_dict()
    rows = spec["data"]["values"]
    sure = [row for row in rows if row["kind"] == "sure"]
    assert len(sure) == np.count_nonzero(found.sign)
    concave = [row["x"] for row in sure if row["sign"].startswith("concave")]
    assert concave == pytest.approx(GRID[found.sign == -1], rel=1e-6)
    assert len({row["part"] for row in sure}) == len(found.regions())
    assert "concave: bends down from" in spec["description"]
    slope = curvature_chart(
        significant_curvature(model, GRID, derivative=1), model.predict(GRID[:, None])
    ).to_dict()
    assert slope["title"]["text"] == "Where response rises or falls for sure"


def test_bad_requests_are_refused(wave):
    x, y, model = wave
    band = bands(model, GRID[:, None])
    with pytest.raises(ValueError, match="120 and 119 numbers"):
        smooth_chart(band, points=(x, y[1:]))
    with pytest.raises(ValueError, match="no curve to draw"):
        smooths_chart(GRID, {})
    with pytest.raises(ValueError, match="'a' has shape"):
        smooths_chart(GRID, {"a": [1.0]})
    X = np.random.default_rng(0).normal(size=(40, 2))
    surface = bands(ThinPlateSpline(1.0).fit(X, X[:, 0] ** 2), X)
    with pytest.raises(ValueError, match="over 2 inputs is no curve"):
        smooth_chart(surface)
