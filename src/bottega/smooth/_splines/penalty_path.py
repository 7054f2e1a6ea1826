"""The smoothing spline along its penalty: criteria at any penalty, and where they are least.

All penalties here are on the unit scale of x; those of a `Path` are in the units of x.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import InputError
from bottega.core.parallel import in_threads
from bottega.core.path import Path
from bottega.core.smoother import gaussian_criteria
from bottega.core.typing import FloatArray
from bottega.smooth._kernels import state_criteria as kernels
from bottega.smooth._kernels.state_space import filter_path
from bottega.smooth._splines.knot_rows import KnotRows

__all__ = ["Trial", "precision", "spline_path", "try_penalty"]

# Below this, threads cost more than they give.
_WORTH_THREADS = 20_000


def precision(lam: float, gaps: FloatArray, total: FloatArray) -> float:
    """Return 1 / lam on the unit scale; a penalty of zero is one too small to be seen."""
    least = 1e-18 * float(total.min()) * float(gaps.min()) ** 3
    return 1 / max(lam, least)


@dataclass(frozen=True)
class Trial:
    """The numbers of one penalty."""

    df: float
    rss: float
    loo: float
    loo_se: float
    reml: float


def try_penalty(rows: KnotRows, lam: float) -> Trial:
    """Return degrees of freedom, errors and criteria at a penalty, in one pass there and back."""
    m, n, gaps = len(rows.knots), len(rows.y), rows.gaps
    q = precision(lam, gaps, rows.total)
    v, iF, m1, m2 = np.empty((4, m))
    squares, logs = filter_path(rows.mean, rows.total, gaps, q, v, iF, m1, m2)
    residual, left, leverage = np.empty((3, m))
    kernels.smooth_back(rows.total, gaps, v, iF, m1, m2, residual, left, leverage)
    if rows.moments is not None:
        rss, first, cross, square = kernels.scan_knots(rows.moments, residual, left)
    else:
        rss, first, cross, square = kernels.scan_rows(
            rows.y, rows.weight, rows.start, rows.mean, rows.total, residual, left
        )
    total = rows.total.sum()
    squared_weight = float(n) if rows.moments is not None else float(rows.weight @ rows.weight)
    loo = first / total
    # The spread of a (weighted) mean, as in `mean_and_se`.
    spread = max(square - 2 * loo * cross + loo**2 * squared_weight, 0.0)
    if rows.moments is not None:
        spread *= n / (n - 1)
    with np.errstate(divide="ignore"):
        reml = (n - 2) * np.log((squares + rows.pure) / (n - 2)) + logs
    return Trial(float(leverage.sum()), rss, loo, float(np.sqrt(spread) / total), float(reml))


def spline_path(rows: KnotRows, values: Any, count: int) -> tuple[Path, float | None]:
    """Return the path over the penalties `values` (None: its own), and the scale for Cp."""
    if len(rows.knots) < 3:
        raise InputError(
            f"Choosing lam needs at least 3 distinct values of x; there are {len(rows.knots)}. "
            "Give lam: any is the same line."
        )
    if values is None:
        grid = _default_penalties(rows, count)
        tried = _try_all(rows, grid)
        extra = np.array(_refined(rows, grid, tried), dtype=np.float64)
        tried += _try_all(rows, extra)
        unit_penalties = np.append(grid, extra)
        order = np.argsort(unit_penalties, kind="stable")[::-1]
        tried, penalties = [tried[i] for i in order], unit_penalties[order] * rows.span**3
    else:
        penalties = _check_penalties(values)
        tried = _try_all(rows, penalties / rows.span**3)
    n, total = len(rows.y), rows.total.sum()
    df = np.array([each.df for each in tried])
    rss = np.array([each.rss for each in tried])
    scale = None
    rough = np.flatnonzero(df <= n / 2)
    if len(rough) and rss[rough[-1]] > 0:
        scale = float(np.sqrt(rss[rough[-1]] / (n - df[rough[-1]])))
    criteria = gaussian_criteria(
        rss, df, n, scale=scale, log_weights=float(np.log(rows.weight).sum())
    )
    criteria["reml"] = np.array([each.reml for each in tried])
    curve = Path(
        knob="lam",
        values=penalties,
        df=df,
        train_error=rss / total,
        error=np.array([each.loo for each in tried]),
        error_se=np.array([each.loo_se for each in tried]),
        estimate="loo",
        loss="squared error",
        criteria=criteria,
    )
    return curve, scale


def _try_all(rows: KnotRows, penalties: FloatArray) -> list[Trial]:
    attempt = partial(try_penalty, rows)
    if len(rows.knots) < _WORTH_THREADS:
        return [attempt(penalty) for penalty in penalties]
    return in_threads(attempt, penalties)


def _default_penalties(rows: KnotRows, count: int) -> FloatArray:
    """Return penalties from one that leaves hardly more than a line to one that keeps noise."""
    m, high = len(rows.knots), float(rows.total.sum())
    low = 1e-2 * high / float(m) ** 4
    while high > low and try_penalty(rows, high / 10).df < 2.01:
        high /= 10
    for _ in range(10):  # dense places take smaller penalties
        if try_penalty(rows, low).df > 0.75 * m:
            break
        low /= 30
    return np.geomspace(high, min(low, high / 10), count)


def _refined(rows: KnotRows, grid: FloatArray, tried: list[Trial]) -> list[float]:
    """Return where GCV, leave-one-out and REML are least, between the points of the grid."""
    n = len(rows.y)

    def gcv(trial: Trial) -> float:
        return trial.rss / (n - trial.df) ** 2 if trial.df < n else np.inf

    found = []
    for criterion in (gcv, lambda trial: trial.loo, lambda trial: trial.reml):
        best = int(np.argmin([criterion(each) for each in tried]))
        if 0 < best < len(grid) - 1:
            ends = np.log(grid[best + 1]), np.log(grid[best - 1])
            least = optimize.minimize_scalar(
                lambda log_penalty, criterion=criterion: criterion(
                    try_penalty(rows, np.exp(log_penalty))
                ),
                bounds=ends,
                method="bounded",
                options={"xatol": 1e-3},
            )
            found.append(float(np.exp(least.x)))
    return found


def _check_penalties(values: Any) -> FloatArray:
    penalties = np.asarray(values, dtype=np.float64)
    if (
        penalties.ndim != 1
        or not len(penalties)
        or not np.all(np.isfinite(penalties) & (penalties >= 0))
    ):
        raise InputError(
            f"values must be a list of finite penalties, none negative; got {values!r}."
        )
    return np.sort(penalties)[::-1]
