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

from bottega.core.errors import InputError
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.core.weights import check_weight
from bottega.smooth import _kernels_local_bins as kernels
from bottega.smooth.kernel_weights import KERNELS, get_kernel
from bottega.smooth.local_fits import Points, Recipe, Window
from bottega.smooth.loess_fits import TrainingFit, writable
from bottega.smooth.loess_rows import Rows

__all__ = ["BinnedRows", "BinnedSurface", "Grid", "binned_curve"]

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
        weight, one = self.weight[kept], np.array([0])
        rows = Rows(
            np.ascontiguousarray(self.points[kept, None]),
            self.total[kept] / weight,
            weight,
            weight,
            kept,
            one,
            np.ones(1),
        )
        return Window(rows, self.square[kept], recipe, bandwidth)


def _make_grid(
    x: FloatArray, y: FloatArray, w: FloatArray, low: float, high: float, size: int
) -> Grid:
    """Share rows on a grid from low to high; an even size is raised by one, to be halved."""
    size += 1 - size % 2
    step = (high - low) / (size - 1)
    x, y, w = writable(x, y, w)
    return Grid(low, step, *kernels.bin_linear(x, y, w, low, step, size))


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

    def evaluate(self, Z: FloatArray, *, lengths: bool = False, count: int = 1) -> Points:
        """Return the functionals at points: interpolated, or fitted directly beyond the grid."""
        x = np.ascontiguousarray(Z[:, 0])
        table = np.ascontiguousarray(np.hstack([self.found[:, :count], self.length[:, :count]]))
        both = kernels.look_up(x, self.low, self.step, table)
        high = self.low + self.step * (len(self.found) - 1)
        away = np.flatnonzero((x < self.low) | (x > high))
        if len(away):
            direct = self.window.at(Z[away], count=count, spread=self.window.variances())
            both[away] = np.hstack([direct.found, direct.length])
        none = np.empty(0)
        return Points(both[:, :count], both[:, count:], none, none, none.astype(bool))


@dataclass(frozen=True)
class BinnedRows:
    """Training rows of one input, to be binned.

    Attributes
    ----------
    x, y, weight : ndarray of shape (n,)
        Rows of positive weight, in any order; one weight stands for all rows.
    kept : ndarray of shape (n,)
        Their positions in the data as given.
    divisor : ndarray of shape (1,)
        What the input was divided by.
    n_bins : int or None
        Size of the grid; None: as the bandwidth needs.
    """

    x: FloatArray
    y: FloatArray
    weight: FloatArray
    kept: IntArray
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
        """Return the curve and what it says of the training rows, on request with tr SS'."""
        low, high = float(self.x.min()), float(self.x.max())
        size = self._size(recipe, bandwidth, high - low)
        grid = _make_grid(self.x, self.y, self.weight, low, high, size)
        window = grid.window(recipe, bandwidth)
        at = grid.points[:, None]
        points = window.at(at, count=window.functionals, spread=window.variances())
        columns = [points.found[:, 0], points.C[:, 0, 0]]
        if lengths:
            unit = self.weight.size == 1
            columns.append(
                (points if unit else window.at(at, spread=window.squares())).length[:, 0]
            )
        training = kernels.look_up(self.x, grid.low, grid.step, np.column_stack(columns))
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

    def matrix(self, surface: BinnedSurface, Z: FloatArray) -> FloatArray:
        """Return the weight of each row's response in the value at points."""
        size, window = len(surface.found), surface.window
        grid = surface.low + surface.step * np.arange(size, dtype=np.float64)

        def between(x: FloatArray, table: FloatArray) -> FloatArray:
            points = np.ascontiguousarray(x)
            return kernels.look_up(points, surface.low, surface.step, np.ascontiguousarray(table))

        x = Z[:, 0]
        found = between(x, window.matrix(grid[:, None]))
        away = np.flatnonzero((x < grid[0]) | (x > grid[-1]))
        if len(away):
            found[away] = window.matrix(Z[away])
        # How each row enters the mean response of each grid point with rows.
        share = between(self.x, np.eye(size)[:, window.rows.order]).T
        return found @ (share * self.weight / window.rows.weight[:, None])

    def inside(self, Z: FloatArray) -> BoolArray:
        """Tell which points lie in the range of the rows."""
        return np.asarray((Z[:, 0] >= self.x.min()) & (Z[:, 0] <= self.x.max()))


