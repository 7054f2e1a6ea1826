"""Along the path of an additive model: left-out rows, multipliers, terms; chunks and weights."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive.additive_model import AdditiveClassifier, AdditiveModel
from bottega.additive.terms import smooth
from bottega.core.errors import InputError


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 3))
    y = 3 * np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=120)
    return X, y


def test_left_out_rows_are_those_of_fits_without_them(rows):
    """At given penalties and knots the leave-one-out error of the gaussian is exact."""
    X, y = rows[0][:40], rows[1][:40]
    terms = [smooth("x0", alpha=0.5), smooth("x1", alpha=5.0)]
    curve = AdditiveModel(terms).path(X, y, values=[1.0])
    weight = np.ones(len(y))
    away = []
    for i in range(len(y)):
        weight[i] = 1e-12  # it keeps the ends of the data where they are
        away.append(y[i] - AdditiveModel(terms).fit(X, y, weight).predict(X[i : i + 1])[0])
        weight[i] = 1.0
    assert curve.error[0] == pytest.approx(np.mean(np.square(away)), rel=1e-5)
    assert curve.estimate == "loo"


@pytest.mark.parametrize("classes", [2, 3])
def test_left_out_classes_are_nearly_those_of_fits_without_them(rows, classes):
    X, y = rows
    rng = np.random.default_rng(1)
    codes = np.digitize(y + 2 * rng.normal(size=len(y)), np.quantile(y, [0.4, 0.7][: classes - 1]))
    terms = [smooth("x0", alpha=1.0), smooth("x1", alpha=5.0)]
    curve = AdditiveClassifier(terms).path(X, codes, values=[1.0], loss="log_loss")
    weight, losses = np.ones(len(y)), []
    for i in range(0, len(y), 4):
        weight[i] = 1e-9
        share = AdditiveClassifier(terms).fit(X, codes, weight).predict_proba(X[i : i + 1])[0]
        losses.append(-np.log(share[codes[i]]))
        weight[i] = 1.0
    model = curve.at(0)
    flattering = -np.log(model.predict_proba(X)[np.arange(len(y)), codes])
    # A first-order step: it must take most of the way from the flattering loss to the honest one.
    some = np.arange(0, len(y), 4)
    whole = AdditiveClassifier(terms)
    work = whole._prepare(whole._read(X, codes, None))
    eta = work.left_out(work.fit())[some]
    full = np.column_stack([np.zeros(len(some)), eta])
    approx = np.logaddexp.reduce(full, axis=1) - full[np.arange(len(some)), codes[some]]
    gap = np.mean(losses) - flattering[some].mean()
    assert gap > 0
    assert approx.mean() - flattering[some].mean() == pytest.approx(gap, rel=0.1)


def test_the_path_goes_from_lines_to_curves(rows):
    X, y = rows
    curve = AdditiveModel().path(X, y)
    assert curve.values[0] == 1000
    assert 1.0 in curve.values
    assert np.all(np.diff(curve.df) >= 0)
    assert curve.df[0] < 6 < curve.df[-1]
    # Restricted likelihood chooses near the least error of left-out rows.
    chosen = int(np.flatnonzero(curve.values == 1.0)[0])
    assert curve.error[chosen] < 1.1 * curve.error.min()


def test_terms_come_in_by_what_they_explain(rows):
    X, y = rows
    curve = AdditiveModel().terms_path(X, y)
    assert curve.knob == "n_terms"
    assert curve.values.tolist() == [0, 1, 2, 3]
    assert [placed.name for placed in curve.at(1).terms_] == ["smooth(x0)"]
    assert curve.error[0] == pytest.approx(np.var(y) * (120 / 119) ** 2)
    assert curve.best("min") >= 2
    again = AdditiveModel(n_terms=2).fit(X, y)
    assert again.predict(X) == pytest.approx(curve.at(2).predict(X))
    labels = np.where(y > 1, "yes", "no")
    flip = np.random.default_rng(2).uniform(size=120) < 0.15
    labels[flip] = np.where(labels[flip] == "yes", "no", "yes")
    curve = AdditiveClassifier().terms_path(X, labels)
    assert [placed.name for placed in curve.at(1).terms_] == ["smooth(x0)"]


def test_chunks_give_the_same_answer():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.uniform(size=(300, 3)), columns=list("abc"))
    frame["g"] = rng.choice(["z", "y", "k"], 300)
    frame.loc[::9, "b"] = np.nan
    y = np.sin(6 * frame.a) + (frame.g == "k") + 0.3 * rng.normal(size=300)
    w = rng.uniform(0.5, 2, 300)
    cuts = [slice(0, 90), slice(90, 91), slice(91, 300)]
    for model, response in (
        (AdditiveModel("a + b + smooth(c, by=g) + g"), y),
        (AdditiveModel("tensor(a, c) + offset(c)", family="poisson"), np.round(np.exp(y))),
        (AdditiveClassifier("a + linear(b) + g"), np.digitize(y, [0.0, 1.0])),
    ):
        together = model.fit(frame, response, w).predict(frame)
        chunks = [(frame[cut], response[cut], w[cut]) for cut in cuts]
        apart = model.fit_chunks(chunks).predict(frame)
        assert apart == pytest.approx(together, rel=1e-6)
    counts = np.sort(np.round(np.exp(y)).to_numpy())  # the first chunk has zeros alone
    assert counts[19] == 0
    cuts = [slice(0, 20), slice(20, 300)]
    sorted_rows = AdditiveModel("linear(a)", family="poisson")
    sorted_rows.fit_chunks([(frame[cut], counts[cut]) for cut in cuts])
    with pytest.raises(InputError, match="all responses are 0"):
        sorted_rows.fit_chunks([(frame[cut], 0 * counts[cut]) for cut in cuts])
    with pytest.raises(InputError, match="leave out interactions"):
        AdditiveModel(interactions=1).fit_chunks([(frame[["a", "c"]], y)])
    with pytest.raises(InputError, match="penalized"):
        AdditiveModel(engine="backfitting").fit_chunks([(frame[["a", "c"]], y)])


def test_missing_values_have_an_effect_of_their_own():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.uniform(size=300), "g": rng.choice(["u", "v"], 300)})
    y = np.sin(6 * frame.x) + (frame.g == "u")
    gone = rng.uniform(size=300) < 0.2
    frame.loc[gone, "x"] = np.nan
    y[gone] = 5 + (frame.g == "u")[gone]
    frame.loc[:20, "g"] = None
    y = y.to_numpy() + 0.01 * rng.normal(size=300)
    y[:21] = -3 + 0.01 * rng.normal(size=21)
    model = AdditiveModel().fit(frame.iloc[21:], y[21:])
    new = pd.DataFrame({"x": [np.nan, 0.25], "g": ["v", "v"]})
    assert model.predict(new) == pytest.approx([5, np.sin(1.5)], abs=0.1)
    # Of a factor in by= the level of missing values says it all.
    by = AdditiveModel("smooth(x, by=g) + g").fit(frame, y)
    assert [block.name for block in by.blocks_ if block.term < 0] == ["(Intercept)", "x missing"]
    # Columns whose values are missing together share that effect, without a warning.
    twice = frame[["x"]].assign(z=np.where(frame.x.isna(), np.nan, rng.normal(size=300)))
    both = AdditiveModel().fit(twice, y)
    assert both.predict(twice)[gone].mean() == pytest.approx(y[gone].mean(), abs=0.1)
    # A level of missing categories, where the fit has seen some; else none of the effects.
    model = AdditiveModel("factor(g)").fit(frame[["g"]], y)
    gap = pd.DataFrame({"g": [None, "never seen"]})
    assert model.predict(gap) == pytest.approx([-3, -3], abs=0.1)
    plain = AdditiveModel("factor(g)").fit(frame[["g"]].iloc[21:], y[21:])
    assert plain.predict(gap) == pytest.approx(np.full(2, y[21:].mean()))
