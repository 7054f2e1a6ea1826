"""Additive models against what they must be: least squares, penalised least squares, likelihood."""

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import optimize

from bottega.additive.additive_model import AdditiveClassifier, AdditiveModel
from bottega.additive.terms import factor, linear, offset, random, smooth, tensor
from bottega.core.errors import InputError
from bottega.smooth import PSpline
from bottega.workbench import trusted_types


@pytest.fixture(scope="module")
def rows():
    """Rows of numbers, a category and a response of all of them."""
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "a": rng.uniform(size=n),
            "b": rng.normal(size=n),
            "hour": rng.uniform(0, 24, n),
            "g": rng.choice(["u", "v", "w"], n),
            "shop": rng.integers(0, 25, n),
            "two": rng.integers(0, 2, n),
        }
    )
    shops = 0.5 * rng.normal(size=25)
    y = np.sin(6 * frame.a) + 0.3 * frame.b**2 + (frame.g == "u") + shops[frame.shop]
    y = y + np.cos(frame.hour / 24 * 2 * np.pi) + 0.3 * rng.normal(size=n)
    return frame, y.to_numpy()


def test_lines_and_levels_are_least_squares(rows):
    frame, y = rows
    model = AdditiveModel([linear("a"), linear("b"), factor("g")]).fit(frame, y)
    X = np.column_stack([np.ones(len(y)), frame.a, frame.b, frame.g == "v", frame.g == "w"])
    coef, rss = np.linalg.lstsq(X.astype(float), y, rcond=None)[:2]
    assert model.predict(frame) == pytest.approx(X @ coef)
    assert model.df_ == pytest.approx(5)
    assert model.scale_ == pytest.approx(rss[0] / (len(y) - 5))
    # The slope is reported in the units of its column.
    tidy = model.tidy().set_index("term")
    assert tidy.loc["linear(a)", "estimate"] == pytest.approx(coef[1])


def test_one_curve_at_a_given_penalty_is_the_p_spline(rows):
    frame, y = rows
    x = frame[["a"]].to_numpy()
    model = AdditiveModel([smooth("x0", n_splines=20, alpha=0.7)]).fit(x, y)
    alone = PSpline(alpha=0.7, n_basis=20).fit(x, y)
    assert model.predict(x) == pytest.approx(alone.predict(x))
    assert model.df_ == pytest.approx(alone.df_)


def test_random_effects_are_means_drawn_to_the_whole(rows):
    frame, y = rows
    model = AdditiveModel([random("shop", alpha=3.0)]).fit(frame, y)
    counts = frame.groupby("shop").size()
    # Henderson: the constant weighs each level by n / (n + alpha).
    pull = counts / (counts + 3.0)
    means = pd.Series(y).groupby(frame.shop).mean()
    centre = (pull * means).sum() / pull.sum()
    assert model.predict(frame) == pytest.approx(
        (centre + pull * (means - centre))[frame.shop].to_numpy()
    )


def test_effects_add_up_to_the_predictor_and_have_mean_zero(rows):
    frame, y = rows
    terms = "smooth(a) + smooth(hour, basis=cyclic, period=(0, 24)) + g + random(shop) + linear(b)"
    model = AdditiveModel(terms).fit(frame, y)
    effects = model.predict(frame, terms=True)
    assert effects.columns[0] == "(Intercept)"
    assert effects.sum(axis=1).to_numpy() == pytest.approx(model.predict(frame))
    assert effects[["smooth(a)", "smooth(hour)", "factor(g)"]].mean().to_numpy() == pytest.approx(
        np.zeros(3), abs=1e-9
    )
    assert effects["smooth(a)"].to_numpy() == pytest.approx(
        np.sin(6 * frame.a) - np.sin(6 * frame.a).mean(), abs=0.25
    )


def test_a_cyclic_curve_meets_itself(rows):
    frame, y = rows
    terms = "smooth(hour, basis=cyclic, period=(0, 24))"
    model = AdditiveModel(terms).fit(frame, y)
    ends = frame.iloc[:3].assign(hour=[0.0, 24.0, 48.0])
    assert np.ptp(model.predict(ends)) < 1e-9


