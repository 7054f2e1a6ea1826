"""Effects, bands, checks of residuals, concurvity, selection of terms, results as tables."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bottega.additive import AdditiveClassifier, AdditiveModel, random, smooth
from bottega.additive._inference.neighbours import neighbour_ratio
from bottega.core.errors import DataWarning, InputError
from bottega.core.results import GLANCE, TIDY

TERMS = "smooth(x) + smooth(z) + factor(g) + random(id) + linear(u) + tensor(s, t)"


def sample(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.uniform(size=(n, 5)), columns=["x", "z", "u", "s", "t"])
    frame["g"] = np.array(["a", "b", "c"])[rng.integers(3, size=n)]
    frame["id"] = np.array([f"i{k}" for k in range(10)])[rng.integers(10, size=n)]
    shift = dict(zip([f"i{k}" for k in range(10)], rng.normal(size=10), strict=True))
    mean = np.sin(6 * frame["x"]) + 2 * frame["u"] + 3 * frame["s"] * (frame["t"] - 0.5)
    mean += frame["g"].map({"a": 0.0, "b": 1.0, "c": -0.5}) + frame["id"].map(shift)
    return frame, (mean + 0.4 * rng.normal(size=n)).to_numpy()


@cache
def model():
    return AdditiveModel(TERMS).fit(*sample())


# ---- effects ------------------------------------------------------------------------------------


def test_effects_are_those_of_the_predictions():
    frame, _ = sample()
    effects = model().effects()
    columns = {"smooth(x)": "x", "smooth(z)": "z", "linear(u)": "u", "factor(g)": "g"}
    for name, column in (columns | {"random(id)": "id"}).items():
        effect = effects[name]
        assert effect.columns == (column,)
        new = frame.iloc[[0] * len(effect.effect)].assign(**{column: list(effect.points[0])})
        assert_allclose(effect.effect, model().predict(new, terms=True)[name], atol=1e-9)
    surface = effects["tensor(s, t)"]
    new = frame.iloc[[0] * len(surface.effect)].assign(s=surface.points[0], t=surface.points[1])
    assert_allclose(surface.effect, model().predict(new, terms=True)["tensor(s, t)"], atol=1e-9)


def test_effects_are_centred_over_the_rows():
    frame, _ = sample()
    terms = model().predict(frame, terms=True).drop(columns=["(Intercept)", "random(id)"])
    assert_allclose(terms.mean(), 0.0, atol=1e-8)


def test_a_band_is_the_effect_and_its_errors():
    effect = model().effects("smooth(x)", level=0.9, unconditional=False)["smooth(x)"]
    half = effect.critical * effect.std_error
    assert_allclose(effect.lower, effect.effect - half)
    assert_allclose(effect.upper, effect.effect + half)
    wide = model().effects("smooth(x)", level=0.9, band="simultaneous")["smooth(x)"]
    assert wide.critical > 1.3 * effect.critical
    again = model().effects("smooth(x)", level=0.9, band="simultaneous")["smooth(x)"]
    assert wide.critical == again.critical
    one = model().effects("linear(u)", band="simultaneous", with_mean=False)["linear(u)"]
    # A line has one direction: all its points are certain together.
    assert one.critical == pytest.approx(model().effects()["linear(u)"].critical, rel=0.02)
    more = model().effects("smooth(x)")["smooth(x)"]
    assert np.all(more.std_error >= effect.std_error - 1e-12)
    less = model().effects("smooth(x)", with_mean=False, unconditional=False)["smooth(x)"]
    frame, _ = sample()
    V, part = model().fit_.covariance, model().fit_.slices[1]
    new = frame.iloc[[0] * 100].assign(x=less.points[0])
    rows = model().blocks_[1].design(model()._check_new(new))
    assert_allclose(less.std_error**2, np.diag(rows @ V[part, part] @ rows.T), atol=1e-12)


def test_effects_as_data_and_as_text():
    effects = model().effects()
    frame = effects.tidy()
    curve = frame[frame["term"] == "smooth(x)"]
    assert_allclose(curve["x"], effects["smooth(x)"].points[0])
    assert_allclose(curve["conf_high"], effects["smooth(x)"].upper)
    levels = frame[frame["term"] == "factor(g)"]
    assert levels["level"].tolist() == ["a", "b", "c"]
    assert frame[frame["term"] == "tensor(s, t)"]["column2"].unique().tolist() == ["t"]
    assert "smooth(x)" in repr(effects)
    assert len(effects) == 6


def test_the_frame_library_is_that_of_the_data():
    frame, y = sample(120)
    fitted = AdditiveModel("smooth(x) + factor(g)").fit(pl.from_pandas(frame), y)
    for found in (fitted.tidy(), fitted.effects().tidy(), fitted.concurvity(), fitted.glance()):
        assert isinstance(found, pl.DataFrame)
    assert isinstance(fitted.check(pl.from_pandas(frame), y).tidy(), pl.DataFrame)


def test_effects_of_varying_coefficients():
    frame, _ = sample()
    rng = np.random.default_rng(1)
    y = np.sin(6 * frame["x"]) * frame["u"] * 5 + frame["z"] + 0.1 * rng.normal(size=len(frame))
    fitted = AdditiveModel("smooth(x, by=u) + smooth(z, by=g) + factor(g)").fit(frame, y)
    effects = fitted.effects()
    curve = effects["smooth(x, by=u)"]  # at u = 1
    assert_allclose(curve.effect, 5 * np.sin(6 * curve.points[0]), atol=0.5)
    assert {"smooth(z, g=a)", "smooth(z, g=b)", "smooth(z, g=c)"} <= set(effects)


@pytest.mark.parametrize("engine", ["penalized", "backfitting"])
def test_missing_values_are_a_level(engine):
    frame, y = sample(200)
    frame["g"] = frame["g"].where(frame.index % 5 > 0, None)
    fitted = AdditiveModel("smooth(x) + factor(g)", engine=engine).fit(frame, y)
    effect = fitted.effects()["factor(g)"]
    assert effect.points[0] == ["a", "b", "c", "missing"]
    gone = int(np.flatnonzero(frame["g"].isna())[0])
    found = fitted.predict(frame.iloc[[gone]], terms=True)["factor(g)"].iloc[0]
    assert effect.effect[-1] == pytest.approx(found, abs=1e-9)


def test_unknown_terms_and_bands_are_refused():
    with pytest.raises(InputError, match=r"Did you mean.*smooth\(x\)"):
        model().effects("smoth(x)")
    with pytest.raises(KeyError, match="smooth"):
        model().effects()["smoth(x)"]
    with pytest.raises(InputError, match="band='joint'"):
        model().effects(band="joint")
    with pytest.raises(InputError, match="level"):
        model().effects(level=1.0)


def test_classes_have_effects_of_their_own():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(300, 2))
    y = np.array(["a", "b", "c"])[(X[:, 0] * 2 + 0.7 * rng.uniform(size=300)).astype(int)]
    fitted = AdditiveClassifier(n_splines=6).fit(X, y)
    effects = fitted.effects()
    assert list(effects) == ["b: smooth(x0)", "b: smooth(x1)", "c: smooth(x0)", "c: smooth(x1)"]
    assert effects["c: smooth(x0)"].effect[-1] > effects["b: smooth(x0)"].effect[-1]
    frame = fitted.tidy()
    assert frame.columns[0] == "response"
    assert frame["response"].unique().tolist() == ["b", "c"]
    assert "response" in effects.tidy().columns
    assert "response" in str(fitted.summary())
    assert fitted.concurvity()["term"].tolist() == ["smooth(x0)", "smooth(x1)"]
    with pytest.raises(InputError, match="one predictor"):
        fitted.check(X, y)


# ---- results ------------------------------------------------------------------------------------


def test_columns_of_results():
    frame = model().tidy()
    assert tuple(frame.columns) == (*TIDY, "kind", "edf", "ref_df")
    assert tuple(model().glance().columns[: len(GLANCE)]) == GLANCE
    told = str(model().summary())
    for word in ("Coefficients", "Terms", "REML", "factor(g)[b]", "tensor(s, t)"):
        assert word in told


def test_a_slope_is_in_the_units_of_its_column():
    frame, y = sample()
    scaled = AdditiveModel(TERMS).fit(frame.assign(u=1000 * frame["u"] + 5), y)
    slopes = [
        each.tidy().set_index("kind").loc["linear"][["estimate", "std_error", "p_value"]]
        for each in (model(), scaled)
    ]
    assert slopes[0]["estimate"] == pytest.approx(2.0, abs=0.3)
    assert slopes[1]["estimate"] == pytest.approx(slopes[0]["estimate"] / 1000, rel=1e-5)
    assert slopes[1]["p_value"] == pytest.approx(slopes[0]["p_value"], rel=1e-3)


def test_tests_do_not_depend_on_the_unit_of_y():
    frame, y = sample()
    other = AdditiveModel(TERMS).fit(frame, 1e6 * y)
    assert_allclose(other.tidy()["p_value"], model().tidy()["p_value"], rtol=1e-4, atol=1e-12)
    assert_allclose(other.tidy()["edf"], model().tidy()["edf"], rtol=1e-5)


@pytest.mark.parametrize(("of_x", "of_y"), [(1e150, 1e-140), (1e-150, 1e140)])
def test_results_hold_at_extreme_units(of_x, of_y):
    frame, y = sample(200)
    terms = "smooth(x) + linear(u) + random(id)"
    scaled = frame.assign(x=of_x * frame["x"], u=of_x * frame["u"])
    plain = AdditiveModel(terms).fit(frame, y)
    fitted = AdditiveModel(terms).fit(scaled, of_y * y)
    assert_allclose(fitted.tidy()["p_value"], plain.tidy()["p_value"], rtol=1e-5)
    effect = fitted.effects(band="simultaneous")["smooth(x)"]
    assert_allclose(effect.upper / of_y, plain.effects(band="simultaneous")["smooth(x)"].upper)
    assert fitted.check(scaled, of_y * y).outside == plain.check(frame, y).outside


def test_a_term_with_a_shape_has_no_test():
    frame, _ = sample(150)
    y = frame["x"] ** 2 + 0.1 * np.random.default_rng(0).normal(size=150)
    fitted = AdditiveModel("smooth(x, shape=increasing)").fit(frame, y)
    row = fitted.tidy().set_index("term").loc["smooth(x)"]
    assert np.isnan(row["p_value"])
    assert row["edf"] > 0


# ---- selection and concurvity -------------------------------------------------------------------


def test_shrinkage_takes_terms_out():
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(300, 6))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=300)
    fitted = AdditiveModel(shrink=True).fit(X, y)
    frame = fitted.tidy().iloc[1:]
    assert np.all(frame["edf"].iloc[:2] > 0.9)
    assert np.sum(frame["edf"].iloc[2:] < 0.05) >= 2  # of four
    assert "Selection took out smooth(x" in str(fitted.summary())
    assert np.all(frame["p_value"].iloc[:2] < 1e-6)
    assert frame["p_value"].iloc[2:].between(0, 1).all()


def test_shrinkage_of_several_classes():
    rng = np.random.default_rng(6)
    X = rng.uniform(size=(400, 2))
    y = (2 * X[:, 0] + 0.7 * rng.uniform(size=400)).astype(int)
    fitted = AdditiveClassifier(n_splines=6, shrink=True).fit(X, y)
    frame = fitted.tidy()
    whole = frame[frame["edf"].notna()].set_index(["response", "term"])["p_value"]
    assert np.all(whole.xs("smooth(x0)", level="term") < 1e-3)
    assert np.all(whole.xs("smooth(x1)", level="term") > 1e-3)
    notes = fitted.summary().notes
    assert notes[0] == "The statistic of a term is chi-square, that of a coefficient its z."
    assert notes[-1] == "Effects on a class are log odds against the first, 0."
    two = AdditiveClassifier(n_splines=6).fit(X, np.where(y > 0, "b", "a"))
    assert two.summary().notes[-1] == "Effects are on the log odds of 'b'."


def test_concurvity_of_a_copy_is_one():
    rng = np.random.default_rng(2)
    x = rng.uniform(size=200)
    X = np.column_stack([x, 1 - x, rng.uniform(size=200)])
    y = np.sin(6 * x) + 0.1 * rng.normal(size=200)
    with pytest.warns(DataWarning, match="concurvity"):
        fitted = AdditiveModel().fit(X, y)
    frame = fitted.concurvity().set_index("term")
    assert frame.loc["smooth(x0)", "worst"] == pytest.approx(1.0, abs=1e-6)
    assert frame.loc["smooth(x1)", "worst"] == pytest.approx(1.0, abs=1e-6)
    assert frame.loc["smooth(x2)", "worst"] < 0.9
    assert "concurvity()" in str(fitted.summary())
    assert_allclose(fitted.predict(X), np.sin(6 * x), atol=0.15)


def test_a_random_effect_of_many_levels_is_no_concurvity():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.uniform(size=120), "z": rng.uniform(size=120)})
    frame["row"] = [f"r{i}" for i in rng.permutation(120) // 2 * 2 + rng.integers(0, 2, 120)]
    y = np.sin(6 * frame["x"]) + 0.1 * rng.normal(size=120)
    fitted = AdditiveModel([smooth("x"), smooth("z"), random("row")]).fit(frame, y)
    assert fitted.concurvity().set_index("term").loc["smooth(x)", "observed"] > 0.5
    assert not any("Concurvity" in note for note in fitted.summary().notes)


def test_concurvity_lies_between_0_and_1():
    frame = model().concurvity()
    values = frame[["worst", "observed", "estimate"]].to_numpy()
    assert np.all((values >= 0) & (values <= 1))
    assert np.all(frame["observed"] <= frame["worst"] + 1e-12)


# ---- checks -------------------------------------------------------------------------------------


def test_residuals_of_a_true_model_stay_inside_their_limits():
    frame, y = sample()
    check = model().check(frame, y)
    assert check.outside < 0.1
    assert_allclose(check.residual, y - model().predict(frame), atol=1e-9)
    assert check.dispersion == pytest.approx(0.16, rel=0.15)
    assert np.all(check.tidy()["p_value"] > 1e-3)


@pytest.mark.parametrize("family", ["binomial", "poisson", "gamma", "negative_binomial"])
def test_residuals_of_other_families(family):
    rng = np.random.default_rng(7)
    X = rng.uniform(size=(500, 1))
    mu = np.exp(1 + np.sin(6 * X[:, 0]))
    y = {
        "binomial": lambda: (rng.uniform(size=500) < mu / (1 + mu)).astype(float),
        "poisson": lambda: rng.poisson(mu),
        "gamma": lambda: rng.gamma(4.0, mu / 4),
        "negative_binomial": lambda: rng.poisson(mu * rng.gamma(2.0, 0.5, size=500)),
    }[family]()
    check = AdditiveModel(family=family).fit(X, y).check(X, y)
    assert check.outside < 0.15
    expected = 0.25 if family == "gamma" else 1.0
    assert check.dispersion == pytest.approx(expected, rel=0.25)


def test_too_much_spread_is_said():
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(400, 1))
    y = rng.poisson(np.exp(1 + X[:, 0]) * rng.gamma(0.7, 1 / 0.7, size=400))
    check = AdditiveModel(family="poisson").fit(X, y).check(X, y)
    assert check.dispersion > 2
    assert check.outside > 0.2
    assert "negative_binomial" in str(check)


def test_weights_and_labels_in_checks():
    frame, y = sample(200)
    w = np.r_[np.zeros(50), np.full(150, 2.0)]
    check = model().check(frame, y, sample_weight=w)
    assert len(check.y) == 150
    assert_allclose(check.residual, np.sqrt(2) * (y - model().predict(frame))[50:], rtol=1e-9)
    labels = np.where(y > np.median(y), "high", "low")
    fitted = AdditiveClassifier("smooth(u)").fit(frame, labels)
    assert set(fitted.check(frame, labels).y) == {0.0, 1.0}
    with pytest.raises(InputError, match="'other'"):
        fitted.check(frame, np.full(200, "other"))
    with pytest.raises(InputError, match="200 rows"):
        fitted.check(frame, labels[:10])
    with pytest.raises(InputError, match="sample_weight"):
        model().check(frame, y, sample_weight=-w)
    with pytest.raises(InputError, match="missing"):
        model().check(frame, np.where(y > 1, np.nan, y))
    counts = AdditiveModel("smooth(x)", family="poisson").fit(frame, np.arange(200) % 4)
    with pytest.raises(InputError, match="not negative"):
        counts.check(frame, -np.ones(200))


@pytest.mark.parametrize("kind", ["distinct", "tied", "plane"])
def test_the_ratio_of_neighbours_against_all_orders(kind):
    rng = np.random.default_rng(0)
    n = 40
    values = {
        "distinct": rng.uniform(size=(n, 1)),
        "tied": rng.integers(6, size=(n, 1)).astype(float),
        "plane": rng.normal(size=(n, 2)),
    }[kind]
    r = rng.normal(size=n)
    found = [neighbour_ratio(values, rng.permutation(r)) for _ in range(500)]
    index, p = (np.array([getattr(each, name) for each in found]) for name in ("index", "p_value"))
    # Four standard errors: a false alarm in fewer than one of 10,000 seeds.
    assert index.mean() == pytest.approx(1.0, abs=4 * index.std() / np.sqrt(500))
    # Normal with its exact variance: p-values are nearly uniform.
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 500))
    assert p.mean() == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / 500))


@given(seed=st.integers(0, 500))
def test_the_ratio_of_neighbours_does_not_depend_on_order_or_units(seed):
    rng = np.random.default_rng(seed)
    x, r = rng.integers(12, size=(30, 1)).astype(float), rng.normal(size=30)
    order = rng.permutation(30)
    plain, moved = neighbour_ratio(x, r), neighbour_ratio(-5 * x[order] + 3, 1e8 * r[order] + 1)
    assert moved.index == pytest.approx(plain.index, rel=1e-6)
    assert moved.p_value == pytest.approx(plain.p_value, rel=1e-5)
