"""Row weights where rows are counted: how many rows there are beside one of them."""

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["as_counts", "own_mass"]

_MOST_COUNTED = 2.0**53  # rows that a weight can stand for


def as_counts(weight: FloatArray) -> FloatArray:
    """Return weights that count rows: shares, which sum to less than the rows, with mean one.

    A row of weight two counts as two equal rows. Weights that sum to one (or to anything less than
    the number of rows that have a weight) cannot be such numbers, nor can those beyond 2**53, up to
    which whole numbers are exact.
    """
    largest, n = float(np.max(weight, initial=0.0)), int(np.count_nonzero(weight))
    if largest == 0:
        return weight
    part = weight / largest  # the sum of the weights themselves may overflow, or vanish
    total = float(part.sum())
    return part * (n / total) if total * largest < n or largest > _MOST_COUNTED else weight


def own_mass(weight: FloatArray) -> FloatArray:
    """Return what of each row's weight is itself: at most one, the rest being rows like it."""
    return np.minimum(weight, 1.0)
