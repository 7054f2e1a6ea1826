"""Planes through the origin that part two classes: whether there is one, and the widest margin.

Rows are taken as they are: append a constant column for a plane that need not pass through the
origin.
"""

from typing import Any

import numpy as np

from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.optimize.separators import separator, shortest_separator

__all__ = ["hard_margin", "margin", "separable"]


def margin(u: Any, X: Any, y: Any) -> float:
    r"""Return :math:`\gamma(u) = \min_t y_t u^\top x_t` (B07).

    Positive for a separator; divided by the norm of u it is the distance of the closest row.

    Examples
    --------
    >>> margin([1.0, -1.0], [[2.0, 0.0], [0.0, 3.0]], [1, -1])
    2.0
    """
    return float(np.min(_signed(X, y) @ np.asarray(u, dtype=np.float64)))


def separable(X: Any, y: Any) -> bool:
    r"""Return True if some w has :math:`y_t w^\top x_t > 0` on all rows, by linear programming.

    The program asks for at least 1 in place of more than 0, which scales to the same.
    A yes is checked on the rows; a no is HiGHS's, whose tolerance calls margins below about 1e-7
    of the rows' length none.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Rows.
    y : array-like of shape (m,)
        Labels -1 and +1, or any two classes (the first in sorted order is -1).

    Examples
    --------
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    >>> separable(X, [-1, 1, 1, 1]), separable(X, [-1, 1, 1, -1])
    (True, False)
    """
    rows = _signed(X, y)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    # The length of a row does not matter here, and the solver's tolerance is absolute.
    return bool(lengths.all()) and separator(rows / lengths) is not None


@documented_like(separable)
def hard_margin(X: Any, y: Any) -> FloatArray:
    r"""Return the shortest u with :math:`y_t u^\top x_t \ge 1` on all rows.

    Its squared norm is the constant of the perceptron's convergence bound, and one over its
    norm the widest margin. There is one such u.

    Returns
    -------
    ndarray of shape (d,)
        The vector u. Rows that no plane through the origin parts are refused.

    Notes
    -----
    A linear program finds a separator and the scale of the answer, least distance programming the
    shortest (`bottega.optimize.separators`).

    Examples
    --------
    >>> u = hard_margin([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [-1, 1, 1, 1])
    >>> u.round(6), round(float(u @ u), 6)
    (array([ 2.,  2., -1.]), 9.0)
    """
    rows = _signed(X, y)
    start = separator(rows)
    if start is None:
        raise InputError(
            "No plane through the origin parts the two classes, so there is no hard margin. "
            "Append a constant column if the plane may lie elsewhere, or bound the mistakes with "
            "`perceptron_mistakes`, which asks for no separation."
        )
    u = shortest_separator(rows, start)
    if u is None:
        raise InputError(
            "The margin between the classes is too narrow for double precision; scale the columns "
            "to like ranges, or treat the rows as not separable."
        )
    return u


def _signed(X: Any, y: Any) -> FloatArray:
    """Return the rows, those of the class -1 turned round."""
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    if rows.ndim != 2 or not rows.size or labels.shape != rows.shape[:1]:
        raise InputError(
            f"X has shape {rows.shape} and y {labels.shape}; give a table with at least one row, "
            "and one label per row."
        )
    if not np.isfinite(rows).all():
        raise InputError("X contains NaN or infinity; leave such rows out or impute them first.")
    classes = np.unique(labels)
    if not np.isin(classes, (-1, 1)).all():
        if len(classes) != 2:
            raise InputError(f"y has {len(classes)} classes; a plane parts two.")
        labels = np.where(labels == classes[0], -1.0, 1.0)
    return rows * labels.astype(np.float64)[:, np.newaxis]
