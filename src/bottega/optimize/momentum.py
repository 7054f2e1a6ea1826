"""Momentum: a step goes on in the direction of those before it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import check_between
from bottega.optimize._descent.loop import Point
from bottega.optimize._descent.steps import largest_entry, run_rule
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective

__all__ = ["momentum"]


@dataclass
class _HeavyBall:
    """m <- tau gradient + gamma m; x <- x - m."""

    learning_rate: float
    momentum: float
    m: FloatArray | float = 0.0
    name: str = "momentum"

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float]:
        self.m = self.learning_rate * at.gradient + self.momentum * self.m
        return at.x - self.m, self.learning_rate

    def residual(self, at: Point) -> float:
        return largest_entry(at)


def momentum(
    f: Any,
    x0: Any,
    *,
    gradient: Any = None,
    learning_rate: float = 0.01,
    momentum: float = 0.9,
    tol: float = 1e-6,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a smooth function by gradient steps that keep a share of the step before.

    .. math:: m_t = \tau \nabla f(x_t) + \gamma m_{t-1}, \qquad x_{t+1} = x_t - m_t

    Gradients that point the same way add up, to :math:`\tau / (1 - \gamma)`; those that change
    sign cancel. The iterates are those of ``torch.optim.SGD(lr=tau, momentum=gamma)``.

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
        The step size tau; it has to be below :math:`2 (1 + \gamma) / L` where second derivatives
        reach L.
    momentum : float, default=0.9
        The share gamma, from 0 (gradient descent) to below 1. Larger values go faster through
        narrow valleys and swing more around the minimum.
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

    See Also
    --------
    nesterov : Looks ahead before it takes the gradient.

    Notes
    -----
    Each step costs one gradient. f may rise on the way.

    References
    ----------
    .. [1] Polyak, B. (1964). Some methods of speeding up the convergence of iteration methods.
       USSR Computational Mathematics and Mathematical Physics 4(5), 1-17.

    Examples
    --------
    >>> found = momentum(lambda x: x[0] ** 2 + 20 * x[1] ** 2, [4.0, 1.0], learning_rate=0.02)
    >>> found.verdict, found.n_iter < 300
    ('converged', True)
    """
    check_between("learning_rate", learning_rate, 0.0, np.inf)
    check_between("momentum", momentum, 0.0, 1.0, closed=True)
    rule = _HeavyBall(float(learning_rate), float(momentum))
    return run_rule(rule, f, x0, gradient, tol=tol, max_iter=max_iter, trace=trace)
