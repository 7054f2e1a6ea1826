"""The best rising correction of probabilities in hindsight, and what it is worth."""

import numpy as np
from scipy.optimize import isotonic_regression

from bottega.core.typing import BoolArray, FloatArray

__all__ = ["isotonic_shares"]


def isotonic_shares(probability: FloatArray, positive: BoolArray, weight: FloatArray) -> FloatArray:
    """Return the rising function of the probability that is nearest to the outcomes, at each row.

    Rows of equal probability get one value (pool adjacent violators).

    Examples
    --------
    >>> isotonic_shares(np.array([0.1, 0.2, 0.3]), np.array([False, True, False]), np.ones(3))
    array([0. , 0.5, 0.5])
    """
    _, place = np.unique(probability, return_inverse=True)
    total = np.bincount(place, weight)
    share = np.bincount(place, weight * positive) / total
    return np.asarray(isotonic_regression(share, weights=total).x[place])
