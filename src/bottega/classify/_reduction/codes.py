"""Codes of classes: a row of signs per class, a column per binary problem."""

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.typing import IntArray

__all__ = ["exhaustive_code", "least_distance", "random_code"]

MOST_EXHAUSTIVE = 11  # classes: 1,023 problems
_TRIES = 100


def exhaustive_code(n_classes: int) -> IntArray:
    """Return all ways to split the classes in two: 2^(K-1) - 1 columns of 0 and 1 [1]_.

    References
    ----------
    .. [1] Dietterich, T. G. and Bakiri, G. (1995). Solving multiclass learning problems via
       error-correcting output codes. Journal of Artificial Intelligence Research 2, 263-286.

    Examples
    --------
    >>> exhaustive_code(3)
    array([[1, 1, 1],
           [0, 0, 1],
           [0, 1, 0]])
    """
    if n_classes > MOST_EXHAUSTIVE:
        raise ParameterError(
            f"An exhaustive code of {n_classes} classes has {2 ** (n_classes - 1) - 1:,} binary "
            f"problems (at most {MOST_EXHAUSTIVE} classes); use code='random'."
        )
    splits = np.arange(2 ** (n_classes - 1) - 1)
    others = [(splits >> bit) & 1 for bit in range(n_classes - 2, -1, -1)]
    return np.vstack([np.ones(len(splits), dtype=np.intp), *others])


def random_code(n_classes: int, length: int, seed: int) -> IntArray:
    """Return a random code: of 100 draws the one whose nearest rows are farthest apart.

    Each column splits the classes; no two columns split them alike where enough splits exist.
    """
    rng = np.random.default_rng(seed)
    several = length <= 2 ** (n_classes - 1) - 1
    best, score = None, (-1, -1)
    for _ in range(_TRIES):
        code = rng.integers(0, 2, size=(n_classes, length))
        flat = code.min(axis=0) == code.max(axis=0)
        code[rng.integers(0, n_classes, size=int(flat.sum())), np.flatnonzero(flat)] ^= 1
        signed = np.where(code[0] == 1, code, 1 - code)  # a split and its opposite are one
        distinct = len(np.unique(signed, axis=1).T) if several else length
        found = (least_distance(code), distinct)
        if found > score:
            best, score = code, found
    assert best is not None
    return best


def least_distance(code: IntArray) -> int:
    """Return the least number of columns in which two rows differ."""
    apart = np.count_nonzero(code[:, None, :] != code[None, :, :], axis=2)
    return int(apart[np.triu_indices(len(code), 1)].min())
