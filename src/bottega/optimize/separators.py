"""Planes that separate rows, and those of the widest margin, by linear and quadratic programs."""

import numpy as np
from scipy import optimize

from bottega.core.typing import FloatArray

__all__ = ["separator", "shortest_separator", "widest_separator"]

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


def widest_separator(
    first: FloatArray, second: FloatArray, start: FloatArray
) -> tuple[FloatArray, float] | None:
    """Return the plane of the widest margin between two sets of rows; None if rounding hides it.

    The shortest w, with a constant that is free, whose value is at most -1 on the first rows and at
    least 1 on the second: for all pairs of them ``(second - first) @ w >= 2``.

    Parameters
    ----------
    first, second : ndarray of shape (m, d)
        Rows on the negative and on the positive side.
    start : ndarray of shape (d,)
        Some vector with values on the second rows above all on the first.

    Returns
    -------
    (ndarray of shape (d,), float) or None
        The vector and the constant. Pairs are taken into account as they are violated, as in
        `shortest_separator`.

    Examples
    --------
    >>> w, b = widest_separator(np.array([[0.0], [1.0]]), np.array([[3.0]]), np.array([1.0]))
    >>> w.round(6), round(b, 6)
    (array([1.]), -2.0)
    """
    gap = float((second @ start).min() - (first @ start).max())
    # In units of this separator the answer has a norm of at most 1.
    unit = float(np.linalg.norm(start)) / gap
    if not np.isfinite(unit):
        return None
    pairs: set[tuple[int, int]] = set()
    u = start / np.linalg.norm(start)
    while True:
        low, high = second @ u * unit, first @ u * unit
        new = _violated(low, high, pairs)
        if pairs and not new:
            break
        pairs |= new
        chosen = np.array(sorted(pairs))
        u = _least_distance((second[chosen[:, 0]] - first[chosen[:, 1]]) * unit)
    least = float(low.min() - high.max())
    if least < 1 - _LOST:
        return None
    # What rounding leaves of a violation is scaled away; values -1 and 1 on the closest rows.
    w = 2 * unit * u / min(1.0, least)
    return w, -float((second @ w).min() + (first @ w).max()) / 2


def _violated(
    low: FloatArray, high: FloatArray, known: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Return pairs of a low second row and a high first one that are nearer than 1; at most 50."""
    lowest = np.argsort(low, kind="stable")[:_MOST_ADDED]
    highest = np.argsort(-high, kind="stable")[:_MOST_ADDED]
    apart = low[lowest][:, np.newaxis] - high[highest][np.newaxis, :]
    found: set[tuple[int, int]] = set()
    for flat in np.argsort(apart, axis=None, kind="stable"):
        i, j = divmod(int(flat), len(highest))
        if (apart[i, j] >= 1 - _SLACK and known) or len(found) == _MOST_ADDED:
            break
        pair = int(lowest[i]), int(highest[j])
        if pair not in known:
            found.add(pair)
    return found
