"""Arrays for numbers that are soon forgotten: pages that the system has cleared are used again."""

import math
import threading
from sys import getrefcount

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["RecycledArrays"]

_KEPT = 4  # arrays that wait to be used again
_LARGEST = 2**21  # numbers of one that does: there may be as many as threads, for as long as these
_thread = threading.local()


class RecycledArrays:
    """Gives arrays, and gives one again as soon as nobody holds it or a part of it any more.

    A new array of some megabytes costs about as much as filling it twice: the system clears its
    pages first.

    Examples
    --------
    >>> arrays = RecycledArrays()
    >>> first = arrays.take((2, 3))
    >>> place = first.ctypes.data
    >>> arrays.take((2, 3)).ctypes.data == place
    False
    >>> del first
    >>> arrays.take((3, 2)).ctypes.data == place
    True
    """

    def __init__(self) -> None:
        self._kept: list[FloatArray] = []
        self._lock = threading.Lock()  # a generator may go on in another thread than it began in
        self._alone = _references([np.empty(1)], 0)

    @staticmethod
    def of_thread() -> "RecycledArrays":
        """Return those of this thread, which outlive the part of the rows they were made for."""
        found: RecycledArrays | None = getattr(_thread, "arrays", None)
        if found is None:
            found = _thread.arrays = RecycledArrays()
        return found

    def take(self, shape: tuple[int, ...]) -> FloatArray:
        """Return an array whose numbers are to be written."""
        size = math.prod(shape)
        if size > _LARGEST:
            return np.empty(shape)
        with self._lock:
            for number in range(len(self._kept)):
                if self._kept[number].size < size:
                    continue
                if _references(self._kept, number) == self._alone:
                    return self._kept[number][:size].reshape(shape)
            self._kept = [*self._kept[1 - _KEPT :], np.empty(size)]
            return self._kept[-1].reshape(shape)


def _references(arrays: list[FloatArray], number: int) -> int:
    return getrefcount(arrays[number])
