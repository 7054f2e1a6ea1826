"""Loess against R's stats::loess with exact statistics."""

import json
from pathlib import Path

import numpy as np
import pytest

from bottega.smooth.loess import Loess

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "smooth" / "loess.json").read_text()
)


def name(case):
    tail = ("-weighted" if case["weighted"] else "") + ("" if case["normalize"] else "-raw")
    return "{set}-{surface}-{family}-{span}-{degree}".format(**case) + tail


def data(case):
    found = REFERENCE["sets"][case["set"]]
    X, y, new = (np.array(found[key], dtype=float) for key in ("X", "y", "new"))
    weight = np.resize([1, 2, 0.5, 1, 3], len(y)) if case["weighted"] else None
    return X, y, new, weight


def fitted(case):
    X, y, new, weight = data(case)
    given = {key: case[key] for key in ("span", "degree", "surface", "family")}
    given["standardize"] = case["normalize"]  # R's word
    model = Loess(**given, statistics="exact", span_of="rows")
    return model.fit(X, y, sample_weight=weight), X, new


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=name)
def test_agrees_with_r(case):
    model, X, new = fitted(case)
    # Same formulas, other order of the sums: R solves by singular values, here by Cholesky.
    close = {"rel": 1e-8, "abs": 1e-8}
    assert model.smoother_.fitted == pytest.approx(case["fitted"], **close)
    mean, std = model.predict(X, return_std=True)
    assert mean == pytest.approx(case["fitted"], **close)
    assert model.statistics_ == pytest.approx(
        {key: case[key] for key in ("trace", "enp", "one_delta", "two_delta")}, rel=1e-8
    )
    assert model.sigma_ == pytest.approx(case["s"], rel=1e-8)
    assert model.smoother_.df_residual == pytest.approx(case["df"], rel=1e-8)
    known = [i for i, value in enumerate(case["new"]) if value is not None]
    new_mean, new_std = model.predict(new[known], return_std=True)
    # Far outside the rows the local systems are worse conditioned: a digit less.
    assert new_mean == pytest.approx([case["new"][i] for i in known], rel=1e-7, abs=1e-8)
    if case["family"] == "symmetric" and case["surface"] == "interpolate":
        return  # R takes these standard errors from the surface without robustness weights
    assert std == pytest.approx(case["se"], **close)
    assert new_std == pytest.approx([case["new_se"][i] for i in known], rel=1e-7, abs=1e-8)


@pytest.mark.parametrize(
    "case",
    [case for case in REFERENCE["cases"] if len(np.ravel(case["divisor"])) > 1],
    ids=name,
)
def test_inputs_are_scaled_as_r_does(case):
    model, *_ = fitted(case)
    # 13 digits are stored.
    assert model._rows.divisor == pytest.approx(np.ravel(case["divisor"]), rel=1e-12)


@pytest.mark.parametrize(
    "case", [case for case in REFERENCE["cases"] if case["surface"] == "interpolate"], ids=name
)
def test_r_gives_nothing_outside_the_box_where_we_fit_directly(case):
    outside = [i for i, value in enumerate(case["new"]) if value is None]
    model, _, new = fitted(case)
    direct = Loess(**{**model.get_params(), "surface": "direct", "iterations": 1})
    X, y, _, weight = data(case)
    if case["family"] == "gaussian" and outside:
        expected = direct.fit(X, y, sample_weight=weight).predict(new[outside])
        assert model.predict(new[outside]) == pytest.approx(expected, rel=1e-12)
    assert np.all(np.isfinite(model.predict(new)))
