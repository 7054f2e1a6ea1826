"""Local polynomials with tricube weights in given windows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._kernels import loess_fits as kernels
from bottega.smooth._kernels.local_space import rows_of
from bottega.smooth._kernels.weight_functions import TRICUBE
from bottega.smooth._local.blocks import in_blocks, writable
from bottega.smooth._local.rows import (
    LocalRows,
    NearestWindows,
    coefficient_count,
    derivative_units,
)


@stored
@dataclass(frozen=True)
class LocalFits:
    """Weighted least squares polynomials about points."""

    windows: NearestWindows  # with the weights of the fits: sample times robustness weights
    y: FloatArray
    variance: FloatArray  # of each response over sigma^2
    degree: int

    @property
    def X(self) -> FloatArray:  # noqa: N802
        """Rows on the scale of the distances, ascending in the first column."""
        return self.windows.X

    @property
    def weight(self) -> FloatArray:
        """Weights in the local fits."""
        return self.windows.weight

    def around(
        self, points: FloatArray, count: int = 1
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Fit in the windows of the points; returns what `at` does."""
        return self.at(points, self.windows.radii(points)[0], count=count)

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
        X, y, weight, spread, points, h = writable(
            np.ascontiguousarray(self.X[:, 0]) if p == 1 else self.X,
            self.y,
            self.weight,
            spread,
            points,
            h,
        )

        def block(rows: slice) -> Any:
            if p == 1:
                at = np.ascontiguousarray(points[rows, 0])
                return kernels.fit_line(X, y, weight, spread, at, h[rows], degree, count)
            return kernels.fit_space(X, y, weight, spread, points[rows], h[rows], degree, count)

        pairs = len(points) * self.windows.rows_inside
        found, C, length = in_blocks(len(points), pairs, block)
        unit = derivative_units(h, count, p == 1)
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


def local_fits(
    rows: LocalRows, span: float, degree: int, robust: FloatArray | None = None
) -> LocalFits:
    """Return the local polynomials at a span, with robustness weights or without."""
    weight = rows.weight if robust is None else rows.weight * robust
    with np.errstate(divide="ignore"):
        variance = np.where(rows.weight > 0, 1 / rows.weight, 0.0)
    return LocalFits(rows.nearest(span, degree, weight), rows.y, variance, degree)
