r"""The perceptron's mistake bound for any comparator, and for the best one.

On every stream the perceptron makes at most

.. math:: B(u) = H(u) + (\|u\| R)^2 + \|u\| R \sqrt{H(u)}, \qquad
          H(u) = \sum_t \max(0, 1 - y_t u^\top x_t), \quad R = \max_t \|x_t\|,

mistakes, for every u at once, so also for the u with the least B. B is not convex, but it
grows with H and with :math:`\|u\|`: among all u of norm at most r the best has the least hinge loss
:math:`H^*(r)`, a convex problem. What is left is one number, the norm.

:math:`H^*` falls with r and is convex, and each solution of its dual gives a straight line below it
at all r at once. So :math:`\min_r H^*(r) + (rR)^2 + rR\sqrt{H^*(r)}` has a lower bound from the
lines found so far; the norm where that bound is least is tried next, until bound and best value
meet. The answer is the global minimum up to a known gap.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.losses import HINGE
from bottega.core.typing import FloatArray
from bottega.optimize.interior_point import LossProblem, minimise
from bottega.optimize.regions import Ball
from bottega.risk.bounds import perceptron_mistakes

__all__ = ["MistakeBound", "best_mistake_bound", "mistake_bound"]

_CELLS = 20_000  # of the norm, where the lower bound is looked at
_MAX_NORMS = 25


@dataclass(frozen=True)
class MistakeBound:
    """The most mistakes a perceptron can make, by a comparator u.

    Attributes
    ----------
    value : float
        The bound.
    u : ndarray of shape (d,)
        The comparator.
    hinge : float
        Its summed hinge loss, H(u).
    norm : float
        Its norm.
    max_norm : float
        The largest norm of a row, R.
    gap : float
        No u has a bound below ``value - gap``; missing where u was given.
    se : float
        Standard error of `hinge` where it is estimated from a part of the rows, else zero.
    """

    value: float
    u: FloatArray
    hinge: float
    norm: float
    max_norm: float
    gap: float = math.nan
    se: float = 0.0

    def __str__(self) -> str:
        about = "about " if self.se else ""
        return (
            f"at most {about}{self.value:.6g} mistakes (u with norm {self.norm:.4g}, hinge loss "
            f"{about}{self.hinge:.6g}, rows up to norm {self.max_norm:.4g})"
        )


def mistake_bound(
    u: Any, X: FloatArray, y: FloatArray, *, times: float = 1.0, max_norm: float | None = None
) -> MistakeBound:
    """Return the bound for a given u.

    Parameters
    ----------
    u : array-like of shape (d,)
        The comparator.
    X : ndarray of shape (n, d)
        Rows, the constant among them where there is an intercept.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    times : float
        How many rows of the stream each row stands for.
    max_norm : float, optional
        The largest norm of a row of the stream; that of X by default.

    Returns
    -------
    MistakeBound

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 1.0]])
    >>> mistake_bound([1.0, 0.0], X, np.array([1.0, -1.0, -1.0])).hinge
    1.5
    """
    u = np.asarray(u, dtype=np.float64)
    if u.shape != (X.shape[1],):
        raise InputError(
            f"u has shape {u.shape}; it needs one weight per column (with an intercept its weight "
            f"last): ({X.shape[1]},)."
        )
    longest = _longest(X) if max_norm is None else max_norm
    losses = HINGE(y, X @ u)
    hinge, norm = times * float(np.sum(losses)), float(np.linalg.norm(u))
    return MistakeBound(float(perceptron_mistakes(hinge, norm, longest)), u, hinge, norm, longest)


def best_mistake_bound(
    X: FloatArray,
    y: FloatArray,
    *,
    times: float = 1.0,
    max_norm: float | None = None,
    tol: float = 1e-3,
    start: float = 0.0,
) -> MistakeBound:
    """Return the least bound over all u.

    Parameters
    ----------
    X, y, times, max_norm
        As for `mistake_bound`.
    tol : float
        Wanted gap, as a share of the bound.
    start : float
        A guess of the norm of the best u; it saves time.

    Returns
    -------
    MistakeBound
        With its certified gap.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    >>> found = best_mistake_bound(np.tile(X, (100, 1)), np.tile([-1.0, 1.0, 1.0, 1.0], 100))
    >>> round(found.value, 1)  # separable: the norm of the best separator, 9, times 3
    27.0
    """
    longest = _longest(X) if max_norm is None else max_norm
    best = mistake_bound(np.zeros(X.shape[1]), X, y, times=times, max_norm=longest)  # B(0) = T
    if longest == 0:
        return replace(best, gap=0.0)
    lines: list[tuple[float, float]] = []  # H*(r) >= offset - r * slope
    r = start or math.sqrt(best.value) / longest / 2
    lower = 0.0
    for _ in range(_MAX_NORMS):
        found = minimise(LossProblem(HINGE, X, y, Ball(r)), tol=tol**3)  # B has a root of H in it
        lines.append((times * found.offset, times * float(np.linalg.norm(found.pull))))
        # The norm of a solution inside the ball may be less than r: then H* is flat from there on.
        here = mistake_bound(found.u, X, y, times=times, max_norm=longest)
        best = min(best, here, key=lambda bound: bound.value)
        lower, r = _lower_bound(lines, longest, best.value)
        if best.value - lower <= tol * best.value:
            break
    return replace(best, gap=max(best.value - lower, 0.0))


def _lower_bound(
    lines: list[tuple[float, float]], longest: float, value: float
) -> tuple[float, float]:
    """Return a lower bound on B from lines below H*, and the norm where it is least."""
    # B is at least (r R)^2: nothing beyond sqrt(value) / R can be better.
    edges = np.linspace(0.0, math.sqrt(value), _CELLS + 1)
    heights = np.max([offset - slope * edges / longest for offset, slope in lines], axis=0)
    heights = np.maximum(heights, 0.0)
    # In a cell H* is at least its height at the right edge, r at least the left edge.
    left, right = edges[:-1], heights[1:]
    cells = right + left**2 + left * np.sqrt(right)
    least = int(np.argmin(cells))
    return float(cells[least]), float((edges[least] + edges[least + 1]) / 2 / longest)


def _longest(X: FloatArray) -> float:
    return float(np.sqrt(np.max(np.einsum("ij,ij->i", X, X), initial=0.0)))
