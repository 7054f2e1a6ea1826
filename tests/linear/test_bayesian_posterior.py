"""Posterior, predictions and sequential updates of Bayesian regression (M420-M432)."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bottega.linear import BayesianRegression, LeastSquares, Ridge

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "linear" / "bayesian.json").read_text()
)
X_SWISS, Y_SWISS = np.array(REFERENCE["X"]), np.array(REFERENCE["y"])
# The formulas invert matrices with condition numbers up to 1e4.
TIGHT = {"rtol": 1e-9, "atol": 1e-9}


def draw(seed=0, n=25, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, 1 + X @ rng.normal(size=p) + 0.5 * rng.normal(size=n)


def prior(seed, size):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size)) + 2 * np.eye(size)
    return rng.normal(size=size), root @ root.T


def posterior(A, y, m0, precision0, beta):
    """M426, as printed in its corrected form (E25: y for t, and S_N^-1 is the precision)."""
    S = np.linalg.inv(precision0 + beta * A.T @ A)
    return S @ (precision0 @ m0 + beta * A.T @ y), S


def whole(model):
    return np.append(model.intercept_, model.coef_) if model.fit_intercept else model.coef_


def test_full_prior_equals_the_formulas_in_r():
    full = REFERENCE["full"]
    model = BayesianRegression(
        noise_precision=full["beta"],
        prior_mean=full["prior_mean"],
        prior_covariance=full["prior_covariance"],
    ).fit(X_SWISS, Y_SWISS)
    assert_allclose(whole(model), full["mean"], **TIGHT)
    assert_allclose(model.covariance_, full["covariance"], **TIGHT)
    assert_allclose(model.evidence_, full["evidence"], rtol=1e-9)
    _, std = model.predict(X_SWISS[:4], return_std=True)
    # That of a new response has the noise in it.
    assert_allclose(np.sqrt(std**2 + 1 / 1.7), full["predictive_sd"], rtol=1e-9)
    assert (model.lambda_, model.alpha_, model.n_iter_, model.converged_) == (1, 1.7, 0, True)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from([(25, 3), (3, 5), (1, 2)]))
def test_posterior_is_the_formula_without_an_intercept(seed, shape):
    X, y = draw(seed, *shape)
    m0, S0 = prior(seed, shape[1])
    model = BayesianRegression(
        noise_precision=2.0, prior_mean=m0, prior_covariance=S0, fit_intercept=False
    ).fit(X, y)
    mean, S = posterior(X, y, m0, np.linalg.inv(S0), 2.0)
    assert_allclose(model.coef_, mean, rtol=1e-7, atol=1e-7)  # S0 may be near singular
    assert_allclose(model.covariance_, S, rtol=1e-7, atol=1e-7)
    marginal = stats.multivariate_normal(X @ m0, np.eye(len(X)) / 2 + X @ S0 @ X.T)
    assert_allclose(model.evidence_, marginal.logpdf(y), rtol=1e-7, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.sampled_from([2, 4, 25]))
def test_flat_intercept_is_a_vanishing_prior_precision(seed, n):
    X, y = draw(seed, n)
    m0, S0 = prior(seed, 3)
    # The formula below inverts S0 and what it adds up to: of a worse one it has too few digits.
    assume(np.linalg.cond(S0) < 1e6)
    model = BayesianRegression(noise_precision=2.0, prior_mean=m0, prior_covariance=S0).fit(X, y)
    precision = np.zeros((4, 4))
    precision[1:, 1:] = np.linalg.inv(S0)
    A = np.column_stack([np.ones(n), X])
    mean, S = posterior(A, y, np.append(0, m0), precision, 2.0)
    assert_allclose(whole(model), mean, rtol=1e-7, atol=1e-7)
    assert_allclose(model.covariance_, S, rtol=1e-7, atol=1e-7)


def test_evidence_of_a_flat_intercept_is_the_limit_of_wide_priors():
    # N(0, t^2) has density 1 / (t sqrt(2 pi)) near zero: divide by it, and let t grow.
    X, y = draw(1)
    flat = BayesianRegression(0.7, 2.0).fit(X, y)
    t = 1e4
    S0 = np.diag([t**2, *np.full(3, 1 / 0.7)])
    wide = BayesianRegression(noise_precision=2.0, prior_covariance=S0).fit(X, y)
    limit = wide.evidence_ + 0.5 * np.log(2 * np.pi * t**2)
    assert_allclose(flat.evidence_, limit, rtol=1e-7)  # what is left is of order (y / t)^2 = 1e-8
    assert_allclose(flat.coef_, wide.coef_, rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_mode_is_ridge_and_its_limit_least_squares(intercept):
    # E24: E_MAP / beta = E_ridge + constant with lambda = alpha / beta.
    X, y = draw(2)
    w = np.random.default_rng(2).integers(0, 3, size=25).astype(float)
    for alpha, beta in ((0.5, 2.0), (3.0, 0.1)):
        model = BayesianRegression(alpha, beta, fit_intercept=intercept).fit(X, y, w)
        ridge = Ridge(alpha / beta, standardize=False, fit_intercept=intercept).fit(X, y, w)
        assert_allclose(model.coef_, ridge.coef_, **TIGHT)
        assert_allclose(model.intercept_, ridge.intercept_, **TIGHT)
        assert_allclose(model.gamma_, ridge.df_ - intercept, **TIGHT)
    # M427: a flat prior gives maximum likelihood.
    free = BayesianRegression(1e-10, 1.0, fit_intercept=intercept).fit(X, y)
    least = LeastSquares(fit_intercept=intercept).fit(X, y)
    assert_allclose(free.coef_, least.coef_, rtol=1e-8)
    first = int(intercept)
    assert_allclose(
        free.covariance_[first:, first:], least.covariance() / least.sigma_**2, rtol=1e-8
    )
    assert_allclose(free.gamma_, 3, rtol=1e-8)


def test_no_information_leaves_the_prior():
    # M427, N = 0: a row of zeros says nothing about the coefficients.
    m0, S0 = prior(3, 2)
    model = BayesianRegression(
        noise_precision=1.0, prior_mean=m0, prior_covariance=S0, fit_intercept=False
    ).fit([[0.0, 0.0]], [5.0])
    assert_allclose(model.coef_, m0, rtol=1e-12)
    assert_allclose(model.covariance_, S0, rtol=1e-12)
    X = np.random.default_rng(3).normal(size=(4, 2))
    mean, std = model.predict(X, return_std=True)  # of the prior
    assert_allclose(mean, X @ m0)
    assert_allclose(std, np.sqrt(np.einsum("ij,jk,ik->i", X, S0, X)))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cuts=st.sets(st.integers(8, 24), max_size=4),
    fixed=st.booleans(),
    intercept=st.booleans(),
)
def test_updates_are_the_batch_posterior(seed, cuts, fixed, intercept):
    X, y = draw(seed)
    w = np.random.default_rng(seed).uniform(0.5, 2, size=25)
    given = (0.8, 3.0) if fixed else ("auto", "auto")
    batch = BayesianRegression(*given, fit_intercept=intercept).fit(X, y, w)
    stream = BayesianRegression(*given, fit_intercept=intercept)
    parts = np.split(np.arange(25), sorted(cuts))
    for rows in parts:
        stream.partial_fit(X[rows], y[rows], w[rows])
    chunked = BayesianRegression(*given, fit_intercept=intercept)
    chunked.fit_chunks([(X[rows], y[rows], w[rows]) for rows in parts])
    for model in (stream, chunked):
        assert_allclose(whole(model), whole(batch), rtol=1e-8, atol=1e-8)
        assert_allclose(model.covariance_, batch.covariance_, rtol=1e-8, atol=1e-8)
        assert_allclose(model.evidence_, batch.evidence_, rtol=1e-8)
        assert_allclose([model.lambda_, model.alpha_], [batch.lambda_, batch.alpha_], rtol=1e-7)
        assert model.n_samples_seen_ == 25


def test_posterior_is_the_prior_of_the_next_row():
    # M428, one row at a time, each posterior handed on as a prior.
    X, y = draw(4)
    m0, S0 = prior(4, 4)
    batch = BayesianRegression(noise_precision=1.5, prior_mean=m0, prior_covariance=S0).fit(X, y)
    mean, S, evidence = m0, S0, 0.0
    for i in range(25):
        step = BayesianRegression(noise_precision=1.5, prior_mean=mean, prior_covariance=S)
        step.fit(X[[i]], y[[i]])
        mean, S, evidence = whole(step), step.covariance_, evidence + step.evidence_
    assert_allclose(mean, whole(batch), rtol=1e-8)
    assert_allclose(S, batch.covariance_, rtol=1e-8, atol=1e-10)
    assert_allclose(evidence, batch.evidence_, rtol=1e-8)  # the chain rule of densities


def test_predictive_variance_is_noise_plus_coefficients():
    X, y = draw(5)
    model = BayesianRegression(1.0, 4.0).fit(X, y)
    new = np.random.default_rng(5).normal(size=(3, 3)) * 3
    mean, std = model.predict(new, return_std=True)
    A = np.column_stack([np.ones(3), new])
    expected = 0.25 + np.diag(A @ model.covariance_ @ A.T)
    assert_allclose(std**2 + 0.25, expected, rtol=1e-10)
    # Monte Carlo (M432): 200,000 draws know a variance to 0.3 %; six standard errors, false alarm
    # below 1e-7 for the three rows.
    draws = model.sample(200_000, random_state=0)
    assert draws.shape == (200_000, 4)
    lines = draws @ A.T
    assert_allclose(lines.var(axis=0), std**2, rtol=6 * np.sqrt(2 / 200_000))
    assert np.all(np.abs(lines.mean(axis=0) - mean) < 6 * std / np.sqrt(200_000))
    assert_array_equal(model.sample(2, random_state=1), model.sample(2, random_state=1))
    for kind, variance in (("confidence", expected - 0.25), ("prediction", expected)):
        low, high = model.interval(new, level=0.9, kind=kind)
        half = stats.norm.ppf(0.95) * np.sqrt(variance)
        assert_allclose((low, high), (mean - half, mean + half), rtol=1e-9)


def test_more_rows_narrow_the_posterior():
    X, y = draw(6, n=60)
    model = BayesianRegression(1.0, 4.0)
    last = np.inf
    for rows in np.split(np.arange(60), 6):
        model.partial_fit(X[rows], y[rows])
        _, std = model.predict(X[:5], return_std=True)
        assert np.all(std < last)
        low, high = model.interval(X[:5], kind="prediction")
        assert np.all((high - low) / (2 * stats.norm.ppf(0.975)) > 0.5)  # never below the noise
        last = std


def test_tables_show_the_posterior():
    X, y = draw(7)
    model = BayesianRegression().fit(X, y)
    terms = model.tidy(level=0.8)
    assert terms["term"].tolist() == ["(Intercept)", "x0", "x1", "x2"]
    assert_allclose(terms["estimate"], whole(model))
    error = np.sqrt(np.diag(model.covariance_))
    assert_allclose(terms["std_error"], error)
    assert_allclose(terms["conf_high"] - terms["conf_low"], 2 * stats.norm.ppf(0.9) * error)
    assert terms[["statistic", "p_value"]].isna().all(axis=None)
    row = model.glance().iloc[0]
    assert (row["nobs"], row["df"]) == (25, model.gamma_)
    assert_allclose(row["sigma"] ** -2, model.alpha_)
    text = str(model.summary())
    assert text.startswith("Bayesian linear regression")
    assert "95 % of the posterior" in text
    wide = BayesianRegression(1.0, 1.0).fit(np.eye(25), np.arange(25.0))
    assert "The first 20 of 26 terms" in str(wide.summary())
