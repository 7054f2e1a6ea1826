"""Adaptive splines: what the terms are, what they add up to, and how they are read."""

import math
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from bottega.additive import AdaptiveSplines
from bottega.core.errors import DataWarning, InputError
from bottega.risk import jackknife_plus


@cache
def table(n=300, missing=False, seed=0):
    """Return inputs of mixed kinds and a response of known structure."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(size=(n, 4)), columns=list("abcd"))
    X["g"] = rng.choice(["u", "v", "it's"], n)
    y = 3 + 4 * np.maximum(0, X.a - 0.5) - 2 * X.c + 1.0 * (X.g == "v")
    y += 6 * np.maximum(0, X.a - 0.3) * np.maximum(0, 0.7 - X.b) + 0.1 * rng.normal(size=n)
    if missing:
        y[:40] = 5 + 0.1 * rng.normal(size=40)
        X.loc[:39, "a"] = np.nan
        X.loc[50:60, "g"] = None
    return X, y.to_numpy()


@cache
def model(degree=2, missing=False):
    return AdaptiveSplines(degree=degree).fit(*table(missing=missing))


def test_a_hinge_is_found_at_its_knot():
    """D135, D136: a reflected pair, its coefficients by least squares."""
    x = np.linspace(0, 10, 201)
    y = 1 + 2 * np.maximum(0, x - 4) - 3 * np.maximum(0, 4 - x)
    found = AdaptiveSplines().fit(x[:, None], y)
    assert found.knots_["x0"] == pytest.approx([4.0], abs=0.06)
    assert found.predict(x[:, None]) == pytest.approx(y, abs=0.2)
    assert found.terms_[0] == "(Intercept)"


def test_gcv_is_that_of_the_notes():
    """D138: squares over (1 - df/n)^2, df the terms and c for each knot; the mean over rows."""
    X, y = table()
    for degree, c in ((1, 2.0), (2, 3.0)):
        found = model(degree)
        m, n = found.n_terms_, len(y)
        df = m + c * (m - 1) / 2
        rss = float(np.sum((y - found.predict(X)) ** 2))
        assert found.df_ == pytest.approx(df)
        assert found.gcv_ == pytest.approx(rss / n / (1 - df / n) ** 2, rel=1e-9)
        assert found.rss_ == pytest.approx(rss, rel=1e-9)
    assert AdaptiveSplines(penalty=0.0).fit(X, y).n_terms_ >= model(1).n_terms_


def test_coefficients_are_those_of_least_squares_on_the_terms():
    X, y = table()
    found = model()
    B = found.basis_.matrix(found.columns_in_.read(found, X))
    expected = np.linalg.lstsq(B, y)[0]
    assert found.coef_ * found.basis_.units == pytest.approx(expected, rel=1e-7)
    assert B @ (found.coef_ * found.basis_.units) == pytest.approx(found.predict(X), rel=1e-12)
    assert np.max(np.abs(found.coef_)) < 1e3  # never the 1e13 of terms that nearly coincide


def test_interactions_have_their_parents_inputs_once():
    for term in model().basis_:
        assert len(set(term.variables)) == term.degree <= 2


def test_the_path_is_nested_in_its_numbers():
    curve = model().path_
    assert curve.plot().to_dict()["title"]["text"]
    assert curve.error[model().n_terms_ - 1] == pytest.approx(model().gcv_)
    assert np.all(np.diff(curve.train_error) <= 1e-12)
    assert curve.values.tolist() == list(range(1, len(curve) + 1))
    assert curve.criteria["gcv"][model().n_terms_ - 1] == pytest.approx(model().gcv_)
    assert model().gcv_ == curve.criteria["gcv"].min()


def test_functions_of_the_anova_add_up_to_the_model():
    X, _ = table()
    found = model()
    shares = found.anova()
    assert shares["n_terms"].sum() == found.n_terms_ - 1
    assert shares["df"].sum() == pytest.approx(found.df_ - 1)
    assert np.all(shares["gcv_without"] > found.gcv_)
    assert set(shares["inputs"]) >= {"a", "c", "g", "a:b"}
    # The standard deviation of the only function of c.
    B = found.basis_.matrix(found.columns_in_.read(found, X))
    members = [k for k, term in enumerate(found.basis_) if term.variables == (2,)]
    of_c = B[:, members] @ (found.coef_ * found.basis_.units)[members]
    shown = float(shares.loc[shares["inputs"] == "c", "std_dev"].iloc[0])
    assert shown == pytest.approx(of_c.std(), rel=1e-9)


def test_importance_credits_the_inputs_of_each_subset():
    found = model()
    worth = found.importance().set_index("input")
    assert worth.loc["d"].tolist() == [0, 0, 0]
    assert worth["gcv"].max() == worth["rss"].max() == 100
    assert worth["nsubsets"].max() == found.n_terms_ - 1
    assert found.feature_importances_.sum() == pytest.approx(1)
    assert found.feature_importances_[3] == 0
    with pytest.raises(InputError, match="nsubsets"):
        found.plot_importance("gain")
    assert found.plot_importance("rss").to_dict()["data"]["values"][0]["value"] == 100


@pytest.mark.parametrize("missing", [False, True])
def test_formulas_predict_what_the_model_predicts(missing):
    X, _ = table(missing=missing)
    found = model(missing=missing)
    X = X.copy()
    X.loc[100:105, "c"] = np.nan  # missing only after the fit
    X.loc[110, "g"] = "unseen"
    expected = found.predict(X)
    space = {}
    exec(found.formula("python"), space)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    assert [space["predict"](row) for row in rows] == pytest.approx(expected, rel=1e-12)
    schema = dict.fromkeys("abcd", pl.Float64) | {"g": pl.String}
    with duckdb.connect() as base:
        base.register("inputs", pl.DataFrame(rows, schema=schema).to_arrow())
        query = f"SELECT {found.formula('sql')} AS f FROM inputs"
        found_by = base.sql(query).fetchnumpy()["f"]
    assert found_by == pytest.approx(expected, rel=1e-12)


def test_formulas_of_truth_values_and_dates():
    X, _ = table()
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(range(300), "D")
    X = X.assign(flag=X["a"] > 0.5, day=days)
    found = AdaptiveSplines().fit(X[["flag", "c"]], 2.0 * X["flag"] + X["c"])
    with duckdb.connect() as base:
        base.register("inputs", pl.from_pandas(X[["flag", "c"]]).to_arrow())
        found_by = base.sql(f"SELECT {found.formula('sql')} AS f FROM inputs").fetchnumpy()["f"]
    assert found_by == pytest.approx(found.predict(X[["flag", "c"]]), rel=1e-12)
    dated = AdaptiveSplines().fit(X[["day"]], np.arange(300.0))
    assert "day" in dated.formula()
    with pytest.raises(InputError, match="'day' holds dates"):
        dated.formula("sql")


def test_formula_in_words():
    x = np.linspace(-5, 5, 101)
    found = AdaptiveSplines().fit(pd.DataFrame({"x": x}), np.abs(x) + 1)
    text = found.formula()
    assert text.startswith("y = ")
    assert "h(" in text
    assert len(found.formula(digits=2)) < len(text) + 1
    with pytest.raises(InputError, match="use one of text, python, sql"):
        found.formula("R")
    with pytest.raises(InputError, match="digits"):
        found.formula(digits=0)


def test_effects_are_the_model_of_one_input():
    x = np.linspace(0, 10, 101)
    found = AdaptiveSplines().fit(x[:, None], np.sin(x / 2))
    one = found.effects()["x0"]
    at = found.predict(one.points[0][:, None])
    assert one.effect == pytest.approx(at - found.predict(x[:, None]).mean(), abs=1e-9)
    assert list(one.points[0][1:-1]) == list(found.knots_["x0"])
    assert one.edf == pytest.approx(found.df_ - 1)


def test_surfaces_stop_at_the_hull_of_the_data():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(600, 2))
    X = X[np.abs(X).sum(axis=1) <= 1]
    y = np.maximum(0, X[:, 0]) * np.maximum(0, X[:, 1]) * 20 + 0.05 * rng.normal(size=len(X))
    found = AdaptiveSplines(degree=2).fit(X, y)
    surface = found.effects()["x0:x1"]
    at = np.column_stack(surface.points)
    assert np.all(np.abs(at).sum(axis=1) <= 1.0 + 1e-9)
    share = ConvexHull(X).volume / np.prod(np.ptp(X, axis=0))  # of the frame of the data
    assert len(at) / 1600 == pytest.approx(share, abs=0.02)
    assert surface.effect == pytest.approx(found.predict(at) - found.predict(X).mean(), abs=1e-9)
    assert len(found.effects().tidy().query("term == 'x0:x1'")) == len(at)
    main = [effect for effect in found.effects().values() if len(effect.columns) == 1]
    for one in main:  # where there are products its ends mislead
        low, high = np.quantile(X[:, int(one.name[1])], [0.025, 0.975])
        assert one.points[0][0] == pytest.approx(low)
        assert one.points[0][-1] == pytest.approx(high)


def test_effects_of_categories_and_pictures():
    rng = np.random.default_rng(4)
    X, _ = table()
    X = X.assign(h=rng.choice(["p", "q"], len(X)))
    y = 3 * X.a * (X.g == "v") + 2.0 * ((X.g == "u") & (X.h == "p")) + 1.0 * (X.h == "q")
    found = AdaptiveSplines(degree=2).fit(X, y + 0.05 * rng.normal(size=len(X)))
    effects = found.effects()
    slopes = {
        name: np.polyfit(one.points[0], one.effect, 1)[0]
        for name, one in effects.items()
        if name.startswith("a, g ")
    }
    assert slopes["a, g v"] == pytest.approx(3.0, abs=0.2)
    assert slopes["a, g u"] == pytest.approx(0.0, abs=0.2)
    both = effects["g:h"]
    assert set(both.points[0]) == {f"{g}, {h}" for g in ("it's", "u", "v") for h in "pq"}
    chart = effects.plot().to_dict()
    assert len(chart["concat"]) == min(len(effects), 12)
    with pytest.raises(InputError, match="constant"):
        AdaptiveSplines(n_terms=1).fit(*table()).effects()


def test_missing_values_have_terms_of_their_own():
    X, y = table(missing=True)
    found = model(missing=True)
    assert any("is missing" in term for term in found.terms_)
    assert found.predict(X)[:40] == pytest.approx(y[:40], abs=0.5)
    # An input that was never missing takes its median (one of the two values in the middle).
    middle = found.basis_.fill[2]
    assert abs(np.mean(X["c"] <= middle) - 0.5) < 0.01
    new = X.iloc[[100, 100]].copy()
    new.iloc[0, 2], new.iloc[1, 2] = np.nan, middle
    assert found.predict(new)[0] == pytest.approx(found.predict(new)[1], rel=1e-12)


def test_linear_features_have_no_knots():
    X, y = table()
    found = AdaptiveSplines(linear_features=["a", "c"]).fit(X, y)
    assert not {"a", "c"} & set(found.knots_)
    assert {"a", "c"} <= {name for terms in found.tidy()["inputs"] for name in terms.split(":")}


def test_several_responses_share_their_terms():
    X, y = table()
    Y = np.column_stack([y, -2 * y + 1])
    found = AdaptiveSplines(degree=2).fit(X, Y)
    assert found.predict(X).shape == Y.shape
    assert found.coef_[1][1:] == pytest.approx(-2 * found.coef_[0][1:], rel=1e-6)
    assert found.tidy()["response"].unique().tolist() == ["y0", "y1"]
    assert {one.response for one in found.effects().values()} == {"y0", "y1"}
    assert {one.response for one in found.effects("y1").values()} == {"y1"}
    with pytest.raises(InputError, match="use one of y0, y1"):
        found.effects("z")


def test_tables_come_in_the_library_of_the_data():
    X, y = table()
    found = AdaptiveSplines().fit(pl.from_pandas(X), y)
    assert isinstance(found.importance(), pl.DataFrame)
    assert isinstance(found.effects().tidy(), pl.DataFrame)
    assert found.tidy()["term"][0] == "(Intercept)"


def test_families_are_fitted_by_likelihood():
    """At the maximum the residuals are orthogonal to the terms (canonical links)."""
    X, y = table()
    rng = np.random.default_rng(2)
    counts = rng.poisson(np.exp(0.3 * y))
    shares = rng.binomial(20, 1 / (1 + np.exp(3 - y))) / 20
    for family, response in (("poisson", counts), ("binomial", shares)):
        found = AdaptiveSplines(family=family).fit(X, response)
        B = found.basis_.matrix(found.columns_in_.read(found, X))
        left = response - found.predict(X)
        assert np.max(np.abs(B.T @ left)) <= 1e-3 * np.max(np.abs(B.T @ response))
        assert found.converged_
        assert found.deviance_ < found.path_.criteria["aic"][0]
    gamma = AdaptiveSplines(family="gamma").fit(X, rng.gamma(5, np.exp(0.2 * y) / 5))
    assert np.all(gamma.predict(X) > 0)
    space = {}
    exec(gamma.formula("python"), space)
    rows = X.to_dict("records")
    assert [space["predict"](row) for row in rows] == pytest.approx(gamma.predict(X), rel=1e-10)


def test_separated_responses_stay_bounded():
    x = np.linspace(-1, 1, 200)
    with pytest.warns(DataWarning, match="separate the responses"):
        found = AdaptiveSplines(family="binomial").fit(x[:, None], (x > 0.1) * 1.0)
    assert np.all(np.isfinite(found.coef_))
    assert found.predict([[-1.0], [1.0]]) == pytest.approx([0, 1], abs=1e-3)
    assert np.max(np.abs(found.coef_)) < 1e4


def test_conformal_intervals_cover():
    """No theory gives intervals for terms that were looked for: those of folds hold for any model.

    Of 300 new rows at level 0.9 fewer than 0.84 are covered with probability below 0.001.
    """
    X, y = table(200, seed=5)
    new, label = table(300, seed=6)
    low, high = jackknife_plus(AdaptiveSplines(degree=2), X, y, cv=5).interval(new, level=0.9)
    assert np.mean((label >= low) & (label <= high)) > 0.84


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    degree=st.integers(1, 3),
    unit=st.sampled_from([1e-3, 1.0, 1e4]),
    penalty=st.sampled_from([0.0, 2.0, 4.0]),
)
def test_any_fit_is_least_squares_on_few_bounded_terms(seed, degree, unit, penalty):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)).round(1)
    y = X[:, 0] * (X[:, 1] > 0) + rng.normal(size=60)
    found = AdaptiveSplines(degree=degree, penalty=penalty).fit(X * unit, y)
    left = y - found.predict(X * unit)
    B = found.basis_.matrix(X * unit)
    assert np.max(np.abs(B.T @ left)) <= 1e-8 * np.linalg.norm(B) * np.linalg.norm(y)
    assert float(left @ left) == pytest.approx(found.rss_, rel=1e-8)
    assert found.gcv_ == found.path_.criteria["gcv"].min()
    assert math.isclose(found.df_, found.n_terms_ + penalty * (found.n_terms_ - 1) / 2)
