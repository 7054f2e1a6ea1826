"""Local polynomials with tricube weights in given windows: the surface fitted at every point."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core.loaded import insist, insist_on_length
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._kernels.local_line import fit_line
from bottega.smooth._kernels.local_space import rows_of
from bottega.smooth._kernels.loess_fits import fit_space
from bottega.smooth._kernels.weight_functions import TRICUBE
from bottega.smooth._local.blocks import check_found, in_blocks, no_boxes, writable
from bottega.smooth._local.rows import (
    LocalRows,
    NearestWindows,
    TrainingFit,
    coefficient_count,
    derivative_units,
)

_BLOCK = 512  # rows of the smoother that are in memory at once


@stored
@dataclass(frozen=True)
class LocalFits:
    """Weighted least squares polynomials about points: a surface of their values."""

    windows: NearestWindows  # with the weights of the fits: sample times robustness weights
    y: FloatArray
    variance: FloatArray  # of each response over sigma^2
    degree: int

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        insist_on_length(self, len(self.windows.X), "y", "variance")
        insist(self.degree in (0, 1, 2), "an unknown degree of local fits")

    @property
    def X(self) -> FloatArray:  # noqa: N802
        """Rows on the scale of the distances, ascending in the first column."""
        return self.windows.X

    @property
    def weight(self) -> FloatArray:
        """Weights in the local fits."""
        return self.windows.weight

    def at(
        self, points: FloatArray, h: FloatArray, *, count: int = 1, variance: Any = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return functionals of the local polynomials, their C, and squared lengths of rows.

        There are `count` of them: the value, then the slopes; for one input, then the curvature.
        From C follow rows of the smoother (`rows`), whose length is that of the value's, under
        the fits' own variances or others.
        """
        spread = self.variance if variance is None else variance
        degree, p = self.degree, self.X.shape[1]
        count = min(count, coefficient_count(p, degree))
        line = p == 1
        X = np.ascontiguousarray(self.X[:, 0]) if line else self.X
        X, y, weight, spread, points, h = writable(X, self.y, self.weight, spread, points, h)

        def block(part: slice) -> Any:
            at, radius = points[part], h[part]
            if not line:
                return fit_space(X, y, weight, spread, at, radius, degree, count)
            shape, boxed = (degree, TRICUBE, 1.0, count, True), no_boxes(len(at))
            at = np.ascontiguousarray(at[:, 0])
            found, C, length, _ = fit_line(
                X, y, weight, spread, at, radius, radius, *shape, boxed, True
            )
            return found, C, length[:, 0]

        pairs = len(points) * self.windows.rows_inside
        found, C, length = in_blocks(len(points), pairs, block)
        check_found(found)
        unit = derivative_units(h, count, line)
        return found * unit, C * unit[:, :, None], length

    def rows(
        self, points: FloatArray, h: FloatArray, C: FloatArray, which: Any = slice(None)
    ) -> FloatArray:
        """Return how (some) rows of the data enter each functional: (points, count, rows)."""
        X, weight, points, h, C = writable(self.X[which], self.weight[which], points, h, C)
        return rows_of(X, weight, points, h, self.degree, TRICUBE, 1.0, False, C)

    def matrix(self, points: FloatArray) -> FloatArray:
        """Return the rows of the smoother at points: (points, rows)."""
        h = self.windows.radii(points)[0]
        return self.rows(points, h, self.at(points, h)[1])[:, 0]

    def reach(self, points: FloatArray, h: FloatArray) -> slice:
        """Return the rows among which the windows of the points lie."""
        first = self.X[:, 0]
        start = np.searchsorted(first, np.min(points[:, 0] - h), side="left")
        stop = np.searchsorted(first, np.max(points[:, 0] + h), side="right")
        return slice(int(start), int(stop))

    def evaluate(
        self, Z: FloatArray, *, lengths: bool = False, count: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return functionals at points, and the variance of the first over sigma^2."""
        found, _, length = self.at(Z, self.windows.radii(Z)[0], count=count)
        return found, length[:, None]

    def refit(self, y: FloatArray) -> "LocalFits":
        """Return the surface of other responses of the same rows."""
        return replace(self, y=y)

    def training(self, *, two_delta: bool = False) -> TrainingFit:
        """Return the fit at the rows it was made from, on request with `two_delta`."""
        h, widened = self.windows.radii(self.X)
        found, C, length = self.at(self.X, h, variance=np.ones(len(h)))
        return TrainingFit(
            found[:, 0],
            # A row is at the centre of its window: tricube one, and every term but the first zero.
            self.weight * C[:, 0, 0],
            float(length.sum()),
            int(widened.sum()),
            self._two_delta(h, C) if two_delta else np.nan,
        )

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
            if self.reach(self.X[rows], h[rows]).start >= left_at.stop:
                continue
            yield *self._residual_rows(rows, h, C), 1 if other == start else 2

    def _residual_rows(self, rows: slice, h: FloatArray, C: FloatArray) -> tuple[FloatArray, slice]:
        """Return rows of I - S, without the columns where all of them are zero."""
        points = self.X[rows]
        reach = self.reach(points, h[rows])
        columns = slice(min(reach.start, rows.start), max(reach.stop, rows.stop))
        found = -self.rows(points, h[rows], C[rows], columns)[:, 0]
        found[np.arange(len(points)), np.arange(rows.start, rows.stop) - columns.start] += 1
        return found, columns


def local_fits(
    rows: LocalRows, span: float, degree: int, robust: FloatArray | None = None
) -> LocalFits:
    """Return the local polynomials at a span, with robustness weights or without."""
    weight = rows.weight if robust is None else rows.weight * robust
    with np.errstate(divide="ignore"):
        variance = np.where(rows.weight > 0, 1 / rows.weight, 0.0)
    return LocalFits(rows.nearest(span, degree, weight), rows.y, variance, degree)
