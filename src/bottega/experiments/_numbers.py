"""Small computations that several experiments share."""

from typing import Any

import numpy as np

__all__ = ["log_slope", "vote_error"]


def log_slope(x: Any, y: Any) -> float:
    """Return the slope of the least squares line of ln y on ln x.

    Examples
    --------
    >>> round(log_slope([1, 10, 100], [5, 0.5, 0.05]), 6)
    -1.0
    """
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def vote_error(eta: Any, said: Any) -> float:
    """Return the mean probability that labels 0 and 1 are wrong where P(y = 1 | x) is `eta`.

    Examples
    --------
    >>> round(vote_error([0.9, 0.2], [1, 1]), 6)
    0.45
    """
    eta, said = np.asarray(eta, dtype=np.float64), np.asarray(said)
    return float(np.mean(np.where(said == 1, 1 - eta, eta)))
