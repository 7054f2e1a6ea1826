"""The robust side of loess: bisquare weights from residuals, and the scale that goes with them."""

import numpy as np

from bottega.core.typing import FloatArray


def bisquare_weights(residuals: FloatArray) -> FloatArray:
    r"""Return :math:`(1 - (r / 6m)^2)^2` inside six times the median absolute residual, else 0.

    Where more than half of the residuals are zero there is no scale to judge by: all count fully.

    Examples
    --------
    >>> bisquare_weights(np.array([0.0, 1.0, -1.0, 3.0, 60.0])).round(4)
    array([1.    , 0.9452, 0.9452, 0.5625, 0.    ])
    """
    limit = 6 * np.median(np.abs(residuals))
    if not limit > 0:
        return np.ones_like(residuals)
    return np.maximum(1 - (residuals / limit) ** 2, 0.0) ** 2


def pseudo_values(
    fitted: FloatArray, residuals: FloatArray, weight: FloatArray, robust: FloatArray
) -> FloatArray:
    """Return responses whose plain residuals have the scale of the robust fit.

    ``fitted + robust * residual / c`` with c the mean slope of the bisquare's influence: least
    squares on them behaves as the robust fit does, so its statistics hold (Cleveland, Grosse and
    Shyu, 1992).
    """
    scaled = residuals * np.sqrt(weight)
    limit = 6 * np.median(np.abs(scaled))
    if not limit > 0:
        return fitted + residuals
    slope = np.mean((1 - 5 * (scaled / limit) ** 2) * np.sqrt(robust))
    return fitted + robust * residuals / slope
