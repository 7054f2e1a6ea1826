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

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.smooth._kernels.bins import bin_linear, look_up
from bottega.smooth._local.blocks import writable
from bottega.smooth._local.rows import LocalRows, TrainingFit
from bottega.smooth._local.weights import KERNELS
from bottega.smooth._local.windows import Recipe, Window

_STEPS = 10  # grid steps in a standard deviation of the weight function, when the grid is ours
_FEWEST, _MOST = 401, 20_001
_SOME = 1_000  # rows in which enough distinct values are looked for first


@dataclass(frozen=True)
class Grid:
    """Sums of rows on an even grid: of weights, of weights times responses, of squared weights."""

    low: float
    step: float
    weight: FloatArray
    total: FloatArray
    square: FloatArray

    @property
    def points(self) -> FloatArray:
        """The grid points."""
        return np.asarray(self.low + self.step * np.arange(len(self.weight)), dtype=np.float64)

    def halved(self) -> "Grid":
        """Return the grid of twice the step: what sharing the rows on it would have given."""
        sums = [
            each[::2] + 0.5 * (np.append(0.0, each[1::2]) + np.append(each[1::2], 0.0))
            for each in (self.weight, self.total, self.square)
        ]
        return Grid(self.low, 2 * self.step, *sums)

    def window(self, recipe: Recipe, bandwidth: float) -> Window:
        """Return the grid points that carry weight as rows to fit to."""
        kept = np.flatnonzero(self.weight > 0)
        weight = self.weight[kept]
        rows = LocalRows(
            np.ascontiguousarray(self.points[kept, None]),
            self.total[kept] / weight,
            weight,
            self.square[kept],
            mass=weight,
            order=kept,
            columns=np.array([0]),
            divisor=np.ones(1),
        )
        return Window(rows, recipe, bandwidth)


def make_grid(
    x: FloatArray, y: FloatArray, w: FloatArray, low: float, high: float, size: int
) -> Grid:
    """Share rows on a grid from low to high; an even size is raised by one, to be halved."""
    size += 1 - size % 2
    step = (high - low) / (size - 1)
    x, y, w = writable(x, y, w)
    return Grid(low, step, *bin_linear(x, y, w, low, step, size))


@stored
@dataclass(frozen=True)
class BinnedSurface:
    """Curve and statistics on a grid, and the window that they came from."""

    window: Window  # fits directly where a point is beyond the grid
    low: float
    step: float
    found: FloatArray  # functionals, one column each, and their variances over sigma^2
    length: FloatArray
    error: float  # bound against the curve from all rows, at the grid points with rows

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
    """Training rows of one input, to be binned."""

    x: FloatArray
    y: FloatArray
    weight: FloatArray  # one may stand for all rows
    divisor: FloatArray  # what the input was divided by
    n_bins: int | None  # size of the grid; None: as the bandwidth needs

    def scale(self, X: FloatArray) -> FloatArray:
        """Return inputs on the scale of the rows."""
        return np.asarray(X / self.divisor)

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
        self, recipe: Recipe, bandwidth: float, lengths: bool, spare: FloatArray | None = None
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
            weighted = self.weight.size > 1
            squares = window.at(at, spread=window.squares()) if weighted else points
            columns.append(squares.length[:, 0])
        training = look_up(self.x, grid.low, grid.step, np.column_stack(columns))
        error = _halving_error(grid, recipe, bandwidth, points.found[:, :1]) if lengths else np.nan
        surface = BinnedSurface(window, low, grid.step, points.found, points.length, error)
        return surface, TrainingFit(
            training[:, 0],
            self.weight * training[:, 1],
            float(training[:, 2].sum()) if lengths else np.nan,
            int(np.count_nonzero(points.widened & (grid.weight > 0))),
        )

    def surface(self, recipe: Recipe, bandwidth: float) -> BinnedSurface:
        """Return the curve alone."""
        return self.fit(recipe, bandwidth, False)[0]

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
