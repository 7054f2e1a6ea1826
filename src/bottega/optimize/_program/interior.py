"""A convex quadratic program by Clarabel, and the last digits by its active conditions."""

from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.errors import require
from bottega.core.typing import FloatArray
from bottega.optimize._program.conditions import Conditions, Multipliers

__all__ = ["interior_point", "kkt_residual"]

_TOL = 1e-10


def interior_point(
    Q: FloatArray, c: FloatArray, conditions: Conditions
) -> tuple[FloatArray, Multipliers, str, int]:
    """Return point, multipliers, status and iterations of Clarabel, polished."""
    clarabel = require("clarabel", "optimize")
    up = np.flatnonzero(np.isfinite(conditions.high))
    down = np.flatnonzero(np.isfinite(conditions.low))
    eye = np.eye(conditions.d)
    G = np.vstack([conditions.E, conditions.A, eye[up], -eye[down]])
    g = np.concatenate([conditions.e, conditions.b, conditions.high[up], -conditions.low[down]])
    p = len(conditions.e)
    cones = []
    if p:
        cones.append(clarabel.ZeroConeT(p))
    if len(g) > p:
        cones.append(clarabel.NonnegativeConeT(len(g) - p))
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOL
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(Q)), c, sparse.csc_matrix(G), g, cones, settings
    )
    found = solver.solve()
    x, z = np.array(found.x), np.array(found.z)
    z[p:] = np.maximum(z[p:], 0.0)
    x, z = _polished(Q, c, G, g, p, x, z)
    parts = np.split(z, np.cumsum([p, len(conditions.b), len(up)]))
    high, low = np.zeros(conditions.d), np.zeros(conditions.d)
    high[up], low[down] = parts[2], parts[3]
    return x, Multipliers(parts[1], parts[0], high, low), str(found.status), int(found.iterations)


def kkt_residual(
    Q: FloatArray, c: FloatArray, conditions: Conditions, x: FloatArray, m: Multipliers
) -> float:
    """Return by how much a point of a program in even units misses the conditions of optimality."""
    if not np.all(np.isfinite(x)):
        return np.inf
    stationary = Q @ x + c + conditions.pull(m)
    size = np.abs(Q) @ np.abs(x) + np.abs(c) + 1
    gap = float(x @ (Q @ x)) + float(c @ x) + conditions.level(m)
    return max(
        float(np.max(np.abs(stationary) / size)),
        conditions.violation(x),
        abs(gap) / (1 + abs(float(c @ x))),
    )


def _polished(
    Q: FloatArray,
    c: FloatArray,
    G: FloatArray,
    g: FloatArray,
    p: int,
    x: FloatArray,
    z: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Solve the equations of the conditions that are active; keep what is better.

    An interior point ends near the boundary. With the active conditions taken as equations the
    optimum is the answer to a linear system; its correction of least length is used.
    """
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(z))):
        return x, z
    slack = g - G @ x
    active = np.arange(len(g)) < p
    active |= z > slack
    H = G[active]
    k, d = len(H), len(x)
    system = np.block([[Q, H.T], [H, np.zeros((k, k))]])
    right = -np.concatenate([Q @ x + c + H.T @ z[active], H @ x - g[active]])
    step, *_ = np.linalg.lstsq(system, right, rcond=None)
    x2, z2 = x + step[:d], np.zeros_like(z)
    z2[active] = z[active] + step[d:]
    z2[p:] = np.maximum(z2[p:], 0.0)

    def missed(x: FloatArray, z: FloatArray) -> float:
        room = g - G @ x
        feasible = float(np.max(np.abs(room[:p]), initial=0.0))
        feasible = max(feasible, float(np.max(-room[p:], initial=0.0)))
        stationary = float(np.max(np.abs(Q @ x + c + G.T @ z)))
        return max(feasible, stationary, float(np.max(np.abs(z * room), initial=0.0)))

    return (x2, z2) if missed(x2, z2) <= missed(x, z) else (x, z)
