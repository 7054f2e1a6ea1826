"""Projection pursuit on few rows of many columns: no terms are better than terms of noise."""

import numpy as np
import pytest

from bottega.additive import ProjectionPursuitClassifier, ProjectionPursuitRegressor
from bottega.core.errors import InputError


def draw(signal, seed=0, n=240, p=31):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 1000, p))
    y = signal * X[:, :3].sum(axis=1) / np.sqrt(3) + rng.normal(size=n + 1000)
    return X[:n], y[:n], X[n:], y[n:]


@pytest.mark.parametrize("select", ["min", "one_se"])
def test_of_noise_nothing_is_left_but_the_mean(select):
    # Its least honest error with a term is 2.2 times that of the mean, in folds of 192 rows.
    X, y, new, truth = draw(0.0)
    model = ProjectionPursuitRegressor(max_terms=2, select=select).fit(X, y)
    assert model.n_terms_ == 0
    assert model.predict(new) == pytest.approx(np.full(len(new), y.mean()), rel=1e-8)
    assert model.path_.values.tolist()[0] == 0
    assert model.path_.error[0] < model.path_.error[1:].min()
    assert np.mean((truth - model.predict(new)) ** 2) < 1.1


def test_a_signal_among_many_columns_is_found():
    X, y, new, truth = draw(1.0)
    model = ProjectionPursuitRegressor(max_terms=2).fit(X, y)
    assert model.n_terms_ == 1
    assert np.mean((truth - model.predict(new)) ** 2) < 0.7 * np.var(truth)


def test_a_model_without_terms_is_a_whole_model():
    X, y, new, _ = draw(1.0, n=60, p=4)
    model = ProjectionPursuitRegressor(0).fit(X, y)
    assert (model.n_terms_, model.df_, model.converged_) == (0, 1.0, True)
    assert model.directions_.shape == (0, 4)
    assert model.ridge_values(new).shape == (1000, 0)
    assert model.tidy()["term"].tolist() == ["(Intercept)"]
    assert model.glance()["r_squared"].iloc[0] == pytest.approx(0.0, abs=1e-8)
    assert "(Intercept)" in str(model.summary())
    with pytest.raises(InputError, match="no terms to draw"):
        model.plot()


@pytest.mark.parametrize("method", ["likelihood", "indicator"])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_terms_classes_have_their_shares(method, classes):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(90, 3)), np.repeat(np.arange(classes), 90 // classes)
    y[:10] = 1
    model = ProjectionPursuitClassifier(0, method=method).fit(X, y)
    assert np.all(model.predict(X) == 1)
    if method == "likelihood":
        share = np.bincount(y) / len(y)
        assert model.predict_proba(X[:2]) == pytest.approx(np.tile(share, (2, 1)), rel=1e-9)


@pytest.mark.parametrize("unit", [1e12, 1e-9 / 3])
@pytest.mark.parametrize("n_terms", [3, "auto"])
def test_the_answer_does_not_depend_on_units_at_all(unit, n_terms):
    # Numbers in other units differ in their last digits; the search goes on from rounded ones.
    X, y, new, _ = draw(1.0, n=150, p=6)
    model = ProjectionPursuitRegressor(n_terms, max_terms=3)
    plain = model.fit(X, y).predict(new)
    assert model.fit(X * unit, y).predict(new * unit) == pytest.approx(plain, abs=1e-9)
    other = model.fit(X * unit, y / unit).predict(new * unit) * unit
    assert other == pytest.approx(plain, abs=1e-9)
