"""One ridge function: a target smoothed along a direction, and the direction that fits best."""

from dataclasses import dataclass

import numpy as np

from bottega.additive._kernels import pursuit_cells as cells
from bottega.additive._kernels.pursuit_spline import choose_ratio
from bottega.additive._kernels.supersmoother import supersmooth
from bottega.core.typing import Array, FloatArray
from bottega.smooth._kernels.state_space import full_pass

_CELLS = 256  # along a projection, twice as many for a supersmoother
_FEW_ROWS, _FINE_CELLS = 512, 1024  # few rows have cells of their own
_SLOPE_ROWS = 16_384  # rows that the second derivatives are computed from
_EVEN = np.log(1e-8)  # penalty that joins the points of a supersmoother to a curve
_HALVINGS = 4
_DAMPING = 1e-3  # of a step, in mean second derivatives


@dataclass(frozen=True)
class Smoothing:
    """How ridge functions are smoothed."""

    spline: bool
    df: float  # of every function; 0 is chosen by GCV
    charge: float  # for each degree of freedom in GCV
    span: float  # of running lines; 0 is chosen at every point
    bass: float


@dataclass(frozen=True)
class RidgeFit:
    """A smooth of a target along a direction of the coordinates."""

    a: FloatArray
    z: FloatArray
    cell: Array
    low: float
    span: float
    curve: FloatArray  # knots on the unit scale, value, slope, bend
    df: float
    log_ratio: float  # of the penalty
    loss: float  # penalised sum of squares


class Projector:
    """Rows in uncorrelated coordinates, along whose directions targets are smoothed.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        WhiteCoordinates, in an order of rows that has no meaning.
    w : ndarray of shape (n,)
        Row weights, which decide on the cells.
    size : float
        Number of rows that GCV counts; zero where the weights of targets are one over their
        variance, which GCV need not estimate then.
    smoothing : Smoothing
        How ridge functions are smoothed.
    """

    def __init__(self, X: FloatArray, w: FloatArray, size: float, smoothing: Smoothing) -> None:
        self.X, self.w, self.size, self.smoothing = X, w, size, smoothing
        self._f, self._slope, self._pull, self._push = np.empty((4, len(X)))
        self._cells = _CELLS if smoothing.spline else 2 * _CELLS
        if len(X) <= _FEW_ROWS:
            self._cells = _FINE_CELLS

    def first(self, count: int) -> "Projector":
        """Return a projector of the first rows alone."""
        share = min(count / len(self.X), 1.0)
        return Projector(self.X[:count], self.w[:count], share * self.size, self.smoothing)

    def smooth(
        self,
        a: FloatArray,
        t: FloatArray,
        v: FloatArray,
        log_ratio: float | None = None,
        start: float = np.nan,
    ) -> RidgeFit:
        """Smooth targets t of weights v along a direction.

        The penalty is the one of `log_ratio`, or chosen from `start` on where that is None.
        """
        z = self.X @ a
        cell = np.empty(len(z), dtype=np.int32)
        low, span, m = cells.place_rows(z, self.w, self._cells, cell)
        found, pure, spread = cells.cell_means(cell, z, t, v, low, span, m)
        knots, mean, total = found
        if m < 2:
            curve = np.array([[knots[0]], [mean[0]], [0.0], [0.0]])
            return RidgeFit(a, z, cell, low, span, curve, 1.0, 0.0, pure)
        how, gaps, df = self.smoothing, knots[1:] - knots[:-1], -1.0
        target, cube = mean, (span / spread) ** 3
        if not how.spline:
            target, df = supersmooth(knots, mean, total, how.span, how.bass)
            log_ratio = _EVEN
        elif log_ratio is None:
            wanted = min(how.df, 0.9 * m)
            log_ratio = choose_ratio(
                mean, total, gaps, cube, pure, self.size, how.charge, wanted, start
            )
        q = cube / (np.exp(log_ratio) * total.sum())
        value, slope, bend, _, leverage = full_pass(target, total, gaps, q, False)[:5]
        if how.spline:
            df = float(leverage.sum())
            loss = float((total * mean) @ (mean - value)) + pure
        else:
            loss = float(total @ (mean - value) ** 2) + pure
        curve = np.empty((4, m))
        curve[0], curve[1], curve[2], curve[3] = knots, value, slope, bend
        return RidgeFit(a, z, cell, low, span, curve, df, float(log_ratio), loss)

    def values(self, ridge: RidgeFit) -> FloatArray:
        """Return the curve at the rows."""
        cells.at_rows(ridge.z, ridge.cell, ridge.low, ridge.span, ridge.curve, self._f, self._slope)
        return self._f.copy()

    def improve(
        self, ridge: RidgeFit, t: FloatArray, v: FloatArray, steps: int, tol: float
    ) -> RidgeFit:
        """Turn the direction by Gauss-Newton steps, as long as the penalised squares decrease.

        The function is taken to follow the direction: what a turn changes along the direction
        itself is left out of the step, which for inputs with linear conditional means is exact.
        """
        d = self.X.shape[1]
        if d == 1:
            return ridge
        head = min(len(t), _SLOPE_ROWS)
        damping = _DAMPING
        for _ in range(steps):
            cells.at_rows(
                ridge.z, ridge.cell, ridge.low, ridge.span, ridge.curve, self._f, self._slope
            )
            cells.step_sums(t, v, self._f, self._slope, self._pull, self._push)
            a, some = ridge.a, self.X[:head]
            gradient = self.X.T @ self._pull
            H = (some * self._push[:head, None]).T @ some
            if head < len(t):
                H *= self._push.sum() / max(self._push[:head].sum(), 1e-300)
            better = None
            for _ in range(_HALVINGS):
                step, gain = cells.turn(H, gradient, a, damping)
                if not gain > tol * ridge.loss:
                    return ridge
                turned = a + step
                turned /= np.sqrt(turned @ turned)
                tried = self.smooth(turned, t, v, ridge.log_ratio)
                if tried.loss < ridge.loss:
                    better = tried
                    break
                damping = max(10 * damping, 0.3)
            if better is None:
                return ridge
            little = ridge.loss - better.loss < tol * ridge.loss
            ridge = better
            damping = max(damping / 10, _DAMPING)
            if little or not ridge.loss > 0:
                break
        return ridge
