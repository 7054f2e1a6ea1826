"""How far apart two columns of repeated measurements are."""

from typing import Any

import numpy as np

__all__ = ["errors_above"]


def errors_above(larger: Any, smaller: Any) -> float:
    """Return by how many of its standard errors the mean of paired differences is above zero.

    Differences that are all the same have no spread: infinite, or zero where they are zero.

    Examples
    --------
    >>> round(errors_above([3, 4, 5], [1, 1, 1]), 6)
    5.196152
    """
    gap = np.subtract(larger, smaller).astype(np.float64)
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    if error == 0:
        return float(np.sign(gap[0]) * np.inf) if gap[0] else 0.0
    return float(gap.mean() / error)
