"""glance, tidy and summary of the methods that pick their columns; the gaps along their paths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bottega.linear import (
    AdaptiveLasso,
    ElasticNet,
    Lasso,
    LeastAngle,
    SubsetSelection,
)

NAMES = list("abcdef")


def draw(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, 2 * X[:, 1] - X[:, 4] + rng.normal(size=n)


REGRESSIONS = [
    (Lasso, "alpha", 0.2),
    (ElasticNet, "alpha", 0.2),
    (AdaptiveLasso, "alpha", 0.2),
    (LeastAngle, "n_nonzero_coefs", 2),
    (SubsetSelection, "n_features_to_select", 2),
]


@pytest.mark.parametrize(("method", "knob", "value"), REGRESSIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_one_row_about_a_regression(method, knob, value, weighted):
    X, y = draw()
    w = np.random.default_rng(1).integers(1, 4, size=60).astype(float) if weighted else np.ones(60)
    model = method(value).fit(X, y, sample_weight=w if weighted else None)
    row = model.glance().iloc[0]
    rss = np.sum(w * (y - model.predict(X)) ** 2)
    assert row["nobs"] == 60
    assert row["nonzero"] == np.count_nonzero(model.coef_)
    assert row["df"] == row["nonzero"] + 1
    assert_allclose(row["deviance"], rss)
    assert_allclose(row["train_error"], rss / w.sum())
    tss = np.sum(w * (y - np.average(y, weights=w)) ** 2)
    assert_allclose(row["r_squared"], 1 - rss / tss)
    assert_allclose(row["sigma"] ** 2, rss / (60 - row["df"]))
    loglik = -30 * (np.log(2 * np.pi * rss / 60) + 1) + np.sum(np.log(w)) / 2
    assert_allclose([row["loglik"], row["aic"]], [loglik, 2 * (row["df"] + 1) - 2 * loglik])
    assert row[knob] == value
    assert np.isnan(row["error"])  # no path was walked


@pytest.mark.parametrize("method", [each for each, *_ in REGRESSIONS])
def test_honest_error_is_that_of_the_path(method):
    X, y = draw(2)
    model = method().fit(X, y)
    row = model.glance().iloc[0]
    place = model.path_.best(model.select)
    assert row["error"] == model.path_.error[place]
    assert row["error_se"] == model.path_.error_se[place]
    assert row[model.knob] == model.path_.values[place]
    assert_allclose(row["train_error"], model.path_.train_error[place], rtol=1e-6)
    text = str(model.summary())
    assert text.startswith(model.card.title)
    assert "on new rows, estimated by cross-validation" in text
    assert "none are shown" in text
    assert "<th scope=" in model.summary().to_html()


@pytest.mark.parametrize("method", [Lasso, ElasticNet, AdaptiveLasso])
def test_gaps_are_kept_for_every_penalty_of_the_path(method):
    X, y = draw(3)
    model = method().fit(X, y)
    assert model.gap_path_.shape == model.path_.values.shape
    assert np.all(model.gap_path_ <= model.tol)
    assert model.glance()["dual_gap"][0] == model.dual_gap_
    model.set_params(alpha=0.1).fit(X, y)
    assert not hasattr(model, "gap_path_")
    assert not hasattr(model, "path_")


def test_chunks_have_the_row_of_the_whole():
    X, y = draw(4)
    w = np.random.default_rng(0).uniform(0.5, 2, size=60)
    whole = Lasso(0.1).fit(X, y, sample_weight=w)
    parts = [(X[rows], y[rows], w[rows]) for rows in np.split(np.arange(60), [17, 40])]
    for model in (Lasso(0.1).fit_chunks(parts), Lasso(0.1, cv=None).fit_chunks(parts)):
        assert_allclose(model.glance().iloc[0], whole.glance().iloc[0], rtol=1e-9, atol=1e-12)
    picked = Lasso().fit_chunks(parts)
    assert np.isfinite(picked.glance()["error"][0])
    assert len(picked.gap_path_) == 100


def test_summary_lists_what_is_in_the_model_only():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(100, 40))
    y = X.sum(axis=1) + rng.normal(size=100)
    text = str(Lasso(0.01).fit(X, y).summary())
    assert "The first 20 of 41 terms are shown" in text
    few = Lasso(0.2).fit(*draw(0))
    shown = str(few.summary()).split("Terms\n")[1]
    assert all((f"x{j} " in shown) == (few.coef_[j] != 0) for j in range(6))
