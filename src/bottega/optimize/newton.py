"""Newton's method: to the minimum of the quadratic that fits best, damped where that overshoots."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bottega.core.typing import FloatArray
from bottega.optimize._descent.line_search import LineSearch, search_of
from bottega.optimize._descent.loop import Point, descend
from bottega.optimize._descent.steps import largest_entry
from bottega.optimize.minimum import Minimum
from bottega.optimize.objective import Objective, starting_point

__all__ = ["newton"]


@dataclass
class _Newton:
    """Delta x = -H^-1 gradient; x <- x + t Delta x."""

    search: LineSearch
    shifted: int = 0
    name: str = "Newton"

    def step(self, objective: Objective, at: Point) -> tuple[FloatArray, float] | None:
        with np.errstate(all="ignore"):
            hessian = objective.hessian(at.x)
        if not np.all(np.isfinite(hessian)):
            return None
        direction, shift = _solve(hessian, at.gradient)
        self.shifted += shift
        t = self.search.size(objective, at, direction)
        return None if t is None else (at.x + t * direction, t)

    def residual(self, at: Point) -> float:
        return largest_entry(at)

    @property
    def note(self) -> str:
        if not self.shifted:
            return ""
        return (
            f"In {self.shifted} steps the second derivatives were not positive definite (f is not "
            "convex there, or flat); their negative eigenvalues were turned round."
        )


def _solve(hessian: FloatArray, gradient: FloatArray) -> tuple[FloatArray, bool]:
    """Return the Newton direction, and True if the matrix had to be made positive definite."""
    # In units in which the diagonal is one: the answer does not depend on those of x.
    size = np.sqrt(np.abs(np.diag(hessian)))
    size[size == 0] = np.max(size) or 1.0
    scaled = hessian / size[:, None] / size
    try:
        return -linalg.cho_solve(linalg.cho_factor(scaled), gradient / size) / size, False
    except linalg.LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        values = np.maximum(np.abs(values), 1e-8 * np.max(np.abs(values)) or 1.0)
        return -(vectors @ (vectors.T @ (gradient / size) / values)) / size, True


def newton(
    f: Any,
    x0: Any,
    *,
    gradient: Any = None,
    hessian: Any = None,
    line_search: str = "backtracking",
    learning_rate: float = 1.0,
    alpha: float = 0.25,
    beta: float = 0.5,
    tol: float = 1e-8,
    max_iter: int = 100,
    trace: bool = True,
) -> Minimum:
    r"""Minimise a smooth function by steps to the minimum of its second-order expansion.

    .. math:: x \leftarrow x - t \, [\nabla^2 f(x)]^{-1} \nabla f(x)

    with t by backtracking from 1. Near a minimum with positive definite second derivatives t is 1
    and the number of right digits doubles in each step; a quadratic takes one step. The iterates
    go with any linear change of coordinates of x, so bad scaling does not matter.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number.
    x0 : array-like of shape (d,)
        Where to start. If f is not convex the answer depends on it.
    gradient : callable, True, "torch" or None
        ``gradient(x)``; True if f returns value and gradient; "torch" if f is written for tensors
        of PyTorch; None takes central differences.
    hessian : callable, optional
        ``hessian(x)`` returns the matrix of second derivatives. None takes PyTorch's with
        ``gradient="torch"``, else differences: 2 d gradients, or 2 d (d + 1) values of f.
    line_search : str, default="backtracking"
        ``"fixed"`` with a `learning_rate` of 1 is the pure method, which may go astray far from
        the minimum; ``"exact"`` as in `gradient_descent`.
    learning_rate : float, default=1.0
        The fixed step, or the first trial of the search.
    alpha, beta : float
        As in `gradient_descent`.
    tol : float, default=1e-8
        Stop when the largest entry of the gradient is at most this share of the largest one met.
    max_iter : int, default=100
        The most steps.
    trace : bool, default=True
        Keep points and gradients of all steps.

    Returns
    -------
    Minimum
        The point, the verdict and every step. Where second derivatives are not positive
        definite, their negative eigenvalues are turned round so that the step goes down; the
        message says in how many steps.

    Warns
    -----
    ConvergenceWarning
        If it did not converge: the verdict says why, and the message what to do.

    Notes
    -----
    A step costs one matrix of second derivatives and :math:`O(d^3)`, and :math:`O(d^2)` memory:
    for some hundreds of entries at most. Beyond that `lbfgs` is the better tool.

    References
    ----------
    .. [1] Boyd, S. and Vandenberghe, L. (2004). Convex Optimization, section 9.5. Cambridge.
    .. [2] Nocedal, J. and Wright, S. (2006). Numerical Optimization, section 3.4. Springer.

    Examples
    --------
    >>> found = newton(lambda x: x[0] ** 2 + 1000 * (x[1] - x[0]) ** 2 + x[0], [3.0, -2.0])
    >>> found.verdict, found.n_iter <= 3, [round(float(v), 5) for v in found.x]
    ('converged', True, [-0.5, -0.5])
    """
    search = search_of(line_search, learning_rate=learning_rate, decay=0.99, alpha=alpha, beta=beta)
    return descend(
        _Newton(search),
        Objective(f, gradient, hessian),
        starting_point(x0),
        tol=tol,
        max_iter=max_iter,
        trace=trace,
        relative=True,
    )
