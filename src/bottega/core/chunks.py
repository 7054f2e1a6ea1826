"""Mergeable statistics: fit = map chunks, merge, solve.

A statistic that can be updated with a block of rows and merged with another of its kind gives
the same answer from an array, from a file larger than memory and from a cluster.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["LossSums", "Mergeable", "Moments", "iterate_chunks", "split_rows"]


@runtime_checkable
class Mergeable(Protocol):
    """What can be computed chunk by chunk."""

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""


class Moments:
    """Count, weight, mean and scatter of the columns of ``[X, y]``.

    The scatter is the (weighted) sum of squares and products about the mean. Blocks are reduced
    about their own mean and merged by the pairwise formula, so no large sums cancel.

    Attributes
    ----------
    count : int
        Rows with a positive weight.
    weight : float
        Sum of the weights.
    mean : ndarray of shape (p,)
    scatter : ndarray of shape (p, p)

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [6.0]])
    >>> ahead, behind = Moments().update(X[:1]), Moments().update(X[1:])
    >>> both = ahead.merge(behind)
    >>> both.count, both.mean, both.covariance()
    (3, array([3.]), array([[7.]]))
    """

    def __init__(self) -> None:
        self.count = 0
        self.weight = 0.0
        self.mean: FloatArray = np.zeros(0)
        self.scatter: FloatArray = np.zeros((0, 0))

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows, with their responses and weights where there are any."""
        block = np.asarray(X, dtype=np.float64)
        if block.ndim != 2:
            raise InputError(f"A chunk must be a table of rows and columns; got {block.ndim}-D.")
        if y is not None:
            responses = np.asarray(y, dtype=np.float64)
            block = np.column_stack([block, responses])
        if not len(block):
            return self
        if w is None:
            count, weight = len(block), float(len(block))
            mean = block.mean(axis=0)
            centred = block - mean
            # The second pass removes what rounding left in the first mean.
            correction = centred.mean(axis=0)
            mean, centred = mean + correction, centred - correction
            scatter = centred.T @ centred
        else:
            weights = np.asarray(w, dtype=np.float64)
            kept = weights > 0
            block, weights = block[kept], weights[kept]
            count, weight = len(block), float(weights.sum())
            if not count:
                return self
            mean = weights @ block / weight
            centred = block - mean
            correction = weights @ centred / weight
            mean, centred = mean + correction, centred - correction
            scatter = (centred * weights[:, None]).T @ centred
        return self._absorb(count, weight, mean, scatter)

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        if not other.count:
            return self
        return self._absorb(other.count, other.weight, other.mean, other.scatter)

    def _absorb(self, count: int, weight: float, mean: FloatArray, scatter: FloatArray) -> Self:
        if not self.count:
            self.count, self.weight = count, weight
            self.mean, self.scatter = mean.copy(), scatter.copy()
            return self
        if len(mean) != len(self.mean):
            raise InputError(
                f"Chunks differ in their columns: {len(self.mean)} so far, {len(mean)} now."
            )
        total = self.weight + weight
        gap = mean - self.mean
        self.scatter = self.scatter + scatter + np.outer(gap, gap) * (self.weight * weight / total)
        self.mean = self.mean + gap * (weight / total)
        self.count, self.weight = self.count + count, total
        return self

    def covariance(self, ddof: int = 1) -> FloatArray:
        """Return the covariance matrix of the columns."""
        return self.scatter / (self.weight - ddof)


class LossSums:
    """Weighted mean of columns of losses and its standard error, block by block.

    Blocks are reduced about their own mean and merged by the pairwise formula. The result is that
    of `bottega.core.smoother.mean_and_se` on all rows at once.
    """

    def __init__(self) -> None:
        self.count = 0
        self.weighted = False
        self.weight = 0.0
        self.mean: Any = 0.0
        # The standard error weighs squared deviations by squared weights, about their own centre.
        self.weight2 = 0.0
        self.center: Any = 0.0
        self.scatter: Any = 0.0

    def update(self, loss: FloatArray, w: Any = None) -> Self:
        """Take in the losses of a block of rows, one column a model."""
        other = type(self)()
        other.count = len(loss)
        if w is None:
            other.weight = other.weight2 = float(len(loss))
            other.mean = other.center = loss.mean(axis=0)
            gap = loss - other.center
            other.scatter = np.einsum("ij,ij->j", gap, gap)
        else:
            other.weighted = bool(np.any(w != 1))
            other.weight, other.weight2 = float(w.sum()), float(w @ w)
            other.mean = w @ loss / other.weight
            other.center = w**2 @ loss / other.weight2
            other.scatter = w**2 @ (loss - other.center) ** 2
        return self.merge(other)

    def merge(self, other: Self) -> Self:
        """Take in the losses of other rows."""
        if not other.count:
            return self
        total, total2 = self.weight + other.weight, self.weight2 + other.weight2
        gap = other.center - self.center
        self.scatter = (
            self.scatter + other.scatter + gap**2 * (self.weight2 * other.weight2 / total2)
        )
        self.center = self.center + gap * (other.weight2 / total2)
        self.mean = self.mean + (other.mean - self.mean) * (other.weight / total)
        self.weight, self.weight2, self.count = total, total2, self.count + other.count
        self.weighted = self.weighted or other.weighted
        return self

    def mean_and_se(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and its standard error, one entry a model."""
        if not self.weighted:
            return self.mean, np.sqrt(self.scatter / ((self.count - 1) * self.count))
        about_mean = self.scatter + self.weight2 * (self.center - self.mean) ** 2
        return self.mean, np.sqrt(about_mean) / self.weight


def split_rows(n: int, size: int) -> Iterator[slice]:
    """Yield slices that cover `n` rows, `size` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def iterate_chunks(chunks: Iterable[Any]) -> Iterator[tuple[FloatArray, FloatArray, Any]]:
    """Yield ``(X, y, w)`` from chunks given as ``(X, y)`` or ``(X, y, w)``.

    Raises `InputError` for a one-shot iterator: fits pass over the chunks more than once.
    """
    if isinstance(chunks, Iterator):
        raise InputError(
            "Chunks must be something that can be gone through twice (a list, or an object whose "
            "__iter__ starts afresh); got a one-shot iterator."
        )
    for chunk in chunks:
        X, y, *rest = chunk
        yield (
            np.asarray(X, dtype=np.float64),
            np.asarray(y, dtype=np.float64),
            (np.asarray(rest[0], dtype=np.float64) if rest and rest[0] is not None else None),
        )
