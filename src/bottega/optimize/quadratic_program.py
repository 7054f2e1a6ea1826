"""Convex quadratic programs: a quadratic objective under linear conditions, by Clarabel."""

import math
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.optimize._program import answers
from bottega.optimize._program.conditions import conditions_of
from bottega.optimize._program.inputs import vector_of
from bottega.optimize._program.interior import interior_point, kkt_residual
from bottega.optimize._program.scaling import scaled
from bottega.optimize.linear_program import linear_program, without_optimum
from bottega.optimize.objective import numbers_of
from bottega.optimize.solution import Solution

__all__ = ["quadratic_program"]

_NAME = "quadratic program"
_CONVEX = 1e-11  # of the largest eigenvalue: by so much one may be below zero through rounding
_ACCEPTED = 1e-7  # of the conditions of optimality, in even units


def quadratic_program(
    Q: Any,
    c: Any,
    *,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    low: Any = None,
    high: Any = None,
) -> Solution:
    r"""Minimise a convex quadratic function under linear conditions.

    .. math:: \min_x\; \tfrac12 x^\top Q x + c^\top x \quad\text{subject to}\quad
              A x \le b,\; E x = e,\; l \le x \le u

    Parameters
    ----------
    Q : array-like of shape (d, d)
        Curvature, with no eigenvalue below 0. Only its symmetric part matters and is used.
    c : array-like of shape (d,)
        Coefficients of the linear part.
    A_ub, b_ub : array-like of shape (m, d) and (m,), optional
        Inequalities ``A_ub @ x <= b_ub``.
    A_eq, b_eq : array-like of shape (p, d) and (p,), optional
        Equations ``A_eq @ x == b_eq``.
    low, high : float or array-like of shape (d,), optional
        Bounds of x; without them x is free.

    Returns
    -------
    Solution
        The point, its value, a multiplier per condition, the duality gap; or the verdict
        ``"infeasible"`` or ``"unbounded"`` with a certificate.

    Raises
    ------
    InputError
        If Q has an eigenvalue below 0, shapes do not fit, entries are not finite or squares of the
        unknowns overflow.
    MissingExtra
        If Clarabel is not installed and there are conditions.

    See Also
    --------
    linear_program : With a linear objective.
    nonnegative_least_squares : The same for one frequent case, by an active set.

    Notes
    -----
    Solved by Clarabel [1]_, an interior-point method, in units in which all numbers are near 1;
    the linear system of the active conditions then gives the last digits. Without conditions it is
    a linear system, with Q = 0 a linear program. Matrices are dense: the cost is about that of 20
    factorisations of a matrix of d + m rows. With an eigenvalue below 0 the problem is NP-hard and
    a local search finds a local minimum at best: see `Problem`.

    References
    ----------
    .. [1] Goulart, P. and Chen, Y. (2024). Clarabel: an interior-point solver for conic programs
       with quadratic objectives. arXiv:2405.12762.

    Examples
    --------
    The point of a half-plane that is nearest to (1, 1):

    >>> found = quadratic_program([[1, 0], [0, 1]], [-1, -1], A_ub=[[1, 1]], b_ub=[1])
    >>> found.x.round(9), found.multipliers.round(9)
    (array([0.5, 0.5]), array([0.5]))
    """
    slope = vector_of(c, "c")
    curve = _curvature(Q, len(slope))
    conditions = conditions_of(len(slope), A_ub, b_ub, A_eq, b_eq, low, high)
    if not np.any(curve):
        return linear_program(slope, A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=b_eq, low=low, high=high)
    with np.errstate(over="ignore", invalid="ignore"):
        bent, inner, even, scaling = scaled(curve, slope, conditions)
    assert bent is not None
    if not math.isfinite(scaling.objective):
        raise InputError(
            "The objective is beyond all numbers where the conditions hold (squares overflow): "
            "measure x in larger units."
        )
    if conditions.empty:
        x = np.asarray(np.linalg.lstsq(bent, -inner, rcond=None)[0], dtype=np.float64)
        m, status, steps = even.none(), "singular matrix", 1
    else:
        x, m, status, steps = interior_point(bent, inner, even)
    if kkt_residual(bent, inner, even, x, m) > _ACCEPTED:
        parts = (bent, inner, even, scaling)
        return without_optimum(_NAME, slope, conditions, parts, status, steps)
    point = np.clip(scaling.point(x), conditions.low, conditions.high)
    return answers.solved(_NAME, curve, slope, conditions, point, scaling.multipliers(m), steps)


def _curvature(Q: Any, d: int) -> FloatArray:
    """Return Q, symmetric, after checking that it is convex."""
    curve = numbers_of(Q, "Q")
    if curve.shape != (d, d):
        raise InputError(f"Q has shape {curve.shape}; c asks for {(d, d)}.")
    if not np.all(np.isfinite(curve)):
        raise InputError("Q has entries that are missing or infinite.")
    curve = curve / 2 + curve.T / 2
    top = float(np.max(np.abs(curve)))
    if top == 0:
        return curve
    eigenvalues = np.linalg.eigvalsh(curve / top)
    least, most = float(eigenvalues[0]), float(np.max(np.abs(eigenvalues)))
    if least < -_CONVEX * most:
        raise InputError(
            f"Q is not convex: its least eigenvalue is {least * top:.4g}, below 0. A local minimum "
            "can be sought with Problem(...).solve(); or correct the sign of Q."
        )
    return curve
