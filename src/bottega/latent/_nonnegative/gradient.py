"""Projected gradient descent, one factor after the other.

References
----------
.. [1] Lin, C.-J. (2007). Projected gradient methods for nonnegative matrix factorization. Neural
   Computation 19, 2756-2779.
"""

import numpy as np

from bottega.core import progress
from bottega.core.typing import FloatArray
from bottega.latent._nonnegative.problem import FactorPenalty, Factors, gram_of, quadratic
from bottega.latent._nonnegative.table import NonnegativeTable, Side

__all__ = ["project_gradients"]

_STEPS = 50  # of one factor in one iteration
_TRIES = 20  # of the length of one step
_SHRINKING, _ENOUGH = 0.1, 0.01


def project_gradients(
    table: NonnegativeTable,
    W: FloatArray,
    Z: FloatArray,
    penalty: FactorPenalty,
    tol: float,
    max_iter: int,
) -> Factors:
    """Minimise from two factors, until the projected gradient is `tol` times that at the start."""
    on_rows = _OneFactor(table.rows, Z, penalty.l1_codes, penalty.l2_codes)
    on_columns = _OneFactor(table.columns, W, penalty.l1_parts, penalty.l2_parts)
    best = quadratic(table, table.columns, Z, W, on_columns.P) + penalty.of(W, Z)
    found = Factors(W, Z, [best])
    first = np.hypot(
        on_rows.size(W, on_rows.gradient(W)), on_columns.size(Z, on_columns.gradient(Z))
    )
    goal_W = goal_Z = max(1e-3, tol) * first
    for _ in range(max_iter):
        on_rows = _OneFactor(table.rows, found.Z, penalty.l1_codes, penalty.l2_codes)
        size_W = on_rows.size(found.W, on_rows.gradient(found.W))
        W_new, steps_W = on_rows.descend(found.W, goal_W)
        on_columns = _OneFactor(table.columns, W_new, penalty.l1_parts, penalty.l2_parts)
        size_Z = on_columns.size(found.Z, on_columns.gradient(found.Z))
        if np.hypot(size_W, size_Z) <= tol * first:
            found.converged = True
            break
        Z_new, steps_Z = on_columns.descend(found.Z, goal_Z)
        value = quadratic(table, table.columns, Z_new, W_new, on_columns.P)
        value += penalty.of(W_new, Z_new)
        found.n_iter += 1
        progress.report("iterations", found.n_iter, max_iter)
        if steps_W or steps_Z:
            if not value < found.objective[-1]:  # by rounding: there is no way further down
                found.converged = True
                break
            found.W, found.Z = W_new, Z_new
            found.objective.append(value)
        # A factor that needed no step is to be solved more exactly.
        goal_W, goal_Z = goal_W * (1 if steps_W else 0.1), goal_Z * (1 if steps_Z else 0.1)
    return found


class _OneFactor:
    """The least squares problem of one factor with the other one fixed."""

    def __init__(self, side: Side, Z: FloatArray, l1: float, l2: float) -> None:
        self.side, self.Z, self.l1, self.l2 = side, Z, l1, l2
        self.P, self.G = side.times(Z), gram_of(Z, l2)

    def gradient(self, F: FloatArray) -> FloatArray:
        """Return the gradient at F."""
        found = F @ self.G - self.P
        if self.l1:
            found += self.l1
        if not self.side.complete:
            found -= self.side.gaps_times(self.side.at_gaps(F, self.Z), self.Z)
        return np.asarray(found)

    def curvature(self, d: FloatArray) -> float:
        """Return the second derivative along d."""
        found = float(np.vdot(d @ self.G, d))
        if not self.side.complete:
            found -= float(np.sum(self.side.at_gaps(d, self.Z) ** 2))
        return found

    @staticmethod
    def size(F: FloatArray, g: FloatArray) -> float:
        """Return the norm of the projected gradient."""
        return float(np.linalg.norm(np.where((g < 0) | (F > 0), g, 0.0)))

    def descend(self, F: FloatArray, goal: float) -> tuple[FloatArray, int]:
        """Return F after some steps, and how many, until the projected gradient is at the goal."""
        length = 1.0 / max(float(np.trace(self.G)), np.finfo(float).tiny)
        for step in range(_STEPS):
            g = self.gradient(F)
            if self.size(F, g) <= goal:
                return F, step
            F_new, length = self._step(F, g, length)
            if F_new is F:
                return F, step
            F = F_new
        return F, _STEPS

    def _step(self, F: FloatArray, g: FloatArray, length: float) -> tuple[FloatArray, float]:
        """Return F after one step, of the longest length tried that descends enough."""
        kept, shrinking = F, False
        for trial in range(_TRIES):
            F_new = np.maximum(F - length * g, 0.0)
            d = F_new - F
            enough = (1 - _ENOUGH) * np.vdot(g, d) + 0.5 * self.curvature(d) <= 0
            if trial == 0:
                shrinking = not enough
            if shrinking:
                if enough:
                    return F_new, length
                length *= _SHRINKING
            else:
                if not enough or np.array_equal(kept, F_new):
                    return kept, length * _SHRINKING
                kept, length = F_new, length / _SHRINKING
        return kept, length
