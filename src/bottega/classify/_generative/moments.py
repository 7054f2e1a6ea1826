r"""Moments of the rows of each class, block by block: what normal classes are fitted from.

Symbols
-------
n     rows
p     columns
K     classes
"""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from bottega.core.parallel import in_threads, spare_threads
from bottega.core.rows import first_rows, split_rows
from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray
from bottega.data.scatter import narrow_scatter

__all__ = [
    "FEW",
    "ClassMoments",
    "by_class",
    "class_moments",
    "members",
    "repeated",
    "row_blocks",
]

# Numbers in a block of rows: it and its centred copy stay in the cache.
_BLOCK = 2**16
# Classes that are told apart by products with ones and zeros; more are sorted.
FEW = 16
# Numbers in a table from which on its parts are worth threads of their own.
_LARGE = 2**21


def row_blocks(n: int, p: int) -> Iterator[slice]:
    """Yield slices of rows that fit into the cache with a copy."""
    return split_rows(n, max(256, _BLOCK // max(p, 1)))


def by_class(codes: IntArray, K: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the rows in the order of their classes, the classes among them, and their first rows.

    Examples
    --------
    >>> order, present, first = by_class(np.array([2, 0, 2]), 3)
    >>> order, present, first
    (array([1, 0, 2]), array([0, 2]), array([0, 1]))
    """
    small = codes.astype(np.uint16) if K <= 2**16 else codes  # sorted by digits, which is quicker
    counts = np.bincount(codes, minlength=K)
    present = np.flatnonzero(counts)
    ends = np.cumsum(counts[present])
    return np.argsort(small, kind="stable"), present, ends - counts[present]


@stored
class ClassMoments:
    """Count, weight and mean of each class, and the scatter about the means.

    The scatter is the (weighted) sum of squares and products about the mean of the row's class:
    that of each class, or with `pooled` their sum. Blocks are reduced about their own means and
    merged by the pairwise formula, so no large sums cancel.

    Attributes
    ----------
    count : ndarray of int, shape (K,)
    weight : ndarray of shape (K,)
    mean : ndarray of shape (K, p)
    scatter : ndarray of shape (1, p, p) or (K, p, p)
    """

    def __init__(self, K: int, p: int, *, pooled: bool) -> None:
        self.pooled = pooled
        self.count = np.zeros(K, dtype=np.int64)
        self.weight = np.zeros(K)
        self.mean = np.zeros((K, p))
        self.scatter = np.zeros((1 if pooled else K, p, p))

    def update(self, X: FloatArray, y: IntArray, w: Any = None) -> Self:
        """Take in a block of rows; `y` are the codes of their classes."""
        K, p = self.mean.shape
        found = narrow_scatter(X, None, y, K) if self.pooled and w is None else None
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused afterwards
            if found is not None:
                mean = np.where(found.count[:, None] > 0, found.centre + found.offset, 0.0)
                weight = found.count.astype(np.float64)
                return self._absorb(found.count, weight, mean, found.scatter[None])
            for part in row_blocks(len(y), p):
                weights = None if w is None else w[part]
                self._absorb(*_reduced(X[part], y[part], weights, K, self))
        return self

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        return self._absorb(other.count, other.weight, other.mean, other.scatter)

    def _absorb(
        self, count: IntArray, weight: FloatArray, mean: FloatArray, scatter: FloatArray
    ) -> Self:
        total = self.weight + weight
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(total > 0, weight / total, 0.0)
        gap = np.where((self.weight > 0)[:, None], mean - self.mean, 0.0)
        gap[weight == 0] = 0.0
        root = np.sqrt(self.weight * share)[:, None] * gap
        if self.pooled:
            self.scatter += root.T @ root
        else:
            self.scatter += root[:, :, None] * root[:, None, :]
        self.scatter += scatter
        first = (self.weight == 0) & (weight > 0)
        self.mean = self.mean + share[:, None] * gap
        self.mean[first] = mean[first]
        self.count, self.weight = self.count + count, total
        return self

    def within(self) -> FloatArray:
        """Return the scatter within the classes together."""
        with np.errstate(invalid="ignore"):
            return self.scatter[0] if self.pooled else np.asarray(self.scatter.sum(axis=0))

    def divisor(self) -> float:
        """Return what the scatter within all classes is divided by: n - K.

        With weights n is their sum, or, where they are less than one on average, the scatter is
        that of weights of mean one.
        """
        weight, count = self.weight.sum(), self.count.sum()
        seen = np.count_nonzero(self.count)
        return float(max(weight - seen, weight * (count - seen) / max(count, 1)))

    def divisors(self) -> FloatArray:
        """Return what the scatter of each class is divided by: its number of rows less one."""
        share = (self.count - 1) / np.maximum(self.count, 1)
        return np.where(self.count > 0, np.maximum(self.weight - 1, self.weight * share), 0.0)


def _reduced(
    X: FloatArray, y: IntArray, w: Any, K: int, like: ClassMoments
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Return count, weight, mean and scatter of the classes in one block."""
    if like.pooled and K <= FEW:
        return _pooled(X, y, w, K)
    order, present, first = by_class(y, K)
    rows = X[order]
    counts = np.bincount(y, minlength=K)
    # A constant is exactly zero about any of its values, and another class may be far away.
    shift = rows[first]
    rows -= np.repeat(shift, counts[present], axis=0)
    if w is None:
        weight, sums = counts.astype(np.float64), np.add.reduceat(rows, first, axis=0)
    else:
        weights = w[order]
        weight = np.bincount(y, weights=w, minlength=K).astype(np.float64)
        sums = np.add.reduceat(rows * weights[:, None], first, axis=0)
    about = sums / weight[present, None]
    rows -= np.repeat(about, counts[present], axis=0)
    if w is not None:
        rows *= np.sqrt(weights)[:, None]
    mean = np.zeros_like(like.mean)
    mean[present] = about + shift
    if like.pooled:
        return counts, weight, mean, (rows.T @ rows)[None]
    scatter = np.zeros_like(like.scatter)
    ends = np.append(first[1:], len(rows))
    for k, start, end in zip(present, first, ends, strict=True):
        part = rows[start:end]
        scatter[k] = part.T @ part
    return counts, weight, mean, scatter


def _pooled(
    X: FloatArray, y: IntArray, w: Any, K: int
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Return count, weight, mean and scatter of few classes in one block, rows in their order."""
    count, member = np.bincount(y, minlength=K), members(y, K)
    # A constant is exactly zero about any of its values, and another class may be far away.
    shift = X[first_rows(y, K)]
    rows = X - repeated(shift, member, X)
    weighted = member if w is None else member * w
    weight = weighted.sum(axis=1)
    about = weighted @ rows / np.where(weight > 0, weight, 1.0)[:, None]
    rows -= repeated(about, member, rows)
    if w is not None:
        rows *= np.sqrt(w)[:, None]
    mean = np.where(count[:, None] > 0, about + shift, 0.0)
    return count, weight, mean, (rows.T @ rows)[None]


def members(y: IntArray, K: int) -> FloatArray:
    """Return a matrix of shape (K, n) that has a one where a row is of a class."""
    found = np.zeros((K, len(y)))
    found[y, np.arange(len(y))] = 1.0
    return found


def repeated(values: FloatArray, member: FloatArray, like: FloatArray) -> FloatArray:
    """Return for each row the values of its class, stored the way `like` is."""
    return (values.T @ member).T if like.flags.f_contiguous else member.T @ values


def class_moments(X: FloatArray, y: IntArray, w: Any, K: int, *, pooled: bool) -> ClassMoments:
    """Return the moments of the classes; parts of a large table are summed up side by side."""
    n, p = X.shape

    def part_of(rows: slice) -> ClassMoments:
        return ClassMoments(K, p, pooled=pooled).update(
            X[rows], y[rows], None if w is None else w[rows]
        )

    # The parts do not depend on the number of threads, nor does the answer.
    parts = list(split_rows(n, max(_LARGE // max(p, 1), 1))) or [slice(0, 0)]
    several = len(parts) > 1 and spare_threads() > 1
    found = in_threads(part_of, parts) if several else map(part_of, parts)
    total, *others = found
    for other in others:
        total.merge(other)
    return total
