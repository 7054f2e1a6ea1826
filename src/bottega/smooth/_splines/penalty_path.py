"""The smoothing spline along its penalty: criteria at any penalty, and where they are least.

All penalties here are on the unit scale of x; those of a `Path` are in the units of x.
"""

import threading
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import InputError
from bottega.core.judge import mean_and_se, small_sample
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.parallel import in_threads
from bottega.core.path import Path, along
from bottega.core.typing import FloatArray
from bottega.smooth._kernels import state_criteria as kernels
from bottega.smooth._kernels.state_space import filter_path
from bottega.smooth._path.scores import Score, largest_first, loo_path
from bottega.smooth._splines.knot_rows import KnotRows

# Below this, threads cost more than they give.
_WORTH_THREADS = 20_000


class ThreadArrays(threading.local):
    """Scratch buffers for the penalties that are tried along a path, of each thread its own."""

    def __init__(self, rows: KnotRows) -> None:
        self.arrays = np.empty((7, len(rows.knots)))


def try_penalty(
    rows: KnotRows,
    alpha: float,
    loss: Loss | None = SQUARED_ERROR,
    scratch: ThreadArrays | None = None,
) -> Score:
    """Return degrees of freedom, errors and criteria at a penalty, in one pass there and back."""
    n, gaps = len(rows.y), rows.gaps
    v, iF, m1, m2, residual, left, leverage = (scratch or ThreadArrays(rows)).arrays
    q, nothing = rows.precision(alpha), (np.empty(0), np.empty((0, 3)))
    unit = rows.unit
    y, mean = (each if unit == 1.0 else each * unit for each in (rows.y, rows.mean))
    squares, logs = filter_path(mean, rows.total, gaps, q, v, iF, m1, m2, *nothing)
    kernels.smooth_back(rows.total, gaps, v, iF, m1, m2, residual, left, leverage)
    if rows.weight is None:
        rss, first, cross, square = kernels.scan_knots(rows.moments, residual, left)
        squared_weight = float(n)
    else:
        rss, first, cross, square = kernels.scan_rows(
            y, rows.weight, rows.start, mean, rows.total, residual, left
        )
        squared_weight = float(rows.weight @ rows.weight)
    if loss is None or loss == SQUARED_ERROR:
        total = rows.total.sum()
        error = first / total
        # The spread of a (weighted) mean, as in `mean_and_se`.
        spread = np.inf
        if np.isfinite(square):
            spread = max(square - 2 * error * cross + error**2 * squared_weight, 0.0)
        error_se = np.sqrt(spread * small_sample(n)) / total
        error, error_se = error / unit**2, error_se / unit**2
    else:
        gap = rows.y - rows.per_row(mean - residual) / unit
        share = rows.shares
        left_out = gap / ((1 - share) + share * rows.per_row(left))
        error, error_se = mean_and_se(loss.of_rows(rows.y, rows.y - left_out), rows.weight)
    with np.errstate(divide="ignore"):
        variance = (squares + rows.pure * unit**2) / (n - 2)
        reml = (n - 2) * (np.log(variance) - 2 * np.log(unit)) + logs
    return Score(
        float(leverage.sum()), rss / unit**2, float(error), float(error_se), reml=float(reml)
    )


def penalty_path(knots: KnotRows, values: Any, count: int, loss: Loss | None) -> Path:
    """Return the path over the penalties `values` (None: its own)."""
    if len(knots.knots) < 3:
        raise InputError(
            f"Choosing alpha needs at least 3 distinct values of x; there are {len(knots.knots)}. "
            "Give alpha: any is the same line."
        )
    scratch = ThreadArrays(knots)
    if values is None:
        grid = _default_penalties(knots, count, scratch)
        tried = _try_all(knots, grid, loss, scratch)
        extra = np.array(_refined(knots, grid, tried, loss, scratch), dtype=np.float64)
        tried += _try_all(knots, extra, loss, scratch)
        unit_penalties = np.append(grid, extra)
        order = np.argsort(unit_penalties, kind="stable")[::-1]
        tried, penalties = [tried[i] for i in order], unit_penalties[order] * knots.span**3
    else:
        penalties = largest_first(values)
        tried = _try_all(knots, penalties / knots.span**3, loss, scratch)
    more = {"reml": np.array([each.reml for each in tried])}
    return loo_path(along("alpha", penalties), tried, knots.rows, loss, more)


def _try_all(
    rows: KnotRows, penalties: FloatArray, loss: Loss | None, scratch: ThreadArrays
) -> list[Score]:
    def attempt(penalty: float) -> Score:
        return try_penalty(rows, penalty, loss, scratch)

    if len(rows.knots) < _WORTH_THREADS:
        return [attempt(penalty) for penalty in penalties]
    return in_threads(attempt, penalties)


def _default_penalties(rows: KnotRows, count: int, scratch: ThreadArrays) -> FloatArray:
    """Return penalties from one that leaves hardly more than a line to one that keeps noise."""
    m, high = len(rows.knots), float(rows.total.sum())
    low = 1e-2 * high / float(m) ** 4
    while high > low and try_penalty(rows, high / 10, scratch=scratch).df < 2.01:
        high /= 10
    for _ in range(10):  # dense places take smaller penalties
        if try_penalty(rows, low, scratch=scratch).df > 0.75 * m:
            break
        low /= 30
    return np.geomspace(high, min(low, high / 10), count)


def _refined(
    rows: KnotRows, grid: FloatArray, tried: list[Score], loss: Loss | None, scratch: ThreadArrays
) -> list[float]:
    """Return where GCV, leave-one-out and REML are least, between the points of the grid."""
    n = len(rows.y)

    def gcv(trial: Score) -> float:
        return trial.rss / (n - trial.df) ** 2 if trial.df < n else np.inf

    found = []
    for criterion in (gcv, lambda trial: trial.error, lambda trial: trial.reml):
        values = [criterion(each) for each in tried]
        best = int(np.argmin(values))
        if 0 < best < len(grid) - 1 and np.all(np.isfinite(values)):
            ends = np.log(grid[best + 1]), np.log(grid[best - 1])

            def at(log_penalty: float, criterion: Any = criterion) -> float:
                return float(criterion(try_penalty(rows, np.exp(log_penalty), loss, scratch)))

            least = optimize.minimize_scalar(
                at, bounds=ends, method="bounded", options={"xatol": 1e-3}
            )
            found.append(float(np.exp(least.x)))
    return found
