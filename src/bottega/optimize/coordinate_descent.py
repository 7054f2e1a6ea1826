"""Coordinate descent: minimise over one entry at a time."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import line_minimum
from bottega.optimize._descent.loop import Point, descend
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective, starting_point

__all__ = ["coordinate_descent"]

_ORDERS = ("cyclic", "random")


@dataclass
class _Coordinate:
    """x_j <- argmin over x_j of f(x), for one j after the other."""

    order: str
    rng: np.random.Generator
    queue: list[int] = field(default_factory=list)
    reach: FloatArray | None = None
    values: list[float] = field(default_factory=list)
    name: str = "coordinate descent"
    needs_gradient: bool = False

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float]:
        d = len(at.x)
        if self.reach is None:  # the first trial of each entry; later its last move
            size = np.abs(at.x)
            self.reach = np.where(size > 0, size, np.max(size) or 1.0)
        if not self.queue:
            self.queue = list(range(d) if self.order == "cyclic" else self.rng.permutation(d))
        j = self.queue.pop(0)
        for sign in (1.0, -1.0):
            axis = np.zeros(d)
            axis[j] = sign
            t = line_minimum(objective, at.x, at.value, axis, self.reach[j])
            if t is not None:
                self.reach[j] = t
                return at.x + t * axis, t
        return at.x.copy(), 0.0

    def residual(self, at: Point) -> float:
        """Return what the last sweep lowered f by, as a share of what all did."""
        self.values.append(at.value)
        if len(self.values) <= len(at.x):
            return np.inf
        fall = self.values[-1 - len(at.x)] - at.value
        return fall / (self.values[0] - at.value) if fall > 0 else 0.0


def coordinate_descent(
    f: Any,
    x0: Any,
    *,
    order: str = "cyclic",
    tol: float = 1e-12,
    max_iter: int = 1000,
    random_state: Any = None,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a function over one entry of x at a time, the others held.

    .. math:: x_j \leftarrow \arg\min_{u} f(x_1, \dots, x_{j-1}, u, x_{j+1}, \dots, x_d)

    for one j after the other. f never rises, and needs no gradient. It reaches the minimum of a
    smooth convex function plus one of each entry alone (the lasso's), and may stop in a corner of
    any other function that is not smooth.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number; along each entry it should have one minimum.
    x0 : array-like of shape (d,)
        Where to start.
    order : str, default="cyclic"
        ``"cyclic"`` goes through the entries in their order, ``"random"`` in a new order in each
        sweep.
    tol : float, default=1e-12
        Stop when a sweep over all entries lowered f by at most this share of the whole decrease.
    max_iter : int, default=1000
        The most sweeps.
    random_state : int, numpy generator or None
        For the random order.
    trace : bool, default=True
        Keep the points.

    Returns
    -------
    Minimum
        The point, the verdict and every step: one per entry, d in a sweep.

    Warns
    -----
    ConvergenceWarning
        If it did not converge: the verdict says why, and the message what to do.

    Notes
    -----
    A step costs some 30 values of f and is right to about 1e-8 of its length, which is as far as
    values of f tell. Entries that depend on each other make it zigzag: use `lbfgs` there. The
    lasso and its kin have solvers of their own (`bottega.linear`).

    References
    ----------
    .. [1] Tseng, P. (2001). Convergence of a block coordinate descent method for
       nondifferentiable minimization. Journal of Optimization Theory and Applications 109,
       475-494.

    Examples
    --------
    >>> f = lambda x: (x[0] - 1) ** 2 + abs(x[1]) + (x[0] + x[1]) ** 2 / 2
    >>> found = coordinate_descent(f, [3.0, 2.0])
    >>> found.converged, bool(np.allclose(found.x, [2 / 3, 0], atol=1e-6))
    (True, True)
    """
    if order not in _ORDERS:
        raise ParameterError(f"order={order!r} is not known; give one of {', '.join(_ORDERS)}.")
    x = starting_point(x0)
    rng = np.random.default_rng(seed_of(random_state, "coordinate_descent"))
    sweeps = max_iter * len(x) if isinstance(max_iter, int | np.integer) else max_iter
    return descend(_Coordinate(order, rng), Objective(f), x, tol=tol, max_iter=sweeps, trace=trace)
