"""Vectors, bounds and linear conditions as they are given, checked."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.optimize.objective import numbers_of

__all__ = ["bounds_of", "rows_of", "vector_of"]


def vector_of(values: Any, name: str, d: int | None = None) -> FloatArray:
    """Return a vector of finite numbers, a copy, or say what is wrong with it."""
    point = numbers_of(values, name)
    if point.ndim != 1 or not point.size:
        raise InputError(
            f"{name} has shape {point.shape}; give one vector with at least one entry."
        )
    if d is not None and len(point) != d:
        raise InputError(f"{name} has {len(point)} entries; {d} are needed.")
    if not np.all(np.isfinite(point)):
        raise InputError(f"{name} has entries that are missing or infinite; correct them first.")
    return point


def bounds_of(given: Any, default: float, d: int, name: str) -> FloatArray:
    """Return a bound per entry, which may be infinite on its own side."""
    bounds = numbers_of(default if given is None else given, name)
    if bounds.shape not in ((), (d,)):
        raise InputError(f"{name} has shape {bounds.shape}; give one number, or {d} of them.")
    if np.any(np.isnan(bounds)) or np.any(bounds == -default):
        raise InputError(f"{name} has entries that are missing or {-default}; correct them first.")
    return np.broadcast_to(bounds, (d,))


def rows_of(A: Any, b: Any, d: int, name: str = "A", right: str = "b") -> Any:
    """Return the matrix and the right sides of linear conditions, checked."""
    rows, sides = numbers_of(A, name), np.atleast_1d(numbers_of(b, right))
    if rows.ndim != 2 or rows.shape[1] != d:
        raise InputError(f"{name} has shape {rows.shape}; give one row per condition, {d} entries.")
    if sides.shape != (len(rows),):
        raise InputError(f"{right} has shape {sides.shape}; {name} asks for {(len(rows),)}.")
    for each, values in ((name, rows), (right, sides)):
        if not np.all(np.isfinite(values)):
            raise InputError(f"{each} has entries that are missing or infinite.")
    return rows, sides
