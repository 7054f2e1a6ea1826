"""The minimum of a constrained problem: by a program where it is one, else by local search."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.typing import FloatArray
from bottega.optimize._problem.dual import least_value, weighted
from bottega.optimize._problem.feasible import find_feasible
from bottega.optimize._problem.functions import ProblemFunction
from bottega.optimize._problem.kkt import KKTCheck, check_kkt, estimated_multipliers
from bottega.optimize.linear_program import linear_program
from bottega.optimize.quadratic_program import quadratic_program
from bottega.optimize.solution import Solution

__all__ = ["Pieces", "solve"]

_KKT = 1e-6  # residuals at which a point counts as found
_GAP = 1e-6  # of 1 + |value|: closed
_NEAR = 0.01  # how far last digits can lie
_NEWTON = 5
_STARTS = 12  # of the search for a lower value of the Lagrangian
_FAR = (1e4, 1e8, 1e12)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The functions of a problem."""

    f: ProblemFunction
    inequality: list[ProblemFunction]
    equality: list[ProblemFunction]

    @property
    def linear(self) -> bool:
        """True if all constraints are affine."""
        return all(c.parts is not None and c.parts.affine for c in self.constraints)

    @property
    def constraints(self) -> list[ProblemFunction]:
        """Inequalities, then equations."""
        return self.inequality + self.equality

    def lagrangian(self, alpha: FloatArray, nu: FloatArray) -> list[Any]:
        """Return its terms with their weights."""
        return [
            (self.f, 1.0),
            *weighted(self.inequality, alpha),
            *weighted(self.equality, nu),
        ]

    def kkt(self, x: FloatArray, tol: float = _KKT) -> KKTCheck:
        """Return the conditions at x, with fitted multipliers."""
        alpha, nu = estimated_multipliers(self.f, self.inequality, self.equality, x, tol)
        return check_kkt(self.f, self.inequality, self.equality, x, alpha, nu, True, tol)

    def missed(self, x: FloatArray) -> float:
        """Return the largest violation at x."""
        return max(
            [0.0] + [c.value(x) for c in self.inequality] + [abs(c.value(x)) for c in self.equality]
        )


def solve(pieces: Pieces, start: FloatArray) -> Solution:
    """Return the minimum, or why there is none."""
    parts = pieces.f.parts
    if parts is not None and parts.convex and pieces.linear:
        return _program(pieces, len(start))
    phase = find_feasible(pieces.inequality, pieces.equality, start)
    if phase.missed > 1e-7 * max(1.0, float(np.max(np.abs(phase.x)))):
        return _infeasible(pieces, phase.missed, phase.certificate, len(start))
    candidates = []
    for begin in (start, phase.x):
        x, steps = _slsqp(pieces, begin)
        way = _endless(pieces, begin, x)
        if way is not None:
            return _unbounded(pieces, way, steps)
        candidates.append((_polished(pieces, pieces.kkt(x)), steps))
        if candidates[-1][0].passed:
            break
    if not candidates[-1][0].passed:
        x, steps = _trust_region(pieces, candidates[-1][0].x)
        candidates.append((_polished(pieces, pieces.kkt(x)), steps))
    check, steps = min(candidates, key=lambda each: max(each[0].residuals.values()))
    return _found(pieces, check, steps)


def _program(pieces: Pieces, d: int) -> Solution:
    def rows(which: list[ProblemFunction]) -> tuple[Any, Any]:
        known = [c.parts for c in which if c.parts is not None]
        if not known:
            return None, None
        return np.array([p.c for p in known]), np.array([-p.constant for p in known])

    parts = pieces.f.parts
    assert parts is not None
    (A, b), (E, e) = rows(pieces.inequality), rows(pieces.equality)
    conditions = {"A_ub": A, "b_ub": b, "A_eq": E, "b_eq": e}
    if parts.affine:
        found = linear_program(parts.c, **conditions)
    else:
        found = quadratic_program(parts.Q, parts.c, **conditions)
    shifted = {"value": found.value + parts.constant, "dual_value": found.dual_value}
    shifted["dual_value"] += parts.constant
    proof = found.certificate
    if found.verdict == "infeasible" and proof is not None:
        proof = proof[: len(pieces.constraints)]
    zeros = np.zeros(d)
    return Solution(
        **{
            **vars(found),
            **shifted,
            "certificate": proof,
            "low_multipliers": zeros,
            "high_multipliers": zeros,
        }
    )


