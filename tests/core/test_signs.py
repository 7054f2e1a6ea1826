"""The convention for the sign of a direction."""

import numpy as np
import pytest

from bottega.core.signs import signed, signs


def test_the_entry_of_largest_size_is_positive():
    V = np.array([[0.1, -3.0], [-2.0, 1.0], [1.0, 2.9]])
    assert signs(V).tolist() == [-1.0, -1.0]
    assert signed(V).tolist() == [[-0.1, 3.0], [2.0, -1.0], [-1.0, -2.9]]


@pytest.mark.parametrize("rounding", [0.0, 1e-12, -1e-12])
@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_the_first_of_equal_sizes_decides_whatever_rounding_does(rounding, unit):
    V = unit * np.array([[0.1], [-1.0], [1.0 + rounding]])
    assert signs(V).tolist() == [-1.0]


def test_a_difference_that_is_no_rounding_counts():
    assert signs(np.array([[-1.0], [1.0 + 1e-6]])).tolist() == [1.0]


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_nothing_to_turn(shape):
    assert signs(np.empty(shape)).tolist() == [1.0] * shape[1]
    assert signed(np.empty(shape)).shape == shape


def test_a_column_of_zeros_keeps_its_sign():
    assert signs(np.zeros((3, 1))).tolist() == [1.0]
