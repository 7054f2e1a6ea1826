"""Recursive least squares: undetermined coefficients, merging streams, bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bottega.core.errors import InputError, ParameterError
from bottega.linear import LeastSquares, RecursiveLeastSquares

TIGHT = {"rtol": 1e-9, "atol": 1e-9}


def draw(seed=0, n=30, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, 1 + X @ rng.normal(size=p) + rng.normal(size=n)


# ---- before the rows determine the coefficients --------------------------------------------------


@pytest.mark.parametrize("row_by_row", [True, False])
def test_coefficients_are_determined_one_after_the_other(row_by_row):
    X, y = draw()
    model = RecursiveLeastSquares()
    for i in range(6):
        model.partial_fit(X[[i]], y[[i]], row_by_row=row_by_row)
        seen = i + 1
        assert model.df_ == min(seen, 4)
        assert_array_equal(model.aliased_, np.arange(3) >= seen - 1)
        assert_array_equal(model.coef_[model.aliased_], 0)
        if seen <= 4:
            assert_allclose(model.predict(X[:seen]), y[:seen], rtol=1e-8)
            assert np.isnan(model.sigma_)
            with pytest.raises(InputError, match="No interval"):
                model.interval(X)
    assert_allclose(model.coef_, LeastSquares().fit(X[:6], y[:6]).coef_, **TIGHT)


@pytest.mark.parametrize("row_by_row", [True, False])
def test_repeated_first_rows_do_not_pass_for_information(row_by_row):
    X, y = draw(1)
    rows = np.repeat([0, 1], 20)
    model = RecursiveLeastSquares().partial_fit(X[rows], y[rows], row_by_row=row_by_row)
    assert model.df_ == 2
    assert_array_equal(model.aliased_, [False, True, True])
    assert_array_equal(np.isnan(model.tidy()["estimate"]), [False, False, True, True])
    assert np.isnan(model.covariance()[2:]).all()
    model.partial_fit(X, y, row_by_row=row_by_row)
    whole = np.concatenate([rows, np.arange(30)])
    assert_allclose(model.coef_, LeastSquares().fit(X[whole], y[whole]).coef_, **TIGHT)


def test_constant_column_stays_out_until_it_varies():
    X, y = draw(2)
    X[:20, 1] = 4.0
    model = RecursiveLeastSquares().fit(X[:20], y[:20])
    assert_array_equal(model.aliased_, [False, True, False])
    without = LeastSquares().fit(X[:20][:, [0, 2]], y[:20])
    assert_allclose(model.coef_[[0, 2]], without.coef_, **TIGHT)
    assert_allclose(model.sigma_, without.sigma_, **TIGHT)
    model.partial_fit(X[20:], y[20:])
    assert_allclose(model.coef_, LeastSquares().fit(X, y).coef_, **TIGHT)


# ---- merging -------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cut=st.integers(1, 29),
    start=st.sampled_from(["exact", "ridge"]),
    intercept=st.booleans(),
)
def test_merged_streams_are_one_stream(seed, cut, start, intercept):
    X, y = draw(seed)
    how = {"start": start, "fit_intercept": intercept}
    whole = RecursiveLeastSquares(**how).fit(X, y)
    left = RecursiveLeastSquares(**how).fit(X[:cut], y[:cut])
    right = RecursiveLeastSquares(**how).fit(X[cut:], y[cut:])
    assert left.merge(right) is left
    assert_allclose(left.coef_, whole.coef_, **TIGHT)
    assert_allclose(left.sigma_, whole.sigma_, **TIGHT)
    assert_allclose(left.covariance(), whole.covariance(), **TIGHT)
    assert left.n_samples_seen_ == 30


def test_streams_that_forget_keep_what_they_remember():
    X, y = draw(3)
    memory = np.tile(0.9 ** np.arange(14, -1, -1), 2)
    halves = [
        RecursiveLeastSquares(forgetting=0.9).fit(X[i : i + 15], y[i : i + 15]) for i in (0, 15)
    ]
    merged = halves[0].merge(halves[1])
    assert_allclose(merged.coef_, LeastSquares().fit(X, y, memory).coef_, **TIGHT)


def test_only_like_streams_merge():
    X, y = draw(4)
    model = RecursiveLeastSquares().fit(X, y)
    with pytest.raises(InputError, match="same parameters"):
        model.merge(RecursiveLeastSquares(start="ridge").fit(X, y))
    with pytest.raises(InputError, match="same columns"):
        model.merge(RecursiveLeastSquares().fit(X[:, :2], y))
    named = RecursiveLeastSquares().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(InputError, match="same columns"):
        model.merge(named)


# ---- bad input -----------------------------------------------------------------------------------


def test_fit_starts_afresh_and_partial_fit_goes_on():
    X, y = draw(5)
    model = RecursiveLeastSquares().partial_fit(X, y).fit(X[:10], y[:10])
    assert model.n_samples_seen_ == 10
    assert_allclose(model.coef_, LeastSquares().fit(X[:10], y[:10]).coef_, **TIGHT)


def test_names_are_kept_and_shown():
    X, y = draw(6)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = RecursiveLeastSquares().partial_fit(frame[:9], y[:9]).partial_fit(frame[9:], y[9:])
    assert model.tidy()["term"].tolist() == ["(Intercept)", "a", "b", "c"]


def test_a_refused_block_changes_nothing():
    X, y = draw(7)
    model = RecursiveLeastSquares().fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((2, 3), np.nan), [1.0, 2.0])
    # Rotations square the numbers; the reflections of a block scale them first.
    with pytest.raises(InputError, match="overflow"):
        model.partial_fit(np.full((2, 3), 1e200), [1.0, 2.0], row_by_row=True)
    assert_array_equal(model.coef_, before)
    assert model.n_samples_seen_ == 30


def test_bad_parameters_and_rows_are_named():
    X, y = draw(8)
    for bad in ({"start": "warm"}, {"forgetting": 0.0}, {"forgetting": 1.5}, {"fit_intercept": 1}):
        name = next(iter(bad))
        with pytest.raises(ParameterError, match=f"RecursiveLeastSquares: {name}="):
            RecursiveLeastSquares(**bad).fit(X, y)
    model = RecursiveLeastSquares().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(InputError, match="not negative"):
        model.partial_fit(X, y, -np.ones(30))
    with pytest.raises(InputError, match="call fit to start afresh"):
        model.set_params(forgetting=0.9).partial_fit(X, y)
    with pytest.raises(InputError, match="no chunks"):
        RecursiveLeastSquares().fit_chunks([])
    with pytest.raises(InputError, match="y must have one axis"):
        RecursiveLeastSquares().fit_chunks([(X, np.column_stack([y, y]))])
    with pytest.raises(InputError, match="level=0"):
        RecursiveLeastSquares().fit(X, y).tidy(level=0)
