"""The exact piecewise-linear path of least angle regression, from rows in memory."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._kernels.least_angle import COLLINEAR, ENDED, walk_path


@dataclass(frozen=True)
class AnglePath:
    """The knots of the path; between two of them the coefficients are linear in alpha."""

    centering: Centering  # the way between the user's columns and the path's
    alphas: FloatArray  # largest |x_j' r| / n at each of m knots, which is the lasso's penalty
    coef: FloatArray  # (m, p), on the path's columns
    count: IntArray  # active columns that carry a coefficient
    entered: IntArray  # column that enters at each knot (-1: none)
    left: IntArray  # and that leaves
    collinear: IntArray  # columns in the span of the active ones at the end, which never took part
    rss: FloatArray
    full_rss: float  # of least squares on all columns
    rank: int  # how many of these are independent
    rows: Rows

    def at_alphas(self, alphas: FloatArray) -> FloatArray:
        """Return the coefficients where the path passes the given alphas, by interpolation."""
        if len(self.alphas) == 1:
            return np.repeat(self.coef, len(alphas), axis=0)
        below = np.searchsorted(-self.alphas, -alphas)
        below = np.clip(below, 1, len(self.alphas) - 1)
        high, low = self.alphas[below - 1], self.alphas[below]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(high > low, (high - alphas) / (high - low), 1.0)
        share = np.clip(share, 0.0, 1.0)[:, None]
        return np.asarray((1 - share) * self.coef[below - 1] + share * self.coef[below])

    def active(self) -> list[IntArray]:
        """Return the columns that are active on the segment that starts at each knot."""
        found: list[IntArray] = []
        now: set[int] = set()
        for enters, leaves in zip(self.entered, self.left, strict=True):
            now = (now | {int(enters)}) - {int(leaves), -1}
            found.append(np.array(sorted(now), dtype=np.intp))
        return found


def angle_path(
    rows: Rows,
    *,
    lasso: bool,
    standardize: bool,
    fit_intercept: bool,
    max_iter: int | None,
) -> AnglePath:
    """Walk the path of some rows, to least squares or `max_iter`."""
    how = {"standardize": standardize, "fit_intercept": fit_intercept}
    centering, A, Y = Centering.from_rows(rows.X, rows.y[:, None], rows.weight, **how)
    n, p = A.shape
    response, outside = Y[:, 0], 0.0
    if n > p:  # the QR factor of the data tells all that the data tell, in p rows
        R = np.asarray(np.linalg.qr(np.column_stack([A, Y]), mode="r"))
        A, response, outside = R[:p, :p], R[:p, p], float(np.sum(R[p:, p] ** 2))
    A, response = np.ascontiguousarray(A), np.ascontiguousarray(response)
    most_active = min(n - fit_intercept, p)
    # Every step of "lar" lets one column in. The lasso may drop some and take them again: mostly
    # few; if not, the walk is done again with more room.
    room = most_active + lasso * (most_active + 16)
    limit = 64 * room if max_iter is None else max_iter
    room = min(room, limit)
    while True:
        walk = walk_path(A, response, centering.weight, lasso, most_active, room)
        if walk[-1] == ENDED or room >= limit:
            break
        room = min(4 * room, limit)
    alphas, coef, count, entered, left, state = walk
    if state != ENDED and max_iter is None:
        warn_caller(
            f"The lasso path was cut after {room} steps at alpha = {alphas[-1]:.3g}: columns tie, "
            "or nearly so, and enter and leave in turn. Give max_iter= to say where to stop, "
            "or leave out columns that repeat others.",
            ConvergenceWarning,
        )
    rss = outside + np.sum((response[:, None] - A @ coef.T) ** 2, axis=0)
    full_rss, rank = float(rss[-1]), int(count[-1])
    if state != ENDED:
        Q, triangle, _ = qr(A, mode="economic", pivoting=True)
        size = np.abs(np.diag(triangle))
        rank = int(np.count_nonzero(size > COLLINEAR * size.max(initial=0.0)))
        rest = response - Q[:, :rank] @ (Q[:, :rank].T @ response)
        full_rss = outside + float(rest @ rest)
    active = np.flatnonzero(coef[-1])
    collinear = _in_span(A, active) if len(active) < most_active else active[:0]
    return AnglePath(
        centering, alphas, coef, count, entered, left, collinear, rss, full_rss, rank, rows
    )


def _in_span(A: FloatArray, active: IntArray) -> IntArray:
    """Return the columns, zero ones aside, that lie in the span of the active ones."""
    others = np.setdiff1d(np.arange(A.shape[1]), active)
    Q = np.linalg.qr(A[:, active])[0]
    length = np.linalg.norm(A[:, others], axis=0)
    rest = A[:, others] - Q @ (Q.T @ A[:, others])
    inside = np.linalg.norm(rest, axis=0) <= COLLINEAR * length
    return np.asarray(others[inside & (length > 0)], dtype=np.intp)
