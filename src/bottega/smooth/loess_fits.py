"""Local polynomials in windows of the nearest rows, and the surface taken from them directly."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bottega.core.parallel import available_cores, in_threads
from bottega.core.typing import BoolArray, FloatArray
from bottega.smooth import _kernels_loess as kernels
from bottega.smooth import _kernels_loess_windows as windows

__all__ = ["DirectSurface", "LocalFits", "TrainingFit", "coefficient_count", "writable"]

_THREADS_FROM = 2_000_000  # rows in all windows together
_BLOCK = 512  # rows of the smoother that are in memory at once


def coefficient_count(p: int, degree: int) -> int:
    """Return the number of coefficients of a polynomial of p inputs.

    Examples
    --------
    >>> coefficient_count(1, 2), coefficient_count(2, 2), coefficient_count(3, 1)
    (3, 6, 4)
    """
    return (1, 1 + p, 1 + p + p * (p + 1) // 2)[degree]


def writable(*arrays: FloatArray) -> list[FloatArray]:
    """Return arrays that may be written to: kernels would be compiled anew for others.

    A model that was read from a memory map is made of such others.
    """
    return [array if array.flags.writeable else array.copy() for array in arrays]


@dataclass(frozen=True)
class TrainingFit:
    """What a surface tells about the rows it was fitted to.

    Attributes
    ----------
    fitted, leverage : ndarray of shape (n,)
        S y and the diagonal of S.
    trace_sst : float
        tr SS'.
    widened : int
        Windows that held too few rows.
    two_delta : float
        tr(((I - S)(I - S)')^2), nan unless asked for.
    """

    fitted: FloatArray
    leverage: FloatArray
    trace_sst: float
    widened: int
    two_delta: float = np.nan


@dataclass(frozen=True)
class LocalFits:
    """Weighted least squares polynomials about points.

    Attributes
    ----------
    X : ndarray of shape (n, p)
        Rows on the scale of the distances, ascending in the first column.
    y : ndarray of shape (n,)
        Responses.
    weight : ndarray of shape (n,)
        Weights in the local fits: sample weights times robustness weights.
    variance : ndarray of shape (n,)
        Variance of each response over sigma^2.
    mass : ndarray of shape (n,)
        What each row counts for in the nearest fraction.
    target : float
        Mass that a window must reach.
    stretch : float
        Factor on the radius of the window (spans over one).
    degree : int
        Degree of the polynomials.
    """

    X: FloatArray
    y: FloatArray
    weight: FloatArray
    variance: FloatArray
    mass: FloatArray
    target: float
    stretch: float
    degree: int

    @property
    def terms(self) -> int:
        """Number of coefficients."""
        return coefficient_count(self.X.shape[1], self.degree)

    def radii(self, at: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the radius of the window of each point, and which of them had to be widened."""
        if self.X.shape[1] > 1:
            X, weight, mass = writable(self.X, self.weight, self.mass)

            def block(rows: slice) -> Any:
                return windows.radii_space(
                    X, weight, mass, self.target, self.stretch, at[rows], self.terms
                )

            parts = self._in_blocks(len(self.X), at, block)
            h, widened = (np.concatenate(part) for part in zip(*parts, strict=True))
        else:
            x, weight = writable(self._line(self.X), self.weight)
            sums = np.concatenate([[0.0], np.cumsum(self.mass)])
            order = np.argsort(at[:, 0], kind="stable")
            h, widened = np.empty(len(at)), np.empty(len(at), dtype=bool)
            h[order], widened[order] = windows.radii_line(
                x, weight, sums, self.target, self.stretch, at[order, 0], self.terms
            )
        return h, widened

    def at(
        self, points: FloatArray, h: FloatArray, *, count: int = 1, variance: Any = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return functionals of the local polynomials, their C, and squared lengths of rows.

        Parameters
        ----------
        points : ndarray of shape (m, p)
            Where to fit.
        h : ndarray of shape (m,)
            Radii of the windows.
        count : int
            How many functionals: the value, then the slopes; for one input, then the curvature.
        variance : ndarray of shape (n,), optional
            Variances in the squared length; `variance` by default.

        Returns
        -------
        found : ndarray of shape (m, count)
            Value and derivatives.
        C : ndarray of shape (m, count, k)
            Coefficients from which rows of the smoother follow (`rows`).
        length : ndarray of shape (m,)
            Squared length of the row of the smoother.
        """
        spread = self.variance if variance is None else variance
        count, degree = min(count, self.terms), self.degree
        line = self.X.shape[1] == 1
        X, y, weight, spread, points, h = writable(
            self._line(self.X) if line else self.X, self.y, self.weight, spread, points, h
        )

        def block(rows: slice) -> Any:
            if line:
                at = np.ascontiguousarray(points[rows, 0])
                return kernels.fit_line(X, y, weight, spread, at, h[rows], degree, count)
            return kernels.fit_space(X, y, weight, spread, points[rows], h[rows], degree, count)

        window = min(1.0, self.target / self.mass.sum()) * len(self.X)
        parts = self._in_blocks(window, points, block)
        found, C, length = (np.concatenate(part) for part in zip(*parts, strict=True))
        factor = np.ones((len(points), count))
        if count > 1:
            factor[:, 1:] /= h[:, None]
        if line and count > 2:
            factor[:, 2] *= 2 / h
        return found * factor, C * factor[:, :, None], length

    def rows(
        self, points: FloatArray, h: FloatArray, C: FloatArray, columns: slice = slice(None)
    ) -> FloatArray:
        """Return how rows of the data enter each functional: (points, count, rows)."""
        X, weight, points, h, C = writable(self.X, self.weight, points, h, C)
        return kernels.rows_of(X[columns], weight[columns], points, h, self.degree, C)

    def reach(self, points: FloatArray, h: FloatArray) -> slice:
        """Return the rows among which the windows of the points lie."""
        first = self.X[:, 0]
        start = np.searchsorted(first, np.min(points[:, 0] - h), side="left")
        stop = np.searchsorted(first, np.max(points[:, 0] + h), side="right")
        return slice(int(start), int(stop))

    @staticmethod
    def _line(X: FloatArray) -> FloatArray:
        return np.ascontiguousarray(X[:, 0])

    @staticmethod
    def _in_blocks(window: float, points: FloatArray, block: Any) -> list[Any]:
        """Run a kernel over blocks of points, in threads where that pays."""
        m = len(points)
        cores = available_cores() if m * window > _THREADS_FROM else 1
        edges = np.linspace(0, m, 4 * cores + 1 if cores > 1 else 2).astype(int)
        blocks = [slice(a, b) for a, b in pairwise(edges)]
        return [block(rows) for rows in blocks] if cores == 1 else in_threads(block, blocks)


@dataclass(frozen=True)
class DirectSurface:
    """The value of the local polynomial of every point itself."""

    fits: LocalFits

    def training(self, *, two_delta: bool = False) -> TrainingFit:
        """Return the fit at the rows it was made from, on request with its dearest statistic."""
        fits = self.fits
        h, widened = fits.radii(fits.X)
        found, C, length = fits.at(fits.X, h, variance=np.ones(len(h)))
        # A row is at the centre of its own window: tricube one, and every term but the first zero.
        leverage = fits.weight * C[:, 0, 0]
        return TrainingFit(
            found[:, 0],
            leverage,
            float(length.sum()),
            int(widened.sum()),
            self._two_delta(h, C) if two_delta else np.nan,
        )

    def evaluate(self, Z: FloatArray) -> FloatArray:
        """Return the surface at points."""
        return self.fits.at(Z, self.fits.radii(Z)[0])[0][:, 0]

    def squared_length(self, Z: FloatArray) -> FloatArray:
        """Return the variance of the surface at points, over sigma^2."""
        return self.fits.at(Z, self.fits.radii(Z)[0])[2]

    def refit(self, fits: LocalFits) -> "DirectSurface":
        """Return the surface of other responses of the same rows."""
        return DirectSurface(fits)

    def matrix(self, Z: FloatArray) -> FloatArray:
        """Return the rows of the smoother at points: (points, rows)."""
        h = self.fits.radii(Z)[0]
        return self.fits.rows(Z, h, self.fits.at(Z, h)[1])[:, 0]

    def _two_delta(self, h: FloatArray, C: FloatArray) -> float:
        """Return tr(((I - S)(I - S)')^2), by blocks of rows of I - S."""
        n = len(h)
        total = 0.0
        for start in range(0, n, _BLOCK):
            left, left_at = self._residual_rows(slice(start, min(start + _BLOCK, n)), h, C)
            for right, right_at, weight in self._following(start, left_at, h, C):
                low, high = max(left_at.start, right_at.start), min(left_at.stop, right_at.stop)
                product = (
                    left[:, low - left_at.start : high - left_at.start]
                    @ right[:, low - right_at.start : high - right_at.start].T
                )
                total += weight * float(np.sum(product**2))
        return total

    def _following(
        self, start: int, left_at: slice, h: FloatArray, C: FloatArray
    ) -> Iterator[tuple[FloatArray, slice, int]]:
        """Yield this block of rows (once) and those after it that meet its columns (twice)."""
        for other in range(start, len(h), _BLOCK):
            rows = slice(other, min(other + _BLOCK, len(h)))
            if self.fits.reach(self.fits.X[rows], h[rows]).start >= left_at.stop:
                continue
            yield *self._residual_rows(rows, h, C), 1 if other == start else 2

    def _residual_rows(self, rows: slice, h: FloatArray, C: FloatArray) -> tuple[FloatArray, slice]:
        """Return rows of I - S, without the columns where all of them are zero."""
        fits = self.fits
        points = fits.X[rows]
        reach = fits.reach(points, h[rows])
        columns = slice(min(reach.start, rows.start), max(reach.stop, rows.stop))
        found = -fits.rows(points, h[rows], C[rows], columns)[:, 0]
        found[np.arange(len(points)), np.arange(rows.start, rows.stop) - columns.start] += 1
        return found, columns
