"""Sparse inputs of least squares and ridge: the answers of dense ones, at any size."""

import pickle
import tracemalloc

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_allclose
from scipy import sparse

from bottega.core import sparse as sparse_tables
from bottega.linear import Lasso, LeastSquares, Ridge
from bottega.linear._decomposition import problem


def draw(seed=0, n=80, p=12, q=None):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < 0.3, rng.normal(size=(n, p)) + 2, 0.0)
    y = 1 + X @ rng.normal(size=p if q is None else (p, q))
    return X, y + rng.normal(size=y.shape), rng.integers(0, 4, size=n).astype(float)


@pytest.fixture(params=["small", "large"])
def never_dense(request, monkeypatch):
    """Sparse tables of any size, and such that all of them are too large to be made dense."""
    if request.param == "large":
        for module in (sparse_tables, problem):
            monkeypatch.setattr(module, "SMALL", 64)
    return request.param == "large"


@pytest.mark.parametrize("q", [None, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", [(80, 12), (20, 40)])
@pytest.mark.parametrize("standardize", [True, False])
def test_ridge_equals_dense(never_dense, shape, weighted, intercept, q, standardize):
    X, y, w = draw(1, *shape, q)
    w = w if weighted else None
    how = {"standardize": standardize, "fit_intercept": intercept}
    dense = Ridge(0.7, **how).fit(X, y, sample_weight=w)
    thin = Ridge(0.7, **how).fit(sparse.csr_array(X), y, sample_weight=w)
    assert thin.solver_ == ({True: "gram", False: "dual"}[80 in shape] if never_dense else "svd")
    for name in ("coef_", "intercept_", "df_", "leverage_", "loo_residuals_", "sigma_"):
        assert_allclose(getattr(thin, name), getattr(dense, name), rtol=1e-7, atol=1e-10)
    new = draw(2, *shape)[0]
    for found, expected in zip(
        thin.predict(sparse.csc_matrix(new), return_std=True),
        dense.predict(new, return_std=True),
        strict=True,
    ):
        assert_allclose(found, expected, rtol=1e-7, atol=1e-10)
    S = thin.matrix(sparse.coo_array(new))
    assert_allclose(S, dense.matrix(new), rtol=1e-7, atol=1e-10)


def test_the_path_of_ridge_equals_dense(never_dense):
    X, y, _ = draw(3)
    thin, dense = Ridge().path(sparse.csc_array(X), y), Ridge().path(X, y)
    assert_allclose(thin.error, dense.error, rtol=1e-7)
    assert_allclose(thin.coef, dense.coef, rtol=1e-6, atol=1e-10)
    folds = Ridge().path(sparse.csc_array(X), y, cv=4)
    assert_allclose(folds.error, Ridge().path(X, y, cv=4).error, rtol=1e-7)


@pytest.mark.parametrize("q", [None, 2])
@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares_equals_dense(never_dense, intercept, q):
    X, y, w = draw(4, q=q)
    X[:, 3] = 5.0  # a constant, which sparse data may have
    dense = LeastSquares(fit_intercept=intercept).fit(X, y, sample_weight=w)
    thin = LeastSquares(fit_intercept=intercept).fit(sparse.csr_matrix(X), y, sample_weight=w)
    assert_allclose(thin.coef_, dense.coef_, rtol=1e-8, atol=1e-11)
    assert_allclose(thin.intercept_, dense.intercept_, rtol=1e-8)
    assert_allclose(thin.singular_, dense.singular_, rtol=1e-7, atol=1e-6)
    assert thin.rank_ == dense.rank_ == 12 - intercept
    assert np.array_equal(thin.aliased_, dense.aliased_)
    assert_allclose(thin.leverage_, dense.leverage_, atol=1e-9)


def test_columns_that_vary_little_about_a_large_mean_keep_their_digits(never_dense):
    X, y, _ = draw(5)
    X[:, 2] = 2000 + np.arange(80) / 1e4
    X[:, 7] = 3000 + np.arange(80)[::-1] ** 2 / 1e4
    for model in (Ridge(1.0), LeastSquares(), Lasso(0.05)):
        dense = model.fit(X, y).coef_
        thin = model.fit(sparse.csc_array(X), y).coef_
        assert_allclose(thin, dense, rtol=1e-4, atol=1e-8)


def test_dependent_rows_and_no_penalty(never_dense):
    X, y, _ = draw(6, 20, 40)
    X[1] = X[0]
    dense, thin = Ridge(0.0).fit(X, y), Ridge(0.0).fit(sparse.csr_array(X), y)
    assert thin.rank_ == dense.rank_ == 18
    assert_allclose(thin.coef_, dense.coef_, atol=1e-8)


def test_positive_coefficients(never_dense):
    X, y, _ = draw(7)
    for model in (Ridge(1.0, positive=True), LeastSquares(positive=True)):
        dense = model.fit(X, y).coef_
        assert_allclose(model.fit(sparse.csr_array(X), y).coef_, dense, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("shape", [(80, 12), (20, 40)])
def test_models_are_stored(never_dense, shape):
    X, y, _ = draw(8, *shape)
    model = Ridge(1.0).fit(sparse.csr_array(X), y)
    dumped = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=dumped)
    for other in (pickle.loads(pickle.dumps(model)), skops.io.loads(dumped, trusted=types)):
        for found, expected in zip(
            other.predict(X, return_std=True), model.predict(X, return_std=True), strict=True
        ):
            assert_allclose(found, expected, rtol=1e-14)
    assert all(name.startswith(("bottega.", "scipy.")) for name in types)


@pytest.mark.parametrize("model", [Ridge(1.0), LeastSquares()])
def test_a_large_table_is_never_made_dense(model):
    rng = np.random.default_rng(9)
    X = sparse.csr_array(sparse.random(120_000, 200, density=1e-3, random_state=rng))
    y = X @ rng.normal(size=200)
    tables = [(X, y)]
    if isinstance(model, Ridge):
        tables.append((X.T.tocsr(), rng.normal(size=200)))
    for table, response in tables:
        tracemalloc.start()
        model.fit(table, response)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 150e6  # dense it would be 192 MB, and the fit needs copies
        assert model.coef_.shape == table.shape[1:]
