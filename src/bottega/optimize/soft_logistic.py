"""Logistic regression on a few columns with responses between 0 and 1, by Newton's method."""

import numpy as np
from scipy import special

from bottega.core.typing import FloatArray

__all__ = ["soft_logistic"]

_MOST_STEPS = 100
_FLAT = 1e-10  # of the gradient, relative to the weight of the rows
_RIDGE = 1e-12  # keeps the curvature of separated rows invertible


def soft_logistic(
    Z: FloatArray, share: FloatArray, weight: FloatArray, start: FloatArray | None = None
) -> FloatArray:
    r"""Return b that minimises the log loss of the probabilities :math:`\sigma(z_i^\top b)`.

    .. math:: -\sum_i w_i \bigl[t_i \ln \sigma(z_i^\top b) + (1 - t_i) \ln(1 - \sigma(z_i^\top b))
        \bigr]

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Columns, few of them, of about one scale; a column of ones for the constant.
    share : ndarray of shape (n,)
        Responses t in [0, 1].
    weight : ndarray of shape (n,)
        Weights of the rows.
    start : ndarray of shape (d,), optional
        Where to start; at zero by default.

    Returns
    -------
    ndarray of shape (d,)
        Where responses 0 and 1 are separated there is no minimum: the answer is then far enough
        out that the loss is nearly zero.

    Examples
    --------
    >>> Z = np.column_stack([np.ones(4), [0.0, 0.0, 1.0, 1.0]])
    >>> soft_logistic(Z, np.array([0.2, 0.2, 0.5, 0.5]), np.ones(4)).round(6)
    array([-1.386294,  1.386294])
    """
    b = np.zeros(Z.shape[1]) if start is None else np.array(start, dtype=np.float64)
    value = _loss(Z, share, weight, b)
    for _ in range(_MOST_STEPS):
        p = special.expit(Z @ b)
        gradient = Z.T @ (weight * (p - share))
        if np.max(np.abs(gradient)) <= _FLAT * weight.sum():
            break
        curvature = (Z * (weight * p * (1 - p))[:, np.newaxis]).T @ Z
        curvature[np.diag_indices_from(curvature)] += _RIDGE * max(weight.sum(), 1.0)
        step = np.linalg.lstsq(curvature, gradient)[0]
        for _ in range(50):
            new = b - step
            reached = _loss(Z, share, weight, new)
            if reached <= value:
                break
            step = step / 2
        else:
            break  # rounding hides any further gain
        b, gained, value = new, value - reached, reached
        if gained <= 1e-15 * weight.sum():
            break
    return b


def _loss(Z: FloatArray, share: FloatArray, weight: FloatArray, b: FloatArray) -> float:
    eta = Z @ b
    return float(weight @ (np.logaddexp(0.0, eta) - share * eta))
