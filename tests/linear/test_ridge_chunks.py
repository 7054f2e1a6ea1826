"""A fit in chunks is the fit in memory."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bottega.core import f_test
from bottega.core.errors import InputError
from bottega.linear import Ridge

CRITERIA = ("df_", "sigma_", "loo_", "gcv_", "aic_", "aicc_", "bic_", "hq_", "cp_", "loglik_")


def draw(seed, n=60, p=4, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, size=p) + rng.normal(size=p)
    B = rng.normal(size=p) if q is None else rng.normal(size=(p, q))
    y = X @ B
    return X, y + rng.normal(size=y.shape), rng.integers(0, 4, size=n).astype(float)


def cut(cuts, *arrays):
    edges = [0, *sorted(cuts), len(arrays[0])]
    return [tuple(each[a:b] for each in arrays) for a, b in pairwise(edges)]


def assert_same_fit(chunked, whole):
    assert chunked.alpha_ == whole.alpha_
    size = np.abs(whole.coef_).max()
    assert_allclose(chunked.coef_, whole.coef_, rtol=1e-9, atol=1e-9 * size)
    assert_allclose(chunked.intercept_, whole.intercept_, rtol=1e-9, atol=1e-9 * size)
    for name in CRITERIA:
        assert_allclose(
            getattr(chunked, name), getattr(whole, name), rtol=1e-9, atol=1e-9, err_msg=name
        )
    assert_allclose(chunked.smoother_.r_squared, whole.smoother_.r_squared, rtol=1e-9)
    assert chunked.smoother_.df_definitions == pytest.approx(whole.smoother_.df_definitions)


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 60), max_size=6),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 2]),
)
@settings(max_examples=40, deadline=None)
def test_any_split_gives_the_fit_in_memory(seed, cuts, standardize, intercept, weighted, q):
    X, y, w = draw(seed, q=q)
    arrays = (X, y, w) if weighted else (X, y)
    model = Ridge(standardize=standardize, fit_intercept=intercept)
    whole = model.fit(*arrays)
    chunked = Ridge(standardize=standardize, fit_intercept=intercept)
    chunked.fit_chunks(cut(cuts, *arrays))
    assert_same_fit(chunked, whole)
    assert_allclose(chunked.path_.error, whole.path_.error, rtol=1e-9)
    assert_allclose(chunked.path_.error_se, whole.path_.error_se, rtol=1e-9)
    assert_allclose(chunked.path_.train_error, whole.path_.train_error, rtol=1e-9)
    assert np.array_equal(chunked.path_.values, whole.path_.values)


@pytest.mark.parametrize("select", ["min", "aicc", "bic", "cp"])
def test_every_rule_picks_the_same(select):
    X, y, w = draw(3)
    whole = Ridge(select=select).fit(X, y, w)
    assert_same_fit(Ridge(select=select).fit_chunks(cut([7, 30], X, y, w)), whole)


def test_fixed_penalty_and_no_penalty():
    X, y, w = draw(4)
    for alpha in (0, 3.5):
        whole = Ridge(alpha).fit(X, y, w)
        chunked = Ridge(alpha).fit_chunks(cut([10, 11, 40], X, y, w))
        assert_same_fit(chunked, whole)
        assert_allclose(chunked.tidy()["std_error"], whole.tidy()["std_error"], rtol=1e-9)
        assert_allclose(chunked.covariance("posterior"), whole.covariance("posterior"), rtol=1e-8)
        assert_allclose(chunked.interval(X[:3]), whole.interval(X[:3]), rtol=1e-9)
        assert_allclose(
            chunked.glance().to_numpy(dtype=float), whole.glance().to_numpy(dtype=float), rtol=1e-9
        )
        assert not hasattr(chunked, "path_")


def test_nearly_collinear_columns_go_through_qr_factors():
    X, y, _ = draw(5)
    X = np.column_stack([X, X[:, 0] + 1e-5 * X[:, 1] ** 2])
    chunked = Ridge(1e-8).fit_chunks(cut([9, 33], X, y))
    assert chunked.solver_ == "qr"
    whole = Ridge(1e-8).fit(X, y)
    assert whole.solver_ == "svd"
    # The condition number is about 1e5: ten of sixteen digits are left.
    assert_allclose(chunked.coef_, whole.coef_, rtol=1e-8)
    assert_allclose(chunked.loo_, whole.loo_, rtol=1e-9)


def test_more_columns_than_rows():
    X, y, _ = draw(6, n=12, p=20)
    whole, chunked = Ridge().fit(X, y), Ridge().fit_chunks(cut([5], X, y))
    assert chunked.solver_ == "qr"
    assert chunked.alpha_ == whole.alpha_
    assert_allclose(chunked.coef_, whole.coef_, rtol=1e-8, atol=1e-11)
    assert_allclose(chunked.path_.error, whole.path_.error, rtol=1e-6)  # leverages near one


def test_large_offsets_do_not_cost_digits():
    X, y, _ = draw(7)
    shifted = X + 1e8
    # Adding the offset rounds the inputs to 1.5e-8; compare with what the rounded inputs give.
    expected = Ridge(2.0).fit(shifted - 1e8, y)
    assert_allclose(Ridge(2.0).fit(shifted, y).coef_, expected.coef_, rtol=1e-9)
    chunked = Ridge(2.0).fit_chunks(cut([13, 40], shifted, y))
    # Means of chunks are numbers near 1e8 too, 1.5e-8 apart; the inputs have a spread near one.
    assert_allclose(chunked.coef_, expected.coef_, rtol=3e-8)
    assert_allclose(chunked.loo_, expected.loo_, rtol=3e-8)


def test_chunks_of_frames_keep_the_names():
    X, y, _ = draw(8)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = Ridge(1.0).fit_chunks([(frame[:20], y[:20]), (frame[20:], y[20:])])
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.tidy()["term"].tolist() == ["(Intercept)", "a", "b", "c", "d"]
    assert_allclose(model.predict(frame), Ridge(1.0).fit(frame, y).predict(frame), rtol=1e-10)


def test_what_is_per_row_is_refused_with_the_reason():
    X, y, _ = draw(9)
    model = Ridge(1.0).fit_chunks(cut([20], X, y))
    for name in ("leverage_", "loo_residuals_"):
        with pytest.raises(InputError, match="keeps no numbers per row"):
            getattr(model, name)
    with pytest.raises(InputError, match="keeps no numbers per row"):
        model.augment()
    with pytest.raises(InputError, match="keeps no numbers per row"):
        f_test(model, model)
    rows = model.augment(X[:4], y[:4])
    assert_allclose(rows["residual"], y[:4] - model.predict(X[:4]))


def test_chunks_without_weight_are_left_out():
    X, y, w = draw(10)
    w[:20] = 0
    chunked = Ridge(1.0).fit_chunks([*cut([20], X, y, w), (X[:0], y[:0])])
    assert_same_fit(chunked, Ridge(1.0).fit(X[20:], y[20:], w[20:]))


def test_weights_may_come_with_some_chunks_only():
    X, y, _ = draw(11)
    w = np.repeat([2.0, 1.0], 30)
    (first, second) = cut([30], X, y)
    chunked = Ridge().fit_chunks([(*first, w[:30]), second])
    whole = Ridge().fit(X, y, w)
    assert_same_fit(chunked, whole)
    assert_allclose(chunked.path_.error_se, whole.path_.error_se, rtol=1e-9)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "no chunks"),
        (iter([(np.ones((3, 1)), np.ones(3))]), "can only be iterated over once"),
        ([(np.ones((1, 1)), np.ones(1))], "at least 2"),
        ([(np.ones((3, 2)), np.ones(3)), (np.ones((3, 1)), np.ones(3))], "Chunk 2 has 1 columns"),
        ([(np.ones((3, 1)), np.ones(3)), (np.ones((3, 1)), np.ones((3, 1)))], "Chunk 2 has a resp"),
        ([(np.array([[1.0], [np.nan]]), np.ones(2))], "Chunk 1 cannot be used.*NaN"),
        ([(np.ones((2, 1)), np.ones(3))], "Chunk 1 cannot be used"),
        ([(np.ones((2, 1)), np.ones(2), np.array([1.0, -1.0]))], "not negative"),
        ([(np.ones((2, 1)), np.ones(2), np.zeros(3))], "sample_weight has shape"),
    ],
)
def test_bad_chunks_are_named(chunks, message):
    with pytest.raises(InputError, match=message):
        Ridge(1.0).fit_chunks(chunks)
