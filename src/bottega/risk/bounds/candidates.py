"""The union bound: several claims that shall hold together."""

from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.risk.bounds._checks import Numbers, at_least, count, level, plain

__all__ = ["check_weights", "union", "union_probability"]

_ROUNDING = 1e-9  # of a sum of weights that a user computed


def check_weights(weights: Any) -> Any:
    """Return weights in [0, 1] that sum to at most 1 along the last axis."""
    values = at_least(0, "weights", weights, 1)
    if np.any(np.sum(np.atleast_1d(values), axis=-1) > 1 + _ROUNDING):
        raise ParameterError(
            f"The weights sum to {np.max(np.sum(values, axis=-1)):.6g}; they are shares of one "
            "delta, so their sum may be at most 1. Divide them by it."
        )
    return values


def union(delta: Any, candidates: Any = 1, *, weights: Any = None) -> Numbers:
    r"""Return the delta at which each claim must be made so that all hold together.

    The probability that one of several events happens is at most the sum of their
    probabilities, so K claims at :math:`\delta/K` each, or at :math:`w_k\delta` with
    :math:`\sum_k w_k \le 1`, fail together at most with probability :math:`\delta`. Nothing is
    assumed of how the claims depend on one another; the number of candidates, or their weights,
    must be fixed before the data are seen.

    Parameters
    ----------
    delta : float or array-like
        Probability with which any of the claims may fail.
    candidates : int or array-like
        Number of claims that share it equally.
    weights : array-like of shape (K,), optional
        Shares of the claims, in place of `candidates`.

    Returns
    -------
    float or ndarray
        The delta of each claim.

    Examples
    --------
    >>> union(0.05, 10)
    0.005
    >>> union(0.05, weights=[0.5, 0.25, 0.25])
    array([0.025 , 0.0125, 0.0125])
    """
    delta = level(delta)
    if weights is None:
        return plain(delta / count("candidates", candidates))
    if np.any(np.asarray(candidates) != 1):
        raise ParameterError("Give candidates or weights, not both: each shares delta out.")
    return plain(delta * check_weights(weights))


def union_probability(deltas: Any) -> float:
    """Return how probable it is at most that one of several claims fails: the sum, at most 1.

    Examples
    --------
    >>> round(union_probability([0.01, 0.02, 0.05]), 6)
    0.08
    """
    return float(min(1.0, np.sum(at_least(0, "deltas", deltas, 1))))
