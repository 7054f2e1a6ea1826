"""The one place that imports numba: how kernels are compiled, and where their machine code is kept.

Kernels take arrays, scalars and integer codes, release the GIL and are cached on disk. They are
serial: folds and methods run side by side in threads, and two levels of threads would fight for
the same cores.

`parts` compiles a kernel together with its helpers, `sources` names the cache folder of a kernel by
a digest of all sources that it reaches, `cache` keeps machine code there, and `workers` compiles
several kernels at a time in other processes.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba

from bottega._jit import parts
from bottega._jit.cache import enable_cache
from bottega._jit.sources import cache_folder
from bottega._jit.workers import beside, compile_beside
from bottega.core import progress

__all__ = ["beside", "kernel", "neighbours_kernel", "summing_kernel"]

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.config  # numba sets its attributes from the environment


def kernel(function: F) -> F:
    """Compile a kernel on its first call; the machine code is kept for later processes."""
    return _compiled(function)


def summing_kernel(function: F) -> F:
    """As `kernel`, for helpers on a hot path whose sums may be taken in any order.

    Several parts of a sum are then added up side by side, and a product may be joined to a sum
    without rounding in between. NaN and infinity keep their meaning.
    """
    return _compiled(function, any_order=True)


def neighbours_kernel(function: F) -> F:
    """As `kernel`, for loops that do the same to a few neighbours, written out one by one.

    Neighbours are then read, added and written as one vector, with the same answer. It is for the
    few kernels that this makes faster: looking for neighbours takes time wherever there are none.
    """
    return _compiled(function, neighbours=True)


def _compiled(function: F, *, any_order: bool = False, neighbours: bool = False) -> F:
    if _config.DISABLE_JIT:
        return function
    dispatcher: Any = parts.compiled(function, any_order=any_order, neighbours=neighbours)
    compile_types = dispatcher.compile
    folder = cache_folder(function)
    kept = functools.cache(lambda: enable_cache(dispatcher, folder))

    def compile_once(given: Any) -> Any:
        types = parts.without_constants(given)
        if types in dispatcher.overloads:
            return compile_types(types)
        with progress.set_aside(), _ready(function, types, kept(), dispatcher.targetctx):
            return compile_types(types)

    dispatcher.compile = compile_once
    return cast(F, dispatcher)


@contextmanager
def _ready(function: Any, types: Any, files: Any, target: Any) -> Iterator[None]:
    """Have machine code put into the cache by another process, or keep others from compiling it."""
    if files is not None and files.holds(types, target):
        yield
        return
    with _announced(function, types):
        if files is None or (files.can_be_written and compile_beside(function, types)):
            yield
            return
        with files.alone(types, target):
            yield


_begun: set[Any] = set()
_done: set[Any] = set()


@contextmanager
def _announced(function: Any, types: Any) -> Iterator[None]:
    """Report that a kernel is being compiled, and how many have been in this process."""
    name = f"{function.__module__}.{function.__qualname__}"
    _begun.add((name, types))
    progress.report(progress.PREPARING, len(_done), len(_begun), name)
    try:
        yield
    finally:
        _done.add((name, types))
        progress.report(progress.PREPARING, len(_done), len(_begun), name)
