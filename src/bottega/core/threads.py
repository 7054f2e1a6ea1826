"""Linear algebra, and loops of scikit-learn, in few threads.

A decomposition of a small matrix is hundreds of tiny steps. Shared among threads, each step waits
for the slowest of them, and on a busy machine that is tens of times slower than one thread alone.
"""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache
from threading import current_thread, main_thread

from threadpoolctl import ThreadpoolController

__all__ = ["libraries_in", "linear_algebra_in", "one_thread", "openmp_in"]


@cache
def _controller() -> ThreadpoolController:  # linear algebra is there from the start
    return ThreadpoolController()


def _all_libraries() -> ThreadpoolController:
    """Return the libraries that have threads, those that were loaded of late too."""
    return _libraries_with(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries_with(modules: int) -> ThreadpoolController:  # noqa: ARG001
    """Look for libraries, which takes milliseconds; none comes without another module."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[None]:
    """Keep linear algebra to one thread inside the block: for small decompositions."""
    return linear_algebra_in(1)


def libraries_in(threads: int) -> AbstractContextManager[None]:
    """Keep linear algebra, and loops of scikit-learn in this thread, to a number of threads."""
    limited: AbstractContextManager[None] = _all_libraries().limit(limits=threads)
    return limited


@contextmanager
def linear_algebra_in(threads: int) -> Iterator[None]:
    """Keep linear algebra to a number of threads inside the block; a lower limit stays.

    The limit belongs to the whole process, so only the main thread sets it: two threads that set
    and restored it side by side could leave the wrong one behind.
    """
    if current_thread() is not main_thread() or threads >= _Limit.now:
        yield
        return
    if threads > 1:  # never more than outside
        found = _controller().select(user_api="blas").info()
        threads = min([threads, *(pool["num_threads"] for pool in found)])
    before = _Limit.now
    with _controller().limit(limits=threads, user_api="blas"):
        _Limit.now = threads
        try:
            yield
        finally:
            _Limit.now = before


class _Limit:
    """The limit of the block that the main thread is in: setting it again would only take time."""

    now: float = float("inf")


@contextmanager
def openmp_in(threads: int) -> Iterator[None]:
    """Keep loops of scikit-learn to a number of threads inside the block; a lower limit stays.

    The limit belongs to the thread that sets it.
    """
    openmp = _all_libraries().select(user_api="openmp")
    threads = min([threads, *(pool["num_threads"] for pool in openmp.info())])
    with openmp.limit(limits=threads):
        yield
