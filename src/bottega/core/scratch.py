"""Large arrays that a fit needs while it runs: in memory, or in a file that is mapped into it."""

import os
import tempfile
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array

__all__ = ["FEW_NUMBERS", "scratch_array"]

FEW_NUMBERS = 1 << 22  # of rows in chunks: so few are kept in memory from pass to pass

_IN_MEMORY = 1 << 30  # bytes


def scratch_array(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array to write to; one of more than 1 GiB is in a temporary file.

    The file has no name and is gone with the array. The system keeps as much of it in memory as
    there is room for. Its folder is that of Python's ``tempfile`` (the variable ``TMPDIR``).

    Examples
    --------
    >>> scratch_array((2, 3), np.uint8).shape
    (2, 3)
    """
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if size <= _IN_MEMORY:
        return np.empty(shape, dtype=dtype)
    try:
        with tempfile.TemporaryFile(prefix="bottega-") as file:
            if hasattr(os, "posix_fallocate"):  # a full disk says so now, and not by a signal later
                os.posix_fallocate(file.fileno(), 0, size)
            return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))
    except OSError as error:
        raise InputError(
            f"No room for {size / 1e9:.1f} GB of rows in {tempfile.gettempdir()!r}: {error}. Free "
            "some, or name another folder in the variable TMPDIR."
        ) from error
