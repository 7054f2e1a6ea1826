"""Row weights where rows are counted: how many rows there are beside one of them."""

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["as_counts", "own_mass"]


def as_counts(weight: FloatArray) -> FloatArray:
    """Return weights that count rows: shares, which sum to less than the rows, with mean one.

    A row of weight two counts as two equal rows. Weights that sum to one (or to anything less than
    the number of rows that have a weight) cannot be such numbers.
    """
    total, n = float(weight.sum()), int(np.count_nonzero(weight))
    return weight * (n / total) if 0 < total < n else weight


def own_mass(weight: FloatArray) -> FloatArray:
    """Return what of each row's weight is itself: at most one, the rest being rows like it."""
    return np.minimum(weight, 1.0)
