"""Proximal gradient (ISTA, FISTA): a smooth function and a penalty that need not be smooth."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._descent.curvature import CurvatureSearch, curvature_search, mapped
from bottega.optimize._descent.loop import Point, descend
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective, starting_point
from bottega.optimize.proximal import Proximal

__all__ = ["proximal_gradient"]


class _Composite(Objective):
    """F = f + h: the values are those of F, the gradients those of f."""

    def __init__(self, smooth: Objective, h: Proximal) -> None:
        super().__init__(smooth.f)
        self.smooth, self.h = smooth, h

    def value(self, x: FloatArray) -> float:
        found = self.smooth.value(x)
        self._count()
        return found + float(self.h.value(x))

    def gradient(self, x: FloatArray) -> FloatArray:
        found = self.smooth.gradient(x)
        self._count()
        return found

    def _count(self) -> None:
        self.evaluations = self.smooth.evaluations
        self.gradient_evaluations = self.smooth.gradient_evaluations


@dataclass
class _ProximalStep:
    """x <- prox_{t h}(y - t gradient f(y)), with y = x or ahead of it."""

    search: CurvatureSearch
    h: Proximal
    accelerated: bool
    name: str
    before: FloatArray | None = None
    weight: float = field(default=1.0)

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float] | None:
        assert isinstance(objective, _Composite)
        smooth = objective.smooth
        y, weight = at.x, 1.0
        if self.accelerated and self.before is not None:
            weight = (1 + np.sqrt(1 + 4 * self.weight**2)) / 2
            y = at.x + (self.weight - 1) / weight * (at.x - self.before)
        x = self._from(smooth, at, y)
        if self.accelerated and x is not None and float((y - x) @ (x - at.x)) > 0:
            # The way ahead no longer goes down: begin the acceleration anew.
            y, weight = at.x, 1.0
            x = self._from(smooth, at, y)
        self.before, self.weight = at.x, weight
        return None if x is None else (x, self.search.t)

    def residual(self, at: Point) -> float:
        return self.search.mapping(at, self._arrive)

    def _from(self, smooth: Objective, at: Point, y: FloatArray) -> FloatArray | None:
        with np.errstate(all="ignore"):
            ahead = y is not at.x
            gradient = smooth.gradient(y) if ahead else at.gradient
            value = smooth.value(y) if ahead else at.value - float(self.h.value(at.x))
        return self.search.step(smooth, y, value, gradient, self._arrive)

    def _arrive(self, v: FloatArray, t: float) -> FloatArray:
        if not np.all(np.isfinite(v)):  # the verdict says so
            return v
        return mapped(self.h.prox(v, t), len(v), "prox")


def proximal_gradient(
    f: Any,
    x0: Any,
    prox: Proximal,
    *,
    gradient: Any = None,
    accelerated: bool = False,
    line_search: str = "backtracking",
    learning_rate: float = 1.0,
    beta: float = 0.5,
    tol: float = 1e-6,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise f + h: f smooth, h a penalty whose proximal map is known.

    .. math:: x^{(k+1)} = \operatorname{prox}_{t h}\bigl(y^{(k)} - t \nabla f(y^{(k)})\bigr)

    with :math:`y^{(k)} = x^{(k)}` (ISTA: the error falls as 1/k) or, accelerated, a point ahead of
    it (FISTA: as :math:`1/k^2`).

    Parameters
    ----------
    f : callable
        The smooth part.
    x0 : array-like of shape (d,)
        Where to start; the proximal map is applied to it first.
    prox : Proximal
        The penalty with its map: `l1_penalty`, `l2_penalty`, `squared_penalty`, `nuclear_penalty`,
        `box_penalty`, or your own ``Proximal(name, value, prox)``.
    gradient : callable, True, "torch" or None
        Of f, as for `gradient_descent`.
    accelerated : bool, default=False
        Step from a point ahead, and begin anew when the way ahead goes up [2]_. It takes fewer
        steps on badly scaled problems; each takes one more gradient, at the point ahead.
    line_search : {"backtracking", "fixed"}
        As for `projected_gradient`. Accelerated steps never grow again.
    learning_rate : float, default=1.0
        The fixed step, or the first trial.
    beta : float, default=0.5
        Factor that shortens the step.
    tol : float, default=1e-6
        Stop when no entry of :math:`(x - \operatorname{prox}_{sh}(x - s \nabla f(x))) / s` exceeds
        it; s is the step, at most 1.
    max_iter : int, default=1000
        The most steps.
    trace : bool, default=True
        Keep points and gradients.

    Returns
    -------
    Minimum
        The point and every step; values are those of f + h, gradients those of f.

    Warns
    -----
    ConvergenceWarning
        If it ended for another reason than that the tolerance was met.

    See Also
    --------
    projected_gradient : With a set instead of a penalty.

    References
    ----------
    .. [1] Beck, A. and Teboulle, M. (2009). A fast iterative shrinkage-thresholding algorithm for
       linear inverse problems. SIAM Journal on Imaging Sciences 2, 183-202.
    .. [2] O'Donoghue, B. and Candes, E. (2015). Adaptive restart for accelerated gradient schemes.
       Foundations of Computational Mathematics 15, 715-732.

    Examples
    --------
    The lasso of orthogonal columns is a soft threshold:

    >>> from bottega.optimize import l1_penalty
    >>> f = lambda x: ((x[0] - 3.0) ** 2 + (x[1] - 0.5) ** 2) / 2
    >>> found = proximal_gradient(f, [0.0, 0.0], l1_penalty(1.0))
    >>> found.x.round(6), round(found.value, 6)
    (array([2., 0.]), 2.625)
    """
    if not isinstance(prox, Proximal):
        raise ParameterError(
            f"prox={prox!r} is not allowed; give a penalty such as l1_penalty(0.1), or your own as "
            "Proximal(name, value, prox)."
        )
    start = starting_point(x0)
    search = curvature_search(line_search, learning_rate, beta)
    search.grows = not accelerated
    name = "accelerated proximal gradient" if accelerated else "proximal gradient"
    return descend(
        _ProximalStep(search, prox, bool(accelerated), name),
        _Composite(Objective(f, gradient), prox),
        mapped(prox.prox(start, float(learning_rate)), len(start), "prox"),
        tol=tol,
        max_iter=max_iter,
        trace=trace,
    )
