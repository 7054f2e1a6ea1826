"""Gradient descent: down the steepest slope, with four ways to choose how far."""

from dataclasses import dataclass
from typing import Any

from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import LineSearch, search_of
from bottega.optimize._descent.loop import Point
from bottega.optimize._descent.steps import largest_entry, run_rule
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective

__all__ = ["gradient_descent"]


@dataclass
class _Steepest:
    """Delta x = -gradient; x <- x + t Delta x."""

    search: LineSearch
    name: str = "gradient descent"

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float] | None:
        direction = -at.gradient
        t = self.search.size(objective, at, direction)
        return None if t is None else (at.x + t * direction, t)

    def residual(self, at: Point) -> float:
        return largest_entry(at)


def gradient_descent(
    f: Any,
    x0: Any,
    *,
    gradient: Any = None,
    line_search: str = "backtracking",
    learning_rate: float = 1.0,
    decay: float = 0.99,
    alpha: float = 0.25,
    beta: float = 0.5,
    tol: float = 1e-6,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a smooth function by steps against its gradient.

    Repeat: :math:`\Delta x = -\nabla f(x)`; choose :math:`t`; :math:`x \leftarrow x + t \Delta x`.
    On a function whose second derivatives lie between m and L, an exact search lowers the distance
    from the minimum value by at least the factor :math:`((L - m) / (L + m))^2` per step, and the
    best fixed step, :math:`2 / (L + m)`, the distance from the minimum by
    :math:`(L - m) / (L + m)`: slow where L / m is large.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number.
    x0 : array-like of shape (d,)
        Where to start. If f is not convex the answer depends on it.
    gradient : callable, True, "torch" or None
        ``gradient(x)``; True if f returns value and gradient; "torch" if f is written for tensors
        of PyTorch; None takes central differences, 2 d values of f each.
    line_search : str, default="backtracking"
        ``"fixed"``: every step is `learning_rate`. ``"decaying"``: it is multiplied by `decay`
        after each. ``"exact"``: to the minimum along the line, fewer steps at some 30 values of f
        each. ``"backtracking"``: `learning_rate` times `beta` so often until f falls by
        at least `alpha` of what the slope promises.
    learning_rate : float, default=1.0
        Step size, or the first trial of a search. Steps above 2 / L go astray when fixed; small
        ones are slow. A first trial that is out of scale with f is replaced by one that is not.
    decay : float, default=0.99
        In (0, 1); smaller values shrink the steps faster, and may stop before the minimum.
    alpha : float, default=0.25
        In (0, 1/2); larger values ask for more decrease and give shorter steps.
    beta : float, default=0.5
        In (0, 1); larger values search finer, with more values of f.
    tol : float, default=1e-6
        Stop when the largest entry of the gradient is at most this share of the largest one met.
        Larger values stop sooner and further from the minimum.
    max_iter : int, default=1000
        The most steps.
    trace : bool, default=True
        Keep points and gradients of all steps; False saves memory where d is large.

    Returns
    -------
    Minimum
        The point, the verdict and every step; ``plot()`` draws the way.

    Raises
    ------
    InputError
        If f or its gradient is not finite at x0, or not of the right shape.

    Warns
    -----
    ConvergenceWarning
        If it did not converge: the verdict says why, and the message what to do.

    See Also
    --------
    newton : Few steps, where second derivatives are cheap.
    lbfgs : What to use if only the minimum matters.
    sgd : For sums over many rows.

    Notes
    -----
    Each step costs one gradient and, with a search, one or more values of f.

    References
    ----------
    .. [1] Boyd, S. and Vandenberghe, L. (2004). Convex Optimization, section 9.3. Cambridge.
    .. [2] Armijo, L. (1966). Minimization of functions having Lipschitz continuous first partial
       derivatives. Pacific Journal of Mathematics 16, 1-3.

    Examples
    --------
    >>> found = gradient_descent(lambda x: (x[0] - 2) ** 2 + 10 * x[1] ** 2, [0.0, 1.0])
    >>> found.verdict, bool(abs(found.x[0] - 2) < 1e-4)
    ('converged', True)
    """
    search = search_of(
        line_search, learning_rate=learning_rate, decay=decay, alpha=alpha, beta=beta
    )
    rule = _Steepest(search)
    return run_rule(rule, f, x0, gradient, tol=tol, max_iter=max_iter, trace=trace)
