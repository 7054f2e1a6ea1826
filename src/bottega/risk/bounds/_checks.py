"""What the bounds ask of their arguments, and what they give back."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray

# A float where every argument was a single number, an array where one was an array.
Numbers: TypeAlias = Any


def _refuse(name: str, value: Any, need: str) -> ParameterError:
    return ParameterError(f"{name}={value!r} is not allowed; it must be {need}.")


def plain(values: Any) -> Numbers:
    """Return a float for a single number, else the array."""
    values = np.asarray(values, dtype=np.float64)
    return float(values) if values.ndim == 0 else values


def _checked(name: str, value: Any, allowed: Callable[[FloatArray], Any], need: str) -> FloatArray:
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _refuse(name, value, "a number or an array of numbers") from error
    if not np.all(allowed(values)):
        raise _refuse(name, value, need)
    return values


def level(delta: Any, name: str = "delta") -> FloatArray:
    """Return a probability strictly between 0 and 1."""
    return _checked(name, delta, lambda p: (p > 0) & (p < 1), "strictly between 0 and 1")


def positive(name: str, value: Any) -> FloatArray:
    """Return finite numbers above 0."""
    return _checked(name, value, lambda v: (v > 0) & np.isfinite(v), "a finite number above 0")


def at_least(low: float, name: str, value: Any, high: float = np.inf) -> FloatArray:
    """Return finite numbers between two limits, the limits allowed."""
    need = f"a finite number of at least {low:g}" + (f" and at most {high:g}" * (high < np.inf))
    return _checked(name, value, lambda v: (v >= low) & (v <= high) & np.isfinite(v), need)


def count(name: str, value: Any, least: int = 1) -> FloatArray:
    """Return whole numbers of at least `least`."""

    def is_count(v: FloatArray) -> Any:
        return (v >= least) & np.isfinite(v) & (v == np.floor(v))

    return _checked(name, value, is_count, f"a whole number of at least {least}")


def check_sides(sides: int) -> int:
    """Return 1 or 2."""
    if sides not in (1, 2):
        raise _refuse("sides", sides, "1 (an upper limit) or 2 (an interval)")
    return sides


def check_range(low: float, high: float) -> float:
    """Return the width of the range in which losses lie."""
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ParameterError(f"low={low!r} and high={high!r} are no range; need low < high.")
    return float(high) - float(low)


def losses_of(losses: Any, least: int) -> FloatArray:
    """Return losses, samples along the last axis, at least `least` of them and none missing."""
    values = _checked("losses", losses, lambda _: True, "")
    if values.ndim == 0 or values.shape[-1] < least:
        have = 0 if values.ndim == 0 else values.shape[-1]
        raise ParameterError(f"An interval for a mean needs at least {least} rows; got {have}.")
    if not np.all(np.isfinite(values)):
        raise InputError("The losses contain NaN or infinity; leave such rows out, and say so.")
    return values


def bounded_losses(losses: Any, low: float, high: float, least: int) -> FloatArray:
    """Return losses that lie in [low, high]."""
    check_range(low, high)
    values = losses_of(losses, least)
    if values.min() < low or values.max() > high:
        raise InputError(
            f"The losses go from {values.min():.6g} to {values.max():.6g}, outside "
            f"[{low:g}, {high:g}]. The bound holds for losses with known limits only: give them "
            "as low= and high= (known before the data are seen), or use `student`."
        )
    return values
