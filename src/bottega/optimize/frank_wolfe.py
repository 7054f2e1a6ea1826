"""Frank-Wolfe: steps towards the corner of the set that the slope points at, with a gap."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._descent.curvature import mapped
from bottega.optimize._descent.loop import Point, descend
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective, starting_point
from bottega.optimize.projected_gradient import projection_of
from bottega.optimize.regions import Ball, Box, Everything, L1Ball, Region, get_region

__all__ = ["frank_wolfe"]

_STEPS = ("exact", "decaying")
_OUTSIDE = 1e-9  # of the size of gradient and point: a gap so far below 0 is not rounding


@dataclass
class _FrankWolfe:
    """x <- x + t (s - x), s the point of the set with the least gradient.s."""

    oracle: Callable[[FloatArray], FloatArray]
    line_search: str
    taken: int = 0
    name: str = "Frank-Wolfe"
    asked: tuple[Point, FloatArray] | None = None

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float] | None:
        direction = self._corner(at) - at.x
        self.taken += 1
        if self.line_search == "decaying":
            t = 2 / (self.taken + 1)
            return at.x + t * direction, t

        def along(t: float) -> float:
            with np.errstate(all="ignore"):
                found = objective.value(at.x + t * direction)
            return found if np.isfinite(found) else np.inf

        search: Callable[..., Any] = optimize.minimize_scalar
        found = search(along, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
        t, least = float(found.x), float(found.fun)
        if along(1.0) <= least:  # the search stays inside; the corner itself may be best
            t, least = 1.0, -np.inf
        if not least < at.value:
            return None
        return at.x + t * direction, t

    def residual(self, at: Point) -> float:
        gap = float(at.gradient @ (at.x - self._corner(at)))
        scale = float(np.abs(at.gradient) @ (np.abs(at.x) + np.abs(self._corner(at))))
        if gap < -_OUTSIDE * scale:
            raise InputError(
                f"The gap is {gap:.3g}, below 0: x is outside of the set, or the oracle does not "
                "return its lowest point. Start inside, and check the oracle."
            )
        return max(gap, 0.0)

    def _corner(self, at: Point) -> FloatArray:
        if self.asked is None or self.asked[0] is not at:
            self.asked = at, self.oracle(at.gradient)
        return self.asked[1]


def frank_wolfe(
    f: Any,
    x0: Any,
    region: Any,
    *,
    gradient: Any = None,
    line_search: str = "exact",
    tol: float = 1e-4,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a smooth convex function over a set on which linear functions are easy.

    Each step goes towards :math:`s = \arg\min_{s \in C} \nabla f(x) \cdot s`. For a convex f the
    gap :math:`\nabla f(x) \cdot (x - s)` bounds :math:`f(x) - f^*` from above: it is the residual,
    and a certificate. No projection is needed, and after k steps x is a mixture of at most k + 1
    corners.

    Parameters
    ----------
    f : callable
        The function.
    x0 : array-like of shape (d,)
        Where to start: a point of the set. For a region it is projected first.
    region : str, Region, array-like of shape (m, d) or callable
        A region or its name ("ball", "box", "simplex", "l1_ball", of radius 1); the corners of a
        polytope, one per row; or the oracle itself, from a gradient g to the s of the set with the
        least g.s (a `linear_program`, for one).
    gradient : callable, True, "torch" or None
        As for `gradient_descent`.
    line_search : {"exact", "decaying"}
        The minimum along the way, or steps of ``2 / (k + 2)`` that ask for no values of f.
    tol : float, default=1e-4
        Stop when the gap is at most this: f(x) is then within it of the minimum. The gap falls as
        1/k where the minimum is on the boundary, so each further digit costs ten times the steps.
    max_iter : int, default=1000
        The most steps.
    trace : bool, default=True
        Keep points and gradients.

    Returns
    -------
    Minimum
        The point and every step; residuals are the gaps.

    Warns
    -----
    ConvergenceWarning
        If it ended for another reason than that the tolerance was met.

    See Also
    --------
    projected_gradient : Faster where projections are cheap.

    References
    ----------
    .. [1] Jaggi, M. (2013). Revisiting Frank-Wolfe: projection-free sparse convex optimization.
       Proceedings of the 30th International Conference on Machine Learning, 427-435.

    Examples
    --------
    >>> f = lambda x: (x[0] - 1) ** 2 + (x[1] - 1) ** 2
    >>> found = frank_wolfe(f, [1.0, 0.0], "simplex")
    >>> found.x.round(4), found.converged
    (array([0.5, 0.5]), True)
    """
    if line_search not in _STEPS:
        raise ParameterError(
            f"line_search={line_search!r} is not known; give one of {', '.join(_STEPS)}."
        )
    start = starting_point(x0)
    oracle, start = _oracle_of(region, start)
    return descend(
        _FrankWolfe(oracle, line_search),
        Objective(f, gradient),
        start,
        tol=tol,
        max_iter=max_iter,
        trace=trace,
    )


def _oracle_of(
    region: Any, start: FloatArray
) -> tuple[Callable[[FloatArray], FloatArray], FloatArray]:
    """Return the map from a gradient to the lowest point, and a start inside."""
    d = len(start)
    if isinstance(region, str | Region):
        known = get_region(region)
        if isinstance(known, Everything):
            raise ParameterError("region='all' has no lowest point; use gradient_descent.")
        return lambda g: _lowest(known, g), projection_of(known, d)(start)
    if callable(region):
        return lambda g: mapped(region(g.copy()), d, "the oracle"), start
    corners = np.array(region, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != d or not len(corners):
        raise InputError(
            f"region has shape {corners.shape}; give one corner per row, with {d} entries, the "
            "name of a region, or a function of the gradient."
        )
    if not np.all(np.isfinite(corners)):
        raise InputError("region has corners that are missing or infinite.")
    return lambda g: corners[int(np.argmin(corners @ g))], start


def _lowest(region: Region, g: FloatArray) -> FloatArray:
    """Return the point of the region with the least g.s; the first corner of several."""
    if isinstance(region, Ball):
        norm = float(np.linalg.norm(g))
        return np.asarray(g * (-region.radius / norm)) if norm > 0 else np.zeros_like(g)
    if isinstance(region, Box):
        return np.where(g > 0, -region.radius, region.radius)
    corner = np.zeros_like(g)
    j = int(np.argmax(np.abs(g)) if isinstance(region, L1Ball) else np.argmin(g))
    corner[j] = -np.copysign(region.radius, g[j]) if isinstance(region, L1Ball) else region.radius
    return corner
