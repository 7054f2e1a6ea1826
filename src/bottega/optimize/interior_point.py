r"""Minimise a sum of convex losses of a linear predictor over a convex set, with a certificate.

.. math:: \min_{u \in C} \; F(u) = \sum_i \ell(y_i, x_i^\top u) + \tfrac{\rho}{2} \|u\|^2

Smooth losses: Newton's method on F plus :math:`\tau` times a logarithmic barrier of C, with
:math:`\tau` falling to zero. Losses with a kink (absolute, hinge) are
:math:`\max(c_1 r, c_2 r)` of a residual r, so the problem is a linear or quadratic program with
one more variable :math:`t_i \ge \max(c_1 r_i, c_2 r_i)` per row; a primal-dual interior-point
method solves it, with the t eliminated, so that a step costs no more than Newton's.

Whatever u and whatever slopes :math:`a_i` of the losses a method has come to, Fenchel's and
Young's inequality gives

.. math:: F(u) - \min_C F \le \sum_i [\ell_i + \ell_i^*(a_i) - a_i z_i]
          + [\tfrac{\rho}{2} \|u\|^2 + \sup_{v \in C} (s^\top v - \tfrac{\rho}{2} \|v\|^2)
          - s^\top u], \quad s = -X^\top a ,

a number that is computed, not believed (for smooth losses the first sum is zero). The methods go on
until it is small, and return it whatever happens. A step costs :math:`n d^2 + d^3`; 20 to 50 are
needed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bottega.core.errors import InputError
from bottega.core.losses import ABSOLUTE_ERROR, HINGE, LOGISTIC, SQUARED_ERROR, Huber, Loss
from bottega.core.typing import FloatArray
from bottega.optimize.regions import Ball, Everything, Region

__all__ = ["BarrierMinimum", "LossProblem", "minimise"]

_MAX_BARRIERS = 25
_MAX_STEPS = 60
_MAX_PRIMAL_DUAL = 100
_FALL = 0.1  # of tau, from one barrier problem to the next
_STAY_INSIDE = 0.995  # share of the way to the border


@dataclass(frozen=True)
class BarrierMinimum:
    """What was found: the point, its value and how far above the least value it can be.

    `pull` is :math:`X^T a` and `offset` the constant of the dual bound: without a penalty
    ``min F >= offset - r * ||pull||`` over the ball of radius r, for every r.
    """

    u: FloatArray
    value: float
    gap: float
    pull: FloatArray
    offset: float


@dataclass(frozen=True)
class LossProblem:
    """The sum of losses to be minimised, the set, and the penalty rho."""

    loss: Loss
    X: FloatArray
    y: FloatArray
    region: Region
    ridge: float = 0.0

    @property
    def kinked(self) -> bool:
        """Whether the loss is a maximum of two lines."""
        return self.loss == ABSOLUTE_ERROR or self.loss == HINGE

    def value(self, u: FloatArray) -> float:
        """Return F(u)."""
        return float(np.sum(self.loss(self.y, self.X @ u))) + self.ridge / 2 * float(u @ u)

    def certified(self, u: FloatArray, slope: FloatArray) -> BarrierMinimum:
        """Return u with its gap, from slopes of the losses at or near ``X @ u``."""
        z = self.X @ u
        losses = self.loss(self.y, z)
        slack = 0.0  # by how much the losses and slopes miss equality in Fenchel and Young
        if self.loss == ABSOLUTE_ERROR:
            slack = float(np.sum(losses - slope * (z - self.y)))
        elif self.loss == HINGE:
            slack = float(np.sum(losses + self.y * slope * (1 - self.y * z)))
        pull = self.X.T @ slope
        along = float(pull @ u)
        penalty = self.ridge / 2 * float(u @ u)
        region = self.region
        if isinstance(region, Everything) and not self.ridge:
            region = Ball(10 * (1 + float(np.linalg.norm(u))))
        gap = slack + penalty + region.conjugate(-pull, self.ridge) + along
        total = float(np.sum(losses))
        # No loss is negative, so zero is a lower bound too; rounding may not make the gap negative.
        gap = min(max(gap, 0.0), total + penalty)
        return BarrierMinimum(u, total + penalty, gap, pull, total - slack - along)


def minimise(problem: LossProblem, *, tol: float = 1e-9) -> BarrierMinimum:
    """Return the u of least total loss in the region, and its certified gap.

    Parameters
    ----------
    problem : LossProblem
        Absolute error, squared error, hinge, logistic or Huber loss.
    tol : float
        Wanted gap, as a share of the loss of the starting point.

    Returns
    -------
    BarrierMinimum
        Over all vectors without a penalty the gap holds against every vector up to ten times as
        long as ``1 + ||u||``.
    """
    if problem.kinked:
        return _primal_dual(problem, tol)
    if problem.loss not in (SQUARED_ERROR, LOGISTIC) and not isinstance(problem.loss, Huber):
        raise InputError(
            f"The best linear predictor under the {problem.loss.name} loss cannot be found by "
            "convex optimisation; use absolute_error, squared_error, huber, hinge or logistic."
        )
    return _barrier(problem, tol)


def _barrier(problem: LossProblem, tol: float) -> BarrierMinimum:
    u = problem.region.start(problem.X.shape[1])
    scale = problem.value(u)
    terms = len(problem.region.slacks(u))
    tau = scale / max(terms, 1) if terms else 0.0
    best = problem.certified(u, _slope_and_curvature(problem, problem.X @ u)[0])
    for _ in range(_MAX_BARRIERS):
        if best.gap <= tol * scale:
            break
        # On the central path the gap is tau times the number of terms. What the gradient misses
        # beside it counts in the gap to first order but in the decrement to second: hence tau^2.
        close = 0.01 * tau * (tau / scale) if terms else 1e-20 * scale
        u = _newton(problem, u, tau, close)
        found = problem.certified(u, _slope_and_curvature(problem, problem.X @ u)[0])
        if found.gap < best.gap:
            best = found
        if not terms:
            break
        tau *= _FALL
    return best


def _newton(problem: LossProblem, u: FloatArray, tau: float, close: float) -> FloatArray:
    """Walk to the minimum of one barrier problem."""
    X, ridge, region = problem.X, problem.ridge, problem.region
    z = X @ u
    for _ in range(_MAX_STEPS):
        slope, curve = _slope_and_curvature(problem, z)
        gradient = X.T @ slope + ridge * u + tau * region.barrier_gradient(u)
        hessian = (X.T * curve) @ X + region.curvature(u, tau / region.slacks(u))
        step = region.newton_step(_inverse(hessian, ridge), gradient)
        descent = float(gradient @ step)
        if not -descent > close:
            break
        along = X @ step
        t = min(1.0, _STAY_INSIDE * region.reach(u, step))
        for _ in range(40):
            # Values are too coarse to compare near the end; the slope along the step is not.
            there = u + t * step
            slope, _curve = _slope_and_curvature(problem, z + t * along)
            with np.errstate(divide="ignore", invalid="ignore"):  # a slack that rounds to zero
                wall = step @ region.barrier_gradient(there) if tau else 0.0
            if slope @ along + ridge * (step @ there) + tau * wall <= -0.1 * descent:
                break
            t /= 2
        else:
            break
        u, z = u + t * step, z + t * along
    return u


def _slope_and_curvature(problem: LossProblem, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first and second derivatives in z of a smooth loss."""
    loss, y = problem.loss, problem.y
    slope, curve = loss.gradient(y, z), loss.curvature(y, z)
    if isinstance(loss, Huber):
        # Rows on the straight parts have no curvature; a small share of what would majorise the
        # loss there keeps the steps finite where only few rows are near.
        curve = np.maximum(curve, 1e-3 * loss.delta / np.maximum(np.abs(z - y), loss.delta))
    return slope, curve


