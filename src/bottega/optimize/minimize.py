"""SciPy's minimisers behind the same result, with every step they took."""

import warnings
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.errors import (
    ConvergenceWarning,
    InputError,
    ParameterError,
    did_you_mean,
    warn_caller,
)
from bottega.core.typing import FloatArray
from bottega.optimize._descent.loop import check_start, check_stopping, falls_for_ever
from bottega.optimize.minimum import Minimum, Recorder
from bottega.optimize.objective import Objective, starting_point

__all__ = ["METHODS", "minimize"]

# Which of its own numbers each method takes the tolerance for.
_TOLERANCES: dict[str, tuple[str, ...]] = {
    "Nelder-Mead": ("xatol", "fatol"),
    "Powell": ("xtol", "ftol"),
    "CG": ("gtol",),
    "BFGS": ("gtol",),
    "L-BFGS-B": ("gtol",),
    "SLSQP": ("ftol",),
    "Newton-CG": ("xtol",),
    "trust-ncg": ("gtol",),
    "trust-exact": ("gtol",),
}
METHODS = tuple(_TOLERANCES)
_FREE = ("Nelder-Mead", "Powell")  # of gradients
_SECOND = ("Newton-CG", "trust-ncg", "trust-exact")  # take second derivatives
_BOUNDED = ("Nelder-Mead", "Powell", "L-BFGS-B", "SLSQP")
_FAR_OFF = 1e-3  # of the first gradient: too much for a minimum
_TINY = 1e-15  # a change of f by so little is none


_WORDS = {
    "converged": "converged",
    "max_iter": "not converged; raise max_iter, or start elsewhere. It stopped",
    "stalled": "no further progress; rounding hides what is left, f is not smooth there, or its "
    "gradient is wrong (check_gradient tells). It stopped",
    "unbounded": "f falls without end on the way taken; check its sign, or add bounds. It stopped",
    "diverged": "f rises; start elsewhere. x is the best point met. It stopped",
    "not finite": "f or its gradient is not finite; keep to where f is defined. x is the best "
    "point met. It stopped",
}


class _GoneAstray(Exception):
    """The run has gone astray."""


