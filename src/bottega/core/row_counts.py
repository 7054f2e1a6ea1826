"""Row weights as numbers of rows, where a criterion counts the rows."""

from typing import overload

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["as_counts", "rows_of_weight"]

_MOST = 2.0**53  # beyond it one row more makes no difference: nobody has counted so many


def rows_of_weight(total: float, n: int) -> float:
    """Return how many rows a sum of n positive weights stands for.

    Weights count repeated rows, unless they sum to less than the rows there are, or to more than
    can be counted: then they are shares, and their mean is one.

    Examples
    --------
    >>> rows_of_weight(12.0, 10), rows_of_weight(1.0, 10), rows_of_weight(1e100, 10)
    (12.0, 10.0, 10.0)
    """
    return total if n <= total <= _MOST else float(n)


@overload
def as_counts(weight: FloatArray) -> FloatArray: ...
@overload
def as_counts(weight: None) -> None: ...
def as_counts(weight: FloatArray | None) -> FloatArray | None:
    """Return weights that sum to the rows they stand for (`rows_of_weight`).

    A row of weight two counts as two equal rows; a weight of zero is no row.

    Examples
    --------
    >>> as_counts(np.array([2.0, 1.0, 0.0])).tolist(), as_counts(np.array([0.5, 0.25])).tolist()
    ([2.0, 1.0, 0.0], [1.3333333333333333, 0.6666666666666666])
    """
    if weight is None:
        return None
    largest, n = float(np.max(weight, initial=0.0)), int(np.count_nonzero(weight))
    if largest == 0:
        return weight
    part = weight / largest  # the sum of the weights themselves may overflow, or vanish
    share = float(part.sum())
    total = share * largest
    rows = rows_of_weight(total, n)
    return weight if rows == total else part * (rows / share)
