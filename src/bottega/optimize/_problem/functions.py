"""The functions of a constrained problem, with derivatives; quadratic ones are recognised."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize.objective import Objective

__all__ = ["ProblemFunction", "QuadraticParts", "inputs_of", "make_function"]

_MOST_INPUTS = 40  # a quadratic function is recognised by some d^2 / 2 values
_AGREE = 1e-9  # of the size of the terms, at the points where the guess is tested
_NOTHING = 1e-13  # of the largest value: what differences leave of a coefficient that is zero
_SPREAD = (0.3, 1.0, 30.0, 1e3, 1e6)  # distances at which it is tested
_CONVEX = 1e-10  # of the largest eigenvalue


@dataclass(frozen=True)
class QuadraticParts:
    """x.Qx / 2 + c.x + constant."""

    Q: FloatArray
    c: FloatArray
    constant: float

    @property
    def affine(self) -> bool:
        """True if there is no curvature."""
        return not np.any(self.Q)

    @property
    def convex(self) -> bool:
        """True if no eigenvalue is below zero."""
        if self.affine:
            return True
        found = np.linalg.eigvalsh(self.Q)
        return bool(found[0] >= -_CONVEX * np.max(np.abs(found)))

    def __add__(self, other: "QuadraticParts") -> "QuadraticParts":
        return QuadraticParts(self.Q + other.Q, self.c + other.c, self.constant + other.constant)

    def times(self, factor: float) -> "QuadraticParts":
        """Return the multiple of the function."""
        return QuadraticParts(factor * self.Q, factor * self.c, factor * self.constant)


@dataclass(frozen=True, eq=False)
class ProblemFunction:
    """One function of a problem: values and derivatives, and its parts if it is quadratic."""

    name: str
    objective: Objective
    parts: QuadraticParts | None

    def value(self, x: FloatArray) -> float:
        """Return the value at x."""
        if self.parts is not None:
            p = self.parts
            return float(x @ (p.Q @ x) / 2 + p.c @ x + p.constant)
        return self.objective.value(x)

    def gradient(self, x: FloatArray) -> FloatArray:
        """Return the gradient at x."""
        if self.parts is not None:
            return np.asarray(self.parts.Q @ x + self.parts.c)
        return self.objective.gradient(x)

    def hessian(self, x: FloatArray) -> FloatArray:
        """Return the second derivatives at x."""
        if self.parts is not None:
            return self.parts.Q
        return self.objective.hessian(x)


def inputs_of(given: Any) -> int | None:
    """Return how many inputs a function says it has; None if it does not say."""
    found = getattr(given, "inputs", None)
    return int(found) if isinstance(found, int | np.integer) else None


def make_function(given: Any, d: int, name: str, recognize: bool) -> ProblemFunction:
    """Return a function of a problem from what the user gave.

    A callable, with methods `gradient` and `hessian` or without; or a tuple of a callable, its
    gradient and, if there is one, its Hessian.
    """
    if isinstance(given, tuple | list):
        if not 1 <= len(given) <= 3:
            raise ParameterError(
                f"{name} has {len(given)} parts; give the function, its gradient and its Hessian."
            )
        f, gradient, hessian = (*given, None, None)[:3]
    else:
        f = given
        gradient, hessian = getattr(f, "gradient", None), getattr(f, "hessian", None)
    if not callable(f):
        raise ParameterError(f"{name}={given!r} is not a function; give one that takes x.")
    objective = Objective(f, gradient, hessian)
    parts = _quadratic(objective, d) if recognize and d <= _MOST_INPUTS else None
    return ProblemFunction(name, objective, parts)


def _quadratic(objective: Objective, d: int) -> QuadraticParts | None:
    """Return the coefficients of a function that is quadratic, or None if it is not.

    They are read off differences of values at 0, e_i, -e_i and e_i + e_j, which are exact but for
    rounding, and tested at points near and far, in directions drawn at random.
    """

    def at(x: FloatArray) -> float:
        with np.errstate(all="ignore"):
            found = objective.value(x)
        if not np.isfinite(found):
            raise ArithmeticError
        return found

    eye = np.eye(d)
    try:
        base = at(np.zeros(d))
        up, down = (np.array([at(sign * e) for e in eye]) for sign in (1.0, -1.0))
        Q = np.diag(up + down - 2 * base)
        for i in range(d):
            for j in range(i):
                Q[i, j] = Q[j, i] = at(eye[i] + eye[j]) - up[i] - up[j] + base
        c = (up - down) / 2
        top = max(float(np.max(np.abs(up))), float(np.max(np.abs(down))), abs(base))
        Q[np.abs(Q) <= _NOTHING * top] = 0.0
        c[np.abs(c) <= _NOTHING * top] = 0.0
        rng = np.random.default_rng(0)
        for spread in _SPREAD:
            for x in spread * rng.uniform(-1.5, 1.5, size=(4, d)):
                size = abs(base) + np.abs(c) @ np.abs(x) + np.abs(x) @ np.abs(Q) @ np.abs(x) / 2
                if abs(at(x) - (x @ Q @ x / 2 + c @ x + base)) > _AGREE * size:
                    return None
    except InputError:
        raise
    except (ArithmeticError, ValueError):  # not defined everywhere: not quadratic
        return None
    return QuadraticParts(Q, c, base)