def _halving_error(grid: Grid, recipe: Recipe, bandwidth: float, found: FloatArray) -> float:
    """Return twice the largest change with half as many bins, where there are rows."""
    coarse = grid.halved()
    rough = coarse.window(recipe, bandwidth).at(coarse.points[:, None]).found
    there = kernels.look_up(grid.points, coarse.low, coarse.step, rough)
    return 2 * float(np.max(np.abs(there - found)[grid.weight > 0]))


def binned_curve(
    x: Any,
    y: Any,
    bandwidth: float,
    *,
    kernel: str = "normal",
    degree: int = 1,
    derivative: int = 0,
    n_bins: int = 401,
    limits: tuple[float, float] | None = None,
    sample_weight: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Return a local polynomial curve on an even grid, from binned rows.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Rows, in any order.
    bandwidth : float
        Bandwidth, in the units of x.
    kernel : {"normal", "biquadratic", "tricube", "epanechnikov"}
        Weight function.
    degree : {0, 1, 2}
        Degree of the local polynomials.
    derivative : int
        Order of the derivative wanted, up to `degree`.
    n_bins : int
        Number of grid points; an even number is raised by one.
    limits : tuple of float, optional
        Ends of the grid, the range of x by default; rows beyond are left out.
    sample_weight : array-like of shape (n,), optional
        Row weights.

    Returns
    -------
    grid, curve : ndarray of shape (n_bins,)

    Notes
    -----
    The cost is that of one pass over the rows and at most ``n_bins^2`` more. See the module's text
    for the error; `LocalRegression` measures it.

    Examples
    --------
    >>> x = np.linspace(0, 1, 10_000)
    >>> grid, curve = binned_curve(x, x**2, 0.02)
    >>> curve[[100, 200, 300]].round(4)  # at 1/4, 1/2, 3/4
    array([0.0629, 0.2504, 0.5629])
    """
    x, y = (np.ascontiguousarray(each, dtype=np.float64) for each in (x, y))
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InputError(f"x and y must be rows of one length; got {x.shape} and {y.shape}.")
    if not (np.isfinite(bandwidth) and bandwidth > 0):
        raise InputError(f"bandwidth={bandwidth!r} is not allowed; it must be above zero.")
    if degree not in (0, 1, 2) or derivative not in range(degree + 1):
        raise InputError(
            f"degree={degree!r} with derivative={derivative!r} is not allowed; the degree is 0, 1 "
            "or 2, and the derivative at most the degree."
        )
    if n_bins < 3:
        raise InputError(f"n_bins={n_bins!r} is not allowed; use at least 3.")
    get_kernel(kernel)
    weight = check_weight(sample_weight, len(y))
    low, high = (float(x.min()), float(x.max())) if limits is None else map(float, limits)
    if not (np.isfinite(low) and np.isfinite(high) and high > low and np.all(np.isfinite(y))):
        raise InputError(
            f"The grid would go from {low} to {high}, with responses that must be finite: correct "
            "the rows or the limits."
        )
    if limits is not None:
        inside = (x >= low) & (x <= high)
        x, y = x[inside], y[inside]
        weight = None if weight is None else weight[inside]
    grid = _make_grid(x, y, np.ones(1) if weight is None else weight, low, high, n_bins)
    window = grid.window(Recipe(kernel, degree, False, True), float(bandwidth))
    if len(window.rows.y) <= degree:
        raise InputError(f"Only {len(window.rows.y)} bins hold rows: too few for degree {degree}.")
    found = window.at(grid.points[:, None], count=derivative + 1).found[:, derivative]
    return grid.points, found
