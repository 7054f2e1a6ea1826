"""Levels of factors whose rows are all of one class: the fit says that their effect has no end."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdditiveClassifier, AdditiveModel, factor, random, smooth
from bottega.core.errors import DataWarning


def draw(seed=0, n=300):
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=n), rng.choice(["north", "south", "west"], n)
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-x))).astype(int)
    y[g == "south"] = 0
    return pd.DataFrame({"x": x, "g": g}), y


@pytest.mark.parametrize("engine", ["penalized", "backfitting"])
def test_a_level_of_one_class_is_named(engine):
    X, y = draw()
    rows = int(np.sum(X["g"] == "south"))
    labels = np.where(y, "yes", "no")
    with pytest.warns(DataWarning) as told:
        model = AdditiveClassifier(engine=engine).fit(X, labels)
    (message,) = [str(each.message) for each in told]
    assert f"g = 'south' (all {rows} rows are of class 'no')" in message
    assert "random('g')" in message
    assert "north" not in message
    assert "g = 'south'" in str(model.summary())


def test_responses_of_a_model_are_named_by_their_value():
    X, y = draw()
    for family in ("binomial", "poisson"):
        with pytest.warns(DataWarning, match=r"g = 'south' \(all \d+ rows have response 0\)"):
            AdditiveModel(family=family).fit(X, y)
    with pytest.warns(DataWarning, match=r"g = 'south' \(all \d+ rows have response 1\)"):
        AdditiveModel(family="binomial").fit(X, 1 - y)


def test_chunks_tell_the_same():
    X, y = draw()
    whole = [(X[:150], y[:150]), (X[150:], y[150:])]
    with pytest.warns(DataWarning, match=r"g = 'south' \(all \d+ rows have response 0\)"):
        AdditiveModel(family="binomial").fit_chunks(whole)


def test_a_class_that_a_level_has_no_row_of_is_named():
    X, y = draw()
    labels = np.where(y, "yes", "no").astype(object)
    labels[(X["g"] == "west") & (X["x"] > 0.5)] = "late"
    labels[X["g"] == "south"] = "no"
    with pytest.warns(DataWarning) as told:
        AdditiveClassifier().fit(X, labels)
    message = str(told[0].message)
    assert "g = 'north' (no row of class 'late')" in message
    assert "rows are of class 'no'" in message
    assert "'west'" not in message


@pytest.mark.parametrize("case", ["mixed", "random", "gaussian", "weightless"])
def test_nothing_is_said_where_effects_have_a_maximum(case):
    X, y = draw()
    weight, terms = None, [smooth("x"), factor("g")]
    if case == "mixed":
        y[np.flatnonzero(X["g"] == "south")[0]] = 1
    elif case == "random":
        terms = [smooth("x"), random("g")]
    elif case == "weightless":  # the row that makes the level mixed counts, the others do not
        y[np.flatnonzero(X["g"] == "south")[:40]] = 1
        weight = np.ones(len(y))
        weight[np.flatnonzero(X["g"] == "south")[80:]] = 0
    family = "gaussian" if case == "gaussian" else "binomial"
    model = AdditiveModel(terms, family=family)  # warnings are errors here
    model.fit(X, y, sample_weight=weight)
    assert np.all(np.isfinite(model.predict(X)))
