"""Small decompositions in one thread.

A decomposition of a small matrix is hundreds of tiny steps. Shared among threads, each step waits
for the slowest of them, and on a busy machine that is tens of times slower than one thread alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import current_thread, main_thread

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread inside the block.

    The limit belongs to the whole process, so only the main thread sets it: two threads that set
    and restored it side by side could leave the wrong one behind.
    """
    if current_thread() is not main_thread():
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield
