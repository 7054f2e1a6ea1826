"""Covariances, terms, bands and summaries of penalised fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bottega.linear import Ridge


def draw(seed=0, n=30, p=3, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.arange(1, p + 1) + 5
    y = X @ np.ones(p if q is None else (p, q))
    return X, y + rng.normal(size=y.shape)


def formulas(X, w, alpha, standardize):
    """Both covariances over sigma^2 by the textbook formulas, on the original scale."""
    mean = np.average(X, axis=0, weights=w)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    scale = scale if standardize else np.ones_like(scale)
    A = (X - mean) / scale * np.sqrt(w)[:, None]
    gram = A.T @ A
    P = np.linalg.inv(gram + alpha * np.eye(len(gram)))
    both = np.outer(scale, scale)
    return P @ gram @ P / both, P / both


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("shape", [(30, 3), (8, 12)])
def test_covariances_are_the_formulas(standardize, shape):
    X, y = draw(1, *shape)
    w = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    model = Ridge(1.5, standardize=standardize).fit(X, y, sample_weight=w)
    sampling, posterior = formulas(X, w, 1.5, standardize)
    assert_allclose(model.covariance(), model.sigma_**2 * sampling, rtol=1e-9, atol=1e-12)
    found = model.covariance("posterior")
    assert_allclose(found, model.sigma_**2 * posterior, rtol=1e-9, atol=1e-12)
    # The posterior is never the narrower: it also carries what the prior hides from sampling.
    assert np.linalg.eigvalsh(found - model.covariance()).min() > -1e-12
    terms = model.tidy()
    assert_allclose(terms["std_error"][1:], np.sqrt(np.diag(model.covariance())), rtol=1e-9)


def test_terms_of_a_penalised_fit_have_credible_limits_and_no_test():
    X, y = draw(2)
    model = Ridge(4.0).fit(X, y)
    terms = model.tidy(level=0.8)
    assert_array_equal(terms["term"], ["(Intercept)", "x0", "x1", "x2"])
    assert_allclose(terms["estimate"], [model.intercept_, *model.coef_])
    assert terms[["statistic", "p_value"]].isna().all(axis=None)
    spread = np.sqrt(np.diag(model.covariance("posterior")))
    half = stats.t.ppf(0.9, 30 - model.df_) * spread
    assert_allclose(terms["conf_low"][1:], model.coef_ - half, rtol=1e-10)
    assert_allclose(terms["conf_high"][1:], model.coef_ + half, rtol=1e-10)
    # The intercept is the prediction at the origin.
    at_zero = model.predict(np.zeros((1, 3)), return_std=True)
    assert_allclose([terms["estimate"][0], terms["std_error"][0]], np.ravel(at_zero), rtol=1e-10)


def test_terms_without_an_intercept():
    X, y = draw(3)
    model = Ridge(alpha=0, fit_intercept=False).fit(X, y)
    terms = model.tidy()
    assert_array_equal(terms["term"], ["x0", "x1", "x2"])
    vcov = np.linalg.inv(X.T @ X) * np.sum((y - X @ model.coef_) ** 2) / 27
    assert_allclose(terms["std_error"], np.sqrt(np.diag(vcov)), rtol=1e-10)
    _, std = model.predict(X[:2], return_std=True)
    assert_allclose(std, np.sqrt(np.einsum("ij,jk,ik->i", X[:2], vcov, X[:2])), rtol=1e-10)


def test_standard_error_of_the_mean_is_that_of_the_smoother():
    # Var(S y)_ii = sigma^2 (SS')_ii at the training rows.
    X, y = draw(4)
    model = Ridge(3.0, standardize=False).fit(X, y)
    A = X - X.mean(axis=0)
    S = A @ np.linalg.solve(A.T @ A + 3 * np.eye(3), A.T) + 1 / 30
    _, std = model.predict(X, return_std=True)
    assert_allclose(std, model.sigma_ * np.sqrt(np.diag(S @ S.T)), rtol=1e-10)
    low, high = model.interval(X, level=0.9, kind="prediction")
    half = stats.t.ppf(0.95, 30 - model.df_) * np.hypot(std, model.sigma_)
    assert_allclose(high - low, 2 * half, rtol=1e-10)
    assert_allclose((high + low) / 2, model.predict(X), rtol=1e-10)


def test_several_responses_have_their_own_scale():
    X, Y = draw(5, q=2)
    Y[:, 1] *= 10
    both = Ridge(2.0).fit(X, Y)
    alone = [Ridge(2.0).fit(X, Y[:, k]) for k in range(2)]
    assert both.coef_.shape == (2, 3)
    assert_allclose(both.sigma_, [each.sigma_ for each in alone], rtol=1e-10)
    assert_allclose(both.covariance(), [each.covariance() for each in alone], rtol=1e-9)
    mean, std = both.predict(X, return_std=True)
    for k, each in enumerate(alone):
        expected_mean, expected_std = each.predict(X, return_std=True)
        assert_allclose(mean[:, k], expected_mean, rtol=1e-10)
        assert_allclose(std[:, k], expected_std, rtol=1e-10)
        terms = both.tidy()
        terms = terms[terms["response"] == k].drop(columns=["response", "term"])
        expected = each.tidy().drop(columns="term")
        assert_allclose(terms.to_numpy(), expected.to_numpy(), rtol=1e-9)
    assert_allclose(both.aic_, sum(each.aic_ for each in alone), rtol=1e-10)


def test_intervals_cover_where_there_is_no_bias():
    # 400 draws of a 90 % interval without penalty: 360 +- 6, and 6 standard errors either side
    # raise a false alarm with probability below 1e-8.
    rng = np.random.default_rng(6)
    X, new = rng.normal(size=(20, 3)), rng.normal(size=(1, 3))
    Y = (X @ [1.0, 2.0, 3.0])[:, None] + rng.normal(size=(20, 400))
    low, high = Ridge(alpha=0).fit(X, Y).interval(new, level=0.9)
    truth = new[0] @ [1.0, 2.0, 3.0]
    assert abs(np.sum((low < truth) & (truth < high)) - 360) < 36


def test_summary_says_what_the_numbers_are():
    X, y = draw(7)
    text = str(Ridge(2.0).fit(X, y).summary())
    assert text.startswith("Ridge regression")
    assert "alpha = 2 on standardised inputs; solver svd" in text
    assert "no t tests" in text
    assert "(Intercept)" in text
    free = str(Ridge(0, standardize=False).fit(X, y).summary())
    assert "unscaled" in free
    assert "no t tests" not in free
    wide = str(Ridge(2.0).fit(*draw(7, 10, 40)).summary())
    assert "The first 20 of 41 terms are shown" in wide
    assert "x18" in wide
    assert "x19" not in wide
