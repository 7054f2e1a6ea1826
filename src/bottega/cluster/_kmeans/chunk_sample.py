"""What one pass over rows in chunks tells: a sample of them, their scale, and their number."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Self

import numpy as np

from bottega.cluster._kernels.moments import add_bits, add_moments
from bottega.cluster._kmeans.source import FAR, NO_WEIGHTS, RowScale, in_one_layout, middle
from bottega.core.chunks import CheckedChunks
from bottega.core.deal import scramble
from bottega.core.parts import of_blocks
from bottega.core.typing import FloatArray

__all__ = ["ChunkSample", "sample_chunks"]

_MOST_ROWS = 2**16
_MOST_NUMBERS = 2**22
_HUGE = 1e100  # beyond this, squares and their sums may overflow (or vanish)
_ROOM = 1.25  # times the rows of the sample: by chance there are never fewer
_NO_LIMIT = np.uint64(2**64 - 1)


class _KeyLimit:
    """The largest key that a row of the sample can have, as far as is known.

    The parts of a source are sampled side by side, and a full sample of one limits the others that
    threads of this process make. It is only a matter of time: no row with a larger key is in the
    sample of all rows.
    """

    key = _NO_LIMIT

    @classmethod
    def guessed(cls, count: int | None, most: int) -> Self:
        """Return what the limit will surely be where keys are spread as chance spreads them.

        `count` rows at most are sampled, of which `most` stay. Where many rows are equal the limit
        may be too low: the sample then has fewer rows than it should.
        """
        found = cls()
        share = _ROOM * most / max(count or 1, 1)
        if count is not None and share < 1:
            found.key = np.uint64(share * 2.0**64)
        return found


class ChunkSample:
    """Up to 65,536 rows (fewer of a wide table), those whose scrambled content comes first.

    The sample depends on the rows alone: neither on their order nor on where chunks end. Among
    equal rows the first ones are taken.

    Attributes
    ----------
    count : int
        Rows that were seen.
    mass : float
        Sum of their weights.
    mean, squares : ndarray of shape (p,)
        Means of the columns, and (weighted) sums of squares about them, of all rows.
    weighted : bool
        Whether any chunk had weights.
    sizes : list of int
        Rows of each part of the source; one number where it was not passed over in parts.
    """

    def __init__(self, limit: _KeyLimit | None = None) -> None:
        self.count, self.mass = 0, 0.0
        self._columns: FloatArray = np.empty((2, 0))
        self.weighted = False
        self.sizes: list[int] = []
        self._limit = _KeyLimit() if limit is None else limit
        self._most = 0
        self._rows: list[tuple[FloatArray, FloatArray, Any]] = []  # X, w and keys

    @property
    def mean(self) -> FloatArray:
        """Means of the columns."""
        return self._columns[0]

    @property
    def squares(self) -> FloatArray:
        """Sums of squares about the means."""
        return self._columns[1]

    def rows(self) -> tuple[FloatArray, FloatArray]:
        """Return the sampled rows and their weights."""
        return self._settled()[:2]

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""
        X = in_one_layout(np.asarray(X, dtype=np.float64))
        n, p = X.shape
        if not self.count:
            self._begin(p)
        odd = scramble(np.arange(p, dtype=np.uint64)) | np.uint64(1)
        key = np.zeros(n, dtype=np.uint64)
        add_bits(X.view(np.uint64), odd, key)
        key = scramble(key)
        self.mass = add_moments(X, NO_WEIGHTS if w is None else w, self.mass, self._columns)
        self.count += n
        self.weighted = self.weighted or w is not None
        # Indices make a copy: the chunk may be overwritten by the next one.
        first = np.flatnonzero(key <= self._limit.key)
        weight = np.ones(len(first)) if w is None else np.asarray(w)[first]
        return self._take_in(X[first], weight, key[first])

    def merge(self, other: Self) -> Self:
        """Take in the sample of other rows."""
        self.sizes = [*self.sizes, *other.sizes]
        if not other.count:
            return self
        if not self.count:
            self._begin(len(other.mean))
        share = other.mass / (self.mass + other.mass)
        gap = other.mean - self.mean
        with np.errstate(over="ignore", invalid="ignore"):  # `scaling` knows what to do
            self._columns[1] += other.squares + gap**2 * (self.mass * share)
        self._columns[0] += gap * share
        self.mass += other.mass
        self.count += other.count
        self.weighted = self.weighted or other.weighted
        X, w, key = other._settled()
        near = key <= self._limit.key  # others have lowered it meanwhile
        return (
            self._take_in(X, w, key) if near.all() else self._take_in(X[near], w[near], key[near])
        )

    def scaling(self, scale: FloatArray | None) -> RowScale | None:
        """Return where all rows are, divided by `scale`; None where squares cannot tell."""
        X = self.rows()[0]
        reach = max(float(X.max()), -float(X.min()))
        if not (1 / _HUGE < reach < _HUGE and np.all(np.isfinite(self.squares))):
            return None
        by = np.ones(X.shape[1]) if scale is None else scale
        X = X / by
        squares, mean, shift = self.squares / by**2, self.mean / by, middle(X)
        variance = squares / self.mass
        if np.any((mean - shift) ** 2 > FAR * variance):
            shift = mean
        # A row beyond the sample is as far as the sum of squares at most. Single precision has
        # room for 1e10 times the scale.
        farthest = np.max((X - shift) ** 2, axis=0)
        size = float(np.sqrt(np.sum(np.maximum(farthest, squares * 1e-20))))
        return RowScale(shift, variance, 1.0 / size if size > 0 else 1.0, self.mass)

    def _begin(self, p: int) -> None:
        self._columns = np.zeros((2, p))
        self._most = most_rows(p)

    def _take_in(self, X: FloatArray, w: FloatArray, key: Any) -> Self:
        self._rows.append((X, w, key))
        # Rarely: to choose among many rows at a time costs little for each of them.
        if sum(len(rows) for rows, _, _ in self._rows) > 2 * self._most:
            self._settled()
        return self

    def _settled(self) -> tuple[FloatArray, FloatArray, Any]:
        """Return the rows of the sample with their weights and keys."""
        X, w, key = self._rows[0]
        if len(self._rows) > 1:
            X, w, key = (np.concatenate(each) for each in zip(*self._rows, strict=True))
        if len(key) >= self._most:
            last = np.partition(key, self._most - 1)[self._most - 1]
            self._limit.key = min(self._limit.key, last)
            if len(key) > self._most:
                first = key < last
                ties = np.flatnonzero(key == last)
                first[ties[: self._most - np.count_nonzero(first)]] = True
                X, w, key = X[first], w[first], key[first]
        self._rows = [(X, w, key)]
        return self._rows[0]


def most_rows(p: int) -> int:
    """Return how many rows of p columns a sample has at most."""
    return max(min(_MOST_ROWS, _MOST_NUMBERS // p), 2048)


def sample_chunks(checked: CheckedChunks) -> ChunkSample | None:
    """Return what one pass over all chunks tells, its parts side by side; None without rows."""
    most = most_rows(checked.n_features)
    limit = _KeyLimit.guessed(checked.told_count, most)
    is_guess = limit.key < _NO_LIMIT
    found = _sampled(checked, limit)
    if is_guess and found is not None and len(found.rows()[0]) < min(most, found.count):
        return _sampled(checked, _KeyLimit())
    return found


def _sampled(checked: CheckedChunks, limit: _KeyLimit) -> ChunkSample | None:
    if not checked.are_held and len(checked.parts()) == 1:  # its blocks side by side
        found: ChunkSample | None = of_blocks(partial(_of_block, limit), checked)
        if found is not None:
            found.sizes = [found.count]
        return found
    total = checked.reduce_parts(partial(_of_part, limit))
    count = 0 if total is None else total.count
    checked.take_count(count)
    return total if count else None


def _of_part(limit: _KeyLimit, part: Iterable[Any]) -> ChunkSample:
    sample = ChunkSample(limit)
    for X, y, w in part:
        sample.update(X, y, w)
    sample.sizes = [sample.count]
    return sample


def _of_block(limit: _KeyLimit, X: Any, y: Any, w: Any) -> ChunkSample:
    return ChunkSample(limit).update(X, y, w)
