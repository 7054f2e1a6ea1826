"""Odd and bad inputs: each gives the right answer or a message that says what to do."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from bottega.core.errors import InputError, ParameterError
from bottega.linear import Ridge


def draw(seed=0, n=30, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


def test_constant_columns_get_a_zero_coefficient():
    X, y = draw()
    constant = np.full((30, 1), 1e8 / 3)
    for standardize in (True, False):
        with_it = Ridge(standardize=standardize).fit(np.hstack([constant, X]), y)
        without = Ridge(standardize=standardize).fit(X, y)
        assert with_it.coef_[0] == 0
        assert with_it.alpha_ == without.alpha_
        assert_allclose(with_it.coef_[1:], without.coef_, rtol=1e-9)
        assert_allclose(with_it.df_, without.df_, rtol=1e-10)
    # The data say nothing about it: its posterior is the prior, sigma^2 / alpha.
    variance = with_it.covariance("posterior")[0, 0]
    assert_allclose(variance, with_it.sigma_**2 / with_it.alpha_, rtol=1e-8)
    assert with_it.covariance("sampling")[0, 0] == 0


@pytest.mark.parametrize("seed", range(10))
def test_constant_columns_are_seen_through_the_rounding_of_means(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.full(50, rng.uniform(0.1, 1e8)), rng.normal(size=50)])
    y, w = rng.normal(size=50), rng.uniform(0.1, 3, size=50)
    assert Ridge(1.0).fit(X, y, sample_weight=w).coef_[0] == 0
    parts = [(X[:7], y[:7], w[:7]), (X[7:], y[7:], w[7:])]
    assert Ridge(1.0).fit_chunks(parts).coef_[0] == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_average_to_zero_however_far_the_inputs_are_from_the_origin(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2)) + 1e9
    y = X[:, 0] - 1e9 + rng.normal(size=1000)
    w = rng.uniform(0.5, 2, size=1000) if weighted else None
    residuals = Ridge(1.0).fit(X, y, sample_weight=w).smoother_.residuals
    # A mean that was off by its own rounding (1e-7) would show here.
    assert abs(np.average(residuals, weights=w)) < 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_leverages_never_exceed_one(seed):
    X, y = draw(seed)
    X[:, 0] = np.arange(30) == 3  # one row alone spans a direction
    assert Ridge(alpha=0).fit(X, y).leverage_.max() <= 1


def test_only_constant_columns_leave_the_mean():
    y = np.array([1.0, 2.0, 6.0])
    model = Ridge().fit(np.ones((3, 2)), y)
    assert_array_equal(model.coef_, [0, 0])
    assert model.intercept_ == pytest.approx(3)
    assert_allclose(model.loo_residuals_, [-3, -1.5, 4.5])


def test_a_column_of_ones_counts_where_there_is_no_intercept():
    y = np.array([1.0, 2.0, 6.0])
    model = Ridge(alpha=0, fit_intercept=False).fit(np.ones((3, 1)), y)
    assert_allclose(model.coef_, [3])
    assert model.intercept_ == 0
    assert model.df_ == pytest.approx(1)


def test_a_constant_response_is_its_own_prediction():
    X, _ = draw()
    model = Ridge().fit(X, np.full(30, 0.1))
    assert_allclose(model.predict(X), 0.1, rtol=1e-14)
    assert_allclose(model.coef_, 0, atol=1e-15)


@pytest.mark.parametrize("select", ["one_se", "min", "gcv"])
def test_auto_never_picks_zero(select):
    X, y = draw()
    model = Ridge(select=select).fit(np.hstack([X, X]), y)
    assert model.alpha_ > 0
    assert np.all(model.path_.values > 0)


@pytest.mark.parametrize(
    ("X", "rank"),
    [
        (np.hstack([draw()[0], draw()[0][:, :1]]), 3),
        (np.hstack([draw()[0], np.ones((30, 1))]), 3),
        (np.random.default_rng(0).normal(size=(30, 40)), 29),
    ],
)
def test_no_penalty_on_collinear_columns_gives_the_shortest_coefficients(X, rank):
    y = draw()[1]
    centred, scale = X - X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1
    expected = np.linalg.pinv(centred / scale) @ (y - y.mean()) / scale
    for model in (Ridge(alpha=0).fit(X, y), Ridge(alpha=0).fit_chunks([(X, y)])):
        assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-10)
        assert model.rank_ == rank
    assert_allclose(Ridge().path(X, y, values=[0, 1.0]).coef[-1], expected, rtol=1e-7, atol=1e-10)
    unscaled = Ridge(alpha=0, standardize=False).fit(X, y)
    assert_allclose(unscaled.coef_, np.linalg.pinv(centred) @ (y - y.mean()), rtol=1e-7, atol=1e-10)


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="minimum of 2"):
        Ridge().fit([[1.0, 2.0]], [1.0])
    with pytest.raises(InputError, match="at least 2"):
        Ridge().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0], sample_weight=[0, 0, 1])


def test_two_rows_are_enough():
    model = Ridge(1.0, standardize=False).fit([[0.0], [2.0]], [0.0, 4.0])
    # Centred: x = -1, 1 and y = -2, 2, so b = 4 / (2 + 1).
    assert_allclose(model.coef_, [4 / 3])
    assert Ridge().fit([[0.0], [2.0]], [0.0, 4.0]).alpha_ > 0


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.0, 0.3, 20.0]))
@settings(max_examples=25, deadline=None)
def test_a_weight_is_a_number_of_copies_at_a_fixed_penalty(seed, standardize, alpha):
    X, y = draw(seed)
    w = np.random.default_rng(seed).integers(0, 4, size=30)
    w[:5] = 1  # enough rows for least squares
    weighted = Ridge(alpha, standardize=standardize).fit(X, y, sample_weight=w)
    repeated = Ridge(alpha, standardize=standardize).fit(np.repeat(X, w, 0), np.repeat(y, w))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-8, atol=1e-10)
    assert_allclose(weighted.df_, repeated.df_, rtol=1e-10)
    assert_allclose(weighted.smoother_.rss, repeated.smoother_.rss, rtol=1e-10)


def test_rows_of_weight_zero_are_as_if_removed():
    X, y = draw()
    w = np.ones(30)
    w[[0, 7, 29]] = 0
    model, rest = Ridge().fit(X, y, sample_weight=w), Ridge().fit(X[w > 0], y[w > 0])
    assert model.alpha_ == rest.alpha_
    assert_allclose(model.coef_, rest.coef_, rtol=1e-12)
    for name in ("df_", "sigma_", "loo_", "gcv_", "aic_", "cp_"):
        assert_allclose(getattr(model, name), getattr(rest, name), rtol=1e-10, err_msg=name)
    assert_allclose(model.leverage_[w > 0], rest.leverage_, rtol=1e-12)
    assert_array_equal(model.leverage_[w == 0], 0)
    assert_allclose(model.augment()["fitted"], model.predict(X), rtol=1e-12)
    both = Ridge(1.0).fit(X, np.column_stack([y, -y]), sample_weight=w)
    assert_allclose(both.smoother_.fitted, both.predict(X), rtol=1e-11)


@pytest.mark.parametrize("alpha", [2, 2.0, np.float64(2), np.float32(2), np.int64(2)])
def test_any_kind_of_number_is_a_penalty(alpha):
    X, y = draw()
    model = Ridge(alpha).fit(X, y)
    assert model.alpha_ == 2
    assert isinstance(model.alpha_, float)
    assert_array_equal(model.coef_, Ridge(2.0).fit(X, y).coef_)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"alpha": -1}, r"alpha=-1 is not allowed; alpha must be .* \[0, inf\)"),
        ({"alpha": np.inf}, "alpha=inf is not allowed"),
        ({"alpha": "best"}, "'auto'"),
        ({"alpha": True}, "alpha=True is not allowed"),
        ({"select": "loo"}, "select='loo' is not allowed; select must be one of 'min', 'one_se'"),
        ({"alphas": 1}, "alphas=1 is not allowed"),
        ({"standardize": 1}, "standardize=1 is not allowed; standardize must be True or False"),
        ({"fit_intercept": None}, "fit_intercept=None is not allowed"),
    ],
)
def test_bad_parameters_are_named(bad, message):
    with pytest.raises(ParameterError, match=message):
        Ridge(**bad).fit(*draw())


def test_bad_data_are_named():
    X, y = draw()
    with pytest.raises(ValueError, match="NaN"):
        Ridge().fit(np.where(X > 3, np.nan, X), y)
    with pytest.raises(InputError, match=r"shape \(29,\)"):
        Ridge().fit(X, y, sample_weight=np.ones(29))
    with pytest.raises(NotFittedError):
        Ridge().predict(X)
    with pytest.raises(InputError, match="kind='both'"):
        Ridge(1.0).fit(X, y).covariance("both")
    with pytest.raises(InputError, match=r"level=1\.5"):
        Ridge(1.0).fit(X, y).tidy(level=1.5)


def test_names_come_from_pandas_and_polars_and_results_go_back_to_them():
    X, y = draw()
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    for frame, library in ((pd.DataFrame(columns), pd), (pl.DataFrame(columns), pl)):
        model = Ridge(1.0).fit(frame, y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        # Column-wise memory sums in another order: the last digits may differ.
        assert_allclose(model.predict(frame), Ridge(1.0).fit(X, y).predict(X), rtol=1e-13)
        for table in (model.tidy(), model.glance(), model.augment()):
            assert isinstance(table, library.DataFrame)
        assert list(model.tidy()["term"]) == ["(Intercept)", "a", "b", "c"]
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["b", "a", "c"]])


@pytest.mark.parametrize("chunked", [False, True])
def test_models_survive_pickle_and_skops(chunked):
    X, y = draw()
    model = Ridge().fit_chunks([(X, y)]) if chunked else Ridge().fit(X, y)
    dumped = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=dumped)
    assert all(name.startswith("bottega.") for name in types)
    for other in (pickle.loads(pickle.dumps(model)), skops.io.loads(dumped, trusted=types)):
        mean, std = model.predict(X, return_std=True)
        assert_array_equal(other.predict(X), mean)
        assert_array_equal(other.predict(X, return_std=True)[1], std)
        assert other.aic_ == model.aic_
        assert_array_equal(other.path_.error, model.path_.error)


def test_fit_changes_no_parameter_and_forgets_the_fit_before():
    X, y = draw()
    model = Ridge()
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    model.set_params(alpha=1.0).fit(X, y)
    assert not hasattr(model, "path_")
    assert_array_equal(model.coef_, clone(model).fit(X, y).coef_)
    copy = X.copy()
    model.fit(X, y, sample_weight=np.arange(30.0))
    assert_array_equal(X, copy)
