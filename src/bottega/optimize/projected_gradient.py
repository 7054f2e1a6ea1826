"""Projected gradient: a step down the slope, then to the nearest point of the set."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._descent.curvature import CurvatureSearch, curvature_search, mapped
from bottega.optimize._descent.loop import Point, descend
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective, starting_point
from bottega.optimize.projections import onto_ball, onto_box, onto_l1_ball, onto_simplex
from bottega.optimize.regions import Ball, Box, Everything, L1Ball, Region, Simplex, get_region

__all__ = ["projected_gradient", "projection_of"]

_ONTO: dict[type[Region], Callable[..., FloatArray]] = {
    Ball: onto_ball,
    Box: onto_box,
    Simplex: onto_simplex,
    L1Ball: onto_l1_ball,
}


@dataclass
class _Projected:
    """x <- P(x - t gradient)."""

    search: CurvatureSearch
    project: Callable[[FloatArray], FloatArray]
    name: str = "projected gradient"

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float] | None:
        x = self.search.step(objective, at.x, at.value, at.gradient, self._arrive)
        return None if x is None else (x, self.search.t)

    def residual(self, at: Point) -> float:
        return self.search.mapping(at, self._arrive)

    def _arrive(self, v: FloatArray, _: float) -> FloatArray:
        return self.project(v)


def projection_of(projection: Any, d: int) -> Callable[[FloatArray], FloatArray]:
    """Return the map onto a set: a function as it is, a region or its name by its projection."""
    if isinstance(projection, str | Region):
        region = get_region(projection)
        if isinstance(region, Everything):
            return lambda v: v
        onto = _ONTO[type(region)]
        return lambda v: onto(v, region.radius)
    if not callable(projection):
        raise ParameterError(
            f"projection={projection!r} is not allowed; give a function such as onto_simplex, or "
            "the name of a region."
        )
    return lambda v: mapped(projection(v), d, "projection")


def projected_gradient(
    f: Any,
    x0: Any,
    projection: Any,
    *,
    gradient: Any = None,
    line_search: str = "backtracking",
    learning_rate: float = 1.0,
    beta: float = 0.5,
    tol: float = 1e-6,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a smooth function over a convex set onto which one can project.

    .. math:: x^{(k+1)} = \pi_C\bigl(x^{(k)} - t_k \nabla f(x^{(k)})\bigr)

    For a convex f whose gradient has the Lipschitz constant L and steps up to 1/L,
    :math:`f(x^{(k)}) - f^* \le \lVert x^{(0)} - x^* \rVert^2 / (2 t k)`; for a strongly convex f
    the distance shrinks by a constant factor per step.

    Parameters
    ----------
    f : callable
        The function.
    x0 : array-like of shape (d,)
        Where to start; it is projected first.
    projection : callable, str or Region
        ``projection(v)`` returns the nearest point of the set: `onto_simplex`, or
        ``lambda v: onto_box(v, low=0)``. A region or its name ("ball", "box", "simplex",
        "l1_ball", of radius 1) stands for its own.
    gradient : callable, True, "torch" or None
        As for `gradient_descent`.
    line_search : {"backtracking", "fixed"}
        Backtracking shortens the step until a parabola of curvature 1/t lies above f at the new
        point, and tries a longer step in the next iteration.
    learning_rate : float, default=1.0
        The fixed step, or the first trial. A fixed step of more than 2/L diverges.
    beta : float, default=0.5
        Factor that shortens the step; nearer to 1 takes more trials and longer steps.
    tol : float, default=1e-6
        Stop when no entry of the gradient mapping
        :math:`(x - \pi_C(x - s \nabla f(x))) / s` exceeds it; s is the step, at most 1. Inside the
        set the mapping is the gradient.
    max_iter : int, default=1000
        The most steps.
    trace : bool, default=True
        Keep points and gradients.

    Returns
    -------
    Minimum
        The point and every step; residuals are those of the gradient mapping.

    Warns
    -----
    ConvergenceWarning
        If it ended for another reason than that the tolerance was met.

    See Also
    --------
    proximal_gradient : With a penalty instead of a set.
    frank_wolfe : Where linear functions are easy to minimise over the set.

    References
    ----------
    .. [1] Beck, A. (2017). First-Order Methods in Optimization, chapter 10. SIAM.

    Examples
    --------
    The point of the unit disc with the largest sum:

    >>> from bottega.optimize import onto_ball
    >>> found = projected_gradient(lambda x: -(x[0] + x[1]), [0.0, 0.0], onto_ball)
    >>> found.x.round(6), found.converged
    (array([0.707107, 0.707107]), True)
    """
    start = starting_point(x0)
    project = projection_of(projection, len(start))
    return descend(
        _Projected(curvature_search(line_search, learning_rate, beta), project),
        Objective(f, gradient),
        project(start),
        tol=tol,
        max_iter=max_iter,
        trace=trace,
    )