def _primal_dual(problem: LossProblem, tol: float) -> BarrierMinimum:
    r"""Solve for absolute or hinge loss.

    With :math:`r = r_0 + e z` the loss is :math:`\max(c_1 r, c_2 r)`. Slacks
    :math:`p = t - c_2 r` and :math:`q = t - c_1 r` have the multipliers :math:`a = 1 - b` and b,
    the slacks g of the region the multipliers m; all products tend to tau together.
    """
    X, y, ridge, region = problem.X, problem.y, problem.ridge, problem.region
    if problem.loss == ABSOLUTE_ERROR:
        c1, c2, e, r0 = 1.0, -1.0, np.ones(len(y)), -y
    else:
        c1, c2, e, r0 = 1.0, 0.0, -y, np.ones(len(y))
    u = region.start(X.shape[1])
    r = r0 + e * (X @ u)
    scale = problem.value(u)
    if scale == 0:
        return problem.certified(u, np.zeros(len(y)))
    t = np.maximum(c1 * r, c2 * r) + scale / len(y)
    p, q = t - c2 * r, t - c1 * r
    a, b = q / (p + q), p / (p + q)  # a is kept beside b, for 1 - b would round to zero
    g = region.slacks(u)
    m = float(np.mean(q * b)) / g
    best = problem.certified(u, e * (c2 + (c1 - c2) * b))
    for _ in range(_MAX_PRIMAL_DUAL):
        if best.gap <= tol * scale:
            break
        products = p @ a + q @ b + g @ m
        tau = 0.1 * products / (2 * len(y) + len(g))
        # Newton's step for all products = tau; rows and region are eliminated, u is left.
        weight = q * a + p * b
        drift = (tau * (a - b) + a * b * (p - q)) / weight
        gain = (c1 - c2) * a * b / weight
        slope = e * (c2 + (c1 - c2) * (b + drift))
        gradient = X.T @ slope + ridge * u + tau * region.barrier_gradient(u)
        hessian = (X.T * ((c1 - c2) * gain)) @ X + region.curvature(u, m)
        du = region.newton_step(_inverse(hessian, ridge), gradient)
        dr = e * (X @ du)
        db = drift + gain * dr
        dt = c2 * dr + (tau - p * a + p * db) / a
        dp, dq = dt - c2 * dr, dt - c1 * dr
        dm = (tau - m * (g + region.slopes(u, du))) / g
        primal = min(1.0, *(_STAY_INSIDE * _way(v, dv) for v, dv in ((p, dp), (q, dq))))
        primal = min(primal, _STAY_INSIDE * region.reach(u, du))
        dual = min(1.0, *(_STAY_INSIDE * _way(v, dv) for v, dv in ((a, -db), (b, db), (m, dm))))
        if max(primal, dual) < 1e-12:
            break
        u, p, q = u + primal * du, p + primal * dp, q + primal * dq
        a, b, m = a - dual * db, b + dual * db, m + dual * dm
        g = region.slacks(u)
        found = problem.certified(u, e * (c2 + (c1 - c2) * b))
        if found.gap < best.gap:
            best = found
    return best


def _way(value: FloatArray, change: FloatArray) -> float:
    """Return how far positive numbers may go before one of them is zero."""
    falling = change < 0
    return float(np.min(-value[falling] / change[falling])) if falling.any() else np.inf


def _inverse(hessian: FloatArray, ridge: float) -> Callable[[FloatArray], FloatArray]:
    """Return what applies the inverse of ``hessian + ridge I``; flat directions are damped."""
    size = float(np.max(np.diag(hessian))) + ridge
    for damping in (1e-15, 1e-12, 1e-9, 1e-6):
        damped = hessian.copy()
        damped[np.diag_indices_from(damped)] += ridge + (damping * size or 1.0)
        try:
            factor = cho_factor(damped, check_finite=False)
        except LinAlgError:
            continue
        return lambda v: np.asarray(cho_solve(factor, v, check_finite=False))
    raise InputError("The minimum cannot be computed: the inputs are not finite.")
