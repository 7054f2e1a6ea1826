"""Dealing folds to rows like cards: by what is in the rows, or by their number."""

from typing import Any

import numpy as np

from bottega.core.row_order import own_order
from bottega.core.typing import IntArray

__all__ = [
    "MOST_ORDERED",
    "FoldDealer",
    "deal_folds",
    "deal_rows",
    "dealing_order",
    "scramble",
]

# Rows up to which folds are dealt by what is in the rows. More are dealt by row number: rows that
# come in chunks get the folds they get together, in memory that does not grow with their number.
MOST_ORDERED = 2**20


def scramble(numbers: Any) -> Any:
    """Return 64 bits that look random for each number (the finaliser of SplitMix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


class FoldDealer:
    """Deals folds to rows that come chunk by chunk.

    Parameters
    ----------
    folds : int
        How many folds.
    start : int or dict
        Number of rows that were dealt before; with strata, of each of them.

    Examples
    --------
    >>> together = FoldDealer(3).deal(7)
    >>> dealer = FoldDealer(3)
    >>> apart = np.concatenate([dealer.deal(2), dealer.deal(5)])
    >>> bool(np.array_equal(together, apart)), np.bincount(together).tolist()
    (True, [2, 3, 2])
    """

    def __init__(self, folds: int, *, start: int | dict[Any, int] = 0) -> None:
        self.folds = folds
        self._dealt: dict[Any, int] = start if isinstance(start, dict) else {None: start}

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
        shuffled = np.argsort(scramble(cards).reshape(-1, self.folds), axis=1, kind="stable")
        return np.asarray(shuffled[block - block[0], slot], dtype=np.intp)


def deal_folds(n: int, folds: int, strata: Any = None, *, start: int = 0) -> IntArray:
    """Return the fold of each of `n` rows; of a chunk, with `start` rows before it.

    Examples
    --------
    >>> np.bincount(deal_folds(10, 5)).tolist()
    [2, 2, 2, 2, 2]
    """
    return FoldDealer(folds, start=start).deal(n, strata)


def deal_rows(
    folds: int, n: int, X: Any = None, y: Any = None, weight: Any = None, *, strata: Any = None
) -> IntArray:
    """Return the fold of each of `n` rows, dealt by what is in them: their order does not matter.

    Without X and y, and with more than a million rows, it is dealt by row number.

    Examples
    --------
    >>> y = np.array([0.3, 0.1, 0.4, 0.2])
    >>> ahead, behind = deal_rows(2, 4, y=y), deal_rows(2, 4, y=1000 * y[::-1])
    >>> np.array_equal(ahead, behind[::-1])
    True
    """
    order = dealing_order(n, (X, y, weight), strata)
    if order is None:
        return deal_folds(n, folds, strata)
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % folds
    return fold


def dealing_order(n: int, content: tuple[Any, Any, Any], strata: Any) -> IntArray | None:
    """Return rows in an order of their own, stratum after stratum, or None where there is none.

    `content` is what is in the rows: X, y and weights, or None.
    """
    X, y, weight = content
    if (X is None and y is None) or n > MOST_ORDERED:
        return None
    order = own_order(X, y if strata is None else strata, weight, apart=True)
    if strata is None:
        return order
    codes = np.unique(np.asarray(strata), return_inverse=True)[1]
    return np.asarray(order[np.argsort(codes[order], kind="stable")])
