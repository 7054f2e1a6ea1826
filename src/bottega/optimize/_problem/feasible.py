"""Points that fulfil the constraints, strictly where it matters, and proofs that there is none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.optimize._problem.dual import least_value, weighted
from bottega.optimize._problem.functions import ProblemFunction
from bottega.optimize.linear_program import linear_program
from bottega.optimize.nonnegative import nonnegative_least_squares

__all__ = ["Phase", "SlaterCheck", "find_feasible"]

_STRICT = 1e-7  # by how much a constraint has to be below zero to be called strict
_HOLDS = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class SlaterCheck(Shown):
    """Whether a point was found that fulfils Slater's condition.

    Attributes
    ----------
    holds : bool
        True if `point` fulfils every constraint, those that are not affine strictly, and no
        constraint is known not to be convex.
    point : ndarray of shape (d,) or None
        The point; None if none was found.
    margin : float
        The largest value there of a constraint that is not affine; -inf if all are affine.
    verdict : str
        ``"yes"``, ``"none found"``, ``"infeasible"`` or ``"not convex"``.
    message : str
        The verdict in a sentence.
    """

    holds: bool
    point: FloatArray | None
    margin: float
    verdict: str
    message: str

    def summary(self) -> Summary:
        """Return the verdict as a table that shows itself."""
        point = [] if self.point is None else [float(v) for v in self.point[:20]]
        sections = (
            (Section("Point", {"entry": [f"x{j}" for j in range(len(point))], "x": point}),)
            if point
            else ()
        )
        return Summary(f"Slater's condition: {self.verdict}", sections, (self.message,))


@dataclass(frozen=True)
class Phase:
    """The point that violates the constraints least."""

    x: FloatArray
    level: float  # the largest value of a constraint that is not affine
    missed: float  # the largest violation of all
    certificate: FloatArray | None = None  # of the inequalities and the equations


def find_feasible(
    inequality: list[ProblemFunction], equality: list[ProblemFunction], start: FloatArray
) -> Phase:
    """Minimise the largest constraint that is not affine, under those that are.

    Affine constraints alone are a linear program, whose certificate is exact.
    """
    flat = [c for c in inequality if c.parts is not None and c.parts.affine]
    lines = [c for c in equality if c.parts is not None and c.parts.affine]
    curved = [c for c in inequality if not (c.parts is not None and c.parts.affine)]
    d = len(start)
    x = start
    if flat or lines:
        found = _nearest(flat, lines, start)
        if found.x is None and found.certificate is not None:
            proof = np.zeros(len(inequality) + len(equality))
            places = [inequality.index(c) for c in flat]
            places += [len(inequality) + equality.index(c) for c in lines]
            proof[places] = found.certificate[: len(places)]
            return Phase(start, np.inf, np.inf, proof)
        if found.x is not None:
            x = found.x[:d]
    if curved or len(lines) < len(equality):
        x = _lowest(curved, inequality, equality, x)
    level = max((c.value(x) for c in curved), default=-np.inf)
    missed = max([0.0, *(c.value(x) for c in inequality), *(abs(c.value(x)) for c in equality)])
    phase = Phase(x, level, missed)
    if missed > _HOLDS * max(1.0, float(np.max(np.abs(x)))):
        return Phase(x, level, missed, _contradiction(inequality, equality, x))
    return phase


def _nearest(flat: list[Any], lines: list[Any], start: FloatArray) -> Any:
    """Return a point of the polyhedron near the start: the least sum of absolute differences."""
    d = len(start)
    rows = np.array([c.parts.c for c in flat]).reshape(len(flat), d)
    sides = np.array([-c.parts.constant for c in flat])
    equations = np.array([c.parts.c for c in lines]).reshape(len(lines), d)
    values = np.array([-c.parts.constant for c in lines])
    eye = np.eye(d)
    # |x - start| <= s, with the constraints first, as the certificate is read by their places.
    return linear_program(
        np.append(np.zeros(d), np.ones(d)),
        A_ub=np.vstack(
            [
                np.hstack([rows, np.zeros_like(rows)]),
                np.hstack([eye, -eye]),
                np.hstack([-eye, -eye]),
            ]
        ),
        b_ub=np.concatenate([sides, start, -start]),
        A_eq=np.hstack([equations, np.zeros_like(equations)]) if lines else None,
        b_eq=values if lines else None,
    )


def _lowest(
    curved: list[Any], inequality: list[Any], equality: list[Any], start: FloatArray
) -> FloatArray:
    """Return the x of the least t with f_i(x) <= t for the curved constraints, t at least -1."""
    d = len(start)
    level = max((c.value(start) for c in curved), default=0.0)
    begin = np.append(start, level if np.isfinite(level) else 1.0)
    last = np.append(np.zeros(d), 1.0)
    conditions: list[Any] = []
    for c in inequality:
        slack = 1.0 if c in curved else 0.0
        conditions.append(
            {
                "type": "ineq",
                "fun": lambda v, c=c, s=slack: s * v[d] - c.value(v[:d]),
                "jac": lambda v, c=c, s=slack: np.append(-c.gradient(v[:d]), s),
            }
        )
    for c in equality:
        conditions.append(
            {
                "type": "eq",
                "fun": lambda v, c=c: c.value(v[:d]),
                "jac": lambda v, c=c: np.append(c.gradient(v[:d]), 0.0),
            }
        )
    conditions.append({"type": "ineq", "fun": lambda v: v[d] + 1, "jac": lambda _: last})
    minimize: Any = optimize.minimize
    with np.errstate(all="ignore"):
        found = minimize(
            lambda v: v[d],
            begin,
            jac=lambda _: last,
            constraints=conditions,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
    x = np.asarray(found.x)[:d]
    return x if np.all(np.isfinite(x)) else start


def _contradiction(
    inequality: list[ProblemFunction], equality: list[ProblemFunction], x: FloatArray
) -> FloatArray | None:
    """Return weights with which the constraints add up to more than zero everywhere, if found."""
    columns = [c.gradient(x) for c in inequality]
    for c in equality:
        slope = c.gradient(x)
        columns += [slope, -slope]
    values = [c.value(x) for c in inequality]
    for c in equality:
        values += [c.value(x), -c.value(x)]
    # Gradients that cancel, with values that add up to 1.
    rows = np.vstack([np.column_stack(columns), np.array(values)])
    target = np.append(np.zeros(len(x)), 1.0)
    weights = nonnegative_least_squares(rows, target)
    m = len(inequality)
    nu = weights[m::2] - weights[m + 1 :: 2]
    alpha = weights[:m]
    least = least_value(weighted(inequality, alpha) + weighted(equality, nu), x)
    if least.verdict != "minimum" or not least.value > 0:
        return None
    found = np.concatenate([alpha, nu])
    return np.asarray(found / np.max(np.abs(found)))


def slater(
    inequality: list[ProblemFunction], equality: list[ProblemFunction], start: FloatArray
) -> SlaterCheck:
    """Look for a point that fulfils Slater's condition."""
    bent = [c.name for c in inequality if c.parts is not None and not c.parts.convex]
    bent += [c.name for c in equality if c.parts is not None and not c.parts.affine]
    phase = find_feasible(inequality, equality, start)
    size = max(1.0, float(np.max(np.abs(phase.x))))
    if phase.missed > _HOLDS * size:
        proof = " (proved by a certificate)" if phase.certificate is not None else ""
        return SlaterCheck(
            False, None, phase.level, "infeasible", f"no point fulfils the constraints{proof}."
        )
    if bent:
        return SlaterCheck(
            False,
            phase.x,
            phase.level,
            "not convex",
            f"a feasible point exists, but {', '.join(bent)} is not convex (an equation has to be "
            "affine): the condition does not apply.",
        )
    unknown = [c.name for c in (*inequality, *equality) if c.parts is None]
    if phase.level < -_STRICT:
        strict = (
            "all constraints are affine, so feasibility is enough"
            if phase.level == -np.inf
            else f"the constraints that are not affine are at most {phase.level:.3g} there"
        )
        more = f" That {', '.join(unknown)} is convex was not checked." if unknown else ""
        return SlaterCheck(
            True, phase.x, phase.level, "yes", f"{strict}: strong duality if f is convex.{more}"
        )
    return SlaterCheck(
        False,
        None,
        phase.level,
        "none found",
        f"no point makes every constraint that is not affine negative (at best {phase.level:.3g}): "
        "strong duality may fail.",
    )
