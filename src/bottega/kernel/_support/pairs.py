"""Several classes by machines for their pairs: who wins, and how coefficients are stored."""

import numpy as np

from bottega.core.pairs import pair_votes, pairs_of
from bottega.core.typing import FloatArray, IntArray

__all__ = ["packed", "pair_coefficients", "winners"]


def winners(decisions: FloatArray, n_classes: int) -> IntArray:
    """Return the class with most votes; of equal ones the first.

    `decisions` has the values of the pairs along its last axis, above zero for the first class of
    a pair; of two classes there is one, above or at zero for the second.
    """
    if n_classes == 2:
        return np.asarray(decisions[..., 0] >= 0, dtype=np.intp)
    return np.argmax(pair_votes(decisions > 0, n_classes), axis=-1)


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
