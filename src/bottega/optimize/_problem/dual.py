"""The dual function: the least value of the Lagrangian over x, exact or by search."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.typing import FloatArray
from bottega.optimize._problem.functions import ProblemFunction, QuadraticParts

__all__ = ["DualValue", "combined", "least_value", "weighted"]

_SINGULAR = 1e-10  # of the largest eigenvalue: zero
_IN_RANGE = 1e-9  # of the size of the terms of the slope: zero
_FAR = (1e8, 1e16)
_STILL_FALLS = 1e-6


@dataclass(frozen=True, eq=False)
class DualValue:
    """The dual function at one set of multipliers.

    Attributes
    ----------
    value : float
        The least value of the Lagrangian; -inf where it has no lower bound.
    x : ndarray of shape (d,) or None
        Where it is attained.
    verdict : str
        ``"minimum"``, ``"unbounded"`` or ``"not converged"``.
    exact : bool
        True if all functions are quadratic, so that the value is a formula. Else it comes from a
        search, which finds the least value only if the Lagrangian is convex in x.
    """

    value: float
    x: FloatArray | None
    verdict: str
    exact: bool


def weighted(functions: list[ProblemFunction], weights: FloatArray) -> list[Any]:
    """Return pairs of functions and their weights, without the weights of zero."""
    return [(f, float(w)) for f, w in zip(functions, weights, strict=True) if w != 0]


def combined(terms: list[Any]) -> tuple[QuadraticParts, FloatArray] | None:
    """Return the sum of weighted quadratic functions and the size of its slope; None if not all."""
    total: QuadraticParts | None = None
    size = 0.0
    for f, weight in terms:
        if f.parts is None:
            return None
        total = f.parts.times(weight) if total is None else total + f.parts.times(weight)
        size = size + np.abs(weight * f.parts.c)
    return None if total is None else (total, np.asarray(size))


def least_value(terms: list[Any], start: FloatArray, *, starts: int = 1) -> DualValue:
    """Return the least value over x of a weighted sum of functions.

    A sum that is not quadratic is searched from the start, and from more points around it.
    """
    if not terms:
        return DualValue(0.0, start, "minimum", True)
    whole = combined(terms)
    if whole is not None:
        return _least_quadratic(*whole)
    rng = np.random.default_rng(0)
    around = np.linspace(1, 5, starts - 1)[:, None] * rng.normal(size=(starts - 1, len(start)))
    found = [_search(terms, start)]
    found += [_search(terms, start + step * (1 + np.abs(start))) for step in around]
    best = min(found, key=lambda each: (each.value, each.verdict != "minimum"))
    if best.verdict == "not converged":
        warn_caller(
            "The search for the least value of the Lagrangian stopped early: the dual value is no "
            "bound. Start elsewhere (x0), or give gradients.",
            ConvergenceWarning,
        )
    return best


def _least_quadratic(parts: QuadraticParts, size: FloatArray) -> DualValue:
    endless = DualValue(-np.inf, None, "unbounded", True)
    values, vectors = np.linalg.eigh(parts.Q)
    top = float(np.max(np.abs(values)))
    if values[0] < -_SINGULAR * top:
        return endless
    along = vectors.T @ parts.c
    bent = values > _SINGULAR * top
    if np.any(np.abs(along[~bent]) > _IN_RANGE * float(np.linalg.norm(size))):
        return endless
    x = -vectors[:, bent] @ (along[bent] / values[bent]) + 0.0
    value = parts.constant - float(np.sum(along[bent] ** 2 / values[bent])) / 2
    return DualValue(value, x, "minimum", True)


def _search(terms: list[Any], start: FloatArray) -> DualValue:
    def value(x: FloatArray) -> float:
        with np.errstate(all="ignore"):
            found = sum(weight * f.value(x) for f, weight in terms)
        return found if not np.isnan(found) else np.inf

    def slope(x: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray(sum(weight * f.gradient(x) for f, weight in terms))

    with np.errstate(all="ignore"):
        minimize: Any = optimize.minimize
        found = minimize(value, start, jac=slope, method="BFGS", options={"gtol": 1e-9})
    x, least = np.asarray(found.x), float(found.fun)
    if least == -np.inf or not np.all(np.isfinite(x)) or _falls(value, start, x):
        return DualValue(-np.inf, None, "unbounded", False)
    scale = max(1.0, *(float(np.max(np.abs(w * f.gradient(x)))) for f, w in terms))
    if float(np.max(np.abs(slope(x)))) > 1e-5 * scale:
        return DualValue(least, x, "not converged", False)
    return DualValue(least, x, "minimum", False)


def _falls(value: Any, start: FloatArray, x: FloatArray) -> bool:
    """Return True if the function still falls far out, along the way that the search took."""
    way = x - start
    length = float(np.linalg.norm(way))
    if length == 0:
        return False
    base = x if length < 1e6 else start
    near, far = (value(base + s * way / length) for s in _FAR)
    return bool(far < near - _STILL_FALLS * (1 + abs(near)))
