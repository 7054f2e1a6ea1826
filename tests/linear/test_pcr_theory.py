"""What the notes say about principal components regression (D68-D70, D77)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bottega.core import f_test
from bottega.linear import PrincipalComponentsRegression, Ridge


def draw(seed=0, n=40, p=5, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p)
    y = X @ rng.normal(size=p if q is None else (p, q))
    return X, y + rng.normal(size=y.shape), rng.uniform(0.2, 3, size=n)


def scaled(X, standardize, w=None):
    Z = X - np.average(X, axis=0, weights=w)
    return Z / np.sqrt(np.average(Z**2, axis=0, weights=w)) if standardize else Z


@pytest.mark.parametrize("standardize", [True, False])
def test_the_fit_is_the_mean_plus_the_projection_on_the_first_directions(standardize):
    X, y, _ = draw()
    U = np.linalg.svd(scaled(X, standardize), full_matrices=False)[0]
    for count in range(6):
        # M33: U_J U_J' y plus the mean, where the notes print the whole least-squares fit between.
        expected = y.mean() + U[:, :count] @ (U[:, :count].T @ y)
        model = PrincipalComponentsRegression(count, standardize=standardize).fit(X, y)
        assert_allclose(model.smoother_.fitted, expected, rtol=1e-10)
        assert_allclose(model.predict(X), expected, rtol=1e-10)
        assert model.df_ == count + 1
        assert_allclose(model.leverage_, 1 / 40 + (U[:, :count] ** 2).sum(axis=1), rtol=1e-10)
        assert_allclose(model.leverage_.sum(), count + 1, rtol=1e-12)


@pytest.mark.parametrize("weighted", [True, False])
def test_all_components_are_least_squares(weighted):
    X, y, w = draw(1)
    w = w if weighted else None
    model = PrincipalComponentsRegression(5).fit(X, y, sample_weight=w)
    whole = Ridge(0).fit(X, y, sample_weight=w)
    assert_allclose(model.coef_, whole.coef_, rtol=1e-9)
    assert_allclose(model.loo_residuals_, whole.loo_residuals_, rtol=1e-9, atol=1e-11)
    assert_allclose(model.covariance(), whole.covariance(), rtol=1e-8)
    ours, theirs = model.tidy(), whole.tidy()
    for column in ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"):
        assert_allclose(ours[column], theirs[column], rtol=1e-8, atol=1e-14, err_msg=column)
    for name in ("sigma_", "aic_", "aicc_", "bic_", "hq_", "gcv_", "loglik_"):
        assert_allclose(getattr(model, name), getattr(whole, name), rtol=1e-10, err_msg=name)


def test_components_are_uncorrelated_with_falling_variance_and_univariate_coefficients():
    X, y, _ = draw(2)
    model = PrincipalComponentsRegression(4).fit(X, y)
    Z = model.component_scores(X)
    variance = model.explained_variance_
    assert_allclose(Z.T @ Z / 40, np.diag(variance[:4]), atol=1e-12)  # Var(z_j) = lambda_j (D68)
    assert np.all(np.diff(variance) < 0)
    assert_allclose(variance.sum(), 5)  # the trace of a correlation matrix
    # Each gamma is the slope of a simple regression (D69); beta is V gamma (D70).
    assert_allclose(model.component_coef_, [np.polyfit(z, y, 1)[0] for z in Z.T], rtol=1e-9)
    assert_allclose(model.coef_ * X.std(axis=0), model.rotation_ @ model.component_coef_, rtol=1e-9)
    assert_allclose(model.predict(X), y.mean() + Z @ model.component_coef_, rtol=1e-10)


def test_ridge_is_a_smooth_version_of_it():
    # D77: in the coordinates of the components ridge keeps d^2 / (d^2 + alpha), this 1 or 0.
    X, y, _ = draw(3)
    whole = PrincipalComponentsRegression(5).fit(X, y)
    lam = whole.explained_variance_ * 40
    part = PrincipalComponentsRegression(2).fit(X, y)
    ridge = Ridge(7.0).fit(X, y)
    to_components = whole.rotation_.T * X.std(axis=0)
    kept = lam / (lam + 7.0)
    assert_allclose(to_components @ ridge.coef_, kept * whole.component_coef_, rtol=1e-9)
    steps = np.array([1, 1, 0, 0, 0])
    assert_allclose(to_components @ part.coef_, steps * whole.component_coef_, atol=1e-10)


def test_a_signal_in_the_last_direction_is_missed_until_it_is_reached():
    # E30: the components do not look at y.
    rng = np.random.default_rng(4)
    X = np.linalg.qr(rng.normal(size=(200, 4)))[0] * [8, 4, 2, 1]
    X -= X.mean(axis=0)
    y = 10 * X[:, 3] + 0.01 * rng.normal(size=200)
    path = PrincipalComponentsRegression(standardize=False).path(X, y)
    null = path.error[0]
    assert np.all(path.error[1:4] > 0.5 * null)
    assert path.error[4] < 0.01 * null
    # Ridge shrinks that direction but does not drop it.
    assert Ridge(standardize=False, select="min").fit(X, y).loo_ < 0.01 * null


def test_leave_one_out_by_leverages_holds_the_components_fixed():
    X, y, _ = draw(5, n=12)
    model = PrincipalComponentsRegression(2).fit(X, y)
    Z = np.column_stack([np.ones(12), model.component_scores(X)])
    by_hand = [
        y[i] - Z[i] @ np.linalg.lstsq(np.delete(Z, i, 0), np.delete(y, i), rcond=None)[0]
        for i in range(12)
    ]
    assert_allclose(model.loo_residuals_, by_hand, rtol=1e-9)
    refits = [
        y[i]
        - PrincipalComponentsRegression(2)
        .fit(np.delete(X, i, 0), np.delete(y, i))
        .predict(X[[i]])[0]
        for i in range(12)
    ]
    honest = PrincipalComponentsRegression(cv="loo").path(X, y)
    assert_allclose(honest.error[2], np.mean(np.square(refits)), rtol=1e-9)
    # The two are different numbers (D47).
    assert abs(model.loo_ / honest.error[2] - 1) > 1e-3


def test_standard_errors_are_those_of_least_squares_on_the_components():
    X, y, w = draw(6)
    model = PrincipalComponentsRegression(3).fit(X, y, sample_weight=w)
    Z = np.column_stack([np.ones(40), model.component_scores(X)])
    inverse = np.linalg.inv(Z.T @ (w[:, None] * Z))
    sigma2 = np.sum(w * (y - model.predict(X)) ** 2) / 36
    assert model.sigma_**2 == pytest.approx(sigma2)
    std = model.predict(X, return_std=True)[1]
    assert_allclose(std, np.sqrt(sigma2 * np.einsum("ij,jk,ik->i", Z, inverse, Z)), rtol=1e-9)
    back = model.rotation_ / np.sqrt(np.average((X - np.average(X, 0, w)) ** 2, 0, w))[:, None]
    assert_allclose(model.covariance(), sigma2 * back @ inverse[1:, 1:] @ back.T, rtol=1e-8)
    terms = model.tidy()
    assert_allclose(terms["std_error"][1:], np.sqrt(np.diag(model.covariance())), rtol=1e-9)
    assert terms["p_value"].isna().all()
    low, high = model.interval(X[:2], kind="prediction")
    assert np.all(high - low > 2 * model.sigma_)


def test_nested_fits_can_be_tested():
    X, y, _ = draw(7)
    small, big = (PrincipalComponentsRegression(count).fit(X, y) for count in (2, 4))
    found = f_test(small, big)
    expected = (small.smoother_.rss - big.smoother_.rss) / 2 / (big.smoother_.rss / 35)
    assert found.statistic == pytest.approx(expected)
    assert found.df == (2, 35)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=25, deadline=None)
def test_a_weight_is_a_number_of_copies_at_fixed_components(seed, standardize, q):
    X, y, _ = draw(seed, n=20, p=3, q=q)
    w = np.random.default_rng(seed).integers(0, 4, size=20)
    w[:6] = 1
    for count in (0, 2, 3):
        weighted = PrincipalComponentsRegression(count, standardize=standardize)
        weighted.fit(X, y, sample_weight=w)
        repeated = PrincipalComponentsRegression(count, standardize=standardize)
        repeated.fit(np.repeat(X, w, 0), np.repeat(y, w, 0))
        # A gap between singular values may be small; then so many digits of its direction are lost.
        assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-6)
        assert_allclose(weighted.smoother_.rss, repeated.smoother_.rss, rtol=1e-6)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_training_error_falls_and_shifts_of_y_move_the_intercept_alone(seed):
    X, y, _ = draw(seed, n=30)
    path = PrincipalComponentsRegression().path(X, y)
    assert np.all(np.diff(path.train_error) <= 1e-12)
    assert_allclose(path.train_error[0], y.var())
    shifted = PrincipalComponentsRegression().path(X, y + 100)
    assert_allclose(shifted.coef, path.coef, rtol=1e-8, atol=1e-8)
    assert_allclose(shifted.error, path.error, rtol=1e-8)  # the folds are the same too
