"""Adaptive splines for classes: three ways to fit them, and what they have in common."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdaptiveSplines, AdaptiveSplinesClassifier

METHODS = ("logistic", "indicator", "multinomial")


@cache
def rings(n=400, seed=0):
    """Return three classes in rings, the middle one between the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    r = X[:, 0] ** 2 + X[:, 1] ** 2 + 0.2 * rng.normal(size=n)
    return X, np.array(["a", "b", "c"])[np.digitize(r, [0.8, 2.5])]


@cache
def model(method, **given):
    return AdaptiveSplinesClassifier(method=method, **given).fit(*rings())


@pytest.mark.parametrize("method", METHODS)
def test_rings_are_found_without_the_columns_of_noise(method):
    X, y = rings(1000, seed=1)
    found = AdaptiveSplinesClassifier(method=method, select="bic").fit(*rings())
    assert np.mean(found.predict(X) != y) < 0.2
    assert set(found.importance()["input"][:2]) == {"x0", "x1"}
    assert found.decision_function(X).shape == (1000, 3)


def test_indicators_are_least_squares_on_columns_of_zeros_and_ones():
    """D175: the scores are the fitted values of several responses; they sum to one."""
    X, y = rings()
    Z = (y[:, None] == np.array(["a", "b", "c"])).astype(float)
    numbers = AdaptiveSplines().fit(X, Z)
    scores = model("indicator").decision_function(X)
    assert scores == pytest.approx(numbers.predict(X), abs=1e-9)
    assert scores.sum(axis=1) == pytest.approx(np.ones(len(X)), abs=1e-9)
    assert model("indicator").gcv_ == pytest.approx(numbers.gcv_, rel=1e-9)
    assert not hasattr(model("indicator"), "predict_proba")
    with pytest.raises(AttributeError) as raised:
        model("indicator").predict_proba(X)
    assert "method='logistic'" in str(raised.value.__cause__)


def test_two_classes_by_indicators_have_the_threshold_one_half():
    X, y = rings()
    found = AdaptiveSplinesClassifier(method="indicator").fit(X, y == "a")
    numbers = AdaptiveSplines().fit(X, (y == "a").astype(float))
    assert found.decision_function(X) == pytest.approx(numbers.predict(X) - 0.5, abs=1e-9)
    assert np.array_equal(found.predict(X), numbers.predict(X) > 0.5)


def test_logistic_has_the_terms_of_indicators_and_a_likelihood():
    X, y = rings()
    found, squares = model("logistic"), model("indicator")
    assert found.terms_ == squares.terms_
    assert found.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(X)))
    own = found.predict_proba(X)[np.arange(len(y)), np.searchsorted(found.classes_, y)]
    assert found.deviance_ == pytest.approx(-2 * np.log(own).sum(), rel=1e-9)
    # A small ridge: the residuals are nearly orthogonal to the terms.
    free = AdaptiveSplinesClassifier(alpha=1e-8, n_terms=6).fit(X, y)
    B = free.basis_.matrix(X)
    left = (y[:, None] == free.classes_) - free.predict_proba(X)
    assert np.max(np.abs(B.T @ left)) <= 1e-3 * np.max(np.abs(B.T @ np.abs(left)))


def test_two_classes_have_the_log_odds_of_the_second():
    X, y = rings()
    found = AdaptiveSplinesClassifier().fit(X, y == "a")
    score = found.decision_function(X)
    assert found.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-score)), rel=1e-9)
    assert found.basis_.matrix(X) @ (found.coef_ * found.basis_.units) == pytest.approx(score)
    assert found.formula().startswith("P(True) = 1 / (1 + exp(-(")
    space = {}
    exec(found.formula("python"), space)
    rows = [dict(zip(found.columns_in_.names, row, strict=True)) for row in X[:20]]
    by_formula = [space["predict"](row) for row in rows]
    assert by_formula == pytest.approx(found.predict_proba(X[:20])[:, 1], rel=1e-9)


