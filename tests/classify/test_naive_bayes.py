"""Naive Bayes on inputs of every kind: families, gaps, levels, streams and chunks."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.classify import NaiveBayes
from bottega.classify._generative.families import _binned
from bottega.core.errors import InputError, ParameterError

RNG = np.random.default_rng(0)
N = 240
CODES = RNG.integers(0, 3, N)
Y = np.array(["low", "mid", "high"])[CODES]
GROUPS, DAYS = RNG.integers(0, 3, N), RNG.integers(0, 60, N)
TABLE = {
    "size": RNG.normal(CODES, 1.0 + CODES),
    "visits": RNG.poisson(2.0 + 2 * CODES).astype(float),
    "year": 2000.0 + RNG.integers(0, 20, N),
    "smoker": RNG.random(N) < 0.2 + 0.3 * CODES,
    "flag": (RNG.random(N) < 0.5).astype(float),
    "town": [["Rome", "Oslo", "Bonn"][min(c, g)] for c, g in zip(CODES, GROUPS, strict=True)],
    "since": [
        dt.date(2020, 1, 1) + dt.timedelta(days=int(30 * c + d))
        for c, d in zip(CODES, DAYS, strict=True)
    ],
    "always": np.full(N, 7.0),
}
FRAME = pd.DataFrame(TABLE)
FAMILIES = {
    "size": "gaussian",
    "visits": "poisson",
    "year": "gaussian",
    "smoker": "bernoulli",
    "flag": "bernoulli",
    "town": "categorical",
    "since": "gaussian",
    "always": "constant",
}


def gappy(frame, share=0.2):
    """Return the frame with some of its values missing."""
    gone = np.random.default_rng(1).random(frame.shape) < share
    columns = {}
    for j, name in enumerate(frame):
        column = frame[name].astype(object)
        column[gone[:, j]] = None
        columns[name] = column if name in ("town", "since", "smoker") else column.astype(float)
    return pd.DataFrame(columns)


GAPPY = gappy(FRAME)


def by_hand(frame, labels, rows, alpha=1.0):
    """Return log prior plus log-density of each row and class, column by column."""
    classes = np.unique(labels)
    scores = np.zeros((len(rows), len(classes)))
    for k, label in enumerate(classes):
        inside = frame[labels == label]
        scores[:, k] = np.log(len(inside) / len(frame))
        for name, family in FAMILIES.items():
            if family == "constant":
                continue
            values, new = inside[name].dropna(), rows[name]
            there = new.notna().to_numpy()
            if name == "since":
                values = pd.Series([day.toordinal() for day in values])
                new = pd.Series([None if day is None else float(day.toordinal()) for day in new])
            if family == "gaussian":
                values, seen = values.astype(float), new[there].astype(float)
                found = stats.norm(values.mean(), values.std()).logpdf(seen)
            elif family == "poisson":
                mean = frame[name].mean()
                rate = (values.sum() + alpha * mean) / (len(values) + alpha)
                found = stats.poisson(rate).logpmf(new[there])
            elif family == "bernoulli":
                share = (values.astype(float).sum() + alpha) / (len(values) + 2 * alpha)
                found = stats.bernoulli(share).logpmf(new[there].astype(int))
            else:
                levels = frame[name].dropna().unique()
                size = len(values) + alpha * len(levels)
                found = [np.log(((values == town).sum() + alpha) / size) for town in new[there]]
            scores[there, k] += found
    return scores


@pytest.mark.parametrize("frame", [FRAME, GAPPY], ids=["complete", "with gaps"])
def test_every_kind_of_column_has_its_family(frame):
    model = NaiveBayes().fit(frame, Y)
    assert model.distributions_ == FAMILIES
    expected = by_hand(frame, Y, frame)
    assert model.decision_function(frame) == pytest.approx(expected, rel=1e-9)
    best = model.classes_[np.argmax(expected, axis=1)]
    assert np.array_equal(model.predict(frame), best)


def test_polars_and_pandas_give_the_same():
    frame = pl.DataFrame(TABLE)
    model = NaiveBayes().fit(frame, Y)
    expected = NaiveBayes().fit(FRAME, Y).predict_proba(FRAME)
    assert model.predict_proba(frame) == pytest.approx(expected, abs=1e-12)
    drawn, _ = model.sample(3, random_state=0)
    assert isinstance(drawn, pl.DataFrame)
    assert drawn.columns == frame.columns


def test_gaps_in_a_column_say_nothing():
    """A row with a gap is judged as by a model without that column."""
    model = NaiveBayes().fit(FRAME, Y)
    new = FRAME.head(10).copy()
    new["size"] = np.nan
    without = NaiveBayes().fit(FRAME.drop(columns="size"), Y)
    found = without.predict_proba(FRAME.head(10).drop(columns="size"))
    assert model.predict_proba(new) == pytest.approx(found, abs=1e-12)


def test_unknown_levels_and_impossible_values_say_nothing():
    model = NaiveBayes().fit(FRAME, Y)
    known, strange = FRAME.head(1).copy(), FRAME.head(1).copy()
    known["town"], known["visits"], known["flag"] = None, np.nan, np.nan
    strange["town"], strange["visits"], strange["flag"] = "Paris", 1.5, 0.5
    assert model.predict_proba(strange) == pytest.approx(model.predict_proba(known), abs=1e-12)


def test_stream_and_weights_give_the_fit_to_all_rows():
    weight = np.random.default_rng(2).integers(0, 3, N).astype(float)
    whole = NaiveBayes().fit(GAPPY, Y, sample_weight=weight)
    stream = NaiveBayes()
    for i in range(3):
        part = slice(i, None, 3)
        stream.partial_fit(GAPPY[part], Y[part], classes=np.unique(Y), sample_weight=weight[part])
    assert stream.distributions_ == whole.distributions_
    assert stream.predict_proba(GAPPY) == pytest.approx(whole.predict_proba(GAPPY), abs=1e-10)
    rows = np.repeat(np.arange(N), weight.astype(int))
    repeated = NaiveBayes().fit(GAPPY.iloc[rows].reset_index(drop=True), Y[rows])
    assert repeated.predict_proba(GAPPY) == pytest.approx(whole.predict_proba(GAPPY), abs=1e-10)


def test_levels_of_rows_that_do_not_count_are_unknown():
    X = pd.DataFrame({"town": ["Rome", "Oslo", "Rome", "Oslo", "Paris"]})
    y, weight = ["a", "b", "a", "a", "b"], [1, 1, 1, 1, 0]
    model = NaiveBayes().fit(X, y, sample_weight=weight)
    expected = NaiveBayes().fit(X[:4], y[:4])
    assert model.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=1e-12)
    assert model.predict_proba(X[4:])[0] == pytest.approx(model.priors_)
    assert len(model.tidy()) == len(expected.tidy())
    assert set(model.sample(200, random_state=0)[0]["town"]) == {"Rome", "Oslo"}


@pytest.mark.parametrize("families", ["auto", "kernel", {0: "kernel", 1: "categorical"}], ids=str)
def test_chunks_give_the_answer_of_all_rows(families):
    columns = ["size", "visits", "year", "flag"]
    X = GAPPY[columns].to_numpy()
    model = NaiveBayes(families)
    expected = model.fit(X, Y).predict_proba(X)
    found = model.fit_chunks([(X[i::4], Y[i::4]) for i in range(4)]).predict_proba(X)
    assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_chunks_may_hold_categories_dates_and_gaps(make):
    expected = NaiveBayes().fit(GAPPY, Y).predict_proba(GAPPY)
    order = np.argsort(GAPPY["town"].fillna(""), kind="stable")  # later chunks bring new levels
    parts = [GAPPY.iloc[rows] for rows in np.array_split(order, 3)]
    columns = [{name: part[name].tolist() for name in part} for part in parts]
    labels = [Y[rows] for rows in np.array_split(order, 3)]
    chunks = [(make(part), label) for part, label in zip(columns, labels, strict=True)]
    model = NaiveBayes().fit_chunks(chunks)
    assert model.predict_proba(make(GAPPY.to_dict("list"))) == pytest.approx(expected, abs=1e-10)


def test_kernel_density_follows_two_humps_where_a_normal_cannot():
    rng = np.random.default_rng(0)
    outer = rng.choice([-3.0, 3.0], 300) + 0.5 * rng.normal(size=300)
    X = np.r_[outer, 0.5 * rng.normal(size=300)][:, None]
    y = np.repeat(["outer", "inner"], 300)
    model = NaiveBayes("kernel").fit(X, y)
    density = np.exp(model.densities_.log_density(np.linspace(-8, 8, 2001)[:, None]))
    assert density.sum(axis=0) * 0.008 == pytest.approx(np.ones(2), rel=1e-6)
    assert model.predict([[-3.0], [0.0], [3.0]]).tolist() == ["outer", "inner", "outer"]
    drawn, labels = model.sample(2000, random_state=0)
    assert np.mean(np.abs(drawn[labels == "outer"]) < 1) < 0.05
    wider = NaiveBayes("kernel", bandwidth=2.0).fit(X, y)
    assert wider.densities_.kernels[0][0][2] == 2 * model.densities_.kernels[0][0][2]


def test_many_kernels_are_shared_out_on_a_grid():
    rng = np.random.default_rng(0)
    values = np.sort(rng.normal(size=5000))
    grid, weight = _binned(values, np.ones(5000))
    assert len(grid) <= 1000
    assert weight.sum() == pytest.approx(5000)
    assert weight @ grid == pytest.approx(values.sum(), abs=1e-8)
    model = NaiveBayes("kernel").fit(values[:, None], np.arange(5000) % 2)
    points = np.linspace(-2, 2, 9)[:, None]
    for k in (0, 1):
        inside = values[np.arange(5000) % 2 == k]
        width = model.densities_.kernels[0][k][2]
        exact = stats.norm(inside, width).pdf(points).mean(axis=1)
        found = np.exp(model.densities_.log_density(points)[:, k])
        assert found == pytest.approx(exact, rel=1e-3)


def test_probabilities_of_levels_and_means_are_in_the_results():
    model = NaiveBayes().fit(FRAME, Y)
    terms = model.tidy()
    assert terms.columns[:4].tolist() == ["response", "term", "estimate", "std_error"]
    towns = terms[terms["term"].str.startswith("town[") & (terms["response"] == "low")]
    assert towns["estimate"].sum() == pytest.approx(1.0)
    sizes = terms[(terms["term"] == "size") & (terms["response"] == "mid")]
    expected = FRAME["size"][Y == "mid"]
    assert sizes["estimate"].item() == pytest.approx(expected.mean())
    assert sizes["std_error"].item() == pytest.approx(expected.std() / np.sqrt(len(expected)))
    assert "probabilities of levels" in repr(model.summary())
    assert model.glance()["nobs"].item() == N


def test_a_class_with_one_value_has_the_common_variance():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    model = NaiveBayes("gaussian").fit(X, ["a", "a", "a", "b"])
    assert model.densities_.sd[:, 0].tolist() == [1.0, 1.0]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_units_of_numbers_do_not_matter(seed, unit, offset):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    expected = NaiveBayes("gaussian").fit(X, y).predict_proba(X)
    moved = unit * X + offset
    assert NaiveBayes("gaussian").fit(moved, y).predict_proba(moved) == pytest.approx(
        expected, abs=1e-6
    )


def test_bad_declarations_are_refused():
    X = np.column_stack([TABLE["size"], TABLE["visits"]])
    with pytest.raises(ParameterError, match="distributions='normal' is not allowed"):
        NaiveBayes("normal").fit(X, Y)
    with pytest.raises(ParameterError, match="distributions"):
        NaiveBayes({0: "normal"}).fit(X, Y)
    with pytest.raises(ParameterError, match=r"'siez' that is not there; .* Did you mean 'size'"):
        NaiveBayes({"siez": "kernel"}).fit(FRAME, Y)
    with pytest.raises(ParameterError, match="which is no column; X has the columns 0 to 1"):
        NaiveBayes({5: "kernel"}).fit(X, Y)
    with pytest.raises(ParameterError, match="column 'town' holds categories"):
        NaiveBayes({"town": "gaussian"}).fit(FRAME, Y)
    model = NaiveBayes().fit(FRAME, Y)
    with pytest.raises(InputError, match="learnt from a data frame"):
        model.predict(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME.drop(columns="town"))
    with pytest.raises(ValueError, match="infinity"):
        NaiveBayes().fit(np.array([[np.inf], [1.0]]), [0, 1])


def test_families_must_suit_the_values():
    X = np.array([[-1.0], [0.5], [2.0], [3.0]])
    for family in ("poisson", "bernoulli"):
        with pytest.raises(InputError, match="column 'x0' holds other values"):
            NaiveBayes(family).fit(X, [0, 0, 1, 1])


def test_a_column_without_values_stays_unknown():
    X = np.column_stack([TABLE["size"], np.full(N, np.nan)])
    model = NaiveBayes().fit(X, Y)
    expected = NaiveBayes().fit(X[:, :1], Y).predict_proba(X[:, :1])
    assert model.predict_proba(X) == pytest.approx(expected, abs=1e-12)
    assert np.isnan(model.fill_in(X[:2])[:, 1]).all()


def test_the_numbers_of_classes_have_scikit_learns_names():
    model = NaiveBayes("gaussian").fit(FRAME[["size", "visits"]], Y)
    for k, label in enumerate(model.classes_):
        rows = FRAME.loc[label == Y, ["size", "visits"]]
        assert model.theta_[k] == pytest.approx(rows.mean().to_numpy())
        assert model.var_[k] == pytest.approx(rows.var().to_numpy())
        assert model.class_count_[k] == len(rows)
        assert model.class_prior_[k] == pytest.approx(len(rows) / N)
    assert np.isnan(NaiveBayes().fit(FRAME[["town"]], Y).theta_).all()
    part = FRAME.loc[Y != "low", ["size", "visits"]]
    stream = NaiveBayes("gaussian").partial_fit(part, Y[Y != "low"], classes=np.unique(Y))
    assert np.isnan(stream.theta_[1]).all()
    assert np.isfinite(stream.theta_[[0, 2]]).all()


def test_joint_log_probabilities_give_those_of_the_classes_and_the_density():
    model = NaiveBayes().fit(FRAME, Y)
    joint = model.predict_joint_log_proba(GAPPY)
    density = model.log_density(GAPPY)
    assert np.logaddexp.reduce(joint, axis=1) == pytest.approx(density)
    # Probabilities sum terms of a few hundred, whose rounding is 1e-13.
    assert np.exp(joint - density[:, None]) == pytest.approx(model.predict_proba(GAPPY), abs=1e-9)