def test_a_curve_for_each_level_is_a_model_for_each_level(rows):
    frame, y = rows
    model = AdditiveModel([smooth("a", by="g", alpha=2.0), factor("g")]).fit(frame, y)
    low, high = frame.a.min(), frame.a.max()
    for level in "uvw":
        here = (frame.g == level).to_numpy()
        # With the ends of all rows, so that both have the same knots.
        x = np.append(frame.a[here], [low, high])[:, None]
        w = np.append(np.ones(here.sum()), [1e-12, 1e-12])
        alone = AdditiveModel([smooth("x0", alpha=2.0)]).fit(x, np.append(y[here], [0, 0]), w)
        assert model.predict(frame[here]) == pytest.approx(alone.predict(x[:-2]), abs=1e-6)


def test_a_varying_coefficient_multiplies_its_column():
    rng = np.random.default_rng(5)
    t, z = rng.uniform(size=500), rng.normal(size=500)
    y = 1 + z * np.sin(6 * t) + 0.1 * rng.normal(size=500)
    model = AdditiveModel([smooth("x0", by="x1"), linear("x0")]).fit(np.column_stack([t, z]), y)
    grid = np.linspace(0.05, 0.95, 20)
    up = model.predict(np.column_stack([grid, np.ones(20)]))
    down = model.predict(np.column_stack([grid, -np.ones(20)]))
    assert (up - down) / 2 == pytest.approx(np.sin(6 * grid), abs=0.1)


def test_a_surface_has_a_peak_that_curves_have_not():
    rng = np.random.default_rng(6)
    X = rng.uniform(-2, 2, size=(600, 2))
    bump = np.exp(-((X**2).sum(axis=1)) * 2)
    y = bump + 0.05 * rng.normal(size=600)
    curves = AdditiveModel().fit(X, y)
    errors = {"curves": np.mean((curves.predict(X) - bump) ** 2)}
    for name, term in {
        "tensor": tensor("x0", "x1", n_splines=8),
        "plate": smooth("x0", "x1", basis="thin_plate", n_splines=40),
    }.items():
        errors[name] = np.mean((AdditiveModel([term]).fit(X, y).predict(X) - bump) ** 2)
    assert errors["tensor"] < errors["curves"] / 10
    assert errors["plate"] < errors["curves"] / 10


def test_a_thin_plate_does_not_know_directions():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 2))
    y = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=150)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    term = [smooth("x0", "x1", basis="thin_plate")]
    straight = AdditiveModel(term).fit(X, y).predict(X)
    assert AdditiveModel(term).fit(X @ turn, y).predict(X @ turn) == pytest.approx(
        straight, abs=1e-5
    )


def test_linear_terms_of_two_classes_are_the_likelihood_of_the_logistic(rows):
    frame, y = rows
    labels = np.where(y > 1, "yes", "no")
    hit = labels == "yes"
    X = np.column_stack([np.ones(len(y)), frame.a, frame.b])
    best = optimize.minimize(
        lambda b: np.logaddexp(0, X @ b).sum() - hit @ X @ b, np.zeros(3), tol=1e-12
    ).x
    model = AdditiveClassifier([linear("a"), linear("b")]).fit(frame, labels)
    assert model.decision_function(frame) == pytest.approx(X @ best, abs=1e-4)
    assert model.predict_proba(frame).sum(axis=1) == pytest.approx(np.ones(len(y)))
    assert np.array_equal(model.predict(frame), np.where(X @ best > 0, "yes", "no"))


def test_three_classes_with_lines_are_the_multinomial_likelihood(rows):
    frame, y = rows
    codes = np.digitize(y, [0.3, 1.2])
    X = np.column_stack([np.ones(len(y)), frame.a, frame.b])

    def minus_loglik(flat):
        eta = np.column_stack([np.zeros(len(y)), X @ flat.reshape(2, 3).T])
        return np.logaddexp.reduce(eta, axis=1).sum() - eta[np.arange(len(y)), codes].sum()

    best = optimize.minimize(minus_loglik, np.zeros(6), tol=1e-10).x.reshape(2, 3)
    model = AdditiveClassifier([linear("a"), linear("b")]).fit(frame, codes)
    assert model.decision_function(frame)[:, 1:] == pytest.approx(X @ best.T, abs=1e-3)
    effects = model.predict(frame, terms=True)
    second = [name for name in effects.columns if name.endswith("[2]")]
    assert effects[second].sum(axis=1).to_numpy() == pytest.approx(X @ best[1], abs=1e-3)


