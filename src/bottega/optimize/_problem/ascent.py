"""The best multipliers: the dual function maximised by projected gradient ascent."""

import warnings
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning
from bottega.core.typing import FloatArray
from bottega.optimize._problem.dual import least_value
from bottega.optimize._problem.search import Pieces
from bottega.optimize.projected_gradient import projected_gradient

__all__ = ["best_multipliers"]

_STARTS = 5  # of a search for the least value of the Lagrangian, where it counts


def best_multipliers(
    pieces: Pieces, start: FloatArray, begin: Any, tol: float, max_iter: int
) -> tuple[float, FloatArray, FloatArray, FloatArray | None, str]:
    """Return value, multipliers of both kinds, the minimiser of the Lagrangian, and a verdict."""
    m = len(pieces.inequality)

    def split(v: FloatArray) -> tuple[FloatArray, FloatArray]:
        return v[:m], v[m:]

    def at(v: FloatArray, starts: int = 1) -> Any:
        return least_value(pieces.lagrangian(*split(v)), start, starts=starts)

    def value_and_slope(v: FloatArray) -> tuple[float, FloatArray]:
        found = at(v)
        if found.x is None:
            return np.inf, np.zeros_like(v)
        return -found.value, -np.array([c.value(found.x) for c in pieces.constraints])

    def project(v: FloatArray) -> FloatArray:
        return np.append(np.maximum(v[:m], 0.0), v[m:])

    if begin.verdict == "infeasible":
        return np.inf, begin.multipliers, begin.equality_multipliers, None, "unbounded"
    count = m + len(pieces.equality)
    if not count:
        found = at(np.zeros(0))
        verdict = "nowhere finite" if found.x is None else "optimal"
        return found.value, np.zeros(0), np.zeros(0), found.x, verdict
    first = np.append(begin.multipliers, begin.equality_multipliers)
    for guess in (first, np.ones(count), np.zeros(count), 100 * np.ones(count)):
        if at(guess, _STARTS).x is not None:
            break
    else:
        return -np.inf, np.zeros(m), np.zeros(count - m), None, "nowhere finite"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict says it
        climbed = projected_gradient(
            value_and_slope, guess, project, gradient=True, tol=tol, max_iter=max_iter, trace=False
        )
    alpha, nu = split(climbed.x)
    found = at(climbed.x, _STARTS)
    settled = climbed.converged or climbed.verdict == "stalled"
    if not settled and begin.gap <= 1e-6 * (1 + abs(begin.value)):
        # No dual value exceeds that of a feasible point: the start was the best one already.
        alpha, nu = begin.multipliers, begin.equality_multipliers
        found = at(first, _STARTS)
        settled = found.x is not None
    verdict = "nowhere finite" if found.x is None else "optimal" if settled else "not converged"
    return found.value, alpha, nu, found.x, verdict