class _Watched:
    """The function in units in which its first gradient is of size one, and what SciPy did.

    SciPy's tolerances and first steps are for x and f of moderate size; it works on x in units of
    `length`, which is 1 unless x0 is very large or very small.

    Values and gradients since the last iteration are kept, so that the points of the trace need
    not be computed again.
    """

    def __init__(
        self,
        objective: Objective,
        smooth: bool,
        box: tuple[FloatArray, FloatArray],
        trace: bool,
    ) -> None:
        self.objective, self.smooth, self.box = objective, smooth, box
        self.recorder = Recorder(objective, trace)
        self.undefined: tuple[FloatArray, float] | None = None  # the first such point, and f
        self.values: dict[bytes, float] = {}
        self.gradients: dict[bytes, FloatArray] = {}

    def begin(self, x: FloatArray) -> None:
        with np.errstate(all="ignore"):
            value = self.objective.value(x)
            wanted = self.smooth and np.isfinite(value)
            gradient = self.objective.gradient(x) if wanted else None
        check_start(value, gradient)
        self.recorder.add(x, value, gradient, self._residual(x, gradient))
        largest = float(np.max(np.abs(x)))
        self.length = 1.0 if largest == 0 or 1e-8 < largest < 1e8 else largest
        size = abs(value) if gradient is None else float(np.max(np.abs(gradient))) * self.length
        self.unit = size if size > 0 and np.isfinite(1 / size) else 1.0
        self.start = self.last = x

    def value(self, z: FloatArray) -> float:
        x = z * self.length
        found = self.values[x.tobytes()] = self.objective.value(x)
        if not np.isfinite(found):
            self.undefined = self.undefined or (x, found)
        return found / self.unit

    def gradient(self, z: FloatArray) -> FloatArray:
        x = z * self.length
        found = self.gradients[x.tobytes()] = self.objective.gradient(x)
        return found * (self.length / self.unit)

    def hessian(self, z: FloatArray) -> FloatArray:
        return self.objective.hessian(z * self.length) * self.length * (self.length / self.unit)

    def note(self, z: FloatArray, *_: Any) -> None:
        """Write down the point of one iteration."""
        x = np.asarray(z, dtype=np.float64) * self.length
        value = self.values.get(x.tobytes())
        gradient = self.gradients.get(x.tobytes())
        value = self.objective.value(x) if value is None else value
        if self.smooth and gradient is None:
            gradient = self.objective.gradient(x)
        self.values.clear()
        self.gradients.clear()
        length = float(np.linalg.norm(x - self.last))
        self.recorder.add(x, value, gradient, self._residual(x, gradient), length)
        self.last = x
        if self.recorder.astray(x, value, gradient) is not None:
            raise _GoneAstray(f"f is {value:.6g} at {np.array2string(x[:5], precision=4)}")

    def end(self, z: FloatArray) -> None:
        """Write down the answer, if the last iteration did not end there."""
        if not np.array_equal(z * self.length, self.last):
            self.note(z)

    def verdict(self, answer: Any, max_iter: int) -> str:
        gradient = self.objective.gradient(self.last) if self.smooth else None
        astray = self.recorder.astray(self.last, self.recorder.values[-1], gradient)
        if astray is not None:
            return astray
        residuals = self.recorder.residuals
        if self.undefined is not None and residuals[-1] > _FAR_OFF * residuals[0]:
            return "unbounded" if self.undefined[1] == -np.inf else "not finite"
        if answer.success:
            return "converged"
        with np.errstate(all="ignore"):
            if falls_for_ever(self.objective, self.last, self.last - self.start):
                return "unbounded"
        return "max_iter" if len(self.recorder.steps) >= max_iter else "stalled"

    def _residual(self, x: FloatArray, gradient: FloatArray | None) -> float:
        """Return the largest entry of the gradient, or of the step that the bounds leave of it."""
        if gradient is None:
            return np.nan
        free = np.isinf(self.box[0]) & np.isinf(self.box[1])
        step = np.where(free, gradient, x - np.clip(x - gradient, *self.box))
        return float(np.max(np.abs(step)))


