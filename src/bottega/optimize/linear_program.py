"""Linear programs: a linear objective under linear conditions, by HiGHS."""

from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.typing import FloatArray
from bottega.optimize._program import answers
from bottega.optimize._program.conditions import Conditions, Multipliers, conditions_of
from bottega.optimize._program.inputs import vector_of
from bottega.optimize._program.scaling import ProgramScaling, scaled
from bottega.optimize.solution import Solution

__all__ = ["linear_program"]

_NAME = "linear program"


def linear_program(
    c: Any,
    *,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    low: Any = None,
    high: Any = None,
) -> Solution:
    r"""Minimise a linear function under linear conditions.

    .. math:: \min_x\; c^\top x \quad\text{subject to}\quad A x \le b,\; E x = e,\;
              l \le x \le u

    An optimum, if there is one, is found at a vertex of the polyhedron. To maximise, change the
    sign of c.

    Parameters
    ----------
    c : array-like of shape (d,)
        Coefficients of the objective.
    A_ub, b_ub : array-like of shape (m, d) and (m,), optional
        Inequalities ``A_ub @ x <= b_ub``.
    A_eq, b_eq : array-like of shape (p, d) and (p,), optional
        Equations ``A_eq @ x == b_eq``.
    low, high : float or array-like of shape (d,), optional
        Bounds of x. Without them x is free, also to be negative (`scipy.optimize.linprog` takes
        x >= 0 unless told otherwise).

    Returns
    -------
    Solution
        The point, its value, a multiplier per condition, the duality gap; or the verdict
        ``"infeasible"`` or ``"unbounded"`` with a certificate.

    Raises
    ------
    InputError
        If shapes do not fit or entries are not finite.

    See Also
    --------
    quadratic_program : With a quadratic objective.

    Notes
    -----
    Solved by HiGHS [1]_ through SciPy. If there is no optimum, a second linear program finds the
    certificate: multipliers that make the conditions contradict one another (lemma of Farkas), or
    a direction without end. All arrays are dense; for sparse problems with many thousands of
    unknowns call `scipy.optimize.linprog`.

    References
    ----------
    .. [1] Huangfu, Q. and Hall, J. A. J. (2018). Parallelizing the dual revised simplex method.
       Mathematical Programming Computation 10, 119-142.

    Examples
    --------
    >>> found = linear_program([-1, -2], A_ub=[[1, 1], [0, 1]], b_ub=[4, 3], low=0)
    >>> found.x, found.value, found.multipliers
    (array([1., 3.]), -7.0, array([1., 1.]))
    >>> linear_program([1.0], A_ub=[[1], [-1]], b_ub=[0, -1]).verdict
    'infeasible'
    >>> linear_program([1.0], high=0).certificate
    array([-1.])
    """
    slope = vector_of(c, "c")
    conditions = conditions_of(len(slope), A_ub, b_ub, A_eq, b_eq, low, high)
    _, inner, even, scaling = scaled(None, slope, conditions)
    linprog: Any = optimize.linprog
    found = linprog(
        inner,
        A_ub=even.A if len(even.b) else None,
        b_ub=even.b if len(even.b) else None,
        A_eq=even.E if len(even.e) else None,
        b_eq=even.e if len(even.e) else None,
        bounds=np.column_stack([even.low, even.high]),
        method="highs",
    )
    steps = int(found.nit)
    if found.status == 0:
        m = Multipliers(
            np.maximum(-found.ineqlin.marginals, 0.0),
            -found.eqlin.marginals,
            np.maximum(-found.upper.marginals, 0.0),
            np.maximum(found.lower.marginals, 0.0),
        )
        back = scaling.multipliers(m)
        x = np.clip(scaling.point(found.x), conditions.low, conditions.high)
        return answers.solved(_NAME, None, slope, conditions, x, back, steps)
    return without_optimum(
        _NAME, slope, conditions, (None, inner, even, scaling), str(found.message), steps
    )


def without_optimum(
    name: str,
    c: FloatArray,
    conditions: Conditions,
    even: tuple[FloatArray | None, FloatArray, Conditions, ProgramScaling],
    why: str,
    steps: int,
) -> Solution:
    """Return why a program has no optimum: a contradiction, or a direction without end."""
    curve, slope, inner, scaling = even
    proof = inner.contradiction()
    if proof is not None:
        return answers.infeasible(name, conditions, scaling.certificate(proof), steps)
    ray = inner.endless(slope, curve)
    if ray is not None:
        direction = scaling.point(ray)
        direction /= np.max(np.abs(direction))
        return answers.unbounded(name, conditions, direction, float(c @ direction), steps)
    return answers.failed(name, conditions, why, steps)
