"""Rows that are equal: one place stands for all of them."""

from dataclasses import dataclass

import numpy as np

from bottega.core.typing import FloatArray, IntArray

# Rows at the place of a row, on average, from which places are worth their bookkeeping.
_WORTH = 8


@dataclass(frozen=True)
class Places:
    """Distinct places, in lexicographic order, and the rows at each of them."""

    first: IntArray  # a row at each place
    of_row: IntArray  # the place of each row
    copies: IntArray  # number of rows at each place
    members: IntArray  # the rows, place by place, ascending at each
    starts: IntArray  # where the rows of each place begin in `members`

    def rows(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows at some places, and for each which of the places it is at."""
        counts = self.copies[places]
        at = np.repeat(np.arange(len(places)), counts)
        begin = np.cumsum(counts) - counts
        return self.members[self.starts[places][at] + np.arange(len(at)) - begin[at]], at

    def leading(self, count: int) -> IntArray:
        """Return the first rows at each place, up to `count`; -1 where there are fewer."""
        column = np.arange(min(count, int(self.copies.max())))
        known = column < self.copies[:, None]
        return np.where(known, self.members[np.where(known, self.starts[:, None] + column, 0)], -1)

    def means(self, y: FloatArray) -> FloatArray:
        """Return the mean response at each place."""
        return np.asarray(np.bincount(self.of_row, y) / self.copies)

    def table(self, codes: IntArray, n_classes: int) -> FloatArray:
        """Return the number of rows of each class at each place."""
        size = len(self.copies) * n_classes
        counts = np.bincount(self.of_row * n_classes + codes, minlength=size)
        return counts.reshape(-1, n_classes).astype(np.float64)


def find_places(points: FloatArray) -> Places | None:
    """Return the places of rows; None where too few rows are equal for it to pay."""
    n, p = points.shape
    # Equal rows have equal sums; whether others have too is seen below.
    mixing = np.random.default_rng(0).uniform(1.0, 2.0, p)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.sort(np.sum(points * mixing, axis=1))
    ends = np.flatnonzero(sums[1:] != sums[:-1])
    sizes = np.diff(np.concatenate([[-1], ends, [n - 1]]))
    if np.dot(sizes, sizes) < _WORTH * n:
        return None
    _, first, of_row, copies = np.unique(
        points, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    of_row = of_row.reshape(-1)
    members = np.argsort(of_row, kind="stable")
    return Places(first, of_row, copies, members, np.cumsum(copies) - copies)
