"""Coordinate descent on Gram matrices, with extrapolation that never lets the objective rise.

One iteration costs a product of the table with each factor. What it does with them is cheap beside
that, so each factor gets several sweeps [1]_. Both factors are then moved on a little in the
direction in which they went [2]_; an iteration that raises the objective is undone, and the next
one does without.

References
----------
.. [1] Gillis, N. and Glineur, F. (2012). Accelerated multiplicative updates and hierarchical ALS
   algorithms for nonnegative matrix factorization. Neural Computation 24, 1085-1105.
.. [2] Ang, A. M. S. and Gillis, N. (2019). Accelerating nonnegative matrix factorization
   algorithms using extrapolation. Neural Computation 31, 417-439.
"""

import numpy as np

from bottega.core import progress
from bottega.core.typing import FloatArray
from bottega.latent._kernels.nonnegative_rows import solve_rows
from bottega.latent._kernels.nonnegative_sweeps import sweep_blocks
from bottega.latent._nonnegative.problem import FactorPenalty, Factors, gram_of, quadratic
from bottega.latent._nonnegative.table import NonnegativeTable, Side

__all__ = ["descend", "solve"]

_SWEEPS = 4
_SWEEPS_WITH_GAPS = 10  # each row has a Gram matrix of its own then, which costs more than a sweep
# Extrapolation: its first size, how it grows, how its limit grows, and how both shrink.
_SIZE, _GROWTH, _LIMIT_GROWTH, _SHRINKING = 0.5, 1.05, 1.01, 1.5


def descend(
    table: NonnegativeTable,
    W: FloatArray,
    Z: FloatArray,
    penalty: FactorPenalty,
    tol: float,
    max_iter: int,
    rng: np.random.Generator | None = None,
) -> Factors:
    """Minimise from two factors, until the violation is `tol` times that at the start.

    With a generator the components come in an order drawn anew for each factor and iteration.
    """
    P = table.columns.times(W)
    best = quadratic(table, table.columns, Z, W, P) + penalty.of(W, Z)
    found = Factors(W, Z, [best])
    W_from, Z_from = W, Z  # where sweeps start: the factors, moved on
    size, limit, plain, first = _SIZE, 1.0, False, 0.0
    before_W, before_Z = W, Z
    codes, parts = (penalty.l1_codes, penalty.l2_codes), (penalty.l1_parts, penalty.l2_parts)
    for _ in range(max_iter):
        found.n_iter += 1
        now = 0.0 if plain else size
        W_new, _, left = _swept(table.rows, W_from, Z_from, *codes, rng)
        W_on = _moved(W_new, before_W, now)
        Z_new, P, right = _swept(table.columns, Z_from, W_on, *parts, rng)
        value = quadratic(table, table.columns, Z_new, W_on, P) + penalty.of(W_on, Z_new)
        violation = left + right
        first = first or violation
        progress.report("iterations", found.n_iter, max_iter)
        if not value < best:
            W_from, Z_from, before_W, before_Z = found.W, found.Z, found.W, found.Z
            if plain:  # then only rounding raises it: there is no way further down
                found.converged = True
                break
            limit, size, plain = size, size / _SHRINKING, True
            continue
        found.W, found.Z, plain = W_on, Z_new, False
        best = value
        found.objective.append(value)
        if violation <= tol * first:
            found.converged = True
            break
        W_from, Z_from = W_on, _moved(Z_new, before_Z, now)
        before_W, before_Z = W_new, Z_new
        size, limit = min(limit, _GROWTH * size), min(1.0, _LIMIT_GROWTH * limit)
    return found


def _moved(new: FloatArray, old: FloatArray, by: float) -> FloatArray:
    return np.maximum(new + by * (new - old), 0.0) if by else new


def _swept(
    side: Side,
    F: FloatArray,
    Z: FloatArray,
    l1: float,
    l2: float,
    rng: np.random.Generator | None,
) -> tuple[FloatArray, FloatArray, float]:
    """Return the factor after some sweeps, the products of the table, and the violation."""
    if rng is not None:
        order = rng.permutation(Z.shape[1])
        back = np.argsort(order)
        F, P, violation = _swept(side, F.take(order, 1), Z.take(order, 1), l1, l2, None)
        return F.take(back, 1), P.take(back, 1), violation
    P = side.times(Z)
    q = P - l1 if l1 else P
    F = F.copy()
    if side.complete:
        return F, P, sweep_blocks(F, q, gram_of(Z, l2), _SWEEPS)
    at = (side.starts, side.gaps)
    violation, _ = solve_rows(F, q, gram_of(Z), l2, Z, *at, _SWEEPS_WITH_GAPS, 0.0)
    return F, P, violation


def solve(side: Side, Z: FloatArray, l1: float, l2: float, sweeps: int) -> tuple[FloatArray, int]:
    """Return the best factor of the rows for components Z, and how many rows were not done."""
    F = np.zeros((side.matrix.shape[0], Z.shape[1]))
    q = side.times(Z) - l1
    at = (side.starts, side.gaps)
    _, left = solve_rows(F, q, gram_of(Z), l2, np.ascontiguousarray(Z), *at, sweeps, 1e-9)
    return F, left
