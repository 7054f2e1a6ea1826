"""How mixed the classes of a node are: the entropy and the other measures that splits lower."""

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
    weight = np.asarray(shares, dtype=np.float64)
    total = weight.sum(axis=-1, keepdims=True) if weight.ndim else weight
    if not weight.ndim or not np.all(np.isfinite(weight) & (weight >= 0)) or not np.all(total > 0):
        raise InputError(
            f"shares must be lists of numbers that are not negative and not all zero; got "
            f"{shares!r}."
        )
    if not base > 0 or base == 1:
        raise InputError(f"base={base!r} is not allowed; give a positive number other than 1.")
    p = weight / total
    found = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1) / np.log(base) + 0.0  # no -0
    return float(found) if np.ndim(found) == 0 else found


def class_impurity(counts: FloatArray, criterion: str) -> FloatArray:
    """Return the impurity of each row of class counts; that of an empty row is 0.

    Examples
    --------
    >>> class_impurity(np.array([[4.0, 1.0]]), "gini").round(6)
    array([0.32])
    """
    total = counts.sum(axis=1, keepdims=True)
    p = counts / np.where(total > 0, total, 1.0)
    if criterion == "error":
        return np.asarray(np.where(total[:, 0] > 0, 1.0 - p.max(axis=1), 0.0))
    if criterion == "gini":
        return np.asarray((p * (1 - p)).sum(axis=1))
    if criterion == "sqrt":
        return np.asarray(np.sqrt(p * (1 - p)).sum(axis=1) / 2)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)  # in nats
    return np.asarray(2 * entropy if criterion == "deviance" else entropy / np.log(2))
