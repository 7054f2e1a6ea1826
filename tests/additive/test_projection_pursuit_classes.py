"""Projection pursuit of classes, by likelihood and by indicators."""

import warnings
from functools import cache

import numpy as np
import pytest

from bottega.additive import ProjectionPursuitClassifier, ProjectionPursuitRegressor
from bottega.classify import LogisticRegression


def ring(n, seed=0):
    """Return rows whose log odds are a hill over a plane: 2 - u^2 - v^2 of two directions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    u, v = X[:, 0] + X[:, 1], X[:, 0] - X[:, 1]
    odds = 3 - u**2 - v**2
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "in", "out"), odds


def three(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.digitize((X[:, 0] + X[:, 1]) ** 2 + 0.5 * rng.normal(size=n), [0.5, 2.5])


@cache
def of_ring():
    return ProjectionPursuitClassifier(2, max_terms=2).fit(*ring(800)[:2])


def log_loss(model, X, y):
    found = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -np.mean(np.log(found))


def test_the_log_odds_are_found():
    model = of_ring()
    new, _, odds = ring(2000, seed=1)
    near = np.abs(odds) < 3
    found = -model.decision_function(new)  # of "out" against "in"
    assert np.corrcoef(found[near], odds[near])[0, 1] > 0.97
    plane = np.abs(model.directions_[:, :2])
    assert np.sum(model.directions_[:, 2:] ** 2) < 0.05 * np.sum(plane**2)


def test_it_beats_a_linear_boundary():
    X, y, odds = ring(2000, seed=2)
    straight = LogisticRegression(C=np.inf).fit(*ring(800)[:2])
    best = -np.mean(np.log(np.where(y == "in", 1, np.exp(-odds)) / (1 + np.exp(-odds))))
    assert log_loss(of_ring(), X, y) < best + 0.05
    assert log_loss(straight, X, y) > best + 0.2


def test_of_flat_log_odds_it_is_logistic_regression():
    """A function of two degrees of freedom is a line: the likelihood has one largest value."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = rng.random(400) < 1 / (1 + np.exp(-(X @ [1.0, -1.0, 0.5])))
    ours = ProjectionPursuitClassifier(1, max_terms=1, df=2.0001, tol=1e-9).fit(X, y)
    flat = LogisticRegression(C=np.inf).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(flat.decision_function(X), abs=2e-3)


@pytest.mark.parametrize("method", ["likelihood", "indicator"])
def test_three_classes_along_one_direction(method):
    X, y = three(500)
    model = ProjectionPursuitClassifier(method=method, max_terms=3).fit(X, y)
    new, labels = three(1500, seed=1)
    scores = model.decision_function(new)
    assert np.mean(model.predict(new) != labels) < 0.3  # by chance 0.6
    assert np.array_equal(model.predict(new), model.classes_[scores.argmax(axis=1)])
    if method == "indicator":
        # The indicators of a row sum to one, and so do their fits, but for what smoothing does.
        assert scores.sum(axis=1) == pytest.approx(np.ones(1500), abs=0.05)
        with pytest.raises(AttributeError, match="predict_proba"):
            model.predict_proba(new)
    else:
        proba = model.predict_proba(new)
        assert proba.sum(axis=1) == pytest.approx(np.ones(1500))
        assert np.array_equal(proba.argmax(axis=1), scores.argmax(axis=1))
    assert model.tidy()["response"].nunique() == 3


def test_indicators_of_two_classes_are_a_regression_of_zeros_and_ones():
    X, y, _ = ring(300, seed=4)
    classes = ProjectionPursuitClassifier(2, max_terms=2, method="indicator").fit(X, y)
    numbers = ProjectionPursuitRegressor(2, max_terms=2).fit(X, 1.0 * (y == "out"))
    assert classes.decision_function(X) + 0.5 == pytest.approx(numbers.predict(X), abs=1e-5)


def test_passes_never_lower_the_likelihood():
    X, y, _ = ring(300, seed=5)
    deviance = [
        ProjectionPursuitClassifier(m, max_terms=3).fit(X, y).glance()["deviance"][0]
        for m in (1, 2, 3)
    ]
    assert deviance[1] < deviance[0]
    assert deviance[2] <= deviance[1]


def test_classes_that_can_be_separated_give_bounded_log_odds():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ProjectionPursuitClassifier(1, max_terms=1).fit(X, X[:, 0] > 0)
    assert np.all(np.abs(model.decision_function(X)) < 1e4)
    assert np.mean(model.predict(X) != (X[:, 0] > 0)) < 0.03


def test_weights_of_classes_move_the_boundary():
    X, y, _ = ring(300, seed=7)
    plain, heavy = (
        ProjectionPursuitClassifier(2, max_terms=2, class_weight=weight).fit(X, y)
        for weight in (None, {"in": 5.0, "out": 1.0})
    )
    assert np.mean(heavy.predict(X) == "in") > np.mean(plain.predict(X) == "in") + 0.05
    assert heavy.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.05


def test_criteria_need_a_likelihood():
    X, y, _ = ring(150, seed=8)
    by_aic = ProjectionPursuitClassifier(max_terms=2, select="aic").fit(X, y)
    assert by_aic.path_.criteria["aic"].shape == (3,)  # none, one and two terms
    with pytest.raises(ValueError, match="has no rule 'aic'"):
        ProjectionPursuitClassifier(max_terms=2, select="aic", method="indicator").fit(X, y)
