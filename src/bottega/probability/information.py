"""Information in distributions: entropy, divergence, and what two variables share."""

from typing import Any

import numpy as np

from bottega.core.entropy import as_distribution, entropy, log_of, xlogy
from bottega.core.errors import InputError

__all__ = ["entropy", "kl", "mutual_information"]


def kl(p: Any, q: Any, *, base: float = 2.0) -> Any:
    r"""Return the Kullback-Leibler divergence of one distribution from another, in bits.

    .. math:: \mathrm{KL}(p \,\Vert\, q) = \sum_k p_k \log_2 \frac{p_k}{q_k}

    The bits per draw from p that a code made for q wastes. It is 0 if the two are equal and
    positive if not, and not symmetric.

    Parameters
    ----------
    p, q : array-like of shape (..., K)
        Probabilities or counts of the same K outcomes; they are divided by their sums. One of them
        may be a single distribution for many of the other.
    base : float
        Base of the logarithm: 2 for bits, e for nats.

    Returns
    -------
    float or ndarray of shape (...)
        One divergence per pair; infinite if q rules out what p allows.

    References
    ----------
    .. [1] Cover, T. and Thomas, J. (2006). Elements of Information Theory, 2nd edition. Wiley.

    Examples
    --------
    >>> kl([0.5, 0.5], [0.25, 0.75]) > kl([0.5, 0.5], [0.4, 0.6]) > 0
    True
    >>> kl([1, 0], [0, 1])
    inf
    """
    left, right = as_distribution(p, "p"), as_distribution(q, "q")
    if left.shape[-1] != right.shape[-1]:
        raise InputError(
            f"p and q must be over the same outcomes; got {left.shape[-1]} and {right.shape[-1]}."
        )
    try:
        left, right = np.broadcast_arrays(left, right)
    except ValueError:
        raise InputError(
            f"p and q must have shapes that fit; got {left.shape} and {right.shape}."
        ) from None
    ruled_out = (left > 0) & (right == 0)
    terms = xlogy(left, left) - xlogy(left, np.where(ruled_out, 1.0, right))
    total = np.maximum(terms.sum(axis=-1), 0.0) / log_of(base)  # rounding may pass below 0
    found = np.where(ruled_out.any(axis=-1), np.inf, total)
    return float(found) if found.ndim == 0 else found


def mutual_information(joint: Any, *, base: float = 2.0) -> Any:
    r"""Return how much two variables tell about each other, in bits.

    .. math:: I(X; Y) = \sum_{x, y} p(x, y) \log_2 \frac{p(x, y)}{p(x)\, p(y)}
              = H(X) + H(Y) - H(X, Y)

    It is the divergence of the joint distribution from the product of the marginal ones: 0 if the
    two are independent, and at most the smaller of their entropies.

    Parameters
    ----------
    joint : array-like of shape (..., A, B)
        Probabilities or counts of the pairs of states, such as a cross table; divided by its sum.
        Counts of few rows overstate it: by about (A - 1)(B - 1) / (2 n ln 2) bits.
    base : float
        Base of the logarithm: 2 for bits, e for nats.

    Returns
    -------
    float or ndarray of shape (...)
        One number per table.

    References
    ----------
    .. [1] Cover, T. and Thomas, J. (2006). Elements of Information Theory, 2nd edition. Wiley.

    Examples
    --------
    >>> mutual_information([[0.5, 0.0], [0.0, 0.5]])
    1.0
    >>> mutual_information([[1, 3], [2, 6]])
    0.0
    """
    p = as_distribution(joint, "joint", axes=2)
    product = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    flat = (*p.shape[:-2], -1)
    return kl(p.reshape(flat), product.reshape(flat), base=base)