def test_an_offset_is_added_as_it_is():
    rng = np.random.default_rng(8)
    x, years = rng.uniform(size=500), rng.uniform(0.5, 4, 500)
    counts = rng.poisson(years * np.exp(np.sin(6 * x)))
    X = np.column_stack([x, np.log(years)])
    model = AdditiveModel([smooth("x0"), offset("x1")], family="poisson").fit(X, counts)
    one, four = model.predict([[0.5, 0.0]]), model.predict([[0.5, np.log(4)]])
    assert four == pytest.approx(4 * one)
    assert one == pytest.approx(np.exp(np.sin(3)), rel=0.2)


@pytest.mark.parametrize("family", ["poisson", "negative_binomial", "gamma", "binomial"])
def test_families_follow_their_means(family):
    rng = np.random.default_rng(9)
    x = rng.uniform(size=(800, 1))
    eta = np.sin(6 * x[:, 0])
    mean = 1 / (1 + np.exp(-eta)) if family == "binomial" else np.exp(1 + eta)
    y = {
        "poisson": lambda: rng.poisson(mean),
        "negative_binomial": lambda: rng.negative_binomial(2, 2 / (2 + mean)),
        "gamma": lambda: mean * rng.gamma(4, 1 / 4, 800),
        "binomial": lambda: rng.binomial(10, mean) / 10,
    }[family]()
    weight = np.full(800, 10.0) if family == "binomial" else None
    model = AdditiveModel(family=family).fit(x, y, weight)
    assert np.mean(np.abs(model.predict(x) / mean - 1)) < 0.12
    low, high = model.interval(x, level=0.99)
    assert np.mean((low <= mean) & (mean <= high)) > 0.9
    mean_of, error = model.predict(x, return_std=True)
    assert np.all(error > 0)
    assert np.all((low < mean_of) & (mean_of < high))


def test_intervals_of_new_responses_cover_them():
    rng = np.random.default_rng(10)
    X = rng.uniform(size=(1000, 2))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=1000)
    model = AdditiveModel().fit(X[:500], y[:500])
    low, high = model.interval(X[500:], kind="prediction")
    # 500 rows: the share has a standard deviation of 0.01.
    assert np.mean((low <= y[500:]) & (y[500:] <= high)) == pytest.approx(0.95, abs=0.04)
    shown = model.augment(X[500:], y[500:])
    assert shown["residual"].to_numpy() == pytest.approx(y[500:] - model.predict(X[500:]))
    counts = AdditiveModel(family="poisson").fit(X, rng.poisson(2, 1000))
    with pytest.raises(InputError, match="conformal"):
        counts.interval(X, kind="prediction")


def test_an_interaction_is_found_where_there_is_one():
    rng = np.random.default_rng(11)
    X = rng.uniform(size=(500, 4))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 5 * X[:, 2] + rng.normal(size=500)
    model = AdditiveModel(interactions=3).fit(X, y)
    assert [placed.name for placed in model.terms_][4:] == ["tensor(x0, x1)"]
    assert model.scale_ == pytest.approx(1, abs=0.2)
    additive = AdditiveModel(interactions=3).fit(X, X[:, 0] + X[:, 1] + rng.normal(size=500))
    assert len(additive.terms_) == 4


def test_an_interaction_of_classes_is_found():
    rng = np.random.default_rng(15)
    X = rng.uniform(-1, 1, size=(600, 3))
    odds = 4 * X[:, 0] * X[:, 1] + X[:, 2]
    labels = rng.uniform(size=600) < 1 / (1 + np.exp(-odds))
    model = AdditiveClassifier(interactions=1).fit(X, labels)
    assert model.terms_[-1].name == "tensor(x0, x1)"
    assert model.score(X, labels) > AdditiveClassifier().fit(X, labels).score(X, labels) + 0.05


