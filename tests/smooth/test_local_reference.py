"""Local regression against locfit (direct fits) and KernSmooth (binned curves, plug-in)."""

import json
from pathlib import Path

import numpy as np
import pytest

from bottega.smooth import LocalRegression, binned_curve, plugin_bandwidth

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "smooth" / "local.json").read_text()
)


def name(case):
    tail = "-weighted" if case["weighted"] else "-nearest" if case["nearest"] else ""
    return "{set}-{kernel}-{degree}".format(**case) + tail


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=name)
def test_agrees_with_locfit(case):
    data = REFERENCE[case["set"]]
    names = ["x"] if case["set"] == "line" else ["a", "b"]
    X = np.column_stack([data[each] for each in names]).astype(float)
    y = np.array(data["y"])
    weight = np.array(REFERENCE["weight"]) if case["weighted"] else None
    model = LocalRegression(
        case["nearest"] or case["bandwidth"],
        kernel=case["kernel"],
        degree=case["degree"],
        kind="nearest" if case["nearest"] else "fixed",
        weighting="spherical",
        standardize=False,
        method="exact",
    ).fit(X, y, sample_weight=weight)
    # locfit solves with a tolerance of its own: up to 1e-7 where a window has few rows.
    close = {"rel": 1e-7, "abs": 1e-7}
    mean, std = model.predict(X, return_std=True)
    assert mean == pytest.approx(case["fitted"], **close)
    assert model.smoother_.fitted == pytest.approx(case["fitted"], **close)
    assert std / model.sigma_ == pytest.approx(case["length"], **close)
    # Its influence is that of a row of weight one at the place.
    leverage = model.leverage_ / (1.0 if weight is None else weight)
    assert leverage == pytest.approx(case["leverage"], **close)


@pytest.mark.parametrize(
    "case", REFERENCE["curves"], ids=lambda c: f"{c['degree']}-{c['derivative']}"
)
def test_binned_curve_agrees_with_locpoly(case):
    x, y = (np.array(REFERENCE["many"][key]) for key in ("x", "y"))
    _, curve = binned_curve(
        x,
        y,
        case["bandwidth"],
        degree=case["degree"],
        derivative=case["derivative"],
        limits=(0, 1),
    )
    # locpoly ends its weight function at four bandwidths, where 3e-4 of it is left; derivatives
    # are in units of one over the bandwidth.
    tolerance = 5.5e-4 / case["bandwidth"] ** case["derivative"] * (1 + 2 * case["derivative"])
    assert curve[::10] == pytest.approx(case["curve"], abs=tolerance)


@pytest.mark.parametrize("case", REFERENCE["plugins"], ids=["sine", "bump", "parabola"])
def test_plugin_bandwidth_is_near_dpill(case):
    # dpill goes on from the same pilot by two more stages; a quarter is within what either varies
    # by from sample to sample.
    assert plugin_bandwidth(case["x"], case["y"]) == pytest.approx(case["bandwidth"], rel=0.25)