def minimize(
    f: Any,
    x0: Any,
    *,
    method: str = "BFGS",
    gradient: Any = None,
    hessian: Any = None,
    bounds: Any = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    options: dict[str, Any] | None = None,
    trace: bool = True,
) -> Minimum:
    """Minimise a function by one of SciPy's solvers, and keep every step.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number.
    x0 : array-like of shape (d,)
        Where to start.
    method : str, default="BFGS"
        ``"BFGS"`` and ``"L-BFGS-B"`` (for many entries) learn second derivatives from gradients;
        ``"CG"`` and ``"SLSQP"`` take gradients too; ``"Newton-CG"``, ``"trust-ncg"`` and
        ``"trust-exact"`` second derivatives; ``"Nelder-Mead"`` and ``"Powell"`` only values, for
        functions that are not smooth or noisy, of few entries.
    gradient : callable, True, "torch" or None
        ``gradient(x)``; True if f returns value and gradient; "torch" if f is written for tensors
        of PyTorch; None takes central differences.
    hessian : callable, optional
        ``hessian(x)``, for the methods that use it; None takes PyTorch's, or differences.
    bounds : sequence of pairs, optional
        A pair (low, high) per entry, None for no limit: for "L-BFGS-B", "SLSQP",
        "Nelder-Mead" and "Powell".
    tol : float, default=1e-6
        The solver's own tolerance, for f in units in which the largest entry of the first gradient
        (for the methods without gradients: the first value) is one.
    max_iter : int, default=1000
        The most iterations.
    options : dict, optional
        Further options of the solver, by SciPy's names.
    trace : bool, default=True
        Keep points and gradients of all iterations.

    Returns
    -------
    Minimum
        The point, the verdict and every iteration. Step sizes are lengths of steps.

    Warns
    -----
    ConvergenceWarning
        If it did not converge: the verdict says why, and the message what to do.

    See Also
    --------
    lbfgs : The same with method "L-BFGS-B".

    References
    ----------
    .. [1] Nocedal, J. and Wright, S. (2006). Numerical Optimization. Springer.
    .. [2] Virtanen, P. et al. (2020). SciPy 1.0. Nature Methods 17, 261-272.

    Examples
    --------
    >>> def rosenbrock(x):
    ...     return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    >>> found = minimize(rosenbrock, [-1.2, 1.0], method="BFGS")
    >>> found.verdict, [round(float(v), 6) for v in found.x]
    ('converged', [1.0, 1.0])
    """
    if method not in METHODS:
        raise ParameterError(
            f"method={method!r} is not known; give one of {', '.join(METHODS)}."
            + did_you_mean(str(method), METHODS)
        )
    check_stopping(tol, max_iter)
    if bounds is not None and method not in _BOUNDED:
        raise ParameterError(f"{method} takes no bounds; use one of {', '.join(_BOUNDED)}.")
    objective = Objective(f, gradient, hessian)
    box = _box(bounds, starting_point(x0))
    x = np.clip(starting_point(x0), *box)
    run = _Watched(objective, method not in _FREE, box, trace)
    run.begin(x)
    if run.recorder.residuals[0] == 0:
        return run.recorder.result(method, x, "converged", f"{method}: x0 is stationary.")
    limits = (
        None if bounds is None else list(zip(*(side / run.length for side in box), strict=True))
    )
    said = _solve(run, x / run.length, method, limits, tol, max_iter, options or {})
    verdict = run.verdict(said, max_iter)
    steps = len(run.recorder.steps)
    message = f"{method}: {_WORDS[verdict]} after {steps} iterations (SciPy: {said.message})."
    if verdict == "not finite" and run.undefined is not None:
        x, found = run.undefined
        message += f" f is {found} at x = {np.array2string(x[:5], precision=4, threshold=5)}."
    if verdict != "converged":
        warn_caller(message, ConvergenceWarning)
    return run.recorder.result(method, run.last, verdict, message)


def _solve(
    run: _Watched,
    z: FloatArray,
    method: str,
    limits: Any,
    tol: float,
    max_iter: int,
    options: dict[str, Any],
) -> Any:
    """Run SciPy's solver and return its answer, or what stopped it."""
    given: dict[str, Any] = {"maxiter": max_iter, **dict.fromkeys(_TOLERANCES[method], tol)}
    if method == "SLSQP":
        given["ftol"] = tol**2  # of f, which changes by the square of what x does
    if method == "L-BFGS-B":
        given |= {"ftol": _TINY, "maxfun": np.iinfo(np.int32).max}
    derivatives: dict[str, Any] = {} if method in _FREE else {"jac": run.gradient}
    if method in _SECOND:
        derivatives["hess"] = run.hessian
    search: Any = optimize.minimize
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", optimize.OptimizeWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            answer = search(
                run.value,
                z,
                method=method,
                bounds=limits,
                callback=run.note,
                options=given | options,
                **derivatives,
            )
        except _GoneAstray as stop:
            return SimpleNamespace(success=False, message=str(stop))
        answer.message = str(answer.message).strip().rstrip(".")
        with suppress(_GoneAstray):
            run.end(np.array(answer.x, dtype=np.float64))
    return answer


def _box(bounds: Any, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper limits, infinite where there are none."""
    if bounds is None:
        return np.full_like(x, -np.inf), np.full_like(x, np.inf)
    try:
        pairs = [(-np.inf if a is None else float(a), np.inf if b is None else float(b))
                 for a, b in bounds]  # fmt: skip
    except (TypeError, ValueError) as error:
        raise InputError("bounds has to hold one pair (low, high) per entry of x.") from error
    low, high = np.array(pairs).reshape(-1, 2).T
    if len(low) != len(x) or not np.all(low <= high):
        raise InputError(
            f"bounds has {len(low)} pairs, x0 {len(x)} entries; give one pair (low, high) per "
            "entry, low at most high."
        )
    return low, high
