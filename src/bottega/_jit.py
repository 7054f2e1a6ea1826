"""The one place that imports numba: how kernels are compiled.

Kernels take arrays, scalars and integer codes, release the GIL and are cached on disk. They are
serial: folds and methods run side by side in threads, and two levels of threads would fight for
the same cores.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["kernel", "summing_kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a kernel on its first call; the machine code is kept for later processes."""
    return _compiled(function, fastmath=False)


def summing_kernel(function: F) -> F:
    """As `kernel`, for helpers on a hot path whose sums may be taken in any order.

    Several parts of a sum are then added up side by side, and a product may be joined to a sum
    without rounding in between. NaN and infinity keep their meaning.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: F, fastmath: Any) -> F:
    dispatcher: Any = numba.njit(cache=True, nogil=True, fastmath=fastmath)(function)
    compile_types = dispatcher.compile

    def compile_once(types: Any) -> Any:
        # A helper called with the constants 0 and 1 would be compiled for each of them.
        return compile_types(tuple(map(numba.types.unliteral, types)))

    dispatcher.compile = compile_once
    return cast(F, dispatcher)
