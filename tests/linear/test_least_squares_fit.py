"""Least squares: its two solvers, chunks, weights, memory and bad input."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bottega.core import f_test
from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.linear import LeastSquares, Ridge
from bottega.linear._decomposition.rank import independent_columns
from bottega.linear._decomposition.unpenalized import flops

CRITERIA = ("df_", "sigma_", "loo_", "gcv_", "aic_", "aicc_", "bic_", "hq_", "cp_", "loglik_")


def draw(seed=0, n=40, p=4, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, size=p) + 3 * rng.normal(size=p)
    y = X @ (rng.normal(size=p) if q is None else rng.normal(size=(p, q)))
    return X, y + rng.normal(size=y.shape), rng.integers(0, 4, size=n).astype(float)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    q=st.sampled_from([None, 2]),
    intercept=st.booleans(),
    method=st.sampled_from(["qr", "cholesky"]),
)
def test_solution_satisfies_the_normal_equations(seed, q, intercept, method):
    X, y, w = draw(seed, q=q)
    model = LeastSquares(method=method, fit_intercept=intercept).fit(X, y, w)
    A = np.column_stack([np.ones(len(X)), X]) if intercept else X
    residual = y - model.predict(X)
    # Orthogonal to every column, up to rounding of sums of 40 products of size ten.
    assert_allclose(A.T @ (residual.T * w).T, 0, atol=1e-9)
    P = A @ np.linalg.solve(A.T @ (w[:, None] * A), A.T * w)
    assert_allclose(model.leverage_, np.diag(P), atol=1e-9)
    assert_allclose(model.df_, np.trace(P), rtol=1e-9)
    assert model.solver_ == method


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cut=st.integers(1, 39),
    q=st.sampled_from([None, 2]),
    intercept=st.booleans(),
    weighted=st.booleans(),
    method=st.sampled_from(["auto", "qr", "cholesky"]),
)
def test_chunks_are_the_fit_in_memory(seed, cut, q, intercept, weighted, method):
    X, y, w = draw(seed, q=q)
    arrays = (X, y, w) if weighted else (X, y)
    model = LeastSquares(method=method, fit_intercept=intercept)
    whole = model.fit(*arrays)
    chunks = [tuple(each[:cut] for each in arrays), tuple(each[cut:] for each in arrays)]
    chunked = LeastSquares(method=method, fit_intercept=intercept).fit_chunks(chunks)
    tight = {"rtol": 1e-8, "atol": 1e-8}  # condition numbers up to 1e3, squared by Cholesky
    assert_allclose(chunked.coef_, whole.coef_, **tight)
    assert_allclose(chunked.intercept_, whole.intercept_, **tight)
    assert_allclose(chunked.residual_covariance_, whole.residual_covariance_, **tight)
    for name in CRITERIA:
        assert_allclose(getattr(chunked, name), getattr(whole, name), err_msg=name, **tight)
    assert (chunked.solver_, chunked.flops_) == (whole.solver_, whole.flops_)
    pd.testing.assert_frame_equal(chunked.glance(), whole.glance(), rtol=1e-8, atol=1e-8)
    pd.testing.assert_frame_equal(chunked.tidy(), whole.tidy(), rtol=1e-7, atol=1e-8)


def test_flops_are_those_of_the_notes():
    # D27: p^3 + n p^2 / 2 for Cholesky; D28: 2 n p^2 for QR.
    assert flops("cholesky", 1000, 20) == 8000 + 200_000
    assert flops("qr", 1000, 20) == 800_000
    X, y, _ = draw()
    assert LeastSquares(method="qr").fit(X, y).flops_ == 2 * 40 * 25
    assert LeastSquares(method="cholesky", fit_intercept=False).fit(X, y).flops_ == 64 + 40 * 8


def test_auto_takes_cholesky_for_many_rows_unless_nearly_collinear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 20))
    y = X @ np.arange(20.0) + rng.normal(size=60_000)
    plain = LeastSquares().fit(X, y)
    assert plain.solver_ == "cholesky"
    assert_allclose(plain.coef_, LeastSquares(method="qr").fit(X, y).coef_, rtol=1e-10, atol=1e-12)
    X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]  # the squared condition number is above 1e9
    assert LeastSquares().fit(X, y).solver_ == "qr"


def test_cholesky_loses_the_digits_that_qr_keeps():
    # Claim of the notes, E37: columns 1e-5 apart, truth known exactly, no noise.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2))
    X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]
    y = X @ [1.0, 2.0]
    error = {
        method: np.abs(LeastSquares(method=method).fit(X, y).coef_ - [1, 2]).max()
        for method in ("qr", "cholesky")
    }
    assert error["qr"] < 1e-9  # rounding unit times 1e5, with room
    assert error["cholesky"] > 10 * error["qr"]


def test_leave_one_out_is_that_of_refits():
    X, y, w = draw(3)
    model = LeastSquares().fit(X, y, w)
    rows = np.arange(len(y))
    expected = [
        y[i] - LeastSquares().fit(X[rows != i], y[rows != i], w[rows != i]).predict(X[[i]])[0]
        for i in rows
    ]
    assert_allclose(model.loo_residuals_, expected, rtol=1e-8, atol=1e-9)


def test_is_ridge_without_penalty():
    X, Y, w = draw(4, q=2)
    ours, ridge = LeastSquares().fit(X, Y, w), Ridge(alpha=0).fit(X, Y, w)
    assert_allclose(ours.coef_, ridge.coef_, rtol=1e-9)
    pd.testing.assert_frame_equal(ours.tidy(), ridge.tidy(), rtol=1e-8)
    single = LeastSquares().fit(X, Y[:, 0])
    found = f_test(LeastSquares().fit(X[:, :2], Y[:, 0]), single)
    assert found.df == (2, 35)


def test_vif_is_that_of_the_regressions_of_each_input_on_the_others():
    X, y, w = draw(5)
    found = LeastSquares().fit(X, y, w).vif()
    assert found["term"].tolist() == ["x0", "x1", "x2", "x3"]
    for j in range(4):
        others = LeastSquares().fit(np.delete(X, j, axis=1), X[:, j], w)
        assert_allclose(found["vif"][j], 1 / (1 - others.smoother_.r_squared), rtol=1e-9)
    assert isinstance(LeastSquares().fit(pl.DataFrame(X), y).vif(), pl.DataFrame)


def test_memory_stays_below_two_and_a_half_copies_of_the_inputs():
    n, p = 100_000, 50
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    for method in ("qr", "cholesky"):
        tracemalloc.start()
        LeastSquares(method=method).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # X itself is the first copy. Blocks of 8192 rows and a few numbers a row are the rest.
        assert 1 + peak / X.nbytes < 2.5, method


# ---- rank ----------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), source=st.integers(0, 3), copy=st.integers(0, 4))
def test_a_combination_of_earlier_columns_is_aliased_wherever_it_stands(seed, source, copy):
    X, y, _ = draw(seed)
    with_copy = np.insert(X, copy, 3 * X[:, source] - 1, axis=1)
    with pytest.warns(DataWarning, match="Collinear inputs"):
        model = LeastSquares().fit(with_copy, y)
    place = source + (copy <= source)
    assert_array_equal(np.flatnonzero(model.aliased_), [max(copy, place)])
    plain = LeastSquares().fit(X, y)
    assert model.df_ == plain.df_
    assert_allclose(model.predict(with_copy), plain.predict(X), rtol=1e-8, atol=1e-8)
    assert_allclose(model.leverage_, plain.leverage_, atol=1e-9)
    std = model.predict(with_copy, return_std=True)[1]
    assert_allclose(std, plain.predict(X, return_std=True)[1], rtol=1e-8)


def test_more_columns_than_rows_fit_exactly_and_say_so():
    X, y, _ = draw(7, n=6, p=9)
    with pytest.warns(DataWarning, match=r"rank 5 of 9 columns, 6 rows"):
        model = LeastSquares().fit(X, y)
    assert_array_equal(np.flatnonzero(model.aliased_), [5, 6, 7, 8])
    assert_allclose(model.predict(X), y, rtol=1e-9)
    assert model.df_ == 6
    assert np.isnan(model.sigma_)
    assert np.isnan(model.residual_covariance_).all()
    assert np.isnan(model.glance()["statistic"][0])
    with pytest.raises(InputError, match="No interval"):
        model.interval(X)


def test_constant_columns_are_aliased_quietly():
    X, y, _ = draw(8)
    X[:, 2] = 5.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LeastSquares().fit(X, y)
    assert_array_equal(model.aliased_, [False, False, True, False])
    assert model.coef_[2] == 0
    # Without an intercept a constant column is the intercept.
    free = LeastSquares(fit_intercept=False).fit(X, y)
    assert not free.aliased_.any()
    assert_allclose(free.coef_[2] * 5, model.intercept_, rtol=1e-9)


@pytest.mark.parametrize("method", ["qr", "cholesky"])
def test_nothing_but_constant_columns_is_the_mean(method):
    model = LeastSquares(method=method).fit(np.ones((5, 2)), np.arange(5.0))
    assert_allclose(model.predict(np.ones((1, 2))), [2.0])
    assert model.df_ == 1
    assert_array_equal(model.coef_, [0, 0])


def test_constant_response_has_no_effects():
    X, _, _ = draw(9)
    model = LeastSquares().fit(X, np.full(40, 2.5))
    assert_allclose(model.coef_, 0, atol=1e-15)
    assert_allclose(model.intercept_, 2.5)


def test_columns_near_the_line_between_collinear_and_not():
    rng = np.random.default_rng(10)
    A = rng.normal(size=(30, 3))
    A[:, 2] = A[:, 0] + A[:, 1]
    assert_array_equal(independent_columns(A), [True, True, False])
    A[:, 2] += 1e-6 * rng.normal(size=30)
    assert independent_columns(A).all()
    assert independent_columns(np.linalg.qr(A)[1]).all()
    assert_array_equal(independent_columns(A, tolerance=1e-4), [True, True, False])
    wide = rng.normal(size=(2, 4))
    assert_array_equal(independent_columns(wide), [True, True, False, False])
    assert_array_equal(independent_columns(np.zeros((3, 2))), [False, False])


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((4, 1), np.nan)}, "NaN"),
        ({"X": np.full((4, 1), np.inf)}, "infinity"),
        ({"y": np.array([1, 2, np.nan, 4])}, "NaN"),
        ({"w": np.array([1.0, 1, -1, 1])}, "not negative"),
        ({"w": np.zeros(4)}, "All of sample_weight is zero"),
        ({"w": np.array([0.0, 0, 1, 0])}, "at least 2 rows with positive weight; found 1"),
        ({"w": np.ones(3)}, "one number per row"),
    ],
)
def test_bad_rows_are_named(change, message):
    given = {"X": np.arange(4.0)[:, None], "y": np.arange(4.0), "w": None} | change
    with pytest.raises(ValueError, match=message):
        LeastSquares().fit(given["X"], given["y"], given["w"])


def test_bad_parameters_and_questions_are_named():
    X, y, _ = draw(11)
    with pytest.raises(ParameterError, match="method='lu' is not allowed"):
        LeastSquares(method="lu").fit(X, y)
    with pytest.raises(ParameterError, match="fit_intercept=2"):
        LeastSquares(fit_intercept=2).fit(X, y)
    model = LeastSquares().fit(X, y)
    with pytest.raises(InputError, match="kind='both'"):
        model.covariance("both")
    with pytest.raises(InputError, match="level=2"):
        model.tidy(level=2)
    with pytest.raises(InputError, match="no chunks"):
        LeastSquares().fit_chunks([])
    with pytest.raises(InputError, match="keeps no numbers per row"):
        LeastSquares().fit_chunks([(X, y)]).augment()
    assert "Residuals" not in str(LeastSquares().fit_chunks([(X, y)]).summary())
