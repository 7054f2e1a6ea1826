"""Support vector machines of one problem, along values of C."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.kernel._objects.base import LINEAR
from bottega.kernel._support.gram import gram_of, single_is_enough
from bottega.kernel.kernels import Kernel
from bottega.optimize.programs import separator
from bottega.optimize.row_cache import RowCache
from bottega.optimize.smo import ROWS_AT_ONCE, BoxProblem, DualSolution, solve_dual

__all__ = ["Machine", "Settings", "machines_along", "one_class"]

# Bounds that stand for none, against the size of the kernel: a solution that meets none of them
# is that of the hard margin.
_HARD = (1e2, 1e4, 1e6, 1e8)
_HARD_STEPS = 2_000_000
_STEPS = 10_000_000  # of two rows, hardly ever met


@dataclass(frozen=True)
class Settings:
    """How a problem is solved."""

    tol: float
    max_iter: int
    cache_size: float
    shrinking: bool


@dataclass(frozen=True)
class Machine:
    """One solution, and what it says about the rows.

    `beta` are the coefficients of the rows, `fitted` the decision values there, `slack` by how
    much each of them misses its margin or its tube.
    """

    beta: FloatArray
    bias: float
    fitted: FloatArray
    slack: FloatArray
    bound: FloatArray
    primal: float
    dual: float
    gap: float
    n_iter: int
    converged: bool


def machines_along(
    X: Any,
    kernel: Kernel,
    z: FloatArray,
    weight: FloatArray,
    costs: Sequence[float],
    settings: Settings,
    *,
    eps: float | None = None,
) -> list[Machine]:
    """Return the machine for each C, in the order given; each starts from the one before.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, p)
        Rows.
    kernel : Kernel
        The kernel.
    z : ndarray of shape (n,)
        Labels -1 and +1, or responses.
    weight : ndarray of shape (n,)
        Weights of the rows: they multiply C.
    costs : sequence of float
        Values of C, ascending; infinity is the hard margin.
    settings : Settings
        How to solve.
    eps : float, optional
        Half width of the tube of a regression; None for classes.
    """
    finite = [cost for cost in costs if np.isfinite(cost)]
    bound = max(finite, default=0.0) * float(np.max(weight))
    single = len(finite) == len(costs) and single_is_enough(X, kernel, bound, settings.tol)
    gram, center = gram_of(X, kernel, np.float32 if single else np.float64)
    cache = RowCache(gram, settings.cache_size, ROWS_AT_ONCE)
    solver = _Solver(gram, cache, z, eps, settings)
    linear = center is not None and kernel.row_kernel.code == LINEAR
    found = []
    for cost in costs:
        if np.isfinite(cost):
            machine = solver.solve(cost * weight, max(_STEPS, 100 * len(z)))
        else:
            if linear and eps is None:
                scaled = (X - center) / np.max(np.abs(X - center), initial=1e-300)
                if separator(z[:, None] * np.column_stack([scaled, np.ones(len(z))])) is None:
                    raise _inseparable(eps)
            machine = solver.hard_margin()
        if linear:
            machine = replace(machine, bias=machine.bias - float(machine.beta @ X @ center))
        found.append(machine)
    return found


def one_class(X: Any, kernel: Kernel, weight: FloatArray, nu: float, settings: Settings) -> Machine:
    """Return the machine of one class whose coefficients sum to the share `nu` of the weights."""
    single = single_is_enough(X, kernel, float(np.max(weight)), settings.tol)
    gram, _ = gram_of(X, kernel, np.float32 if single else np.float64, centered=False)
    cache = RowCache(gram, settings.cache_size, ROWS_AT_ONCE)
    n = len(weight)
    total = nu * float(weight.sum())
    start = np.clip(total - (np.cumsum(weight) - weight), 0.0, weight)
    held = np.flatnonzero(start)
    product = cache.product(gram, held, start[held], np.arange(n))
    found = solve_dual(
        gram,
        BoxProblem(np.zeros(n), np.zeros(n), weight),
        start,
        -product,
        cache,
        tol=settings.tol,
        max_iter=settings.max_iter,
        max_steps=max(_STEPS, 100 * n),
        shrinking=settings.shrinking,
    )
    half = -0.5 * float(found.beta @ found.residual)
    fitted = found.bias - found.residual
    slack = np.maximum(-fitted, 0.0)
    return Machine(
        beta=found.beta,
        bias=found.bias,
        fitted=fitted,
        slack=slack,
        bound=weight,
        primal=half + float(weight @ slack) + total * found.bias,
        dual=-half,
        gap=found.gap,
        n_iter=found.n_iter,
        converged=found.converged,
    )


class _Solver:
    """Solves one problem for several bounds; each solution is the start of the next."""

    def __init__(
        self, gram: Any, cache: RowCache, z: FloatArray, eps: float | None, settings: Settings
    ) -> None:
        self.gram, self.cache, self.z, self.eps, self.settings = gram, cache, z, eps, settings
        self.bound: FloatArray | None = None
        self.beta = np.zeros(len(z))
        self.product = np.zeros(len(z))  # K beta

    def solve(self, bound: FloatArray, max_steps: int) -> Machine:
        """Return the machine whose coefficients are at most `bound` in size."""
        z = self.z
        low, high = -bound, bound
        if self.eps is None:
            low, high = np.where(z > 0, 0.0, -bound), np.where(z > 0, bound, 0.0)
        if self.bound is not None:
            ratio = float(bound[0] / self.bound[0])
            held = np.abs(self.beta) >= self.bound
            beta = np.clip(self.beta * ratio, low, high)
            self.beta = np.where(held, np.copysign(bound, self.beta), beta)
            self.product = self.product * ratio
        self.bound = bound
        found = solve_dual(
            self.gram,
            BoxProblem(z, low, high, 0.0 if self.eps is None else self.eps),
            self.beta,
            z - self.product,
            self.cache,
            tol=self.settings.tol,
            max_iter=self.settings.max_iter,
            max_steps=max_steps,
            shrinking=self.settings.shrinking,
        )
        self.beta, self.product = found.beta, z - found.residual
        return self._machine(found, bound)

    def hard_margin(self) -> Machine:
        """Return the machine without bounds, or refuse rows that no machine separates."""
        n = len(self.z)
        some = np.arange(min(n, 1000))
        size = float(np.mean(np.abs(np.diagonal(self.gram.block(some, some))))) or 1.0
        for cost in _HARD:
            bound = np.full(n, cost / size)
            machine = self.solve(bound, _HARD_STEPS)
            if machine.converged and np.all(np.abs(machine.beta) < bound):
                half = 0.5 * float(machine.beta @ self.product)
                return replace(machine, bound=np.full(n, np.inf), primal=half)
            if not machine.converged:
                break
        raise _inseparable(self.eps)

    def _machine(self, found: DualSolution, bound: FloatArray) -> Machine:
        fitted = self.product + found.bias
        if self.eps is None:
            slack = np.maximum(1.0 - self.z * fitted, 0.0)
            tube = 0.0
        else:
            slack = np.maximum(np.abs(self.z - fitted) - self.eps, 0.0)
            tube = self.eps * float(np.sum(np.abs(found.beta)))
        half = 0.5 * float(found.beta @ self.product)
        return Machine(
            beta=found.beta,
            bias=found.bias,
            fitted=fitted,
            slack=slack,
            bound=bound,
            primal=half + float(bound @ slack),
            dual=float(self.z @ found.beta) - tube - half,
            gap=found.gap,
            n_iter=found.n_iter,
            converged=found.converged,
        )


def _inseparable(eps: float | None) -> InputError:
    what = "separates these rows" if eps is None else "keeps all rows inside its tube"
    return InputError(
        f"C=inf asks for a hard margin, and no machine with this kernel {what}; give a finite C, "
        "or another kernel."
    )
