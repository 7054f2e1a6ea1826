"""AdaGrad: a step size per entry, the smaller the more the entry has moved."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import check_between
from bottega.optimize._descent.loop import Point
from bottega.optimize._descent.steps import largest_entry, run_rule
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective

__all__ = ["adagrad"]


@dataclass
class _Accumulated:
    """s <- s + gradient^2; x <- x - tau gradient / (sqrt(s) + epsilon)."""

    learning_rate: float
    epsilon: float
    s: FloatArray | float = 0.0
    name: str = "AdaGrad"

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float]:
        self.s = self.s + at.gradient**2
        scaled = at.gradient / (np.sqrt(self.s) + self.epsilon)
        return at.x - self.learning_rate * scaled, self.learning_rate

    def residual(self, at: Point) -> float:
        return largest_entry(at)


def adagrad(
    f: Any,
    x0: Any,
    *,
    gradient: Any = None,
    learning_rate: float = 0.01,
    epsilon: float = 1e-10,
    tol: float = 1e-6,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a function by gradient steps with a rate of its own for each entry of x.

    .. math:: s_t = s_{t-1} + (\nabla f(x_t))^2, \qquad
              x_{t+1} = x_t - \tau \, \nabla f(x_t) / (\sqrt{s_t} + \epsilon)

    entry by entry: what had large gradients so far moves less. The scale of f and of the entries
    does not matter (but for epsilon); the first step has length tau in every entry. The iterates
    are those of ``torch.optim.Adagrad``.

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
        The step size tau, in the units of x: how far an entry goes in the first step.
    epsilon : float, default=1e-10
        Keeps the division finite; it has to be small beside the gradients.
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
    adam : Forgets old gradients, so that its steps do not shrink for ever.

    Notes
    -----
    Each step costs one gradient. Steps only shrink: after a long way in a steep region the rest
    may take very many steps.

    References
    ----------
    .. [1] Duchi, J., Hazan, E. and Singer, Y. (2011). Adaptive subgradient methods for online
       learning and stochastic optimization. Journal of Machine Learning Research 12, 2121-2159.

    Examples
    --------
    >>> found = adagrad(lambda x: x[0] ** 2 + 1000 * x[1] ** 2, [1.0, 1.0], learning_rate=0.5)
    >>> found.verdict
    'converged'
    """
    check_between("learning_rate", learning_rate, 0.0, np.inf)
    check_between("epsilon", epsilon, 0.0, np.inf, closed=True)
    rule = _Accumulated(float(learning_rate), float(epsilon))
    return run_rule(rule, f, x0, gradient, tol=tol, max_iter=max_iter, trace=trace)