def test_the_likelihood_finds_what_squares_find_and_fits_better():
    """D176: growth by the quadratic approximation, Newton at the end."""
    found, squares = model("multinomial", n_terms=8), model("logistic", n_terms=8)
    assert found.deviance_ < 1.1 * squares.deviance_
    assert found.converged_
    curve = model("multinomial").path_
    deviance = curve.criteria["aic"] - 2 * curve.df
    assert np.argmin(deviance) == len(curve) - 1
    assert np.argmax(deviance) == 0


def test_formulas_of_several_classes_give_their_scores():
    X, _ = rings()
    found = model("logistic")
    space = {}
    exec(found.formula("python"), space)
    scores = found.decision_function(X[:5])
    for row, expected in zip(X[:5], scores, strict=True):
        shown = space["predict"](dict(zip(found.columns_in_.names, row, strict=True)))
        assert list(shown) == ["a", "b", "c"]
        assert list(shown.values()) == pytest.approx(expected, rel=1e-9)
    assert len(found.effects()) == 3 * len(found.effects("b"))
    assert found.tidy()["response"].nunique() == 3


def test_separated_classes_have_bounded_scores():
    X = np.linspace(-1, 1, 100)[:, None]
    for method in ("logistic", "multinomial"):
        found = AdaptiveSplinesClassifier(method=method).fit(X, X[:, 0] > 0.2)
        assert found.predict(X).tolist() == (X[:, 0] > 0.2).tolist()
        assert np.max(np.abs(found.decision_function(X))) < 40
        assert found.converged_


def test_class_weights_are_weights_of_rows():
    X, y = rings()
    by_class = AdaptiveSplinesClassifier(5, class_weight={"a": 1, "b": 2, "c": 3}).fit(X, y)
    weight = 1.0 + np.searchsorted(["a", "b", "c"], y)
    by_row = AdaptiveSplinesClassifier(5).fit(X, y, sample_weight=weight)
    assert by_class.predict_proba(X) == pytest.approx(by_row.predict_proba(X), rel=1e-9)


def test_a_class_that_a_fold_lacks_is_not_predicted_there():
    X, y = rings()
    few = np.concatenate([np.flatnonzero(y == "a")[:1], np.flatnonzero(y != "a")[:80]])
    for method in METHODS:
        curve = AdaptiveSplinesClassifier(method=method, cv=5).path(X[few], y[few])
        assert np.all(np.isfinite(curve.error))
    lonely = np.r_[np.flatnonzero(y == "a")[:1], np.flatnonzero(y == "b")[:30]]
    curve = AdaptiveSplinesClassifier(cv=3).path(X[lonely], y[lonely], loss="log_loss")
    assert len(curve) >= 1


def test_many_coefficients_go_without_second_derivatives():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 12))
    y = np.argmax(X @ rng.normal(size=(12, 30)) + rng.gumbel(size=(1500, 30)), axis=1)
    found = AdaptiveSplinesClassifier(25, tol=1e-5, max_terms=25).fit(X, y)
    assert found.coef_.size > 600
    assert found.converged_
    assert np.mean(found.predict(X) == y) > 0.25  # by chance: 0.03


def test_frames_with_categories_and_gaps():
    X, y = rings()
    frame = pd.DataFrame(X, columns=list("pqrs"))
    frame["kind"] = np.where(y == "b", "one", "two")
    frame.loc[:20, "p"] = np.nan
    found = AdaptiveSplinesClassifier().fit(frame, y)
    assert any("kind in" in term for term in found.terms_)
    assert np.mean(found.predict(frame) == y) > 0.85


def test_formulas_hold_far_from_the_data():
    X, y = rings()
    found = AdaptiveSplinesClassifier(4).fit(X, y == "a")
    space = {}
    exec(found.formula("python"), space)
    for size in (1e3, -1e6):
        row = np.full(4, size)
        shown = space["predict"](dict(zip(found.columns_in_.names, row, strict=True)))
        assert shown == pytest.approx(found.predict_proba(row[None])[0, 1], abs=1e-12)
