"""Several classes by machines for their pairs: votes, scores per class, probabilities."""

from itertools import combinations

import numpy as np

from bottega.core.typing import FloatArray, IntArray

__all__ = ["class_scores", "coupled", "packed", "pair_coefficients", "pairs_of", "winners"]


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes, in the order of their machines.

    Examples
    --------
    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(n_classes), 2))


def winners(decisions: FloatArray, n_classes: int) -> IntArray:
    """Return the class with most votes; of equal ones the first.

    `decisions` has the values of the pairs along its last axis, above zero for the first class of
    a pair; of two classes there is one, above or at zero for the second.
    """
    if n_classes == 2:
        return np.asarray(decisions[..., 0] >= 0, dtype=np.intp)
    return np.argmax(_votes(decisions, n_classes), axis=-1)


def _votes(decisions: FloatArray, n_classes: int) -> FloatArray:
    votes = np.zeros((*decisions.shape[:-1], n_classes))
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        first = decisions[..., k] > 0
        votes[..., i] += first
        votes[..., j] += ~first
    return votes


def class_scores(decisions: FloatArray, n_classes: int) -> FloatArray:
    """Return a score per class: its votes, and between equal ones the sums of its decisions.

    The sums are brought into (-1/3, 1/3), so that they decide between equal numbers of votes only.
    """
    sums = np.zeros((*decisions.shape[:-1], n_classes))
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        sums[..., i] += decisions[..., k]
        sums[..., j] -= decisions[..., k]
    return _votes(decisions, n_classes) + sums / (3 * (np.abs(sums) + 1))


def coupled(shares: FloatArray, n_classes: int) -> FloatArray:
    r"""Return the probabilities of the classes from those of the first class in each pair.

    They minimise :math:`\sum_{i < j} (r_{ji} p_i - r_{ij} p_j)^2` with sum one [1]_.

    References
    ----------
    .. [1] Wu, T.-F., Lin, C.-J. and Weng, R. C. (2004). Probability estimates for multi-class
       classification by pairwise coupling. JMLR 5, 975-1005.

    Examples
    --------
    >>> coupled(np.array([[0.5, 0.5, 0.5]]), 3).round(6)
    array([[0.333333, 0.333333, 0.333333]])
    """
    m, K = len(shares), n_classes
    system = np.zeros((m, K + 1, K + 1))
    for k, (i, j) in enumerate(pairs_of(K)):
        first, second = shares[:, k], 1 - shares[:, k]
        system[:, i, i] += second**2
        system[:, j, j] += first**2
        system[:, i, j] -= first * second
        system[:, j, i] -= first * second
    system[:, K, :K] = system[:, :K, K] = 1.0
    right = np.zeros((m, K + 1, 1))
    right[:, K] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :K, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def packed(
    betas: list[FloatArray], members: list[IntArray], codes: IntArray, n_classes: int
) -> tuple[IntArray, FloatArray, IntArray]:
    """Return the support rows, class by class, their coefficients, and how many each class has.

    Parameters
    ----------
    betas : list of ndarray
        Coefficients of the rows of each pair.
    members : list of ndarray
        Which rows these are.
    codes : ndarray of shape (n,)
        Classes of all rows.
    n_classes : int
        Number of classes, K.

    Returns
    -------
    support : ndarray of shape (s,)
        Rows with a coefficient in some pair.
    coef : ndarray of shape (K - 1, s)
        A row of class i has its coefficient against class j in line j - 1 if j > i, else j.
    count : ndarray of shape (K,)
        Support rows of each class.
    """
    n = len(codes)
    coef = np.zeros((max(n_classes - 1, 1), n))
    for (i, j), beta, rows in zip(pairs_of(n_classes), betas, members, strict=True):
        first = codes[rows] == i
        coef[j - 1, rows[first]] = beta[first]
        coef[i, rows[~first]] = beta[~first]
    support = np.flatnonzero(np.any(coef != 0, axis=0))
    support = support[np.argsort(codes[support], kind="stable")]
    count = np.bincount(codes[support], minlength=n_classes)
    return support, coef[:, support], count


def pair_coefficients(coef: FloatArray, count: IntArray) -> FloatArray:
    """Return the coefficients of the support rows, a column per pair, from `packed`."""
    K = len(count)
    ends = np.concatenate([[0], np.cumsum(count)])
    found = np.zeros((coef.shape[1], len(pairs_of(K))))
    for k, (i, j) in enumerate(pairs_of(K)):
        found[ends[i] : ends[i + 1], k] = coef[j - 1, ends[i] : ends[i + 1]]
        found[ends[j] : ends[j + 1], k] = coef[i, ends[j] : ends[j + 1]]
    return found
