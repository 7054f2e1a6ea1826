"""Successive orthogonalisation gives the coefficients of multiple regression (D29, D30)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bottega.core.errors import InputError
from bottega.linear import LeastSquares, gram_schmidt


def draw(seed, n=20, p=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 2, rng.normal(size=n)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), intercept=st.booleans())
def test_columns_are_orthogonal_and_give_x_back(seed, intercept):
    X, _ = draw(seed)
    Z, gamma = gram_schmidt(X, intercept=intercept)
    A = np.column_stack([np.ones(20), X]) if intercept else X
    assert_allclose(Z @ gamma, A, rtol=1e-12, atol=1e-12)
    assert_allclose(np.tril(gamma, -1), 0)
    assert_allclose(np.diag(gamma), 1)
    assert_allclose(Z.T @ Z, np.diag(np.sum(Z**2, axis=0)), atol=1e-10)
    # The coefficients are the simple regressions of the formula, z_k'x_j / z_k'z_k.
    for j in range(A.shape[1]):
        for k in range(j):
            assert_allclose(gamma[k, j], Z[:, k] @ A[:, j] / (Z[:, k] @ Z[:, k]), atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_last_simple_regression_is_the_multiple_one(seed):
    X, y = draw(seed)
    model = LeastSquares().fit(X, y)
    Z, gamma = gram_schmidt(X)
    simple = Z.T @ y / np.sum(Z**2, axis=0)
    assert_allclose(simple[-1], model.coef_[-1], rtol=1e-9, atol=1e-10)
    # The others by back-substitution, or by bringing each column last.
    assert_allclose(
        np.linalg.solve(gamma, simple), [model.intercept_, *model.coef_], rtol=1e-9, atol=1e-10
    )
    Z, _ = gram_schmidt(X[:, [1, 2, 0]])
    assert_allclose(Z[:, -1] @ y / (Z[:, -1] @ Z[:, -1]), model.coef_[0], rtol=1e-9, atol=1e-10)


def test_the_sum_starts_at_the_constant():
    # As printed (misprint M2) the sum starts at k = 1: the mean stays inside, and the last
    # coefficient is that of a regression without intercept.
    X, y = draw(1)
    Z, _ = gram_schmidt(X, intercept=False)
    printed = Z[:, -1] @ y / (Z[:, -1] @ Z[:, -1])
    assert_allclose(printed, LeastSquares(fit_intercept=False).fit(X, y).coef_[-1], rtol=1e-9)
    assert abs(printed - LeastSquares().fit(X, y).coef_[-1]) > 1e-3


def test_dependent_columns_are_named():
    X, _ = draw(2)
    with pytest.raises(InputError, match="Column 2 of X is a combination"):
        gram_schmidt(np.column_stack([X[:, :2], X[:, 0] - X[:, 1] + 3]))
    with pytest.raises(InputError, match=r"Column 0 .* and the constant"):
        gram_schmidt(np.ones((4, 1)))
    with pytest.raises(InputError, match="5 columns cannot be independent in 4 rows"):
        gram_schmidt(np.ones((4, 4)))
    with pytest.raises(ValueError, match="NaN"):
        gram_schmidt([[np.nan]])
