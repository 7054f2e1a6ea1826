"""Folds for cross-validation inside a method: dealt like cards, whatever chunks the rows come in.

The rows are taken in blocks of K, and the K folds are dealt to each block in a shuffled order that
depends on nothing but the number of the block. So the folds are balanced to one row, rows that
come in chunks get the folds they would get together, and no pattern of period K can hide in them.
With strata (classes) each stratum is dealt its own cards.
"""

from typing import Any

import numpy as np

from bottega.core.typing import IntArray

__all__ = ["FoldDealer", "deal_folds", "fold_rows"]


class FoldDealer:
    """Deals folds to rows that come chunk by chunk.

    Parameters
    ----------
    folds : int
        How many folds.

    Examples
    --------
    >>> together = FoldDealer(3).deal(7)
    >>> dealer = FoldDealer(3)
    >>> apart = np.concatenate([dealer.deal(2), dealer.deal(5)])
    >>> bool(np.array_equal(together, apart)), np.bincount(together).tolist()
    (True, [2, 3, 2])
    """

    def __init__(self, folds: int) -> None:
        self.folds = folds
        self._dealt: dict[Any, int] = {}

    def deal(self, n: int, strata: Any = None) -> IntArray:
        """Return the fold of each of the next `n` rows; rows of one stratum are dealt together."""
        if strata is None:
            return self._next(None, n)
        found = np.empty(n, dtype=np.intp)
        labels, codes = np.unique(np.asarray(strata), return_inverse=True)
        for code, label in enumerate(labels.tolist()):
            rows = np.flatnonzero(codes == code)
            found[rows] = self._next(label, len(rows))
        return found

    def _next(self, stratum: Any, n: int) -> IntArray:
        start = self._dealt.get(stratum, 0)
        self._dealt[stratum] = start + n
        if n == 0:
            return np.zeros(0, dtype=np.intp)
        places = np.arange(start, start + n)
        block, slot = places // self.folds, places % self.folds
        cards = np.arange(block[0] * self.folds, (block[-1] + 1) * self.folds, dtype=np.uint64)
        shuffled = np.argsort(_scramble(cards).reshape(-1, self.folds), axis=1, kind="stable")
        return np.asarray(shuffled[block - block[0], slot], dtype=np.intp)


def deal_folds(n: int, folds: int, strata: Any = None) -> IntArray:
    """Return the fold of each of `n` rows.

    Examples
    --------
    >>> np.bincount(deal_folds(10, 5)).tolist()
    [2, 2, 2, 2, 2]
    """
    return FoldDealer(folds).deal(n, strata)


def fold_rows(n: int, folds: int, strata: Any = None) -> list[tuple[IntArray, IntArray]]:
    """Return the rows to train and to test on in each fold."""
    dealt = deal_folds(n, folds, strata)
    return [(np.flatnonzero(dealt != k), np.flatnonzero(dealt == k)) for k in range(folds)]


def _scramble(numbers: Any) -> Any:
    """Return 64 bits that look random for each number (the finaliser of SplitMix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
