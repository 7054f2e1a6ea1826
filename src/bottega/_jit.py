"""The one place that imports numba: how kernels are compiled.

Kernels take arrays, scalars and integer codes, release the GIL and are cached on disk. They are
serial: folds and methods run side by side in threads, and two levels of threads would fight for
the same cores.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a kernel on its first call; the machine code is kept for later processes."""
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath=False)(function)
    return cast(F, compiled)
