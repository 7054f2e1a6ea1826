"""Nesterov's accelerated gradient: look ahead, then take the gradient."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import check_between
from bottega.optimize._descent.loop import Point
from bottega.optimize._descent.steps import largest_entry, run_rule
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective

__all__ = ["nesterov"]


@dataclass
class _LookAhead:
    """x <- y - tau gradient(y); y <- x + mu (x - x before)."""

    learning_rate: float
    momentum: float | None
    before: FloatArray | None = None
    taken: int = 0
    name: str = "Nesterov"

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float]:
        before = at.x if self.before is None else self.before
        x = at.x - self.learning_rate * at.gradient
        mu = self.taken / (self.taken + 3) if self.momentum is None else self.momentum
        self.before, self.taken = x, self.taken + 1
        return x + mu * (x - before), self.learning_rate

    def residual(self, at: Point) -> float:
        return largest_entry(at)


def nesterov(
    f: Any,
    x0: Any,
    *,
    gradient: Any = None,
    learning_rate: float = 0.01,
    momentum: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a smooth convex function by gradients taken a step ahead.

    .. math:: x_{t+1} = y_t - \tau \nabla f(y_t), \qquad
              y_{t+1} = x_{t+1} + \mu_t (x_{t+1} - x_t)

    With a step of at most 1 / L, where second derivatives are at most L, the distance from the
    minimum value falls as :math:`1 / t^2`, where gradient descent guarantees :math:`1 / t`.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number.
    x0 : array-like of shape (d,)
        Where to start.
    gradient : callable, True, "torch" or None
        ``gradient(x)``; True if f returns value and gradient; "torch" if f is written for tensors
        of PyTorch; None takes central differences.
    learning_rate : float, default=0.01
        The step size tau: 1 / L at most.
    momentum : float, optional
        The factor mu, from 0 to below 1: with condition number k the best is
        :math:`(\sqrt k - 1) / (\sqrt k + 1)`, and the iterates are those of
        ``torch.optim.SGD(nesterov=True)``. None takes t / (t + 3), which needs no knowledge of k.
    tol : float, default=1e-6
        Stop when the largest entry of the gradient is at most this share of the largest one met.
    max_iter : int, default=1000
        The most steps.
    trace : bool, default=True
        Keep points and gradients of all steps.

    Returns
    -------
    Minimum
        The point, the verdict and every step.

    Warns
    -----
    ConvergenceWarning
        If it did not converge: the verdict says why, and the message what to do.

    Notes
    -----
    The points of the trace are the y, where the gradients are taken: one per step. f may rise on
    the way.

    References
    ----------
    .. [1] Nesterov, Y. (1983). A method for solving the convex programming problem with
       convergence rate O(1/k^2). Soviet Mathematics Doklady 27, 372-376.

    Examples
    --------
    >>> found = nesterov(lambda x: x[0] ** 2 + 20 * x[1] ** 2, [4.0, 1.0], learning_rate=0.025)
    >>> found.verdict
    'converged'
    """
    check_between("learning_rate", learning_rate, 0.0, np.inf)
    if momentum is not None:
        check_between("momentum", momentum, 0.0, 1.0, closed=True)
    rule = _LookAhead(float(learning_rate), momentum)
    return run_rule(rule, f, x0, gradient, tol=tol, max_iter=max_iter, trace=trace)
