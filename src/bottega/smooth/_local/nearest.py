"""Windows that hold a fraction of the rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray
from bottega.smooth._kernels import nearest as kernels
from bottega.smooth._local.blocks import in_blocks, writable


@stored
@dataclass(frozen=True)
class NearestWindows:
    """The nearest fraction of the rows about any point.

    Attributes
    ----------
    X : ndarray of shape (n, p)
        Rows on the scale of the distances, ascending in the first column.
    weight : ndarray of shape (n,)
        Weights in the local fits: rows of weight zero do not help a fit.
    mass : ndarray of shape (n,)
        What each row counts for in the nearest fraction.
    target : float
        Mass that a window must reach.
    stretch : float
        Factor on the radius of the window (fractions over one).
    least : int
        Number of distinct rows that a window must hold.
    """

    X: FloatArray
    weight: FloatArray
    mass: FloatArray
    target: float
    stretch: float
    least: int

    @property
    def rows_inside(self) -> float:
        """Number of rows in a window, about."""
        return float(min(1.0, self.target / self.mass.sum()) * len(self.X))

    def radii(self, at: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the radius of the window of each point, and which of them had to be widened."""
        settings = (self.target, self.stretch)
        if self.X.shape[1] > 1:
            X, weight, mass = writable(self.X, self.weight, self.mass)

            def block(rows: slice) -> Any:
                return kernels.radii_space(X, weight, mass, *settings, at[rows], self.least)

            h, widened = in_blocks(len(at), float(len(at)) * len(X), block)
            return h, widened
        x, weight = writable(np.ascontiguousarray(self.X[:, 0]), self.weight)
        sums = np.concatenate([[0.0], np.cumsum(self.mass)])
        order = np.argsort(at[:, 0], kind="stable")
        h, widened = np.empty(len(at)), np.empty(len(at), dtype=bool)
        h[order], widened[order] = kernels.radii_line(
            x, weight, sums, *settings, at[order, 0], self.least
        )
        return h, widened
