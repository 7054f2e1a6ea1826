"""Exact limits of a probability, by how often something happened."""

from typing import Any

import numpy as np
from scipy import special

from bottega.core.typing import FloatArray

__all__ = ["exact_limits"]


def exact_limits(count: Any, n: Any, tail: Any) -> tuple[FloatArray, FloatArray]:
    """Return Clopper and Pearson's limits, each missed with a probability of at most `tail`.

    Parameters
    ----------
    count : array-like
        How often it happened; it may lie between two whole numbers.
    n : array-like
        Number of independent trials.
    tail : array-like
        Probability with which each limit may miss.

    Returns
    -------
    lower, upper : ndarray

    Examples
    --------
    >>> low, high = exact_limits(10, 100, 0.025)
    >>> round(float(low), 4), round(float(high), 4)
    (0.049, 0.1762)
    """
    count, n, tail = np.broadcast_arrays(count, n, tail)
    none, all_ = count == 0, count == n
    lower = special.betaincinv(np.where(none, 1, count), n - count + 1, tail)
    upper = special.betainccinv(count + 1, np.where(all_, 1, n - count), tail)
    return np.where(none, 0.0, lower), np.where(all_, 1.0, upper)
