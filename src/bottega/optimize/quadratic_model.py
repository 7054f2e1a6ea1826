"""The quadratic approximation of a likelihood, and its minimum with a penalty."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.optimize._kernels import coordinate as kernels
from bottega.optimize.coordinate import FLOOR
from bottega.optimize.multinomial import LikelihoodPoint

__all__ = ["QuadraticModel", "lasso_minimum", "smooth_minimum"]

# Sweeps of coordinate descent within a Newton step.
_SWEEPS = 10_000
# Eigenvalues of a curvature, against the largest, that are zero.
_SINGULAR = 1e-11
# Curvature that a step shows, against that expected, below which nothing is learnt from it.
_CONVEX = 1e-3


@dataclass(frozen=True)
class QuadraticModel:
    """The curvature of a quadratic approximation, on the columns W."""

    W: IntArray
    H: FloatArray  # (T m, T m), intercepts taken out
    cross: FloatArray
    solved: FloatArray

    def scaled(self, factor: FloatArray) -> "QuadraticModel":
        """Return the curvature in columns that are multiplied by a factor each."""
        T = len(self.solved)
        each = np.tile(factor, T)
        H = self.H * each[:, None]
        H *= each
        return replace(self, H=H, cross=self.cross * each[:, None])

    def slope(self, point: LikelihoodPoint, factor: FloatArray, fit_intercept: bool) -> FloatArray:
        """Return the slope of the likelihood whose intercepts follow the coefficients."""
        g = (point.slope * factor).ravel()
        return g - self.cross @ (self.solved @ point.pull) if fit_intercept else g

    def freedom(self, used: IntArray, l2: float) -> float:
        """Return how much of some coefficients squares in the penalty leave, in all."""
        if not len(used):
            return 0.0
        size = np.maximum(linalg.eigvalsh(self.H[np.ix_(used, used)]), 0.0)
        return float(np.sum(size / (size + l2)))

    def learnt(self, step: FloatArray, change: FloatArray) -> "QuadraticModel":
        """Return the curvature with what a step showed: the slope's change (BFGS)."""
        curved, along = self.H @ step, float(step @ change)
        size = float(step @ curved)
        if not along > _CONVEX * size:
            return self
        H = self.H.copy()  # symmetric, so its transpose is as good, and in the order of BLAS
        blas.dger(1 / along, change, change, a=H.T, overwrite_a=1)
        blas.dger(-1 / size, curved, curved, a=H.T, overwrite_a=1)
        return replace(self, H=H)


def lasso_minimum(H: FloatArray, g: FloatArray, b: FloatArray, l1: float, l2: float) -> FloatArray:
    """Return the minimum of the quadratic with curvature H whose slope at b is g, downhill.

    The penalty is `l1` times the absolute values and half `l2` times the squares.
    """
    m = len(b)
    c = H @ b + g
    floor = FLOOR * float(np.max(np.abs(c), initial=0.0))
    found = b.copy()
    kernels.solve_on_gram(
        H, m, c, np.empty(m), found, np.full(m, l1), np.full(m, l2), floor, floor, _SWEEPS,
        np.empty((m, m)), np.empty(m, np.intp), np.zeros(1, np.intp),
    )  # fmt: skip
    return found


def smooth_minimum(
    H: FloatArray,
    g: FloatArray,
    b: FloatArray,
    l2: float,
    columns: int,
    free: BoolArray | None = None,
) -> FloatArray:
    """Return the minimum with half `l2` times the squares as the penalty.

    The coefficients b are those of so many `columns`, one score after the other. With `free` only
    these move.
    """
    used = np.diagonal(H) > 0
    if free is not None:
        used &= free
    at = np.flatnonzero(used)
    found = b.copy()
    if not len(at):
        return found
    A = np.array(H, order="F") if len(at) == len(b) else np.asfortranarray(H[np.ix_(at, at)])
    right = g[at] - l2 * b[at]
    if l2 > 0:
        A.T.flat[:: len(at) + 1] += l2
        _, step, failed = lapack.dposv(A, right, lower=1)
        if not failed:  # else the penalty is lost in the rounding of the curvature
            found[at] += step
            return found
    # The same number added to all scores does nothing, and columns may depend on one another:
    # the shortest of the solutions, in columns of one size.
    column = at % columns
    unit = np.zeros(columns)
    np.maximum.at(unit, column, np.diagonal(A))
    unit = np.sqrt(unit[column])
    size, V = linalg.eigh(A / unit / unit[:, None])
    real = size > _SINGULAR * size[-1]
    found[at] += V[:, real] @ ((V[:, real].T @ (right / unit)) / size[real]) / unit
    return found