def _slsqp(pieces: Pieces, start: FloatArray) -> tuple[FloatArray, int]:
    conditions: list[Any] = [
        {"type": "ineq", "fun": lambda x, c=c: -c.value(x), "jac": lambda x, c=c: -c.gradient(x)}
        for c in pieces.inequality
    ]
    conditions += [{"type": "eq", "fun": c.value, "jac": c.gradient} for c in pieces.equality]
    last = [start]

    def note(x: FloatArray) -> None:
        if np.all(np.isfinite(x)):
            last[0] = x.copy()

    minimize: Any = optimize.minimize
    with np.errstate(all="ignore"):
        found = minimize(
            pieces.f.value,
            start,
            jac=pieces.f.gradient,
            constraints=conditions,
            method="SLSQP",
            callback=note,
            options={"ftol": 1e-15, "maxiter": 500},
        )
    note(np.asarray(found.x, dtype=np.float64))
    return last[0], int(found.nit)


def _trust_region(pieces: Pieces, start: FloatArray) -> tuple[FloatArray, int]:
    limit: Any = optimize.NonlinearConstraint
    conditions = []
    for which, low in ((pieces.inequality, -np.inf), (pieces.equality, 0.0)):
        if which:
            conditions.append(
                limit(
                    lambda x, which=which: np.array([c.value(x) for c in which]),
                    low,
                    0.0,
                    jac=lambda x, which=which: np.array([c.gradient(x) for c in which]),
                    hess=optimize.BFGS(),
                )
            )
    minimize: Any = optimize.minimize
    with np.errstate(all="ignore"):
        found = minimize(
            pieces.f.value,
            start,
            jac=pieces.f.gradient,
            hess=optimize.BFGS(),
            constraints=conditions,
            method="trust-constr",
            options={"gtol": 1e-10, "xtol": 1e-14, "maxiter": 1000},
        )
    return np.asarray(found.x, dtype=np.float64), int(found.nit)


def _polished(pieces: Pieces, check: KKTCheck) -> KKTCheck:
    """Take a few steps of Newton on the conditions, those active taken as equations."""
    for _ in range(_NEWTON):
        x, alpha, nu = check.x, check.multipliers, check.equality_multipliers
        active = [i for i in range(len(alpha)) if alpha[i] > 0]
        on = [pieces.inequality[i] for i in active] + pieces.equality
        with np.errstate(all="ignore"):
            H = np.sum([w * g.hessian(x) for g, w in pieces.lagrangian(alpha, nu)], axis=0)
            slope = np.sum([w * g.gradient(x) for g, w in pieces.lagrangian(alpha, nu)], axis=0)
        J = np.array([g.gradient(x) for g in on]).reshape(len(on), len(x))
        system = np.block([[H, J.T], [J, np.zeros((len(on), len(on)))]])
        right = -np.append(slope, [g.value(x) for g in on])
        if not (np.all(np.isfinite(system)) and np.all(np.isfinite(right))):
            break
        step, *_ = np.linalg.lstsq(system, right, rcond=None)
        x2 = x + step[: len(x)]
        if np.linalg.norm(x2 - x) > _NEAR * (1 + np.linalg.norm(x)):
            break  # to another point that is stationary, a saddle perhaps
        alpha2, nu2 = alpha.copy(), nu + step[len(x) + len(active) :]
        alpha2[active] = np.maximum(alpha[active] + step[len(x) : len(x) + len(active)], 0.0)
        with np.errstate(all="ignore"):
            better = check_kkt(
                pieces.f, pieces.inequality, pieces.equality, x2, alpha2, nu2, True, check.tol
            )
        if not max(better.residuals.values()) < max(check.residuals.values()):
            break
        check = better
    return check


