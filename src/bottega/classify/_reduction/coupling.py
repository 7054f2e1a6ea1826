"""Probabilities of several classes from those of all pairs."""

from itertools import combinations

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["coupled"]

_LEAST = 1e-7  # of a probability of a pair


def coupled(pairs: FloatArray, n_classes: int) -> FloatArray:
    r"""Return p that minimises :math:`\sum_i \sum_{j \ne i} (r_{ji} p_i - r_{ij} p_j)^2` [1]_.

    Parameters
    ----------
    pairs : ndarray of shape (m, K (K - 1) / 2)
        :math:`r_{ji}`, the probability of the second class of each pair (i, j), i < j, among the
        two, in the order of the pairs.
    n_classes : int
        K.

    Returns
    -------
    ndarray of shape (m, K)
        Not negative, rows of sum one.

    References
    ----------
    .. [1] Wu, T.-F., Lin, C.-J. and Weng, R. C. (2004). Probability estimates for multi-class
       classification by pairwise coupling. Journal of Machine Learning Research 5, 975-1005.

    Examples
    --------
    Pairs of true probabilities give them back.

    >>> p = np.array([0.2, 0.3, 0.5])
    >>> r = np.array([[0.3 / 0.5, 0.5 / 0.7, 0.5 / 0.8]])
    >>> coupled(r, 3).round(6)
    array([[0.2, 0.3, 0.5]])
    """
    m = len(pairs)
    r = np.zeros((m, n_classes, n_classes))  # r[:, i, j]: of i among i and j
    for place, (i, j) in enumerate(combinations(range(n_classes), 2)):
        second = np.clip(pairs[:, place], _LEAST, 1 - _LEAST)
        r[:, j, i], r[:, i, j] = second, 1 - second
    # The optimality conditions with the sum of one as a constraint are a linear system.
    system = np.zeros((m, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r * np.swapaxes(r, 1, 2)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = np.sum(r**2, axis=1)
    system[:, -1, :-1] = system[:, :-1, -1] = 1.0
    right = np.zeros((m, n_classes + 1, 1))
    right[:, -1] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
