"""Sums by class of rows stored by columns are those of rows stored by rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.classify._generative.column_sums import ColumnSums
from bottega.classify._generative.moments import ClassMoments

NAMES = ("count", "weight", "observed", "seen", "mean", "scatter", "whole", "binary")


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(2, 1_500),
    st.sampled_from([0.0, 1e8]),
)
def test_either_order_gives_the_same_sums(seed, p, K, n, offset):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)) + offset, rng.integers(0, K, n)
    X[:, 0] = np.round(np.abs(X[:, 0]))  # whole numbers
    one = ColumnSums(K, p, [], []).update(np.asfortranarray(X), y)
    other = ColumnSums(K, p, [], []).update(np.ascontiguousarray(X), y)
    for name in NAMES:
        # An offset of 1e8 leaves eight digits, and the scatter is of squares.
        rtol, atol = (1e-12, 1e-12) if offset == 0 else (1e-7, 1e-7)
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=atol)


def test_missing_values_are_left_out_in_either_order():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 3)), rng.integers(0, 2, 700)
    X[rng.random(X.shape) < 0.1] = np.nan
    one = ColumnSums(2, 3, [], []).update(np.asfortranarray(X), y)
    for k in range(2):
        np.testing.assert_allclose(one.mean[k], np.nanmean(X[y == k], axis=0), rtol=1e-12)
    assert one.observed.sum() == np.count_nonzero(~np.isnan(X))


@pytest.mark.parametrize("K", [1, 3])
def test_pooled_moments_of_classes_in_either_order(K):
    rng = np.random.default_rng(K)
    y = rng.integers(0, K, 3_000)
    X = rng.normal(size=(3_000, 4)) + 50.0 * y[:, None]
    one = ClassMoments(K, 4, pooled=True).update(np.asfortranarray(X), y)
    other = ClassMoments(K, 4, pooled=True).update(np.ascontiguousarray(X), y)
    for name in ("count", "weight", "mean", "scatter"):
        expected = getattr(other, name)
        np.testing.assert_allclose(getattr(one, name), expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("K", [3, 20])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_class_far_away_takes_no_digits_from_the_others(order, K, gaps):
    rng = np.random.default_rng(5)
    y = np.arange(3_000) % K
    X = rng.normal(size=(3_000, 2)).astype(np.float64, order=order)
    X[0, 0] = 1e20  # an outlier of the first class, in the first row of all
    if gaps:
        X[rng.random(3_000) < 0.1, 1] = np.nan
    found = ColumnSums(K, 2, [], []).update(X, y)
    for k in range(1, K):
        own = X[y == k]
        np.testing.assert_allclose(found.mean[k], np.nanmean(own, axis=0), rtol=1e-11, atol=1e-14)
        spread = found.scatter[k] / found.observed[k]
        np.testing.assert_allclose(spread, np.nanvar(own, axis=0), rtol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("K", [3, 20])
@pytest.mark.parametrize("pooled", [False, True])
def test_moments_of_a_class_keep_their_digits_beside_one_far_away(order, K, pooled):
    rng = np.random.default_rng(6)
    y = np.arange(4_000) % K
    X = rng.normal(size=(4_000, 2)).astype(np.float64, order=order)
    X[0, 0] = 1e20
    found = ClassMoments(K, 2, pooled=pooled).update(X, y)
    for k in range(1, K):
        own = X[y == k]
        np.testing.assert_allclose(found.mean[k], own.mean(axis=0), rtol=1e-11, atol=1e-14)
        if not pooled:
            covariance = np.cov(own.T, ddof=0) * len(own)
            np.testing.assert_allclose(found.scatter[k], covariance, rtol=1e-11, atol=1e-12)
