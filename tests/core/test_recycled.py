"""Arrays that are given again are never those that somebody still holds."""

import numpy as np
import pytest

from bottega.core.recycled import RecycledArrays


@pytest.mark.parametrize(
    "held",
    [
        lambda array: array,
        lambda array: array.T[1:],
        memoryview,
        lambda array: [array[0]],
    ],
)
def test_an_array_that_is_held_is_not_given_again(held):
    arrays = RecycledArrays()
    kept = held(arrays.take((3, 4)))
    for _ in range(10):
        arrays.take((3, 4))[:] = 1.0
    first = np.asarray(kept[0] if isinstance(kept, list) else kept)
    first[...] = 7.0
    for _ in range(10):
        arrays.take((2, 6))[:] = 2.0
    assert np.all(first == 7.0)


def test_one_that_nobody_holds_is():
    arrays = RecycledArrays()
    place = arrays.take((5, 2)).ctypes.data
    assert arrays.take((2, 5)).ctypes.data == place
    assert arrays.take((3,)).ctypes.data == place
    assert arrays.take((4, 4)).ctypes.data != place


def test_few_arrays_are_kept():
    arrays = RecycledArrays()
    held = [arrays.take((8,)) for _ in range(20)]
    assert len({each.ctypes.data for each in held}) == 20
    assert len(arrays._kept) <= 4
