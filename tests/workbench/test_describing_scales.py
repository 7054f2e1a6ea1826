"""The scale of a number column: symmetric, in standard units, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bottega.workbench._describing.scales import ColumnScale

SKEWED = np.exp(np.random.default_rng(0).normal(size=500))


@pytest.mark.parametrize("values", [SKEWED, -SKEWED, SKEWED + 100], ids=["up", "down", "moved"])
def test_skewed_columns_become_symmetric(values):
    scale = ColumnScale.of(values)
    assert scale.side == (-1 if values[0] < 0 else 1)
    z = scale.forward(values)
    assert abs(np.mean(z)) < 0.01
    assert np.std(z) == pytest.approx(1, abs=0.02)
    assert abs(np.mean(z**3)) < 0.5  # 5.5 before
    assert np.all(np.diff(scale.forward(np.sort(values))) >= 0)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=300),
        np.r_[np.zeros(100), np.ones(200) * 5] + np.random.default_rng(0).normal(size=300) / 3,
        np.r_[np.random.default_rng(0).normal(size=299), 1e6],
    ],
    ids=["normal", "two groups", "one far value"],
)
def test_what_a_logarithm_does_not_make_normal_stays_linear(values):
    assert ColumnScale.of(values).side == 0


def test_a_far_value_does_not_shrink_the_others():
    values = np.r_[np.random.default_rng(0).normal(size=299), 1e6]
    assert np.std(ColumnScale.of(values).forward(values[:-1])) == pytest.approx(0.95, abs=0.1)


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_it_follows_units_and_goes_back(shift, factor):
    values = SKEWED[:100]
    here, there = ColumnScale.of(values), ColumnScale.of(values * factor + shift)
    assert there.side == here.side == 1
    # Rounding of `values * factor + shift` costs up to six digits.
    np.testing.assert_allclose(
        there.forward(values * factor + shift), here.forward(values), atol=1e-6
    )
    wide = np.r_[values, -5.0, 0.0, 1e4]
    np.testing.assert_allclose(here.backward(here.forward(wide)), wide, rtol=1e-9, atol=1e-9)


def test_constant_and_missing_columns():
    assert ColumnScale.of(np.full(30, 0.1)).width == 1.0
    assert np.isnan(ColumnScale.of(np.full(3, np.nan)).forward(np.array([np.nan]))).all()
