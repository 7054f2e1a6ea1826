"""Rows shared on an even grid."""

from dataclasses import dataclass

import numpy as np

from bottega.core.typing import FloatArray
from bottega.smooth._kernels.bins import bin_linear
from bottega.smooth._local.blocks import writable
from bottega.smooth._local.rows import LocalRows
from bottega.smooth._local.windows import Recipe, Window


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
        rows = LocalRows(
            np.ascontiguousarray(self.points[kept, None]),
            self.total[kept] / weight,
            weight,
            weight,
            kept,
            one,
            np.ones(1),
        )
        return Window(rows, self.square[kept], recipe, bandwidth)


def make_grid(
    x: FloatArray, y: FloatArray, w: FloatArray, low: float, high: float, size: int
) -> Grid:
    """Share rows on a grid from low to high; an even size is raised by one, to be halved."""
    size += 1 - size % 2
    step = (high - low) / (size - 1)
    x, y, w = writable(x, y, w)
    return Grid(low, step, *bin_linear(x, y, w, low, step, size))
