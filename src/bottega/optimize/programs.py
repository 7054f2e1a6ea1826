"""Linear and quadratic programs: a vector with all products positive, and the shortest such one."""

import numpy as np
from scipy import optimize

from bottega.core.typing import FloatArray

__all__ = ["separator", "shortest_separator"]

_SLACK = 1e-9  # by which a product of 1 may be missed through rounding
_LOST = 1e-6  # by which it may not
_MOST_ADDED = 50  # rows added to the working set at a time


def separator(rows: FloatArray) -> FloatArray | None:
    """Return w of least absolute sum with ``rows @ w >= 1``, or None, by linear programming.

    A vector that is returned is checked on the rows; that there is none is decided by HiGHS, whose
    tolerance takes products below about 1e-7 of the rows' length for zero.
    """
    m, d = rows.shape
    answer = optimize.linprog(
        np.ones(2 * d), A_ub=np.hstack([-rows, rows]), b_ub=-np.ones(m), method="highs"
    )
    if answer.x is None:
        return None
    w = answer.x[:d] - answer.x[d:]
    return w if np.all(rows @ w > 0) else None


def shortest_separator(rows: FloatArray, start: FloatArray) -> FloatArray | None:
    """Return the shortest u with ``rows @ u >= 1``; None if rounding hides that there is one.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
        Rows.
    start : ndarray of shape (d,)
        The answer of `separator`, which has the scale of u.

    Returns
    -------
    ndarray of shape (d,) or None
        There is one such u. It is sought for a few rows at a time, by non-negative least squares
        on the dual problem [1]_, and the rows that it violates are added until there is none.

    References
    ----------
    .. [1] Lawson, C. L. and Hanson, R. J. (1974). Solving Least Squares Problems, chapter 23
       (least distance programming). Prentice-Hall.

    Examples
    --------
    >>> rows = np.array([[0, 0, -1.0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> shortest_separator(rows, separator(rows)).round(6)
    array([ 2.,  2., -1.])
    """
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
        return None
    # What rounding leaves of a violation is scaled away: every product is at least 1.
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
