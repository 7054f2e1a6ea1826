"""Multiplicative steps, for squared error and for the Kullback-Leibler divergence.

Each step takes the minimum of a function that lies above the objective and touches it, so the
objective cannot rise. Entries stay above a tiny number: from zero no factor would lead away.

References
----------
.. [1] Lee, D. D. and Seung, H. S. (2001). Algorithms for non-negative matrix factorization.
   Advances in Neural Information Processing Systems 13, 556-562.
"""

from typing import Any

import numpy as np

from bottega.core import progress
from bottega.core.typing import Array, FloatArray
from bottega.latent._kernels.divergence_steps import divergence_step
from bottega.latent._nonnegative.problem import FactorPenalty, Factors, gram_of, quadratic
from bottega.latent._nonnegative.table import NonnegativeTable, Side

__all__ = ["divergence_codes", "divergences", "multiply"]

_FLOOR = 1e-12  # of the size that entries have
_LEAST = 1e-150  # the least of such numbers: products of two of them are not zero
_EVERY = 10  # iterations after which it is looked whether the objective still falls


def multiply(
    table: NonnegativeTable,
    W: FloatArray,
    Z: FloatArray,
    penalty: FactorPenalty,
    tol: float,
    max_iter: int,
    kullback_leibler: bool,
) -> Factors:
    """Minimise from two factors, until ten iterations lower it by less than `tol` of the start."""
    floor = max(_FLOOR * np.sqrt(float(table.rows.matrix.mean())), _LEAST)
    W, Z = np.maximum(W, floor), np.maximum(Z, floor)
    step = _divergence_steps if kullback_leibler else _square_steps
    value, W_new, Z_new = step(table, W, Z, penalty, floor)
    found = Factors(W, Z, [value])
    for _ in range(max_iter):
        ahead = step(table, W_new, Z_new, penalty, floor)  # its value is that before the step
        found.n_iter += 1
        progress.report("iterations", found.n_iter, max_iter)
        if not ahead[0] < found.objective[-1]:  # by rounding: there is no way further down
            found.converged = True
            break
        found.W, found.Z = W_new, Z_new
        value, W_new, Z_new = ahead
        found.objective.append(value)
        trace = found.objective
        if found.n_iter % _EVERY == 0 and trace[-1 - _EVERY] - value <= tol * trace[0]:
            found.converged = True
            break
    return found


def _square_steps(
    table: NonnegativeTable, W: FloatArray, Z: FloatArray, penalty: FactorPenalty, floor: float
) -> tuple[float, FloatArray, FloatArray]:
    """Return the objective, and both factors after a step of each."""
    P = table.rows.times(Z)
    value = quadratic(table, table.rows, W, Z, P) + penalty.of(W, Z)
    W = _square_step(table.rows, W, Z, P, penalty.l1_codes, penalty.l2_codes, floor)
    P = table.columns.times(W)
    return value, W, _square_step(table.columns, Z, W, P, penalty.l1_parts, penalty.l2_parts, floor)


def _square_step(
    side: Side, F: FloatArray, Z: FloatArray, P: FloatArray, l1: float, l2: float, floor: float
) -> FloatArray:
    below = F @ gram_of(Z, l2)
    if not side.complete:
        below -= side.gaps_times(side.at_gaps(F, Z), Z)
    above = np.maximum(P - l1, 0.0)
    return np.maximum(F * above / np.where(below > 0, below, np.inf), floor)


def _divergence_steps(
    table: NonnegativeTable, W: FloatArray, Z: FloatArray, penalty: FactorPenalty, floor: float
) -> tuple[float, FloatArray, FloatArray]:
    """Return the objective, and both factors after a step of each."""
    rates = _rates(table.rows, Z)
    expected = float(np.vdot(W.sum(axis=0), rates[0]) if len(rates) == 1 else np.vdot(W, rates))
    start = penalty.of(W, Z) + expected - float(table.rows.matrix.sum())
    W, Z = W.copy(), Z.copy()
    inner = divergence_step(
        *table.rows.positive, W, Z, rates, penalty.l1_codes, penalty.l2_codes, floor
    )
    rates = _rates(table.columns, W)
    divergence_step(*table.columns.positive, Z, W, rates, penalty.l1_parts, penalty.l2_parts, floor)
    return start + inner, W, Z


def _rates(side: Side, Z: FloatArray) -> FloatArray:
    """Return the sums of Z over the observed entries of each row; one row where all are alike."""
    total = Z.sum(axis=0)[None]
    if side.complete:
        return total
    return np.maximum(total - side.gaps_times(np.ones(len(side.gaps)), Z), 0.0)


def divergence_codes(
    side: Side, Z: FloatArray, l1: float, l2: float, tol: float, max_iter: int
) -> tuple[FloatArray, int]:
    """Return the codes of rows for components Z, and how many rows were not done."""
    m = side.matrix.shape[0]
    rates = _rates(side, Z)
    sums = np.asarray(side.matrix.sum(axis=1)).ravel()
    spread = np.maximum(rates.sum(axis=1), np.finfo(float).tiny)
    F = np.repeat((sums / spread)[:, None], Z.shape[1], axis=1)
    floor = max(_FLOOR * float(F.mean()), _LEAST)
    F, Z = np.maximum(F, floor), np.maximum(Z, max(_FLOOR * float(Z.mean()), _LEAST))
    left = np.arange(m)
    starts, columns, values = side.positive
    for _ in range(max_iter):
        old = F[left]
        new = old.copy()
        at = _rows_of(starts, columns, values, left)
        divergence_step(
            at[0], at[1], at[2], new, Z, rates if len(rates) == 1 else rates[left], l1, l2, floor
        )
        F[left] = new
        moved = np.max(np.abs(new - old), axis=1) > tol * np.max(new, axis=1)
        left = left[moved]
        if not len(left):
            break
    F[floor >= F] = 0.0
    return F, len(left)


def _rows_of(starts: Array, columns: Array, values: Array, rows: Array) -> tuple[Any, Any, Any]:
    """Return the entries of some rows of a sparse table."""
    counts = starts[rows + 1] - starts[rows]
    own = np.concatenate([[0], np.cumsum(counts)])
    at = np.repeat(starts[rows] - own[:-1], counts) + np.arange(own[-1])
    return own, columns[at], values[at]


def divergences(side: Side, F: FloatArray, Z: FloatArray) -> FloatArray:
    """Return the Kullback-Leibler divergence of each row, over its observed entries."""
    starts, columns, values = side.positive
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    fitted = np.maximum(np.einsum("ij,ij->i", F[rows], Z[columns]), np.finfo(float).tiny)
    parts = values * np.log(values / fitted) - values
    expected = np.sum(F * _rates(side, Z), axis=1)
    return np.bincount(rows, parts, len(starts) - 1) + expected
