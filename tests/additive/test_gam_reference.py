"""The backfitting engine against gam::gam: fitted values, deviance, degrees of freedom, terms."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bottega.additive import AdditiveModel, deviance_test
from bottega.core.errors import InputError
from bottega.core.smoother import f_test

FOLDER = Path(__file__).parents[1] / "reference" / "additive"
REFERENCE = json.loads((FOLDER / "gam.json").read_text())
DATA = pd.DataFrame(REFERENCE["data"])
SPLINES = "smooth(x0, df=6) + smooth(x1, df=4) + smooth(x2, df=3)"
# Name of the fit: response, terms, family, column of weights.
CASES = {
    "gaussian": ("gauss", SPLINES, "gaussian", None),
    "gaussian_weights": ("gauss", SPLINES, "gaussian", "weight"),
    "gaussian_linear": (
        "gauss",
        "smooth(x0, df=6) + linear(x1) + factor(level)",
        "gaussian",
        None,
    ),
    "binomial": ("binary", SPLINES, "binomial", None),
    "poisson": ("count", SPLINES, "poisson", None),
    "local": ("curved", "local(z, span=0.5) + smooth(x1, df=4)", "gaussian", None),
    "local_alone": ("curved", "local(z, span=0.5)", "gaussian", None),
}


@cache
def fitted(name):
    response, terms, family, weight = CASES[name]
    weights = None if weight is None else DATA[weight].to_numpy()
    model = AdditiveModel(terms, family=family, engine="backfitting", tol=1e-10, max_iter=1000)
    return model.fit(DATA, DATA[response], sample_weight=weights)


@pytest.mark.parametrize("name", CASES)
def test_fit_equals_gam(name):
    model, expected = fitted(name), REFERENCE["fits"][name]
    span = np.ptp(expected["fitted"])
    # gam finds the penalty for a df to about 1e-4 only, see its nl_df; without splines: rounding.
    tolerance = 1e-12 if name == "local_alone" else 1e-4
    assert_allclose(model.predict(DATA), expected["fitted"], atol=tolerance * span)
    assert model.fit_.deviance == pytest.approx(expected["deviance"], rel=1e-4)
    assert model.fit_.null_deviance == pytest.approx(expected["null_deviance"], rel=1e-9)
    assert model.fit_.df_residual == pytest.approx(expected["df_residual"], abs=2e-3)


@pytest.mark.parametrize("name", CASES)
def test_terms_equal_gam(name):
    model, expected = fitted(name), REFERENCE["fits"][name]["terms"]
    values = np.array(expected["values"]).reshape(len(DATA), -1)
    effects = model.predict(DATA, terms=True).iloc[:, 1:].to_numpy()
    for found, theirs in zip(effects.T, values.T, strict=True):
        # gam centres over the weights of the working model, ours over those of the rows.
        assert_allclose(found - found.mean(), theirs - theirs.mean(), atol=5e-4)


def test_rows_of_a_backfitted_model():
    frame = fitted("gaussian_linear").tidy()
    assert frame["term"].tolist() == ["(Intercept)", "smooth(x0)", "linear(x1)", "factor(level)"]
    assert_allclose(frame["edf"].iloc[1:], [6, 1, 2], atol=1e-8)
    assert frame["p_value"].isna().all()
    assert "deviance_test" in str(fitted("gaussian_linear").summary())
    with pytest.raises(InputError, match="penalized"):
        fitted("gaussian_linear").concurvity()


def test_effects_of_a_backfitted_model_are_those_of_its_predictions():
    model = fitted("gaussian_linear")
    effects = model.effects()
    assert list(effects) == ["smooth(x0)", "linear(x1)", "factor(level)"]
    curve = effects["smooth(x0)"]
    new = DATA.iloc[[0] * len(curve.effect)].assign(x0=curve.points[0])
    found = model.predict(new, terms=True)["smooth(x0)"]
    assert_allclose(curve.effect, found, atol=1e-10)
    assert effects["factor(level)"].points[0] == ["a", "b", "c"]
    assert np.isnan(curve.lower).all()


def test_each_level_has_its_curve():
    model = AdditiveModel("smooth(x0, by=level, df=4) + factor(level)", engine="backfitting")
    effects = model.fit(DATA, DATA["gauss"]).effects()
    names = [f"smooth(x0, level={level})" for level in "abc"]
    assert list(effects) == [*names, "factor(level)"]
    curve = effects[names[1]]
    new = DATA.iloc[[0] * len(curve.effect)].assign(x0=curve.points[0], level="b")
    found = model.predict(new, terms=True).iloc[:, 1]
    assert_allclose(curve.effect, found, atol=1e-10)
    assert curve.edf == pytest.approx(4.0, abs=0.01)


def test_the_f_test_between_backfitted_models():
    # D129: F = (deviance lost / df gained) / scale against F with these degrees of freedom.
    big = fitted("gaussian")
    small = AdditiveModel("smooth(x0, df=6) + smooth(x1, df=4)", engine="backfitting", tol=1e-10)
    small.fit(DATA, DATA["gauss"])
    found = deviance_test(small, big)
    gained = 3.0
    lost = small.fit_.deviance - big.fit_.deviance
    scale = big.fit_.deviance / 186.0
    assert found.df == pytest.approx((gained, 186.0), abs=1e-6)
    assert found.statistic == pytest.approx(lost / gained / scale, rel=1e-9)
    assert found.p_value == pytest.approx(stats.f.sf(found.statistic, gained, 186.0), rel=1e-9)
    assert "F" in str(found)


def test_the_chi_square_test_between_models_of_counts():
    big = fitted("poisson")
    small = AdditiveModel("smooth(x0, df=6)", family="poisson", engine="backfitting")
    small.fit(DATA, DATA["count"])
    found = deviance_test(small, big)
    lost = small.fit_.deviance - big.fit_.deviance
    assert found.statistic == pytest.approx(lost)
    assert found.p_value == pytest.approx(stats.chi2.sf(lost, found.df[0]))
    assert "chi-square" in str(found)


def test_models_that_cannot_be_compared():
    big = fitted("gaussian")
    with pytest.raises(InputError, match="must be the smaller"):
        deviance_test(big, big)
    with pytest.raises(InputError, match="of one family"):
        deviance_test(fitted("poisson"), big)
    with pytest.raises(InputError, match="same rows"):
        deviance_test(fitted("gaussian_weights"), big)


def test_the_test_of_linear_smoothers_names_that_of_additive_models():
    with pytest.raises(InputError, match="deviance_test"):
        f_test(fitted("gaussian"), fitted("gaussian"))
