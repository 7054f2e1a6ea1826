"""The answers of programs: an optimum with its gap, a contradiction, an endless direction."""

import numpy as np

from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.typing import FloatArray
from bottega.optimize._program.conditions import Conditions, Multipliers
from bottega.optimize.solution import Solution

__all__ = ["failed", "infeasible", "solved", "unbounded"]


def solved(
    method: str,
    Q: FloatArray | None,
    c: FloatArray,
    conditions: Conditions,
    x: FloatArray,
    m: Multipliers,
    n_iter: int,
) -> Solution:
    """Return an optimum. At the multipliers the dual function is ``-x.Qx / 2 - level``."""
    curve = 0.0 if Q is None else float(x @ (Q @ x)) / 2
    value, dual = curve + float(c @ x), -curve - conditions.level(m)
    active = int(sum(np.count_nonzero(each) for each in (m.rows, m.high, m.low)))
    return Solution(
        method=method,
        x=x,
        value=value,
        multipliers=m.rows,
        equality_multipliers=m.equations,
        low_multipliers=m.low,
        high_multipliers=m.high,
        dual_value=dual,
        verdict="optimal",
        message=f"no feasible point has a value below {dual:.6g}, by the dual problem; {active} "
        "inequalities and bounds have a positive multiplier.",
        n_iter=n_iter,
    )


def infeasible(method: str, conditions: Conditions, proof: Multipliers, n_iter: int) -> Solution:
    """Return that no point fulfils the conditions, with the multipliers that prove it."""
    level = conditions.level(proof)
    parts = []
    for name, values in (
        ("rows of A_ub", proof.rows),
        ("rows of A_eq", proof.equations),
        ("upper bounds", proof.high),
        ("lower bounds", proof.low),
    ):
        involved = np.flatnonzero(values)
        if len(involved):
            some = ", ".join(str(i) for i in involved[:5]) + ", ..." * (len(involved) > 5)
            parts.append(f"{name} {some}")
    return _without(
        method,
        conditions,
        value=np.inf,
        verdict="infeasible",
        message=f"no x fulfils all conditions: multiplied by the certificate and added up, they "
        f"say 0 <= {level:.3g} ({'; '.join(parts)}). Relax one of them.",
        certificate=proof.flat(),
        n_iter=n_iter,
    )


def unbounded(
    method: str, conditions: Conditions, direction: FloatArray, slope: float, n_iter: int
) -> Solution:
    """Return that the objective has no minimum, with the direction along which it falls."""
    return _without(
        method,
        conditions,
        value=-np.inf,
        verdict="unbounded",
        message=f"the objective falls for ever along the certificate, by {-slope:.3g} per step, "
        "and no condition stops it; check the sign of the objective, or add bounds.",
        certificate=direction,
        n_iter=n_iter,
    )


def failed(method: str, conditions: Conditions, why: str, n_iter: int) -> Solution:
    """Return that the solver did not finish, and warn."""
    message = f"the solver stopped early ({why}); scale the problem, or relax its conditions."
    warn_caller(f"{method}: {message}", ConvergenceWarning)
    return _without(
        method,
        conditions,
        value=np.nan,
        verdict="not converged",
        message=message,
        certificate=None,
        n_iter=n_iter,
    )


def _without(
    method: str,
    conditions: Conditions,
    *,
    value: float,
    verdict: str,
    message: str,
    certificate: FloatArray | None,
    n_iter: int,
) -> Solution:
    none = conditions.none()
    return Solution(
        method=method,
        x=None,
        value=value,
        multipliers=none.rows,
        equality_multipliers=none.equations,
        low_multipliers=none.low,
        high_multipliers=none.high,
        dual_value=value,
        verdict=verdict,
        message=message,
        certificate=certificate,
        n_iter=n_iter,
    )