def _endless(pieces: Pieces, start: FloatArray, x: FloatArray) -> FloatArray | None:
    """Return the way of the search if f falls far out along it and the constraints hold there."""
    way = x - start
    length = float(np.max(np.abs(way)))
    if length < 1e6 * (1 + float(np.max(np.abs(start)))):
        return None
    way = way / length
    way = way / np.linalg.norm(way)  # in two steps: far out its square overflows
    with np.errstate(all="ignore"):
        values = [pieces.f.value(start + s * way) for s in _FAR]
        held = all(pieces.missed(start + s * way) <= 1e-6 * s for s in _FAR)
    falls = values[1] < values[0] - 1e-6 * (1 + abs(values[0])) and values[2] < values[1]
    return way if held and falls else None


def _found(pieces: Pieces, check: KKTCheck, steps: int) -> Solution:
    x, alpha, nu = check.x, check.multipliers, check.equality_multipliers
    value = pieces.f.value(x)
    dual = least_value(pieces.lagrangian(alpha, nu), x, starts=_STARTS)
    # A search that found no lower point than x itself says that x is its minimum.
    bound = min(dual.value, value) if not dual.exact else dual.value
    gap = value - bound
    if not check.passed:
        broken = [name for name, holds in check.holds.items() if not holds]
        verdict = "not converged"
        message = f"the search stopped at a point that misses {', '.join(broken)}; start elsewhere."
        warn_caller(f"constrained problem: {message}", ConvergenceWarning)
    elif gap <= _GAP * (1 + abs(value)):
        verdict = "optimal"
        message = "the conditions of Karush, Kuhn and Tucker hold and the duality gap is closed."
        if not dual.exact:
            message += (
                f" The dual value comes from a search from {_STARTS} points: a proof only if the "
                "Lagrangian is convex in x."
            )
    else:
        verdict = "local"
        message = (
            "the conditions of Karush, Kuhn and Tucker hold, but the duality gap is open: a local "
            "minimum; a lower one may exist if the problem is not convex."
        )
    zeros = np.zeros(len(x))
    return Solution(
        method="constrained problem",
        x=x,
        value=value,
        multipliers=alpha,
        equality_multipliers=nu,
        low_multipliers=zeros,
        high_multipliers=zeros,
        dual_value=bound,
        verdict=verdict,
        message=message,
        n_iter=steps,
    )


def _nothing(pieces: Pieces, d: int, **said: Any) -> Solution:
    zeros = np.zeros(d)
    return Solution(
        method="constrained problem",
        x=None,
        multipliers=np.zeros(len(pieces.inequality)),
        equality_multipliers=np.zeros(len(pieces.equality)),
        low_multipliers=zeros,
        high_multipliers=zeros,
        dual_value=said["value"],
        **said,
    )


def _infeasible(pieces: Pieces, missed: float, proof: FloatArray | None, d: int) -> Solution:
    how = (
        f"the best point found misses one by {missed:.3g}"
        if proof is None
        else "weighted by the certificate they add up to more than zero at every x"
    )
    return _nothing(
        pieces,
        d,
        value=np.inf,
        verdict="infeasible",
        message=f"no point fulfils the constraints: {how}.",
        certificate=proof,
    )


def _unbounded(pieces: Pieces, way: FloatArray, steps: int) -> Solution:
    return _nothing(
        pieces,
        len(way),
        value=-np.inf,
        verdict="unbounded",
        message="f falls for ever along the certificate, and no constraint stops it; check the "
        "sign of f, or add constraints.",
        certificate=way,
        n_iter=steps,
    )
