"""Checks of the numbers that pieces are made of, and arithmetic of bounds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["added", "common_inputs", "finite_array", "one_number", "product", "times"]


def finite_array(value: Any, name: str) -> FloatArray:
    """Return an array of finite numbers, or say what is wrong with it."""
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array of numbers: {error}.") from error
    if not np.all(np.isfinite(found)):
        raise InputError(f"{name} has entries that are missing or infinite; give finite ones.")
    return found


def one_number(value: Any, name: str) -> float:
    """Return one finite number, or say what is wrong with it."""
    found = finite_array(value, name)
    if found.size != 1:
        raise InputError(f"{name} has shape {found.shape}; give one number.")
    return float(found.ravel()[0])


def common_inputs(inputs: Sequence[int | None]) -> int | None:
    """Return the length of vector that all functions take; None if any will do."""
    lengths = sorted({length for length in inputs if length is not None})
    if len(lengths) > 1:
        raise InputError(
            f"The pieces take vectors of {' and '.join(map(str, lengths))} numbers; they have to "
            "take the same vector."
        )
    return lengths[0] if lengths else None


def product(bound: float, factor: float) -> float:
    """Return a bound times a factor from 0 on; zero times infinity is zero."""
    return 0.0 if factor == 0 else bound * factor


def times(factor: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return bounds times a number."""
    ends = sorted(product(bound, factor) for bound in bounds)
    return (ends[0], ends[1])


def added(bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the bounds of a sum."""
    return (sum(low for low, _ in bounds), sum(high for _, high in bounds))
