"""Regression on indicators: the fit, masking, equivalences, chunks, bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bottega.classify import IndicatorRegression, LogisticRegression
from bottega.core.errors import InputError


def line_of_classes(n=60, spread=0.15, seed=0):
    """Return three classes whose means lie on a line."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n)
    return y[:, None] + spread * rng.normal(size=(3 * n, 1)), y


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), K=st.integers(2, 4), weighted=st.booleans())
def test_it_is_least_squares_on_indicators(seed, K, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)) + 5, rng.integers(K, size=40)
    y[:K] = np.arange(K)
    w = rng.integers(1, 4, size=40).astype(float) if weighted else np.ones(40)
    model = IndicatorRegression().fit(X, y, sample_weight=w)
    root = np.sqrt(w)[:, None]
    design, Z = np.column_stack([np.ones(40), X]), (y[:, None] == np.arange(K)).astype(float)
    expected = np.linalg.lstsq(root * design, root * Z, rcond=None)[0]
    assert_allclose(model.intercept_, expected[0], atol=1e-9)
    assert_allclose(model.coef_, expected[1:].T, atol=1e-10)
    # The fitted values of a row sum to one.
    assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-10)
    assert_allclose(model.intercept_.sum(), 1)
    fitted = design @ expected
    assert model.predict(X).tolist() == fitted.argmax(axis=1).tolist()
    if K == 2:
        assert_allclose(model.decision_function(X), fitted[:, 1] - 0.5, atol=1e-9)
    row = model.glance().iloc[0]
    assert_allclose(row["deviance"], np.sum(w[:, None] * (Z - fitted) ** 2))
    assert_allclose(row["train_error"], np.average(model.predict(X) != y, weights=w))


def test_the_middle_class_of_three_on_a_line_is_masked():
    X, y = line_of_classes()
    model = IndicatorRegression().fit(X, y)
    table = model.masking()
    assert table["masked"].tolist() == [False, True, False]
    assert table["recall"][1] == 0
    assert pd.isna(table["by"][0])  # all of its rows are right
    assert table["by"][1] in (0, 2)
    assert model.outside_ > 0
    assert "Masked by other classes: 1" in str(model.summary())
    # Squares of the input, or a likelihood, do not mask it.
    square = IndicatorRegression().fit(np.column_stack([X, X**2]), y)
    assert not square.masking()["masked"].any()
    assert np.mean(square.predict(np.column_stack([X, X**2])) == y) > 0.95
    assert np.mean(LogisticRegression().fit(X, y).predict(X) == y) > 0.95


def test_two_balanced_classes_have_the_boundary_of_discriminant_analysis():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    ours = IndicatorRegression().fit(X, y)
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    new = rng.normal(size=(500, 3))
    assert ours.predict(new).tolist() == theirs.predict(new).tolist()
    slope = (ours.coef_[1] - ours.coef_[0]) / np.linalg.norm(ours.coef_[1] - ours.coef_[0])
    assert_allclose(slope, theirs.coef_[0] / np.linalg.norm(theirs.coef_), atol=1e-9)


def test_chunks_names_and_collinear_columns():
    X, y = line_of_classes()
    X = np.column_stack([X, X[:, 0] ** 2, np.full(len(y), 7.0)])
    whole = IndicatorRegression().fit(X, y)
    assert whole.rank_ == 2
    cuts = [slice(0, 50), slice(50, 51), slice(51, 180)]
    chunked = IndicatorRegression().fit_chunks([(X[c], y[c]) for c in cuts])
    assert_allclose(chunked.coef_, whole.coef_, atol=1e-9)
    assert_allclose(chunked.confusion_, whole.confusion_)
    assert_allclose(chunked.glance().iloc[0], whole.glance().iloc[0])
    named = IndicatorRegression().fit(
        pd.DataFrame(X, columns=list("abc")), np.array(list("uvw"))[y]
    )
    terms = named.tidy()
    assert terms["term"].tolist()[:4] == ["(Intercept)", "a", "b", "c"]
    assert terms["response"].unique().tolist() == ["u", "v", "w"]


def test_bad_input():
    X, y = line_of_classes()
    with pytest.raises(InputError, match="only one class"):
        IndicatorRegression().fit(X, np.zeros(len(y)))
    with pytest.raises(InputError, match="overflow"), np.errstate(all="ignore"):
        IndicatorRegression().fit(X * 1e160, y)
    with pytest.raises(InputError, match="weights of its rows"):
        IndicatorRegression(class_weight="balanced").fit_chunks([(X, y)])
    with pytest.raises(ValueError, match="NaN"):
        IndicatorRegression().fit(np.where(X > 2, np.nan, X), y)
    assert not hasattr(IndicatorRegression(), "predict_proba")
