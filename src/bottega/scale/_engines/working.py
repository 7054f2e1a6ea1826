"""What a process that serves others is told while a task runs: one core, and no haste to free."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from bottega.core.engine import working_on
from bottega.core.parallel import one_core
from bottega.core.threads import libraries_in, openmp_in

__all__ = ["working"]

# What mallopt(3) calls M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, and what is set inside a task.
_TRIM, _MAP = -1, -3
_INSIDE = {_TRIM: 64 << 20, _MAP: 4 << 20}  # bytes: above a block of rows, below a chunk
_NAMES = {_TRIM: "MALLOC_TRIM_THRESHOLD_", _MAP: "MALLOC_MMAP_THRESHOLD_"}
_USUAL = 128 << 10  # bytes: both, unless the environment says otherwise


@contextmanager
def working() -> Iterator[None]:
    """Keep the work inside to one core: no threads of its own, nor of linear algebra."""
    # Loops of scikit-learn have a limit per thread, and a worker may run tasks in several.
    with openmp_in(1), _process, one_core(), working_on(None):
        yield


class _Process:
    """Settings of the whole process, which hold while any task runs in it."""

    def __init__(self) -> None:
        self._lock, self._running, self._limit = Lock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            self._running += 1
            if self._running == 1:
                limit: Any = libraries_in(1)
                limit.__enter__()
                self._limit = limit
                _set_heap(_INSIDE)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._running -= 1
            if not self._running and self._limit is not None:
                _set_heap(_outside())
                self._limit.__exit__(None, None, None)


_process = _Process()


def _outside() -> dict[int, int]:
    found = {}
    for option, name in _NAMES.items():
        given = os.environ.get(name, "")
        found[option] = int(given) if given.isdecimal() else _USUAL
    return found


def _set_heap(sizes: dict[int, int]) -> None:
    """Say from which sizes on freed memory goes back to the system, where that was set.

    Dask has its workers give memory back at once, and glibc then maps every larger array anew. A
    pass over rows asks for the same few arrays a thousand times: the discriminant spent half of its
    time on their pages.
    """
    if _NAMES[_TRIM] not in os.environ:
        return
    set_option = _mallopt()
    if set_option is not None:
        for option, size in sizes.items():
            set_option(option, size)


@cache
def _mallopt() -> Any:
    """Return the C library's function; None where there is no such."""
    try:
        return ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return None
