"""Shannon's entropy, which trees, codes and distributions share."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["entropy"]


def entropy(shares: Any, *, base: float = 2.0) -> Any:
    r"""Return Shannon's entropy of a distribution, in bits.

    .. math:: H = -\sum_k p_k \log_2 p_k

    The mean number of yes-or-no questions that a draw takes to be known, up to one: 0 if one
    outcome is certain, the logarithm of the number of outcomes if all are equally likely.

    Parameters
    ----------
    shares : array-like of shape (..., K)
        Probabilities or counts of the K outcomes; they are divided by their sum.
    base : float
        Base of the logarithm: 2 for bits, e for nats.

    Returns
    -------
    float or ndarray of shape (...)
        One entropy per distribution.

    Examples
    --------
    >>> entropy([0.5, 0.5])
    1.0
    >>> entropy([[4, 2], [6, 0]]).round(4)
    array([0.9183, 0.    ])
    """
    p = as_distribution(shares, "shares")
    found = -xlogy(p, p).sum(axis=-1) / log_of(base) + 0.0  # no -0
    return float(found) if np.ndim(found) == 0 else found


def as_distribution(shares: Any, name: str, axes: int = 1) -> FloatArray:
    """Return probabilities or counts divided by their sums over the last axes, or raise."""
    weight = np.asarray(shares, dtype=np.float64)
    good = weight.ndim >= axes and bool(np.all(np.isfinite(weight) & (weight >= 0)))
    last = tuple(range(-axes, 0))
    if good:  # a sum of very large numbers would overflow, one of very small ones underflow
        top = weight.max(axis=last, keepdims=True, initial=0.0)
        good = bool(np.all(top > 0))
    if not good:
        raise InputError(
            f"{name} must be lists of numbers that are not negative and not all zero; got "
            f"{shares!r}."
        )
    weight = weight / top
    return np.asarray(weight / weight.sum(axis=last, keepdims=True))


def xlogy(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return x log y, which is 0 where x is."""
    return np.asarray(x * np.log(np.where(x > 0, y, 1.0)))


def log_of(base: float) -> float:
    """Return the logarithm of the base of an entropy, or raise."""
    if not 1 < base < np.inf:
        raise InputError(f"base={base!r} is not allowed; give a number above 1: 2 for bits.")
    return float(np.log(base))
