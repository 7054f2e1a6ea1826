"""Least squares and ridge whose coefficients may not be negative."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls
from sklearn import linear_model

from bottega.core.errors import InputError, NotKept
from bottega.linear import LeastSquares, Ridge


def draw(seed=0, n=60, p=6, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    coef = rng.normal(size=p if q is None else (p, q))
    noise = rng.normal(size=n if q is None else (n, q))
    return X, 3 + X @ coef + noise, rng.integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [(60, 6), (20, 30)])
def test_least_squares_equals_scikit_learn(shape, intercept, weighted):
    X, y, w = draw(1, *shape)
    w = w if weighted else None
    ours = LeastSquares(positive=True, fit_intercept=intercept).fit(X, y, sample_weight=w)
    theirs = linear_model.LinearRegression(positive=True, fit_intercept=intercept).fit(X, y, w)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-8)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-8)
    assert np.any(ours.coef_ == 0)
    assert_allclose(ours.smoother_.fitted, ours.predict(X), rtol=1e-7)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("q", [None, 3])
def test_ridge_equals_non_negative_least_squares_on_augmented_rows(intercept, q):
    X, y, w = draw(2, q=q)
    model = Ridge(5.0, positive=True, standardize=False, fit_intercept=intercept)
    model.fit(X, y, sample_weight=w)
    Y, root = y.reshape(len(y), -1), np.sqrt(w)[:, None]
    A, B = (each - intercept * np.average(each, axis=0, weights=w) for each in (X, Y))
    A = np.vstack([root * A, np.sqrt(5) * np.eye(6)])
    for k, coef in enumerate(np.atleast_2d(model.coef_)):
        b = np.concatenate([root[:, 0] * B[:, k], np.zeros(6)])
        assert_allclose(coef, nnls(A, b)[0], rtol=1e-9, atol=1e-11)


def test_the_columns_that_are_used_are_fitted_as_if_they_were_alone():
    X, y, _ = draw(3)
    model = LeastSquares(positive=True).fit(X, y)
    used = model.coef_ > 0
    alone = LeastSquares().fit(X[:, used], y)
    assert_allclose(model.coef_[used], alone.coef_, rtol=1e-10)
    assert model.df_ == pytest.approx(alone.df_)
    assert_allclose(model.leverage_, alone.leverage_, rtol=1e-9)
    assert_allclose(model.loo_residuals_, alone.loo_residuals_, rtol=1e-9)
    assert model.tidy()["std_error"].isna().all()  # the data chose which are zero
    assert np.isnan(model.glance()["p_value"][0])
    assert "may be negative" in str(model.summary())


def test_a_column_that_mirrors_another_may_be_needed():
    x = np.linspace(0, 1, 20)
    model = LeastSquares(positive=True).fit(np.column_stack([x, -x]), 1 - 2 * x)
    assert_allclose(model.coef_, [0, 2], atol=1e-12)


def test_the_path_is_judged_by_folds_and_bounded_everywhere():
    X, y, _ = draw(4)
    curve = Ridge(positive=True, alphas=12).path(X, y)
    assert curve.estimate == "cv"
    assert np.all(curve.coef >= 0)
    assert np.all(np.diff(curve.df) >= -1e-9)
    model = Ridge(positive=True, alphas=12).fit(X, y)
    assert_allclose(model.coef_, curve.coef[curve.best("one_se")], rtol=1e-8, atol=1e-12)
    at = int(np.argmin(np.abs(curve.values - 1.0)))
    one = Ridge(curve.values[at], positive=True).fit(X, y)
    assert_allclose(one.df_, curve.df[at], rtol=1e-9)
    assert_allclose(one.smoother_.rss, curve.train_error[at] * len(y), rtol=1e-9)


def test_several_responses_have_no_common_smoother():
    X, y, _ = draw(5, q=2)
    model = LeastSquares(positive=True).fit(X, y)
    each = [LeastSquares(positive=True).fit(X, y[:, k]) for k in range(2)]
    assert_allclose(model.coef_, [one.coef_ for one in each], rtol=1e-9, atol=1e-12)
    assert_allclose(model.predict(X)[:, 1], each[1].predict(X), rtol=1e-9)
    with pytest.raises(NotKept, match="one by one"):
        model.tidy()
    assert not hasattr(model, "df_")


def test_chunks_give_the_same():
    X, y, _ = draw(6)
    for model in (LeastSquares(positive=True), Ridge(2.0, positive=True)):
        whole = model.fit(X, y).coef_
        parts = model.fit_chunks([(X[:25], y[:25]), (X[25:], y[25:])])
        assert_allclose(parts.coef_, whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", ["svd", "cholesky", "sag"])
def test_a_solver_that_cannot_is_refused(solver):
    X, y, _ = draw()
    with pytest.raises(InputError, match="does not support positive"):
        Ridge(1.0, positive=True, solver=solver).fit(X, y)
    with pytest.raises(InputError, match="positive=True alone"):
        Ridge(1.0, solver="lbfgs").fit(X, y)
