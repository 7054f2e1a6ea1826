"""Functions of Gamma's logarithm that keep their digits where its own values are huge."""

from typing import Any

import numpy as np
from scipy import special

from bottega.core.typing import FloatArray

__all__ = ["log_rising"]

_LARGE = 100.0  # from where on three terms of Stirling's correction are exact to rounding


def log_rising(a: Any, n: Any) -> FloatArray:
    """Return log Gamma(a + n) - log Gamma(a), for a > 0 and n >= 0.

    The two logarithms are of the order of a log a, and their difference of the order of n log a:
    for large a it is taken from Stirling's series, term by term.

    Examples
    --------
    >>> float(log_rising(3.0, 2.0)) == float(np.log(12.0))
    True
    >>> round(float(log_rising(1e15, 2.0) - 2 * np.log(1e15)), 12)
    0.0
    """
    a, n = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(n, dtype=np.float64))
    large = a >= _LARGE
    base = np.where(large, a, _LARGE)
    top = base + n
    series = (
        (base - 0.5) * np.log1p(n / base) + n * np.log(top) - n + _correction(top)
    ) - _correction(base)
    small = np.where(large, 1.0, a)
    return np.where(large, series, special.gammaln(small + n) - special.gammaln(small))


def _correction(x: FloatArray) -> FloatArray:
    """Return what Stirling's formula lacks of log Gamma(x)."""
    square = x * x
    return (1 / 12 - (1 / 360 - 1 / (1260 * square)) / square) / x
