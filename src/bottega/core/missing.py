"""Values that are missing, in whatever form they come."""

from typing import Any

import numpy as np

__all__ = ["any_missing", "is_missing"]


def is_missing(value: Any) -> bool:
    """Return True for None, NaN, NaT, and NA of pandas, which compares with nothing.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def any_missing(values: Any) -> bool:
    """Return True if any of the values of an array is missing.

    Examples
    --------
    >>> any_missing(["a", None]), any_missing([1.0, 2.0])
    (True, False)
    """
    array = np.asarray(values)
    if array.dtype.kind == "O":
        return any(map(is_missing, array.ravel().tolist()))
    return bool(array.dtype.kind in "fmM" and np.any(array != array))
