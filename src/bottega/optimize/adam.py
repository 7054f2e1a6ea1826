"""Adam: momentum, and a step size per entry from recent gradients."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import check_between
from bottega.optimize._descent.loop import Point
from bottega.optimize._descent.steps import largest_entry, run_rule
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective

__all__ = ["adam"]


@dataclass
class _Adam:
    """Running means of the gradient and of its square, without their bias towards zero."""

    learning_rate: float
    beta_1: float
    beta_2: float
    epsilon: float
    m: FloatArray | float = 0.0
    v: FloatArray | float = 0.0
    t: int = 0
    name: str = "Adam"

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float]:
        g = at.gradient
        self.t += 1
        self.m = self.beta_1 * self.m + (1 - self.beta_1) * g
        self.v = self.beta_2 * self.v + (1 - self.beta_2) * g**2
        m_hat = self.m / (1 - self.beta_1**self.t)
        v_hat = self.v / (1 - self.beta_2**self.t)
        x = at.x - self.learning_rate * m_hat / (np.sqrt(v_hat) + self.epsilon)
        return x, self.learning_rate

    def residual(self, at: Point) -> float:
        return largest_entry(at)


def adam(
    f: Any,
    x0: Any,
    *,
    gradient: Any = None,
    learning_rate: float = 0.001,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-8,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a function by steps of the gradient's running mean over its running size.

    With :math:`g_t = \nabla f(x_t)`, entry by entry,

    .. math::
        m_t = \beta_1 m_{t-1} + (1 - \beta_1) g_t, \qquad
        v_t = \beta_2 v_{t-1} + (1 - \beta_2) g_t^2,

    .. math::
        x_{t+1} = x_t - \tau \, \frac{m_t / (1 - \beta_1^t)}
        {\sqrt{v_t / (1 - \beta_2^t)} + \epsilon} .

    The divisors undo the bias towards the zero that both means start from: the first step is
    :math:`\tau` in every entry, against the sign of the gradient. The iterates are those of
    ``torch.optim.Adam``.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number.
    x0 : array-like of shape (d,)
        Where to start.
    gradient : callable, True, "torch" or None
        ``gradient(x)``; True if f returns value and gradient; "torch" if f is written for tensors
        of PyTorch; None takes central differences.
    learning_rate : float, default=0.001
        The step size tau, in the units of x: about how far an entry goes per step. With a constant
        one the iterates end up swinging around the minimum rather than reaching it closely.
    beta_1 : float, default=0.9
        Memory of the mean gradient, from 0 to below 1; larger values are smoother and slower to
        turn.
    beta_2 : float, default=0.999
        Memory of its square, from 0 to below 1.
    epsilon : float, default=1e-8
        Keeps the division finite; it has to be small beside the gradients.
    tol : float, default=1e-6
        Stop when the largest entry of the gradient is at most this share of the largest one met.
    max_iter : int, default=10_000
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
    Each step costs one gradient. For a smooth function with exact gradients `lbfgs` is much
    faster; Adam is for noisy ones and for entries of unlike scales.

    References
    ----------
    .. [1] Kingma, D. and Ba, J. (2015). Adam: a method for stochastic optimization. International
       Conference on Learning Representations. https://arxiv.org/abs/1412.6980

    Examples
    --------
    >>> found = adam(lambda x: x[0] ** 2 + 1000 * x[1] ** 2, [1.0, 1.0], learning_rate=0.05)
    >>> found.verdict
    'converged'
    """
    check_between("learning_rate", learning_rate, 0.0, np.inf)
    check_between("beta_1", beta_1, 0.0, 1.0, closed=True)
    check_between("beta_2", beta_2, 0.0, 1.0, closed=True)
    check_between("epsilon", epsilon, 0.0, np.inf, closed=True)
    rule = _Adam(float(learning_rate), float(beta_1), float(beta_2), float(epsilon))
    return run_rule(rule, f, x0, gradient, tol=tol, max_iter=max_iter, trace=trace)
