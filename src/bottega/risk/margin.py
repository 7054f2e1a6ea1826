"""Planes through the origin that part two classes: whether there is one, and the widest margin.

Rows are taken as they are: append a constant column for a plane that need not pass through the
origin.
"""

from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["hard_margin", "margin", "separable"]

_SLACK = 1e-9  # by which a margin of 1 may be missed through rounding
_LOST = 1e-6  # by which it may not
_MOST_ADDED = 50  # rows added to the working set at a time


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
    r"""Tell whether some w has :math:`y_t w^\top x_t > 0` on all rows, by linear programming.

    The program asks for at least 1 in place of more than 0, which scales to the same (A60d, B08).
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
    return bool(lengths.all()) and _separator(rows / lengths) is not None


def hard_margin(X: Any, y: Any) -> FloatArray:
    r"""Return the shortest u with :math:`y_t u^\top x_t \ge 1` on all rows.

    Its squared norm is the constant of the perceptron's convergence bound (A61), and one over its
    norm the widest margin. There is one such u.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Rows.
    y : array-like of shape (m,)
        Labels -1 and +1, or any two classes (the first in sorted order is -1).

    Returns
    -------
    ndarray of shape (d,)
        The vector u. Rows that no plane through the origin parts are refused.

    Notes
    -----
    A linear program finds a separator and the scale of the answer. Then u is sought for a few rows
    at a time, by non-negative least squares on the dual problem [1]_, and the rows that it
    violates are added until there is none.

    References
    ----------
    .. [1] Lawson, C. L. and Hanson, R. J. (1974). Solving Least Squares Problems, chapter 23
       (least distance programming). Prentice-Hall.

    Examples
    --------
    >>> u = hard_margin([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [-1, 1, 1, 1])
    >>> u.round(6), round(float(u @ u), 6)
    (array([ 2.,  2., -1.]), 9.0)
    """
    rows = _signed(X, y)
    start = _separator(rows)
    if start is None:
        raise InputError(
            "No plane through the origin parts the two classes, so there is no hard margin. "
            "Append a constant column if the plane may lie elsewhere, or bound the mistakes with "
            "`perceptron_mistakes`, which asks for no separation."
        )
    # In units of this separator the answer has a norm between 1/sqrt(d) and 1.
    unit = np.linalg.norm(start)
    rows = rows * unit
    working = np.argsort(rows @ start, kind="stable")[:_MOST_ADDED]
    while True:
        u = _least_distance(rows[working])
        values = rows @ u
        worst = np.argsort(values, kind="stable")[:_MOST_ADDED]
        broken = worst[values[worst] < 1 - _SLACK]
        new = np.setdiff1d(broken, working)
        if not len(new):
            break
        working = np.concatenate([working, new])
    if values.min() < 1 - _LOST:
        raise InputError(
            "The margin between the classes is too narrow for double precision; scale the columns "
            "to like ranges, or treat the rows as not separable."
        )
    # What rounding leaves of a violation is scaled away: the margin is 1 at least.
    return np.asarray(u * unit / min(1.0, values.min()))


def _least_distance(rows: FloatArray) -> FloatArray:
    """Return the shortest u with rows @ u >= 1."""
    d = rows.shape[1]
    target = np.append(np.zeros(d), 1.0)
    dual, _ = optimize.nnls(np.vstack([rows.T, np.ones(len(rows))]), target, maxiter=50 * len(rows))
    # u is a combination of the rows that touch the margin; exact on them by least squares.
    active = dual > 0
    u, *_ = np.linalg.lstsq(rows[active], np.ones(active.sum()))
    return np.asarray(u)


def _separator(rows: FloatArray) -> FloatArray | None:
    """Return w of least absolute sum with rows @ w >= 1, or None."""
    m, d = rows.shape
    answer = optimize.linprog(
        np.ones(2 * d), A_ub=np.hstack([-rows, rows]), b_ub=-np.ones(m), method="highs"
    )
    if answer.x is None:
        return None
    w = answer.x[:d] - answer.x[d:]
    return w if np.all(rows @ w > 0) else None


def _signed(X: Any, y: Any) -> FloatArray:
    """Return the rows, those of the class -1 turned round."""
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    if rows.ndim != 2 or not rows.size or labels.shape != rows.shape[:1]:
        raise InputError(
            f"X has shape {rows.shape} and y {labels.shape}; give a table with at least one row, "
            "and one label a row."
        )
    if not np.isfinite(rows).all():
        raise InputError("X contains NaN or infinity; leave such rows out or impute them first.")
    classes = np.unique(labels)
    if not np.isin(classes, (-1, 1)).all():
        if len(classes) != 2:
            raise InputError(f"y has {len(classes)} classes; a plane parts two.")
        labels = np.where(labels == classes[0], -1.0, 1.0)
    return rows * labels.astype(np.float64)[:, np.newaxis]
