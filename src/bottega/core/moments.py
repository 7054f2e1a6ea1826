"""Counts, means and cross-products of rows, which blocks of them add to and parts of them merge."""

from typing import Any, Self

import numpy as np

from bottega.core.errors import InputError
from bottega.core.rows import split_rows
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["Moments"]

_BLOCK, _LEAST = 2**17, 256  # numbers in rows that fit the cache, and rows that are worth a product


@stored
class Moments:
    """Count, weight, mean and scatter of the columns of ``[X, y]``.

    The scatter is the (weighted) sum of squares and products about the mean. Blocks are reduced
    about their own mean and merged by the pairwise formula, so no large sums cancel. Of means that
    are large beside the spread the digits that a number cannot hold are kept, too.

    Attributes
    ----------
    count : int
        Rows with a positive weight.
    weight : float
        Sum of the weights.
    log_weights : float
        Sum of the logarithms of the weights.
    p : int
        Number of columns of X.
    mean : ndarray of shape (d,)
    beyond : ndarray of shape (d,)
        What rounding left out of the mean.
    scatter : ndarray of shape (d, d)

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
        self.log_weights = 0.0
        self.p = 0
        self.mean: FloatArray = np.zeros(0)
        self.beyond: Any = 0.0
        self.scatter: FloatArray = np.zeros((0, 0))

    @classmethod
    def about(
        cls, p: int, count: int, centre: FloatArray, offset: FloatArray, scatter: FloatArray
    ) -> Self:
        """Return moments of rows without weights whose mean is an offset away from a centre."""
        found = cls()
        found.p = p
        return found._absorb(count, float(count), *_rounded(centre, offset), scatter)

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows, with their responses and weights where there are any."""
        block = np.asarray(X, dtype=np.float64)
        if block.ndim != 2:
            raise InputError(f"A chunk must be a table of rows and columns; got {block.ndim}-D.")
        self.p = block.shape[1]
        responses = None if y is None else np.asarray(y, dtype=np.float64).reshape(len(block), -1)
        weights = None if w is None else np.asarray(w, dtype=np.float64)
        width = self.p + (0 if responses is None else responses.shape[1])
        # Parts are copied the way the rows are stored: along columns, or along rows.
        order: Any = "F" if block.flags.f_contiguous else "C"
        size = max(_LEAST, _BLOCK // max(width, 1))
        buffer = np.empty((min(size, len(block)), width), order=order)
        for part in split_rows(len(block), size):
            centred = buffer[: part.stop - part.start]
            centred[:, : self.p] = block[part]
            if responses is not None:
                centred[:, self.p :] = responses[part]
            self._take(centred, None if weights is None else weights[part])
        return self

    def _take(self, rows: FloatArray, w: FloatArray | None) -> None:
        """Take in rows that fit the cache; they are changed."""
        if w is None:
            count, weight = len(rows), float(len(rows))
            mean = rows.mean(axis=0)
            rows -= mean
            # The second pass removes what rounding left in the first mean.
            correction = rows.mean(axis=0)
            rows -= correction
            scatter = rows.T @ rows
        else:
            kept = w > 0
            rows, w = rows[kept], w[kept]
            count, weight = len(rows), float(w.sum())
            if not count:
                return
            self.log_weights += float(np.sum(np.log(w)))
            mean = w @ rows / weight
            rows -= mean
            correction = w @ rows / weight
            rows -= correction
            scatter = (rows * w[:, None]).T @ rows
        self._absorb(count, weight, *_rounded(mean, correction), scatter)

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        if not other.count:
            return self
        self.p, self.log_weights = other.p, self.log_weights + other.log_weights
        return self._absorb(other.count, other.weight, other.mean, other.beyond, other.scatter)

    def _absorb(
        self, count: int, weight: float, mean: FloatArray, beyond: Any, scatter: FloatArray
    ) -> Self:
        if not self.count:
            self.count, self.weight = count, weight
            self.mean, self.beyond, self.scatter = mean.copy(), beyond, scatter.copy()
            return self
        if len(mean) != len(self.mean):
            raise InputError(
                f"Chunks differ in their columns: {len(self.mean)} so far, {len(mean)} now."
            )
        total = self.weight + weight
        gap = (mean - self.mean) + (beyond - self.beyond)
        self.scatter = self.scatter + scatter + np.outer(gap, gap) * (self.weight * weight / total)
        self.mean, self.beyond = _rounded(self.mean, self.beyond + gap * (weight / total))
        self.count, self.weight = self.count + count, total
        return self

    def covariance(self, ddof: int = 1) -> FloatArray:
        """Return the covariance matrix of the columns."""
        return self.scatter / (self.weight - ddof)


def _rounded(mean: FloatArray, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a sum, and what rounding left out of it; the step is the smaller one, as a rule."""
    total = mean + step
    moved = total - mean
    return total, (mean - (total - moved)) + (step - moved)
