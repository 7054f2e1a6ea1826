"""Sums of products by a kernel are those of exact arithmetic, whatever the rows are like."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.moments import Moments
from bottega.data.scatter import class_scatter, narrow_moments, narrow_scatter, row_moments


def by_columns(rows):
    return np.asfortranarray(rows)


def exact(rows, codes, K):
    """Return means and pooled scatter, in numbers of more digits."""
    far = rows.astype(np.longdouble)
    mean, scatter = np.zeros((K, rows.shape[1])), 0.0
    for k in range(K):
        own = far[codes == k]
        if len(own):
            mean[k] = own.mean(axis=0)
            scatter = scatter + (own - own.mean(axis=0)).T @ (own - own.mean(axis=0))
    return mean, np.asarray(scatter, dtype=np.float64)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 5),
    st.integers(0, 300),
    st.sampled_from([0.0, 1e3, -1e7]),
)
def test_means_and_scatter_are_exact(seed, p, K, extra, offset):
    rng = np.random.default_rng(seed)
    n = 64 * (p + 1 + K) + extra
    scale = 10.0 ** rng.integers(-3, 4, p)
    X = by_columns((rng.normal(size=(n, p)) + offset) * scale)
    Y, codes = rng.normal(size=(n, 1)), rng.integers(0, K, n)
    found = class_scatter(X, Y, codes, K)
    rows = np.hstack([X, Y])
    mean, scatter = exact(rows, codes, K)
    # A sum of n products rounds n times at most, beside the digits that the offset takes.
    size = np.sqrt(np.outer(np.diag(scatter), np.diag(scatter)))
    rounding = 1e-13 + 1e-15 * abs(offset)
    np.testing.assert_allclose(found.scatter / size, scatter / size, atol=rounding)
    unit = np.abs(rows).max(axis=0)  # a mean may be nothing beside the numbers that it is of
    np.testing.assert_allclose((found.centre + found.offset) / unit, mean / unit, atol=2e-15)
    assert found.count.tolist() == np.bincount(codes, minlength=K).tolist()


def test_rows_in_order_mislead_no_centre():
    x = np.arange(20_000.0)
    X = by_columns(np.column_stack([x + 1e9, x**2]))
    _, scatter = exact(X, np.zeros(len(X)), 1)
    np.testing.assert_allclose(class_scatter(X).scatter, scatter, rtol=1e-13)


def test_a_constant_has_no_scatter_in_any_class():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 1_000)
    X = by_columns(np.column_stack([np.full(1_000, 0.1), np.where(codes == 1, 0.3, 0.1)]))
    assert not np.any(class_scatter(X[:, :1].copy(order="F")).scatter)
    found = class_scatter(X, None, codes, 2)
    assert not np.any(found.scatter)
    np.testing.assert_array_equal((found.centre + found.offset)[:, 1], [0.1, 0.3])


def test_a_class_without_rows_counts_for_nothing():
    X = by_columns(np.random.default_rng(0).normal(size=(500, 2)))
    found = class_scatter(X, None, np.zeros(500, dtype=np.intp), 3)
    assert found.count.tolist() == [500, 0, 0]
    np.testing.assert_allclose(found.scatter, class_scatter(X).scatter, rtol=1e-13)


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((50_000, 3)),  # stored by rows
        by_columns(np.zeros((40_000, 3))),  # few numbers: compiling the kernel would take longer
        by_columns(np.zeros((10_000, 60))),  # many columns
        by_columns(np.zeros((50_000, 3), dtype=np.float32)),
    ],
)
def test_other_rows_are_left_to_linear_algebra(rows):
    assert narrow_scatter(rows) is None
    assert narrow_moments(rows) is None
    assert row_moments(rows).count == len(rows)


def test_what_is_not_finite_stays_visible():
    X = by_columns(np.random.default_rng(0).normal(size=(1_000, 2)))
    X[999, 1] = np.nan
    assert np.isnan(class_scatter(X).scatter[1, 1])


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_moments_are_those_of_linear_algebra(offset):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40_000, 3)) + offset, rng.normal(size=(40_000, 1))
    found, expected = narrow_moments(by_columns(X), y), Moments().update(X, y)
    assert (found.p, found.count, found.weight) == (3, 40_000, 40_000.0)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-15, atol=1e-15)
    # An offset of 1e8 leaves eight digits of each number.
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("far", [1e15, 1e20, 1e150])
@pytest.mark.parametrize("late", [False, True])
def test_a_class_far_away_takes_no_digits_from_the_others(far, late):
    rng = np.random.default_rng(3)
    X, codes = by_columns(rng.normal(size=(5_000, 2))), rng.integers(0, 3, 5_000)
    if late:  # no row of the other classes is among the first
        codes = np.sort(codes)
    X[np.flatnonzero(codes == 0)[1], 0] = far
    mean, scatter = exact(X, codes, 3)
    found = class_scatter(X, None, codes, 3)
    np.testing.assert_allclose((found.centre + found.offset)[1:], mean[1:], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.diag(found.scatter), np.diag(scatter), rtol=1e-12)
