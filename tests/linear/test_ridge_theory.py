"""What the theory of ridge regression says (items D47, D72-D78 of the notes), as tests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bottega.linear import Ridge

QUICK = settings(max_examples=25, deadline=None)


def draw(seed, n=20, p=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.2, 5, size=p) + rng.normal(size=p)
    y = X @ rng.normal(size=p) + 1 + noise * rng.normal(size=n)
    return X, y


def direct(X, y, alpha, w=None):
    """Solve (X'WX + alpha I) b = X'Wy on centred columns: the textbook formula."""
    w = np.ones(len(y)) if w is None else w
    mean, y_mean = np.average(X, axis=0, weights=w), np.average(y, weights=w)
    A = X - mean
    b = np.linalg.solve(
        A.T @ (w[:, None] * A) + alpha * np.eye(X.shape[1]), A.T @ (w * (y - y_mean))
    )
    return b, y_mean - mean @ b


seeds = st.integers(0, 2**32 - 1)
alphas = st.floats(1e-3, 1e3)


def test_d72_no_penalty_is_least_squares_and_a_huge_one_is_the_mean():
    X, y = draw(1)
    design = np.column_stack([np.ones(len(y)), X])
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    free = Ridge(alpha=0).fit(X, y)
    assert_allclose([free.intercept_, *free.coef_], expected, rtol=1e-10)
    heavy = Ridge(alpha=1e14).fit(X, y)
    assert_allclose(heavy.coef_, 0, atol=1e-10)
    assert_allclose(heavy.predict(X), y.mean(), rtol=1e-10)
    assert_allclose(heavy.df_, 1, atol=1e-10)


@given(seeds, alphas)
@QUICK
def test_d72_penalty_enters_with_a_plus_sign(seed, alpha):
    # The notes print -alpha in the Lagrangian (M6); the gradient at the solution says +alpha.
    X, y = draw(seed)
    model = Ridge(alpha, standardize=False).fit(X, y)
    residual = y - model.predict(X)
    assert_allclose(X.T @ residual, alpha * model.coef_, atol=1e-8 * np.abs(X.T @ y).max())
    assert_allclose(residual.sum(), 0, atol=1e-9 * np.abs(y).sum())


def test_d72_constrained_form_has_the_same_solution():
    # Of all b no longer than the ridge solution, none has a smaller residual sum of squares.
    X, y = draw(3)
    model = Ridge(5.0, standardize=False).fit(X, y)
    rss = np.sum((y - model.predict(X)) ** 2)
    rng = np.random.default_rng(0)
    others = rng.normal(size=(2000, X.shape[1]))
    others *= np.linalg.norm(model.coef_) / np.linalg.norm(others, axis=1, keepdims=True)
    others = np.vstack([others, model.coef_ + 1e-3 * others])
    others = others[np.linalg.norm(others, axis=1) <= np.linalg.norm(model.coef_)]
    A = X - X.mean(axis=0)
    assert np.all(np.sum((y - y.mean() - others @ A.T) ** 2, axis=1) >= rss)
    assert len(others) > 2000


@given(seeds, st.floats(-1e3, 1e3), alphas)
@QUICK
def test_d73_shifting_y_moves_only_the_intercept(seed, shift, alpha):
    X, y = draw(seed)
    before, after = Ridge(alpha).fit(X, y), Ridge(alpha).fit(X, y + shift)
    size = np.abs(before.coef_).max()
    assert_allclose(after.coef_, before.coef_, rtol=1e-9, atol=1e-9 * size)
    assert_allclose(after.intercept_ - before.intercept_, shift, atol=1e-8)


@given(seeds, alphas)
@QUICK
def test_d73_standardised_fits_do_not_depend_on_units_nor_origin(seed, alpha):
    X, y = draw(seed)
    units, origin = np.array([1e-3, 7.0, 1e4, 0.5]), np.array([5.0, -3.0, 1.0, 100.0])
    before, after = Ridge(alpha).fit(X, y), Ridge(alpha).fit(X * units + origin, y)
    assert_allclose(after.coef_ * units, before.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(after.predict(X * units + origin), before.predict(X), rtol=1e-8, atol=1e-8)
    scaled = Ridge(alpha).fit(X, 3 * y)
    assert_allclose(scaled.coef_, 3 * before.coef_, rtol=1e-10, atol=1e-12)


def test_d73_unscaled_fits_do_depend_on_units():
    X, y = draw(4)
    units = np.array([1e-2, 1.0, 1.0, 1.0])
    before = Ridge(5.0, standardize=False).fit(X, y)
    after = Ridge(5.0, standardize=False).fit(X * units, y)
    assert np.abs(after.predict(X * units) - before.predict(X)).max() > 0.1


def test_d73_collinear_and_wide_inputs_have_a_solution():
    X, y = draw(5, n=8, p=30)
    model = Ridge(0.5, standardize=False).fit(X, y)
    coef, intercept = direct(X, y, 0.5)
    assert_allclose(model.coef_, coef, rtol=1e-9, atol=1e-11)
    assert_allclose(model.intercept_, intercept, rtol=1e-9)
    twice = Ridge(1.0).fit(np.column_stack([X[:, :2], X[:, 0]]), y)
    assert_allclose(twice.coef_[0], twice.coef_[2], rtol=1e-10)


@given(seeds)
@QUICK
def test_d74_profiles_shrink_as_the_penalty_grows(seed):
    X, y = draw(seed)
    path = Ridge(standardize=False).path(X, y)
    lengths = np.linalg.norm(path.coef, axis=1)
    assert np.all(np.diff(lengths) >= -1e-12 * lengths[-1])  # from a large alpha to a small one
    assert np.all(np.diff(path.train_error) <= 1e-12 * path.train_error[0])


def test_d75_expectation_and_covariance_over_repeated_responses():
    # 4000 draws: each of 10 covariances and 4 means is within 6 standard errors of its formula but
    # with probability 2e-9 (normal tails): a false alarm below 3e-8.
    rng = np.random.default_rng(6)
    X, alpha, sigma, repeats = rng.normal(size=(30, 4)), 8.0, 0.7, 4000
    X -= X.mean(axis=0)
    beta = np.array([1.0, -2.0, 0.5, 0.0])
    Y = (X @ beta)[:, None] + sigma * rng.normal(size=(30, repeats))
    model = Ridge(alpha, standardize=False).fit(X, Y)
    P = np.linalg.inv(X.T @ X + alpha * np.eye(4))
    mean, covariance = P @ X.T @ X @ beta, sigma**2 * P @ X.T @ X @ P
    spread = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(model.coef_.mean(axis=0) - mean) < 6 * spread / np.sqrt(repeats))
    error = np.sqrt((np.outer(spread, spread) ** 2 + covariance**2) / repeats)
    assert np.all(np.abs(np.cov(model.coef_.T) - covariance) < 6 * error)
    # The estimator's own formula, with its own sigma in place of the true one.
    one = Ridge(alpha, standardize=False).fit(X, Y[:, 0])
    assert_allclose(one.covariance(), covariance * one.sigma_**2 / sigma**2, rtol=1e-10)


def test_d75_some_penalty_has_a_smaller_mean_squared_error_than_least_squares():
    # At this penalty the true gain is near 17 standard errors of the mean of 400 paired draws, so
    # falling below 5 (12 away) has probability below 1e-30 by the normal tail.
    rng = np.random.default_rng(7)
    X, beta = rng.normal(size=(25, 10)), rng.normal(size=10)
    X -= X.mean(axis=0)
    Y = (X @ beta)[:, None] + 4 * rng.normal(size=(25, 400))
    loss = [
        np.sum((Ridge(alpha, standardize=False).fit(X, Y).coef_ - beta) ** 2, axis=1)
        for alpha in (0, 5.0)
    ]
    gain = loss[0] - loss[1]
    assert gain.mean() > 5 * gain.std(ddof=1) / np.sqrt(400)


def test_d76_ridge_is_the_posterior_mean():
    # Bayes' rule on a fine grid: likelihood N(X b, sigma^2), prior N(0, tau^2), no formula used.
    rng = np.random.default_rng(8)
    x = rng.normal(size=12)
    x -= x.mean()
    y = 0.8 * x + rng.normal(size=12)
    y -= y.mean()
    model = Ridge(3.0, standardize=False).fit(x[:, None], y)
    sigma = model.sigma_
    tau2 = sigma**2 / 3.0
    grid = np.linspace(-6, 6, 20001)
    log = -0.5 * np.sum((y[:, None] - x[:, None] * grid) ** 2, axis=0) / sigma**2
    log -= 0.5 * grid**2 / tau2
    posterior = np.exp(log - log.max())
    posterior /= posterior.sum()
    mean = posterior @ grid
    assert_allclose(model.coef_[0], mean, rtol=1e-9)
    assert_allclose(model.covariance("posterior")[0, 0], posterior @ (grid - mean) ** 2, rtol=1e-8)


@given(seeds, alphas)
@QUICK
def test_d77_fitted_values_are_shrunk_principal_components(seed, alpha):
    X, y = draw(seed)
    A = X - X.mean(axis=0)
    U, d, _ = np.linalg.svd(A, full_matrices=False)
    fitted = y.mean() + U @ (d**2 / (d**2 + alpha) * (U.T @ y))
    model = Ridge(alpha, standardize=False).fit(X, y)
    assert_allclose(model.smoother_.fitted, fitted, rtol=1e-9, atol=1e-9)
    coef, intercept = direct(X, y, alpha)
    assert_allclose(model.predict(X), X @ coef + intercept, rtol=1e-9, atol=1e-9)


@given(seeds, alphas)
@QUICK
def test_d78_both_expressions_of_df_and_its_three_definitions(seed, alpha):
    X, y = draw(seed)
    A = X - X.mean(axis=0)
    S = A @ np.linalg.solve(A.T @ A + alpha * np.eye(X.shape[1]), A.T) + 1 / len(y)
    lam = np.linalg.eigvalsh(A.T @ A)
    model = Ridge(alpha, standardize=False).fit(X, y)
    assert_allclose(model.df_, np.trace(S), rtol=1e-9)
    assert_allclose(model.df_, 1 + np.sum(lam / (lam + alpha)), rtol=1e-9)
    assert_allclose(model.leverage_, np.diag(S), rtol=1e-8)
    found = model.smoother_.df_definitions
    assert_allclose(found["tr SS'"], np.trace(S @ S.T), rtol=1e-9)
    assert_allclose(found["tr(2S - SS')"], np.trace(2 * S - S @ S.T), rtol=1e-9)


@given(seeds)
@QUICK
def test_d78_df_decreases_in_the_penalty_from_p_to_zero(seed):
    X, y = draw(seed)
    path = Ridge().path(X, y)
    assert np.all(np.diff(path.df) > 0)
    assert path.df[0] < 1.01
    assert path.df[-1] > X.shape[1] + 1 - 0.01


@given(seeds, alphas, st.booleans(), st.booleans(), st.sampled_from([(12, 3), (6, 15)]))
@QUICK
def test_d47_leave_one_out_shortcut_is_exact(seed, alpha, intercept, weighted, shape):
    X, y = draw(seed, *shape)
    w = np.random.default_rng(seed).uniform(0.2, 3, size=len(y)) if weighted else np.ones(len(y))
    model = Ridge(alpha, standardize=False, fit_intercept=intercept)
    expected = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        fit = Ridge(alpha, standardize=False, fit_intercept=intercept)
        fit.fit(X[rest], y[rest], sample_weight=w[rest])
        expected.append(y[i] - fit.predict(X[[i]])[0])
    assert_allclose(model.fit(X, y, sample_weight=w).loo_residuals_, expected, rtol=1e-8, atol=1e-8)
    path = model.path(X, y, sample_weight=w, values=[alpha])
    assert_allclose(path.error[0], np.average(np.square(expected), weights=w), rtol=1e-8)


@given(seeds, alphas)
@QUICK
def test_d47_shortcut_is_exact_for_standardised_inputs_at_fixed_scaling(seed, alpha):
    X, y = draw(seed)
    scaled = X / X.std(axis=0)
    expected = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        coef, intercept = direct(scaled[rest], y[rest], alpha)
        expected.append(y[i] - scaled[i] @ coef - intercept)
    assert_allclose(Ridge(alpha).fit(X, y).loo_residuals_, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("standardize", [True, False])
def test_weighted_fit_solves_the_weighted_problem(standardize):
    X, y = draw(9)
    w = np.random.default_rng(9).uniform(0.1, 4, size=len(y))
    mean = np.average(X, axis=0, weights=w)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w)) if standardize else 1.0
    coef, intercept = direct(X / scale, y, 2.0, w)
    model = Ridge(2.0, standardize=standardize).fit(X, y, sample_weight=w)
    assert_allclose(model.coef_, coef / scale, rtol=1e-10)
    assert_allclose(model.intercept_, intercept, rtol=1e-10)
    assert_allclose(model.smoother_.rss, np.sum(w * (y - model.predict(X)) ** 2), rtol=1e-10)
