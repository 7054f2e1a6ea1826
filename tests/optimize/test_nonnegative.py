"""Least squares over coefficients that are not negative: conditions of a minimum, brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError
from bottega.optimize.nonnegative import nonnegative_least_squares

problems = st.tuples(st.integers(0, 10_000), st.integers(1, 4), st.booleans())


@settings(max_examples=40, deadline=None)
@given(problem=problems)
def test_weights_satisfy_the_conditions_of_a_minimum(problem):
    seed, m, sum_to_one = problem
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(12, m)) + rng.normal(size=(12, 1))
    b = A @ rng.normal(size=m) + rng.normal(size=12)
    w = nonnegative_least_squares(A, b, sum_to_one=sum_to_one)
    slope = A.T @ (A @ w - b)
    assert np.all(w >= 0)
    if sum_to_one:
        assert w.sum() == pytest.approx(1, abs=1e-12)
        slope = slope - slope @ w  # the multiplier of the sum: the common slope where w > 0
    # Karush-Kuhn-Tucker: no slope where there is weight, no descent where there is none. The
    # tolerance is rounding on numbers of size 100.
    assert np.abs(slope[w > 0]).max(initial=0) < 1e-8
    assert slope[w == 0].min(initial=0) > -1e-8


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_weights_on_the_simplex_are_found_by_brute_force_too(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(8, 3)), 2 * rng.normal(size=8)
    w = nonnegative_least_squares(A, b, sum_to_one=True)
    ticks = np.linspace(0, 1, 101)
    grid = np.array([(p, q, 1 - p - q) for p in ticks for q in ticks if p + q <= 1 + 1e-12])
    best = ((A @ grid.T - b[:, None]) ** 2).sum(axis=0).min()
    found = ((A @ w - b) ** 2).sum()
    assert found <= best + 1e-9
    # A grid of step 0.01 comes this near: half the curvature times the squared distance to it.
    assert found >= best - np.linalg.norm(A, 2) ** 2 * 2 * 0.01**2 - 4 * 0.01 * np.linalg.norm(
        A, 2
    ) * np.linalg.norm(A @ w - b)


def test_weights_do_not_depend_on_the_size_of_the_numbers():
    rng = np.random.default_rng(0)
    A, b = rng.uniform(1, 2, size=(30, 3)), rng.uniform(1, 2, size=30)
    for sum_to_one in (False, True):
        plain = nonnegative_least_squares(A, b, sum_to_one=sum_to_one)
        for scale in (1e-8, 1e8):
            assert nonnegative_least_squares(
                scale * A, scale * b, sum_to_one=sum_to_one
            ) == pytest.approx(plain, rel=1e-9, abs=1e-12)
    plain = nonnegative_least_squares(A, b)
    for scale in (1e-30, 1e-17, 1e17):  # of b alone
        assert nonnegative_least_squares(A, scale * b) / scale == pytest.approx(plain, rel=1e-9)
    # Columns that are all right but for rounding.
    equal = nonnegative_least_squares(b[:, None] * [1, 1 + 1e-16, 1 - 1e-16], b, sum_to_one=True)
    assert equal.sum() == pytest.approx(1, rel=1e-12)
    perfect = nonnegative_least_squares(np.column_stack([b, A]), b, sum_to_one=True)
    assert perfect == pytest.approx([1, 0, 0, 0], abs=1e-9)
    with pytest.raises(InputError, match="not finite"):
        nonnegative_least_squares(np.array([[np.nan], [1.0]]), np.ones(2))