@pytest.mark.parametrize("engine", ["penalized", "backfitting"])
def test_models_with_all_kinds_of_terms_are_stored(rows, engine):
    frame, y = rows
    terms = (
        "smooth(b, by=g) + g + linear(two, by=a) + offset(hour) + "
        + {
            "penalized": "random(shop, by=b) + smooth(a, hour, basis=thin_plate)",
            "backfitting": "smooth(a) + local(hour)",
        }[engine]
    )
    model = AdditiveModel(terms, engine=engine).fit(frame, y)
    content = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=content)) <= set(trusted_types())
    for copy in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(content, trusted=trusted_types()),
    ):
        assert np.array_equal(copy.predict(frame), model.predict(frame))


def test_a_skewed_column_has_knots_where_its_rows_are():
    rng = np.random.default_rng(12)
    x = rng.lognormal(0, 1.5, (800, 1))
    truth = np.sin(2 * np.log(x[:, 0]))
    y = truth + 0.2 * rng.normal(size=800)
    errors = {
        knots: np.mean(
            (AdditiveModel([smooth("x0", knots=knots)]).fit(x, y).predict(x) - truth) ** 2
        )
        for knots in ("auto", "even")
    }
    assert errors["auto"] < errors["even"] / 4


@pytest.mark.parametrize(
    ("shape", "truth"),
    [
        ("increasing", lambda x: np.tanh(4 * x)),
        ("decreasing", lambda x: -np.maximum(x, 0)),
        ("convex", np.abs),
        ("concave", lambda x: -np.maximum(x, 0)),
    ],
)
def test_curves_keep_the_shape_they_are_given(shape, truth):
    rng = np.random.default_rng(13)
    X = rng.uniform(-1, 1, size=(150, 2))
    y = truth(X[:, 0]) + X[:, 1] ** 2 + 0.5 * rng.normal(size=150)
    free = AdditiveModel([smooth("x0", alpha=1e-3), smooth("x1")]).fit(X, y)
    model = AdditiveModel([smooth("x0", alpha=1e-3, shape=shape), smooth("x1")]).fit(X, y)
    chosen = AdditiveModel([smooth("x0", shape=shape), smooth("x1")]).fit(X, y)
    grid = np.column_stack([np.linspace(-1, 1, 200), np.zeros(200)])
    order = 1 if shape in ("increasing", "decreasing") else 2
    sign = 1 if shape in ("increasing", "convex") else -1
    assert np.any(sign * np.diff(free.predict(grid), order) < -1e-4)
    for each in (model, chosen):
        assert np.all(sign * np.diff(each.predict(grid), order) > -1e-8)
        assert np.mean((each.predict(X) - truth(X[:, 0]) - X[:, 1] ** 2) ** 2) < 0.06
    assert free.deviance_ <= model.deviance_


@pytest.mark.parametrize("shape", ["increasing", "convex"])
def test_shapes_hold_on_uneven_knots(shape):
    rng = np.random.default_rng(16)
    x = rng.lognormal(0, 1.2, size=(300, 1))
    y = (np.log(x[:, 0]) if shape == "increasing" else 0.05 * x[:, 0] ** 2) + rng.normal(size=300)
    model = AdditiveModel([smooth("x0", shape=shape, alpha=1e-6)]).fit(x, y)
    grid = np.linspace(x.min(), np.quantile(x, 0.95), 500)[:, None]
    curve = model.predict(grid)
    assert np.all(np.diff(curve, 1 if shape == "increasing" else 2) > -1e-9)


def test_shapes_are_for_counts_and_two_classes_too():
    rng = np.random.default_rng(14)
    x = rng.uniform(-1, 1, size=(300, 1))
    mean = np.exp(np.tanh(3 * x[:, 0]))
    term = [smooth("x0", shape="increasing")]
    grid = np.linspace(-1, 1, 100)[:, None]
    counts = AdditiveModel(term, family="poisson").fit(x, rng.poisson(mean))
    assert np.all(np.diff(counts.predict(grid)) >= -1e-9)
    labels = rng.uniform(size=300) < mean / 3
    classes = AdditiveClassifier(term).fit(x, labels)
    assert np.all(np.diff(classes.decision_function(grid)) >= -1e-9)
    with pytest.raises(InputError, match="one predictor"):
        AdditiveClassifier(term).fit(x, rng.integers(0, 3, 300))
