"""The additive model against mgcv: terms, families, criteria, tests, concurvity, checks.

mgcv's P-splines have their outermost knots a thousandth of the range outside of the data, ours at
the data: the fits differ in the fourth digit, and smoothing parameters accordingly.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bottega.additive import AdditiveModel

FOLDER = Path(__file__).parents[1] / "reference" / "additive"
REFERENCE = json.loads((FOLDER / "mgcv.json").read_text())
DATA = pd.DataFrame(REFERENCE["data"])
DATA["log_exposure"] = np.log(DATA["exposure"])
ROWS = np.array(REFERENCE["rows"]) - 1


def curves(*names):
    return " + ".join(f"smooth({name}, n_splines=12)" for name in names)


FOUR = curves("x0", "x1", "x2", "x3")
SURFACE = "tensor(x0, x1, n_splines=6"
# Name of the fit: response, terms, parameters, column of weights.
CASES = {
    "gaussian_reml": ("gauss", FOUR, {}, None),
    "gaussian_gcv": ("gauss", FOUR, {"method": "gcv"}, None),
    "gaussian_weights": ("noisy", FOUR, {}, "weight"),
    "gaussian_select": ("gauss", FOUR, {"shrink": True}, None),
    "binomial_reml": ("binary", FOUR, {"family": "binomial"}, None),
    "binomial_ubre": ("binary", FOUR, {"family": "binomial", "method": "ubre"}, None),
    "binomial_trials": ("share", FOUR, {"family": "binomial"}, "trials"),
    "poisson_reml": ("count", f"{FOUR} + offset(log_exposure)", {"family": "poisson"}, None),
    "poisson_ubre": (
        "count",
        f"{FOUR} + offset(log_exposure)",
        {"family": "poisson", "method": "ubre"},
        None,
    ),
    "gamma_reml": ("positive", FOUR, {"family": "gamma"}, None),
    "gamma_gcv": ("positive", FOUR, {"family": "gamma", "method": "gcv"}, None),
    "nb_reml": ("over", FOUR, {"family": "negative_binomial"}, None),
    "tensor": ("surface", f"{SURFACE}) + {curves('x2')}", {}, None),
    "interaction": ("surface", f"{curves('x0', 'x1')} + {SURFACE}, main=false)", {}, None),
    "cyclic": (
        "wave",
        f"smooth(x0, n_splines=12, basis='cyclic', period=(0, 1)) + {curves('x1')}",
        {},
        None,
    ),
    "by_number": ("varying", f"smooth(x0, by=x3, n_splines=12) + {curves('x1')}", {}, None),
    "by_factor": (
        "varying",
        f"factor(level) + {curves('x0')} + smooth(x1, by=level, n_splines=12)",
        {},
        None,
    ),
    "random": ("grouped", f"{curves('x0', 'x1', 'x2')} + random(id)", {}, None),
    "random_null": ("gauss", f"{curves('x0', 'x1', 'x2')} + random(empty)", {}, None),
    "random_two": (
        "grouped",
        f"{curves('x0', 'x1', 'x2')} + random(id) + random(empty)",
        {},
        None,
    ),
    "random_binomial": (
        "binary",
        f"{curves('x0', 'x2')} + random(id)",
        {"family": "binomial"},
        None,
    ),
    "parametric": ("stepped", f"linear(x1) + factor(level) + {curves('x0')}", {}, None),
    "parametric_binomial": (
        "binary",
        f"linear(x1) + factor(level) + {curves('x2')}",
        {"family": "binomial"},
        None,
    ),
    "thin_plate": (
        "surface",
        f"smooth(x0, x1, basis='thin_plate', n_splines=25) + {curves('x2')}",
        {},
        None,
    ),
    "concurvity": ("gauss", curves("x0", "near", "x2"), {}, None),
}
# Columns without a penalty have other units than mgcv's, which shifts the restricted likelihood.
OTHER_UNITS = ("by_factor", "parametric", "parametric_binomial", "thin_plate")


@cache
def fitted(name):
    response, terms, parameters, weight = CASES[name]
    weights = None if weight is None else DATA[weight].to_numpy()
    return AdditiveModel(terms, **parameters).fit(DATA, DATA[response], sample_weight=weights)


def whole_terms(name):
    frame = fitted(name).tidy()
    frame = frame[frame["edf"].notna() & (frame["kind"] != "factor")]
    return frame.reset_index(drop=True)


@pytest.mark.parametrize("name", CASES)
def test_fit_equals_mgcv(name):
    model, expected = fitted(name), REFERENCE["fits"][name]
    span = np.ptp(expected["fitted"])
    found = model.predict(DATA)
    # The bar is 1 % of the range; thin plates differ in the points that make the basis.
    assert_allclose(found, expected["fitted"], atol=0.01 * span)
    fit = model.fit_
    assert fit.df == pytest.approx(expected["edf_total"], abs=0.1)
    assert fit.deviance == pytest.approx(expected["deviance"], rel=2e-3)
    # That of the negative binomial moves with its estimated theta.
    assert fit.null_deviance == pytest.approx(expected["null_deviance"], rel=1e-5)
    if name not in OTHER_UNITS:
        assert fit.score == pytest.approx(expected["score"], rel=1e-3)
    if fit.family.name != "gamma":  # mgcv's scale is Fletcher's, ours that of the criterion
        assert fit.scale == pytest.approx(expected["scale"], rel=2e-3)
        assert fit.loglik == pytest.approx(expected["loglik"], abs=0.05)


@pytest.mark.parametrize("name", CASES)
def test_terms_equal_mgcv(name):
    expected = REFERENCE["fits"][name]
    frame, rows = whole_terms(name), expected["smooth"]["values"]
    assert len(frame) == len(rows)
    for found, (edf, ref_df, _, p_value) in zip(frame.itertuples(), rows, strict=True):
        assert found.edf == pytest.approx(edf, abs=0.1)
        if name == "gaussian_select":
            continue  # mgcv tests what selection has left, ours the term without its shrinkage
        assert found.ref_df == pytest.approx(ref_df, abs=0.15)
        # Of the same order: with the uncertainty of the smoothing parameters ours are larger.
        if p_value > 1e-5:
            assert 0.3 < found.p_value / p_value < 4
        else:
            assert found.p_value < 1e-4


# mgcv centres effects over the rows, ours over their weights, or over the rows of a level.
OTHER_CENTRES = ("gaussian_weights", "binomial_trials", "by_factor")


@pytest.mark.parametrize("name", CASES)
def test_effects_and_their_standard_errors_equal_mgcv(name):
    model, theirs = fitted(name), REFERENCE["fits"][name]["terms"]
    X = model._check_new(DATA.iloc[ROWS])
    values, errors = np.array(theirs["fit"]), np.array(theirs["se"])
    checked = 0
    for place, label in enumerate(theirs["names"]):
        block, part = _block_of(model, label)
        if block is None or model.fit_.edf[part].sum() < 0.05:
            continue
        rows = block.design(X)
        effect, expected = rows @ model.fit_.coef[part], values[:, place]
        V = model.fit_.covariance[part, part]
        found = np.sqrt(np.einsum("ij,jk,ik->i", rows, V, rows))
        near = errors[:, place].max()
        if name in OTHER_CENTRES:
            effect, expected = effect - effect.mean(), expected - expected.mean()
            assert_allclose(found, errors[:, place], rtol=0.1, atol=0.1 * near)
        else:
            # A line has no error at its centre, a curve that is nearly one has some.
            share = 0.03 if model.fit_.edf[part].sum() > 1.1 else 0.25
            assert_allclose(found, errors[:, place], rtol=0.02, atol=share * near)
        assert_allclose(effect, expected, atol=0.1 * near)
        checked += 1
    assert checked


def _block_of(model, label):
    """Return the block that mgcv calls s(x0), te(x0,x1), s(x1):levelb, ..., and its place."""
    inside = label[label.index("(") + 1 : label.index(")")] if "(" in label else label
    names = [list(DATA.columns).index(each) for each in inside.split(",")]
    by = label.split("):")[1] if "):" in label else ""
    for block, part in zip(model.blocks_, model.fit_.slices, strict=True):
        varied = list(dict.fromkeys(block.columns))
        if block.kind in ("smooth", "tensor", "random") and set(names) <= set(varied):
            if by.startswith("level") and not block.name.endswith(f"={by[5:]})"):
                continue
            if len(varied) == len(names) + bool(by):
                return block, part
    return None, None


# ---- parametric terms ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["parametric", "parametric_binomial"])
def test_slopes_and_factors_equal_mgcv(name):
    frame = fitted(name).tidy().set_index("term")
    expected = REFERENCE["fits"][name]
    rows = dict(zip(expected["parametric"]["names"], expected["parametric"]["values"], strict=True))
    slope = frame[frame["kind"] == "linear"].iloc[0]
    theirs = rows["x1"]
    found = [slope["estimate"], slope["std_error"], slope["statistic"], slope["p_value"]]
    assert_allclose(found, theirs, rtol=1e-3)
    # Levels have mean zero here and stand against the first there: differences agree.
    level = {each: frame.loc[f"factor(level)[{each}]", "estimate"] for each in "abc"}
    assert level["b"] - level["a"] == pytest.approx(rows["levelb"][0], rel=1e-3)
    assert level["c"] - level["a"] == pytest.approx(rows["levelc"][0], rel=1e-3)
    wald = dict(zip(expected["wald"]["names"], expected["wald"]["values"], strict=True))["level"]
    whole = frame.loc["factor(level)"]
    assert_allclose([whole["ref_df"], whole["statistic"], whole["p_value"]], wald, rtol=1e-3)


def test_intervals_of_coefficients_are_students():
    frame = fitted("parametric").tidy(level=0.9)
    row = frame[frame["kind"] == "linear"].iloc[0]
    half = stats.t.ppf(0.95, fitted("parametric").fit_.df_residual) * row["std_error"]
    assert row["conf_high"] - row["estimate"] == pytest.approx(half, rel=1e-9)


# ---- the whole model ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussian_reml", "binomial_reml", "gaussian_gcv", "random"])
def test_glance_equals_mgcv(name):
    row, expected = fitted(name).glance().iloc[0], REFERENCE["fits"][name]
    assert row["r_squared"] == pytest.approx(expected["dev_expl"], abs=1e-3)
    # mgcv corrects the degrees of freedom of AIC to second order, ours is of first order.
    assert row["aic"] == pytest.approx(expected["aic"], abs=2.5)
    assert row["nobs"] == 300


@pytest.mark.parametrize(("name", "key"), [("gaussian_reml", "plain"), ("concurvity", "near")])
def test_concurvity_equals_mgcv(name, key):
    frame, expected = fitted(name).concurvity(), REFERENCE["concurvity"][key]
    theirs = np.array(expected["values"])[:, 1:]  # the first are the parametric columns
    assert_allclose(frame[["worst", "observed", "estimate"]].to_numpy().T, theirs, atol=2e-3)


def test_the_index_of_neighbouring_residuals_equals_mgcv():
    small = AdditiveModel(f"{curves('x0')} + smooth(x2, n_splines=4, degree=2, order=1)").fit(
        DATA, DATA["gauss"]
    )
    for model, key in ((fitted("gaussian_reml"), "plain"), (small, "small")):
        frame = model.check(DATA, DATA["gauss"]).tidy()
        expected = np.array(REFERENCE["dimension"][key]["values"])
        assert_allclose(frame["size"], expected[:, 0])
        # mgcv's mean under no effect is one of 2,000 orders, ours exact: some 2 % apart.
        assert_allclose(frame["index"], expected[:, 2], atol=0.02)
        assert_allclose(frame["p_value"], expected[:, 3], atol=0.08)
    told = str(small.check(DATA, DATA["gauss"]))
    assert "give it a larger n_splines" in told
    assert "larger n_splines" not in str(fitted("gaussian_reml").check(DATA, DATA["gauss"]))
