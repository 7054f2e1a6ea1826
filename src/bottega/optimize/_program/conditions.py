r"""The linear conditions of a program, and what proves that they contradict one another.

.. math:: A x \le b, \quad E x = e, \quad l \le x \le u
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.optimize._program.inputs import bounds_of, rows_of

__all__ = ["Conditions", "Multipliers", "conditions_of"]

_linprog: Any = optimize.linprog
_ZERO = 1e-9  # of entries scaled to at most 1: what a certificate has to be clear of


@dataclass(frozen=True)
class Multipliers:
    """One number per condition: of A (>= 0), of E, of the upper and of the lower bounds (>= 0)."""

    rows: FloatArray
    equations: FloatArray
    high: FloatArray
    low: FloatArray

    def flat(self) -> FloatArray:
        """Return all of them in one vector."""
        return np.concatenate([self.rows, self.equations, self.high, self.low])


@dataclass(frozen=True)
class Conditions:
    """A x <= b, E x = e, l <= x <= u; bounds may be infinite."""

    A: FloatArray
    b: FloatArray
    E: FloatArray
    e: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def d(self) -> int:
        """Number of unknowns."""
        return len(self.low)

    @property
    def empty(self) -> bool:
        """True if nothing is asked of x."""
        bounded = np.any(np.isfinite(self.low)) or np.any(np.isfinite(self.high))
        return not (len(self.b) or len(self.e) or bounded)

    def none(self) -> Multipliers:
        """Return multipliers of zero."""
        return Multipliers(*(np.zeros(n) for n in (len(self.b), len(self.e), self.d, self.d)))

    def pull(self, m: Multipliers) -> FloatArray:
        """Return ``A'y + E'z + p - q``: what the conditions add to the gradient."""
        return np.asarray(self.A.T @ m.rows + self.E.T @ m.equations + m.high - m.low)

    def level(self, m: Multipliers) -> float:
        """Return ``b.y + e.z + u.p - l.q``."""
        high, low = m.high > 0, m.low > 0
        sides = self.high[high] @ m.high[high] - self.low[low] @ m.low[low]
        return float(self.b @ m.rows + self.e @ m.equations + sides)

    def violation(self, x: FloatArray) -> float:
        """Return by how much x misses the condition that it misses most; rows are of size 1."""
        found = [0.0]
        for rows, sides, both in ((self.A, self.b, False), (self.E, self.e, True)):
            if len(sides):
                missed = rows @ x - sides
                size = 1 + np.abs(rows) @ np.abs(x) + np.abs(sides)
                found.append(float(np.max((np.abs(missed) if both else missed) / size)))
        size = 1 + np.abs(x)
        found += [float(np.max((self.low - x) / size)), float(np.max((x - self.high) / size))]
        return max(found)

    def contradiction(self) -> Multipliers | None:
        """Return multipliers with which the conditions add up to ``0 <= a number below 0``.

        By the lemma of Farkas there are such if and only if no x fulfils all conditions. Each
        condition is scaled to a largest entry of 1 and no multiplier exceeds 1; HiGHS looks for
        the sum of the least level.
        """
        rows, equations = _sizes(self.A, self.b), _sizes(self.E, self.e)
        A, E = self.A / rows[:, None], self.E / equations[:, None]
        up, down = np.flatnonzero(np.isfinite(self.high)), np.flatnonzero(np.isfinite(self.low))
        eye = np.eye(self.d)
        balance = np.hstack([A.T, E.T, eye[:, up], -eye[:, down]])
        levels = np.concatenate([self.b / rows, self.e / equations, self.high[up], -self.low[down]])
        if not len(levels):
            return None
        unit = max(float(np.max(np.abs(levels))), 1e-300)
        free = np.zeros(len(levels), dtype=bool)
        free[len(rows) : len(rows) + len(equations)] = True
        bounds = np.column_stack([np.where(free, -1.0, 0.0), np.ones(len(levels))])
        found = _linprog(
            levels / unit, A_eq=balance, b_eq=np.zeros(self.d), bounds=bounds, method="highs"
        )
        if found.x is None or not found.fun < -_ZERO:
            return None
        y = np.where(free, found.x, np.maximum(found.x, 0.0))
        parts = np.split(y, np.cumsum([len(rows), len(equations), len(up)]))
        high, low = np.zeros(self.d), np.zeros(self.d)
        high[up], low[down] = parts[2], parts[3]
        return Multipliers(parts[0] / rows, parts[1] / equations, high, low)

    def endless(self, c: FloatArray, Q: FloatArray | None = None) -> FloatArray | None:
        """Return a direction along which c.x falls, Q changes nothing and no condition is hit."""
        size = float(np.max(np.abs(c)))
        if size == 0:
            return None
        A = self.A / _sizes(self.A, np.zeros(len(self.b)))[:, None]
        E = self.E / _sizes(self.E, np.zeros(len(self.e)))[:, None]
        if Q is not None and np.any(Q):
            E = np.vstack([E, Q / np.max(np.abs(Q))])
        bounds = np.column_stack(
            [
                np.where(np.isfinite(self.low), 0.0, -1.0),
                np.where(np.isfinite(self.high), 0.0, 1.0),
            ]
        )
        found = _linprog(
            c / size,
            A_ub=A if len(A) else None,
            b_ub=np.zeros(len(A)) if len(A) else None,
            A_eq=E if len(E) else None,
            b_eq=np.zeros(len(E)) if len(E) else None,
            bounds=bounds,
            method="highs",
        )
        if found.x is None or not found.fun < -_ZERO:
            return None
        return np.asarray(found.x)


def _sizes(rows: FloatArray, sides: FloatArray) -> FloatArray:
    """Return the largest entry of each row; where that is zero its right side, or 1."""
    if not len(rows):
        return np.ones(0)
    size = np.max(np.abs(rows), axis=1)
    size = np.where(size > 0, size, np.abs(sides))
    return np.where(size > 0, size, 1.0)


def conditions_of(
    d: int, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, low: Any, high: Any
) -> Conditions:
    """Return the conditions as they are given, checked."""
    pairs = []
    for A, b, name, right in ((A_ub, b_ub, "A_ub", "b_ub"), (A_eq, b_eq, "A_eq", "b_eq")):
        if (A is None) != (b is None):
            given, absent = (name, right) if b is None else (right, name)
            raise InputError(f"{given} is given without {absent}; give both or neither.")
        if A is None:
            pairs.append((np.zeros((0, d)), np.zeros(0)))
        else:
            pairs.append(rows_of(A, b, d, name, right))
    (rows, sides), (equations, values) = pairs
    least = bounds_of(low, -np.inf, d, "low")
    most = bounds_of(high, np.inf, d, "high")
    return Conditions(rows, sides, equations, values, least, most)
