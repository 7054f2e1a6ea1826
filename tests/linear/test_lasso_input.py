"""Bad input of the lasso family: clear errors, never silently wrong."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.linear import AdaptiveLasso, ElasticNet, Lasso, LeastSquares, Ridge


def draw(n=30, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("shape", [(30, 4), (10, 25)])
def test_constant_columns_get_no_coefficient(shape):
    X, y = draw(*shape)
    X[:, 1] = 7.3
    model = Lasso(0.01).fit(X, y)
    assert model.coef_[1] == 0
    without = Lasso(0.01).fit(np.delete(X, 1, axis=1), y)
    assert np.delete(model.coef_, 1) == pytest.approx(without.coef_, abs=1e-9)


@pytest.mark.parametrize("shape", [(30, 4), (10, 25)])
def test_constant_response_gives_the_constant(shape):
    X, _ = draw(*shape)
    model = Lasso().fit(X, np.full(shape[0], 2.5))
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(2.5)
    assert model.converged_


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none(bad):
    X, y = draw()
    X[3, 2] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        Lasso().fit(X, y)
    with pytest.raises(InputError, match="Chunk 1"):
        Lasso().fit_chunks([(X, y)])


def test_weights_of_rows_are_checked():
    X, y = draw()
    with pytest.raises(InputError, match="not negative"):
        Lasso().fit(X, y, sample_weight=-np.ones(30))
    with pytest.raises(InputError, match="positive weight"):
        Lasso().fit(X, y, sample_weight=np.eye(30)[0])


def test_weights_of_the_penalty_are_checked():
    X, y = draw()
    with pytest.raises(InputError, match="one number per column"):
        Lasso(weights=[1, 2]).fit(X, y)
    with pytest.raises(InputError, match="0 or more"):
        Lasso(weights=[1, 2, -1, 1]).fit(X, y)
    with pytest.raises(InputError, match="0 or more"):
        Lasso(weights=[1, 2, np.nan, 1]).fit(X, y)


def test_values_in_any_order_and_their_errors():
    X, y = draw()
    curve = Lasso().path(X, y, values=[0.01, 0.5, 0.1, 0.0])
    assert curve.values.tolist() == [0.5, 0.1, 0.01, 0.0]
    for bad in ([], [-1.0, 1.0], [np.nan], [[1.0]]):
        with pytest.raises(InputError, match=r"is not allowed; (alpha must be|give a list)"):
            Lasso().path(X, y, values=bad)


@pytest.mark.parametrize("shape", [(30, 4), (10, 25)])
def test_no_penalty_needs_a_unique_solution(shape):
    X, y = draw(*shape)
    X[:, 3] = X[:, 0] - X[:, 1]
    for model in (Lasso(0.0), Lasso(1.0, weights=[0, 0, 1, 0] + [1] * (shape[1] - 4))):
        with pytest.raises(InputError, match=r"linearly dependent.*alpha > 0"):
            model.fit(X, y)
    with pytest.raises(InputError, match="linearly dependent"):
        Lasso().path(X, y, values=[1.0, 0.0])


def test_parameters_are_checked():
    X, y = draw()
    with pytest.raises(ParameterError, match="l1_ratio"):
        ElasticNet(l1_ratio=-0.1).fit(X, y)
    with pytest.raises(InputError, match="give alphas= their values, or use Ridge"):
        ElasticNet(l1_ratio=0).fit(X, y)
    with pytest.raises(ParameterError, match="alpha"):
        Lasso(alpha=-1).fit(X, y)
    for bad in (1, "ten", 2.5):
        with pytest.raises(InputError, match="cv="):
            Lasso(cv=bad).fit(X, y)


def test_a_walk_cut_short_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 1)) + 0.05 * rng.normal(size=(20, 30))
    y = X[:, 0] - X[:, 1] + rng.normal(size=20)
    model = Lasso(1e-3, max_iter=1, tol=1e-15)
    with pytest.warns(ConvergenceWarning, match=r"duality gap of .* above tol=1e-15.*max_iter"):
        model.fit(X, y)
    assert not model.converged_
    assert model.dual_gap_ > 1e-15
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Lasso(1e-3).fit(X, y).dual_gap_ < 1e-6


def test_adaptive_weights_where_there_is_no_least_squares():
    X, y = draw(20, 40)
    model = AdaptiveLasso().fit(X, y)
    assert model.converged_
    assert model.coef_[0] != 0
    thin = AdaptiveLasso().fit(sparse.csc_array(X), y)
    assert thin.coef_ == pytest.approx(model.coef_, abs=1e-8)
    with pytest.raises(InputError, match="adaptive=True with a sparse X"):
        AdaptiveLasso().fit(sparse.csc_array((20, 300_000)), y)
    X, y = draw(30, 4)
    X[:, 3] = X[:, 2]  # dependent: the pilot is ridge, which treats copies alike
    model = AdaptiveLasso(0.05).fit(X, y)
    assert model.converged_


def test_equal_rows_are_survived():
    X, y = np.ones((6, 2)), np.arange(6.0)
    assert Lasso().fit(X, y).predict(X) == pytest.approx(np.full(6, 2.5))
    assert not Lasso().fit(np.ones((4, 2)), np.ones(4)).coef_.any()


def test_tidy_lists_the_terms():
    X, y = draw()
    frame = Lasso(0.2).fit(X, y).tidy()
    assert frame["term"].tolist() == ["(Intercept)", "x0", "x1", "x2", "x3"]
    assert frame["estimate"].to_numpy()[1:] == pytest.approx(Lasso(0.2).fit(X, y).coef_)


@pytest.mark.parametrize("seed", range(4))
def test_a_column_that_is_empty_in_a_fold_has_no_spread_there(seed):
    # Its mean there is zero up to rounding, which must not pass for a spread of its own.
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(50, 4)), rng.uniform(0.1, 3, size=50)
    X[:, 3] = np.arange(50) == rng.integers(50)
    y = X[:, 0] + rng.normal(size=50)
    for model in (Lasso(), ElasticNet(), AdaptiveLasso()):
        curve = model.path(X, y, sample_weight=w)
        assert np.all(curve.error < 3 * np.var(y))


@pytest.mark.parametrize("shape", [(10, 2), (5, 8)])
def test_squares_that_overflow_are_named(shape):
    X = 1e300 * np.random.default_rng(0).uniform(size=shape)
    y = np.arange(float(shape[0]))
    for model in (ElasticNet(0.1), Ridge(1.0), LeastSquares()):
        with (
            pytest.raises(InputError, match="squares of these numbers overflow"),
            np.errstate(all="ignore"),
        ):
            model.fit(X, y)
        with (
            pytest.raises(InputError, match="squares of these numbers overflow"),
            np.errstate(all="ignore"),
        ):
            model.fit(X / 1e300, 1e300 * y)
