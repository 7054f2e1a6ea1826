import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Ridge

from bottega.core.errors import InputError, ParameterError
from bottega.online import OnlineRidge


def rows(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 10.0, 0.1][:p]
    return X, X @ np.ones(p) + rng.normal(size=n)


def least(X, y, alpha):
    """Return the least penalised sum of squares."""
    w = np.linalg.solve(X.T @ X + alpha * np.eye(X.shape[1]), X.T @ y)
    return np.sum((y - X @ w) ** 2) + alpha * w @ w


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
def test_coefficients_are_those_of_batch_ridge_after_every_row(alpha):
    X, y = rows()
    model = OnlineRidge(alpha=alpha, fit_intercept=False)
    for t in range(1, 61):
        model.partial_fit(X[t - 1 : t], y[t - 1 : t])
        batch = Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(X[:t], y[:t])
        assert model.coef_ == pytest.approx(batch.coef_, rel=1e-9, abs=1e-11)
    assert model.intercept_ == 0


def test_the_constant_is_a_column_like_the_others():
    X, y = rows()
    with_constant = np.column_stack([X, np.ones(60)])
    model = OnlineRidge(alpha=2.0).fit(X, y)
    batch = Ridge(alpha=2.0, fit_intercept=False, solver="svd").fit(with_constant, y)
    assert [*model.coef_, model.intercept_] == pytest.approx(batch.coef_, rel=1e-9)


@pytest.mark.parametrize("forecaster", ["vovk", "ridge"])
def test_forecasts_by_the_definition(forecaster):
    X, y = rows()
    model = OnlineRidge(alpha=0.5, forecaster=forecaster, fit_intercept=False)
    losses = model.learn_block(X, y)
    for t in range(60):
        before = X[:t]
        A = 0.5 * np.eye(3) + before.T @ before
        if forecaster == "vovk":
            A += np.outer(X[t], X[t])
        forecast = X[t] @ np.linalg.solve(A, before.T @ y[:t])
        assert losses[t] == pytest.approx((y[t] - forecast) ** 2, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("forecaster", ["vovk", "ridge"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_predict_is_what_would_be_charged_next(forecaster, fit_intercept):
    X, y = rows()
    model = OnlineRidge(forecaster=forecaster, fit_intercept=fit_intercept).fit(X[:30], y[:30])
    forecasts = model.predict(X[30:31])
    assert model.learn_block(X[30:31], y[30:31]) == pytest.approx((y[30] - forecasts) ** 2)
    assert model.predict(sparse.csr_matrix(X)) == pytest.approx(model.predict(X))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["vovk", "ridge"]), st.floats(0.01, 100))
def test_the_regret_bound_holds_on_any_stream(seed, forecaster, alpha):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3)) * rng.lognormal(sigma=1.5, size=(50, 1))
    y = np.where(np.arange(50) < 25, 1, -1) * (X @ rng.normal(size=3)) + rng.standard_t(2, 50)
    model = OnlineRidge(alpha=alpha, forecaster=forecaster, fit_intercept=False)
    losses = model.learn_block(X, y)
    assert losses.sum() - least(X, y, alpha) <= model.regret_bound_ * (1 + 1e-9)
    u = rng.normal(size=3)
    against = losses.sum() - np.sum((y - X @ u) ** 2)
    assert against <= model.regret_bound(float(np.linalg.norm(u))) * (1 + 1e-9)


def test_the_bound_by_its_formula():
    X, y = rows()
    model = OnlineRidge(alpha=2.0, fit_intercept=False).fit(X, y)
    _, log_det = np.linalg.slogdet(np.eye(3) + X.T @ X / 2.0)
    assert model.regret_bound_ == pytest.approx(np.abs(y).max() ** 2 * log_det)
    assert model.regret_bound(3.0) == pytest.approx(model.regret_bound_ + 2.0 * 9)


def test_what_ridge_regression_is_charged_adds_up_exactly():
    # Sum of e_t^2 / (1 + x'A^{-1}x) is the least penalised sum of squares.
    X, y = rows()
    model = OnlineRidge(forecaster="ridge", fit_intercept=False)
    total = 0.0
    for t in range(60):
        A = np.eye(3) + X[:t].T @ X[:t]
        loss = model.learn_block(X[t : t + 1], y[t : t + 1])[0]
        total += loss / (1 + X[t] @ np.linalg.solve(A, X[t]))
    assert total == pytest.approx(least(X, y, 1.0), rel=1e-9)


def test_blocks_and_sparse_blocks_are_the_same():
    X, y = rows()
    whole = OnlineRidge()
    losses = whole.learn_block(X, y)
    parts = OnlineRidge()
    found = [
        parts.learn_block(sparse.csr_array(X[i : i + 7]), y[i : i + 7]) for i in range(0, 60, 7)
    ]
    assert np.array_equal(np.concatenate(found), losses)
    assert np.array_equal(parts.coef_, whole.coef_)
    assert parts.regret_bound_ == whole.regret_bound_


def test_long_streams_of_nearly_dependent_columns_stay_exact():
    rng = np.random.default_rng(0)
    z = rng.normal(size=20_000)
    X = np.column_stack([z, z + 1e-5 * rng.normal(size=20_000)])
    y = X @ [1.0, 2.0]
    model = OnlineRidge(alpha=1e-6, fit_intercept=False).fit(X, y)
    u, s, v = np.linalg.svd(X, full_matrices=False)
    batch = v.T @ (s / (s**2 + 1e-6) * (u.T @ y))
    # A has condition 1e10, its triangle 1e5: about 1e-16 * 1e5 of error and a long sum.
    assert model.coef_ == pytest.approx(batch, rel=1e-8)


def test_bad_input():
    X, y = rows()
    model = OnlineRidge().fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.where(y > 0, y, np.nan))
    with pytest.raises(ValueError, match="2 features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="0 sample"):
        model.partial_fit(X[:0], y[:0])
    with pytest.raises(InputError, match="overflow"):
        OnlineRidge().partial_fit(np.eye(2), np.ones(2)).partial_fit(
            np.full((3, 2), 1.797e308), np.ones(3)
        )
    with pytest.raises(InputError, match="overflow"):
        model.partial_fit(np.full((2, 3), 1e308), [1.0, 1.0])
    with pytest.raises(InputError, match="has changed"):
        model.set_params(alpha=2.0).partial_fit(X, y)
    assert np.array_equal(model.coef_, before)
    assert model.n_samples_seen_ == 60
    with pytest.raises(ParameterError, match="alpha=0"):
        OnlineRidge(alpha=0).fit(X, y)
