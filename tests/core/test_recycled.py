"""Arrays that are given again are never those that somebody still holds."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bottega.core import recycled
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


def test_threads_that_share_them_never_hold_the_same_one(monkeypatch):
    count = recycled._references

    def slow(*given):
        found = count(*given)
        time.sleep(0.001)  # another thread's turn, if it may
        return found

    arrays = RecycledArrays()
    arrays.take((64,))
    monkeypatch.setattr(recycled, "_references", slow)

    def work(number):
        for _ in range(20):
            held = arrays.take((64,))
            held[:] = number
            time.sleep(0.001)
            if not np.all(held == number):
                return False
            del held
        return True

    with ThreadPoolExecutor(4) as crew:
        assert all(crew.map(work, range(4)))


def test_large_arrays_are_not_kept():
    arrays = RecycledArrays()
    arrays.take((2**10, 2**11 + 1))
    assert not arrays._kept


def test_each_thread_has_its_own():
    here = RecycledArrays.of_thread()
    assert RecycledArrays.of_thread() is here
    with ThreadPoolExecutor(1) as crew:
        assert crew.submit(RecycledArrays.of_thread).result() is not here
