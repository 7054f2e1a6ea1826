"""Numbers whose squares leave the range of floating point."""

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["check_sizes"]

_SMALLEST, _LARGEST = 1e-145, 1e145  # sums of their squares are ordinary numbers


def check_sizes(X: FloatArray, *, each: bool = False) -> None:
    """Refuse a table, or with `each` a table of which a column, has squares out of range.

    Examples
    --------
    >>> check_sizes(np.array([[1e200, np.nan]]))
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: X is up to 1e+200 in size, and the squares of such numbers \
overflow: measure it in larger units.
    """
    axis = 0 if each else None
    highest, lowest = (pick.reduce(X, axis=axis, initial=0.0) for pick in (np.fmax, np.fmin))
    for size in np.atleast_1d(np.maximum(highest, -lowest)):
        high = size > _LARGEST
        if high or 0 < size < _SMALLEST:
            raise InputError(
                f"{'A column of X' if each else 'X'} is up to {size:.3g} in size, and the squares "
                f"of such numbers {'overflow' if high else 'vanish'}: measure it in "
                f"{'larger' if high else 'smaller'} units."
            )
