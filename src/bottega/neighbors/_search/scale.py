"""Powers of two by which numbers are multiplied so that their squares can be held."""

import numpy as np

from bottega.core.typing import FloatArray

# Numbers whose squares, and sums of very many of them, neither overflow nor lose digits.
_LEAST, _MOST = 1e-100, 1e100


def largest(table: FloatArray) -> float:
    """Return the largest absolute value."""
    return float(max(table.max(), -table.min()))


def power_of_two(top: float, room: float = 1.0) -> float:
    """Return the power of two that brings numbers up to `top` near one, 1.0 where none is needed.

    What is multiplied by it keeps all its digits. `room` below one narrows the range in which
    none is needed: for powers higher than squares.

    Examples
    --------
    >>> power_of_two(5.0), power_of_two(0.0)
    (1.0, 1.0)
    >>> power_of_two(2.0**600) == 2.0**-601
    True
    """
    if not top > 0 or _LEAST**room <= top <= _MOST**room:
        return 1.0
    return float(np.ldexp(1.0, min(-int(np.frexp(top)[1]), 1022)))


def rows_near_one(table: FloatArray) -> FloatArray:
    """Return rows multiplied by powers of two of their own, where their squares need it."""
    top = np.abs(table).max(axis=1)
    if np.all((top == 0) | ((top >= _LEAST) & (top <= _MOST))):
        return table
    return np.asarray(np.ldexp(table, -np.frexp(top)[1][:, None]))
