"""Several classes by decisions between pairs of them: votes, scores, probabilities."""

from itertools import combinations

import numpy as np

from bottega.core.typing import BoolArray, FloatArray

__all__ = ["coupled", "pair_scores", "pair_votes", "pairs_of"]

_LEAST = 1e-7  # of a probability of a pair


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in their order.

    Examples
    --------
    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(n_classes), 2))


def pair_votes(first: BoolArray, n_classes: int) -> FloatArray:
    """Return the votes for each class: `first` says where the first of a pair is chosen.

    Pairs are along the last axis.
    """
    votes = np.zeros((*first.shape[:-1], n_classes))
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        votes[..., i] += first[..., k]
        votes[..., j] += ~first[..., k]
    return votes


def pair_scores(first: BoolArray, decisions: FloatArray, n_classes: int) -> FloatArray:
    """Return a score per class: its votes, and between equal ones the sums of its decisions.

    `decisions` are larger the more the first of a pair is preferred. Their sums are brought into
    (-1/3, 1/3), so that they decide between equal numbers of votes only.

    Examples
    --------
    >>> decisions = np.array([[1.0, -2.0, 3.0]])  # 0 beats 1, 2 beats 0, 1 beats 2
    >>> pair_scores(decisions > 0, decisions, 3).round(3).tolist()
    [[0.833, 1.222, 0.833]]
    """
    sums = np.zeros((*decisions.shape[:-1], n_classes))
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        sums[..., i] += decisions[..., k]
        sums[..., j] -= decisions[..., k]
    return np.asarray(pair_votes(first, n_classes) + sums / (3 * (np.abs(sums) + 1)))


def coupled(shares: FloatArray, n_classes: int) -> FloatArray:
    r"""Return p that minimises :math:`\sum_i \sum_{j \ne i} (r_{ji} p_i - r_{ij} p_j)^2` [1]_.

    Parameters
    ----------
    shares : ndarray of shape (m, K (K - 1) / 2)
        :math:`r_{ij}`, the probability of the first class of each pair (i, j), i < j, among the
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

    >>> r = np.array([[0.2 / 0.5, 0.2 / 0.7, 0.3 / 0.8]])
    >>> coupled(r, 3).round(6)
    array([[0.2, 0.3, 0.5]])
    """
    m, K = len(shares), n_classes
    # The optimality conditions with the sum of one as a constraint are a linear system.
    system = np.zeros((m, K + 1, K + 1))
    for k, (i, j) in enumerate(pairs_of(K)):
        first = np.clip(shares[:, k], _LEAST, 1 - _LEAST)
        second = 1 - first
        system[:, i, i] += second**2
        system[:, j, j] += first**2
        system[:, i, j] = system[:, j, i] = -first * second
    system[:, K, :K] = system[:, :K, K] = 1.0
    right = np.zeros((m, K + 1, 1))
    right[:, K] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :K, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
