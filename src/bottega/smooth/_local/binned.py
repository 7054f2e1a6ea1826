r"""Local regression of one input from binned rows: for large n.

Each row is shared among the two points of an even grid about it, in proportion to its nearness.
The local polynomials are then fitted at the grid points to the M grid points instead of n rows,
and their values interpolated linearly.

**Error.** To share rows so is to replace the weight :math:`\varphi(x) = w((x - x_0)/h)(x-x_0)^r` of
each row by its linear interpolant on the grid of step :math:`\delta`, which is off by at most
:math:`\delta^2 \max|\varphi''|/8`, in proportion to :math:`(\delta/h)^2`. The interpolation of the
values is off by :math:`\delta^2 \max|\hat f''|/8`. Both fall to a quarter when the step is halved.
So the difference to the curve from a grid of twice the step is about three times the error that is
left; with a weight function that has a kink and few rows it may be no more than the error itself.
`BinnedSurface.error` is twice the largest such difference: a bound with a margin.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.smooth._kernels.bins import look_up
from bottega.smooth._local.grid import Grid, make_grid
from bottega.smooth._local.rows import TrainingFit
from bottega.smooth._local.weights import KERNELS
from bottega.smooth._local.windows import Recipe, Window

_STEPS = 10  # grid steps in a standard deviation of the weight function, when the grid is ours
_FEWEST, _MOST = 401, 20_001
_SOME = 1_000  # rows in which enough distinct values are looked for first


@stored
@dataclass(frozen=True)
class BinnedSurface:
    """Curve and statistics on a grid, and the window that they came from.

    Attributes
    ----------
    window : Window
        Fits directly where a point is beyond the grid.
    low, step : float
        The grid.
    found, length : ndarray of shape (M, count)
        Functionals and their variances over sigma^2.
    error : float
        Bound on the error of the curve against that from all rows, at the grid points with rows.
    """

    window: Window
    low: float
    step: float
    found: FloatArray
    length: FloatArray
    error: float

    def evaluate(
        self, Z: FloatArray, *, lengths: bool = False, count: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return functionals at points and their variances: interpolated, or beyond it direct."""
        x = np.ascontiguousarray(Z[:, 0])
        table = np.ascontiguousarray(np.hstack([self.found[:, :count], self.length[:, :count]]))
        both = look_up(x, self.low, self.step, table)
        high = self.low + self.step * (len(self.found) - 1)
        away = np.flatnonzero((x < self.low) | (x > high))
        if len(away):
            direct = self.window.at(Z[away], count=count, spread=self.window.variances())
            both[away] = np.hstack([direct.found, direct.length])
        return both[:, :count], both[:, count:]


@stored
@dataclass(frozen=True)
class BinnedInput:
    """Training rows of one input, to be binned.

    Attributes
    ----------
    x, y, weight : ndarray of shape (n,)
        Rows, in any order; one weight may stand for all rows.
    divisor : ndarray of shape (1,)
        What the input was divided by.
    n_bins : int or None
        Size of the grid; None: as the bandwidth needs.
    """

    x: FloatArray
    y: FloatArray
    weight: FloatArray
    divisor: FloatArray
    n_bins: int | None

    @property
    def columns(self) -> IntArray:
        """The one input."""
        return np.array([0])

    @property
    def widest(self) -> float:
        """The range of the input."""
        return float(np.ptp(self.x))

    def highest_degree(self, degree: int) -> int:
        """Return the highest degree, up to the given, for which there are enough places."""
        places = len(np.unique(self.x[:_SOME]))
        if places <= degree + 1:
            places = len(np.unique(self.x))
        return min(degree, max(places - 2, 0))

    def spare(self, recipe: Recipe) -> None:
        """Return nothing: each bandwidth has its own grid."""

    def _size(self, recipe: Recipe, bandwidth: float, spread: float) -> int:
        if self.n_bins is not None:
            return self.n_bins
        # A fraction of the rows is at the most dense place narrower than that of the range.
        width = bandwidth * spread / 4 if recipe.nearest else bandwidth
        steps = _STEPS * spread / (width * KERNELS[recipe.kernel].deviation)
        return int(np.clip(np.ceil(steps) + 1, _FEWEST, _MOST))

    def fit(
        self, recipe: Recipe, bandwidth: float, *, lengths: bool = True, spare: Any = None
    ) -> tuple[BinnedSurface, TrainingFit]:
        """Return the curve and its fit to the training rows, on request with tr SS'."""
        low, high = float(self.x.min()), float(self.x.max())
        size = self._size(recipe, bandwidth, high - low)
        grid = make_grid(self.x, self.y, self.weight, low, high, size)
        window = grid.window(recipe, bandwidth)
        at = grid.points[:, None]
        points = window.at(at, count=window.functionals, spread=window.variances())
        columns = [points.found[:, 0], points.C[:, 0, 0]]
        if lengths:
            unit = self.weight.size == 1
            columns.append(
                (points if unit else window.at(at, spread=window.squares())).length[:, 0]
            )
        training = look_up(self.x, grid.low, grid.step, np.column_stack(columns))
        surface = BinnedSurface(
            window,
            grid.low,
            grid.step,
            points.found,
            points.length,
            _halving_error(grid, recipe, bandwidth, points.found[:, :1]) if lengths else np.nan,
        )
        return surface, TrainingFit(
            training[:, 0],
            self.weight * training[:, 1],
            float(training[:, 2].sum()) if lengths else np.nan,
            int(np.count_nonzero(points.widened & (grid.weight > 0))),
        )

    def surface(self, recipe: Recipe, bandwidth: float) -> BinnedSurface:
        """Return the curve alone."""
        return self.fit(recipe, bandwidth, lengths=False)[0]

    def matrix(self, surface: BinnedSurface, Z: FloatArray) -> FloatArray:
        """Return the weight of each row's response in the value at points."""
        size, window = len(surface.found), surface.window
        grid = surface.low + surface.step * np.arange(size, dtype=np.float64)

        def between(x: FloatArray, table: FloatArray) -> FloatArray:
            points = np.ascontiguousarray(x)
            return look_up(points, surface.low, surface.step, np.ascontiguousarray(table))

        x = Z[:, 0]
        found = between(x, window.matrix(grid[:, None]))
        away = np.flatnonzero((x < grid[0]) | (x > grid[-1]))
        if len(away):
            found[away] = window.matrix(Z[away])
        # How each row enters the mean response of each grid point with rows.
        share = between(self.x, np.eye(size)[:, window.rows.order]).T
        return found @ (share * self.weight / window.rows.weight[:, None])

    def inside(self, Z: FloatArray) -> BoolArray:
        """Return which points lie in the range of the rows."""
        return np.asarray((Z[:, 0] >= self.x.min()) & (Z[:, 0] <= self.x.max()))


def _halving_error(grid: Grid, recipe: Recipe, bandwidth: float, found: FloatArray) -> float:
    """Return twice the largest change with half as many bins, where there are rows."""
    coarse = grid.halved()
    rough = coarse.window(recipe, bandwidth).at(coarse.points[:, None]).found
    there = look_up(grid.points, coarse.low, coarse.step, rough)
    return 2 * float(np.max(np.abs(there - found)[grid.weight > 0]))
