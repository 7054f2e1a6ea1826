"""Row weights as numbers of rows, where a criterion counts the rows."""

from bottega.core.typing import FloatArray

__all__ = ["counted", "rows_of_weight"]

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


def counted(weight: FloatArray | None) -> FloatArray | None:
    """Return positive row weights that sum to the rows they stand for."""
    if weight is None:
        return None
    total = float(weight.sum())
    rows = rows_of_weight(total, len(weight))
    return weight if rows == total else weight / total * rows
