"""L-BFGS: second derivatives learned from the last few gradients."""

from typing import Any

from bottega.core.errors import ParameterError
from bottega.optimize.minimize import minimize
from bottega.optimize.minimum import Minimum

__all__ = ["lbfgs"]


def lbfgs(
    f: Any,
    x0: Any,
    *,
    gradient: Any = None,
    bounds: Any = None,
    memory: int = 10,
    tol: float = 1e-6,
    max_iter: int = 1000,
    trace: bool = True,
) -> Minimum:
    """Minimise a smooth function of few or many entries: the one to use if nothing speaks against.

    The step is Newton's, with a matrix that the last `memory` changes of the gradient agree with:
    close to Newton's few steps at the cost of gradient descent's. SciPy's L-BFGS-B does the work.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number.
    x0 : array-like of shape (d,)
        Where to start.
    gradient : callable, True, "torch" or None
        ``gradient(x)``; True if f returns value and gradient; "torch" if f is written for tensors
        of PyTorch; None takes central differences.
    bounds : sequence of pairs, optional
        A pair (low, high) per entry, None for no limit.
    memory : int, default=10
        Gradients remembered; more take fewer steps and more memory.
    tol : float, default=1e-6
        Stop when the largest entry of the gradient is at most this share of the first one's.
    max_iter : int, default=1000
        The most iterations.
    trace : bool, default=True
        Keep points and gradients of all iterations.

    Returns
    -------
    Minimum
        The point, the verdict and every iteration.

    Warns
    -----
    ConvergenceWarning
        If it did not converge: the verdict says why, and the message what to do.

    Notes
    -----
    An iteration costs one or two gradients and O(memory * d). It is not for functions that are
    noisy, or not smooth at their minimum.

    References
    ----------
    .. [1] Byrd, R., Lu, P., Nocedal, J. and Zhu, C. (1995). A limited memory algorithm for bound
       constrained optimization. SIAM Journal on Scientific Computing 16, 1190-1208.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.arange(50.0)
    >>> found = lbfgs(lambda x: np.sum(np.cosh((x - target) / 50)), np.zeros(50))
    >>> found.verdict, bool(np.max(np.abs(found.x - target)) < 1e-3)
    ('converged', True)
    """
    if not (isinstance(memory, int) and memory >= 1):
        raise ParameterError(f"memory={memory!r} is not allowed; give a whole number above 0.")
    return minimize(
        f,
        x0,
        method="L-BFGS-B",
        gradient=gradient,
        bounds=bounds,
        tol=tol,
        max_iter=max_iter,
        options={"maxcor": memory},
        trace=trace,
    )
