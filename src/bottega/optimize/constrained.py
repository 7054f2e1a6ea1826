"""Linear predictors of least total loss in a region: squares in a ball exactly, else certified."""

import numpy as np
from scipy.optimize import brentq

from bottega.core.errors import InputError
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.typing import FloatArray
from bottega.optimize.interior_point import LossProblem, minimise
from bottega.optimize.regions import Ball, Everything, L1Ball, Region, Simplex

__all__ = ["least_loss_in", "least_squares_in"]


def least_squares_in(
    triangle: FloatArray, region: Region, ridge: float = 0.0
) -> tuple[FloatArray, float, float]:
    r"""Return u, its total squared loss and the gap, from the triangle of ``[X, y] = Q R``.

    :math:`\|Xu - y\|^2 = \|R_1 u - z\|^2 + \rho^2` with :math:`R = (R_1, z; 0, \rho)`, so the
    triangle says all about the rows that squared loss asks. Over the ball :math:`u(\lambda) =
    (R_1^\top R_1 + (\tfrac{ridge}{2} + \lambda) I)^{-1} R_1^\top z` with the least
    :math:`\lambda \ge 0` for which it is inside.
    """
    d = triangle.shape[1] - 1
    padded = np.zeros((d + 1, d + 1))
    padded[: len(triangle)] = triangle
    R, z, rest = padded[:d, :d], padded[:d, d], float(padded[d, d]) ** 2
    if isinstance(region, Ball | Everything):
        u, gap = _in_ball(R, z, region, ridge)
    elif isinstance(region, L1Ball) and ridge > 0:
        # The penalty as d more rows: the l1 ball is searched as a simplex, which has no norm.
        longer = np.vstack([R, np.sqrt(ridge / 2) * np.eye(d)])
        u, _, gap = least_loss_in(SQUARED_ERROR, longer, np.append(z, np.zeros(d)), region)
    else:
        u, _, gap = least_loss_in(SQUARED_ERROR, R, z, region, ridge)
    total = float(np.sum((R @ u - z) ** 2)) + rest + ridge / 2 * float(u @ u)
    return u, total, min(gap, total)


def _in_ball(
    R: FloatArray, z: FloatArray, region: Region, ridge: float
) -> tuple[FloatArray, float]:
    P, s, Qt = np.linalg.svd(R)
    seen = s > len(s) * np.finfo(np.float64).eps * s[0]
    s, Qt, along = s[seen], Qt[seen], (P.T @ z)[seen]

    def weights(multiplier: float) -> FloatArray:
        return np.asarray(s * along / (s**2 + ridge / 2 + multiplier))

    v = weights(0.0)
    if isinstance(region, Ball) and np.linalg.norm(v) > region.radius:
        # Past the upper end the norm is below ||s along|| / multiplier, so inside.
        most = float(np.linalg.norm(s * along)) / region.radius
        at = brentq(
            lambda m: 1 / region.radius - 1 / np.linalg.norm(weights(m)), 0.0, most, xtol=1e-300
        )
        v = weights(at)
        v *= region.radius / np.linalg.norm(v)
    u = Qt.T @ v
    if isinstance(region, Ball):
        pull = 2 * s * (s * v - along)
        inside = region.conjugate(-pull, ridge) + float(pull @ v) + ridge / 2 * float(v @ v)
        return u, max(inside, 0.0)
    left = (s * v - along) * s + ridge / 2 * v  # half the gradient, which should be zero
    return u, float(np.sum(left**2 / (s**2 + ridge / 2)))


def least_loss_in(
    loss: Loss,
    X: FloatArray,
    y: FloatArray,
    region: Region,
    ridge: float = 0.0,
    tol: float = 1e-9,
) -> tuple[FloatArray, float, float]:
    """Return u, its total loss (``ridge/2 ||u||^2`` included) and the gap, by interior points."""
    if isinstance(region, L1Ball):
        if ridge > 0:
            raise InputError(
                "Over the l1 ball with a penalty only the squared error can be minimised; use "
                "another region, or no penalty."
            )
        # u = v' - v'' with v', v'' and a rest on the simplex.
        d = X.shape[1]
        doubled = np.column_stack([X, -X, np.zeros(len(X))])
        found = minimise(LossProblem(loss, doubled, y, Simplex(region.radius)), tol=tol)
        return found.u[:d] - found.u[d : 2 * d], found.value, found.gap
    found = minimise(LossProblem(loss, X, y, region, ridge), tol=tol)
    return found.u, found.value, found.gap
