"""The surface of local polynomials fitted at every point itself."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._local.rows import TrainingFit
from bottega.smooth._loess.fits import LocalFits

_BLOCK = 512  # rows of the smoother that are in memory at once


@stored
@dataclass(frozen=True)
class DirectSurface:
    """The value of the local polynomial of every point itself."""

    fits: LocalFits

    def training(self, *, two_delta: bool = False) -> TrainingFit:
        """Return the fit at the rows it was made from, on request with `two_delta`."""
        fits = self.fits
        h, widened = fits.windows.radii(fits.X)
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

    def evaluate(
        self, Z: FloatArray, *, lengths: bool = False, count: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return functionals at points, and the variance of the first over sigma^2."""
        found, _, length = self.fits.around(Z, count)
        return found, length[:, None]

    def refit(self, fits: LocalFits) -> "DirectSurface":
        """Return the surface of other responses of the same rows."""
        return DirectSurface(fits)

    def matrix(self, Z: FloatArray) -> FloatArray:
        """Return the rows of the smoother at points: (points, rows)."""
        return self.fits.matrix(Z)

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
