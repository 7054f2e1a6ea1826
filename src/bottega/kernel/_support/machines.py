"""Support vector machines of one problem, along values of C."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.kernel._objects.base import LINEAR
from bottega.kernel._support.gram import gram_of, may_be_single
from bottega.kernel.kernels import Kernel
from bottega.optimize.row_cache import Gram, RowCache
from bottega.optimize.separators import separator
from bottega.optimize.smo import ROWS_AT_ONCE, BoxProblem, DualSolution, solve_dual

__all__ = ["Machine", "Settings", "machines_along", "one_class"]

# Bounds that stand for none, against the size of the kernel: a solution that meets none of them
# is that of the hard margin.
_HARD = (1e2, 1e4, 1e6, 1e8)
_HARD_STEPS = 2_000_000
_GENTLE = 1e3  # cost, times the mean of the kernel's diagonal, that needs no smaller one first
_SAMPLE = 64  # rows whose kernels are compared
_SINGLE_TOL = 1e-5  # what single precision can reach
_STEPS = 5_000_000  # of two rows, hardly ever met


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


class Matrices:
    """The kernel matrix of the rows, in single precision first where it is large.

    Unless rounding is sure to be far below the tolerance, a solution in single precision is checked
    with residuals in double precision, and continued there where it is not good enough.
    """

    def __init__(
        self, X: Any, kernel: Kernel, settings: Settings, *, centered: bool = True
    ) -> None:
        self.settings = settings
        self.double, self.center = gram_of(X, kernel, centered=centered)
        self.single = gram_of(X, kernel, np.float32)[0] if may_be_single(X, kernel) else None
        self._rounding = 0.0  # of an entry in single precision
        if self.single is not None:
            some = np.linspace(0, self.double.n - 1, _SAMPLE).astype(int)
            gap = self.single.block(some, some) - self.double.block(some, some)
            np.fill_diagonal(gap, 0.0)  # it has most, but only one entry of each row
            self._rounding = float(np.sqrt(np.mean(gap**2)))
        self._caches: dict[Any, RowCache] = {}

    def _cache(self, gram: Gram) -> RowCache:
        if gram.dtype not in self._caches:
            self._caches[gram.dtype] = RowCache(gram, self.settings.cache_size, ROWS_AT_ONCE)
        return self._caches[gram.dtype]

    def product(self, beta: FloatArray) -> FloatArray:
        """Return K beta."""
        support = np.flatnonzero(beta)
        cache = self._cache(self.single or self.double)
        with cache.working():
            return cache.product(self.double, support, beta[support], np.arange(len(beta)))

    def solve(
        self, problem: BoxProblem, beta: FloatArray, residual: FloatArray, max_steps: int
    ) -> DualSolution:
        """Return the minimum, from a start with its residuals."""
        rounds, how = 0, self.settings
        if self.single is not None:
            coarse = self._solve(self.single, problem, beta, residual, max_steps)
            beta, rounds = coarse.beta, coarse.n_iter
            sure = 4 * self._rounding * np.linalg.norm(beta) <= 0.1 * how.tol
            if (coarse.gap <= how.tol and sure) or rounds >= how.max_iter:
                return coarse
            residual = problem.z - self.product(beta)
            *_, top, least = problem.slopes(residual, beta)
            gap = max(float(top - least), 0.0)
            if gap <= how.tol:
                bias = problem.bias(beta, residual)
                return DualSolution(beta, residual, bias, gap, rounds, True)
        found = self._solve(self.double, problem, beta, residual, max_steps)
        return replace(found, n_iter=rounds + found.n_iter)

    def _solve(
        self,
        gram: Gram,
        problem: BoxProblem,
        beta: FloatArray,
        residual: FloatArray,
        max_steps: int,
    ) -> DualSolution:
        how = self.settings
        tol = how.tol if gram is self.double else max(0.9 * how.tol, _SINGLE_TOL)
        return solve_dual(
            gram,
            problem,
            beta,
            residual,
            self._cache(gram),
            tol=tol,
            max_iter=how.max_iter,
            max_steps=max_steps,
            shrinking=how.shrinking,
        )


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
    solver = _Solver(Matrices(X, kernel, settings), z, eps)
    center = solver.matrices.center
    linear = center is not None and kernel.row_kernel.code == LINEAR
    found = []
    most = max(_STEPS, 100 * len(z))
    for cost in costs:
        if np.isfinite(cost):
            if linear and solver.bound is None:
                for gentler in _ladder(cost, kernel.diagonal(X - center)):
                    solver.solve(gentler * weight, most)
            machine = solver.solve(cost * weight, most)
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


def _ladder(cost: float, size: FloatArray) -> list[float]:
    """Return the smaller costs from which a linear machine comes to a large one.

    Steps of two rows are slow where few directions carry large coefficients; from the solution of
    a tenth of the cost few are needed.
    """
    unit = float(np.mean(size)) or 1.0
    steps = int(np.ceil(np.log10(max(cost * unit / _GENTLE, 1.0))))
    return [cost / 10.0**k for k in range(steps, 0, -1)]


def one_class(X: Any, kernel: Kernel, weight: FloatArray, nu: float, settings: Settings) -> Machine:
    """Return the machine of one class whose coefficients sum to the share `nu` of the weights."""
    matrices = Matrices(X, kernel, settings, centered=False)
    n = len(weight)
    total = nu * float(weight.sum())
    start = np.clip(total - (np.cumsum(weight) - weight), 0.0, weight)
    problem = BoxProblem(np.zeros(n), np.zeros(n), weight)
    found = matrices.solve(problem, start, -matrices.product(start), max(_STEPS, 100 * n))
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

    def __init__(self, matrices: Matrices, z: FloatArray, eps: float | None) -> None:
        self.matrices, self.z, self.eps = matrices, z, eps
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
            most = float(bound[0] / self.bound[0])
            ratio = self._stretch(most)
            held = (np.abs(self.beta) >= self.bound) & (ratio == most)
            beta = np.clip(self.beta * ratio, low, high)
            self.beta = np.where(held, np.copysign(bound, self.beta), beta)
            self.product = self.product * ratio
        self.bound = bound
        problem = BoxProblem(z, low, high, 0.0 if self.eps is None else self.eps)
        found = self.matrices.solve(problem, self.beta, z - self.product, max_steps)
        self.beta, self.product = found.beta, z - found.residual
        return self._machine(found, bound)

    def _stretch(self, most: float) -> float:
        """Return by how much to multiply the last coefficients to start with larger bounds.

        It is the factor of least objective, and at most that of the bounds.
        """
        slope = float(self.z @ self.beta) - (self.eps or 0.0) * float(np.sum(np.abs(self.beta)))
        curvature = float(self.beta @ self.product)
        if curvature <= 0:
            return min(most, 1.0)
        return min(most, max(1.0, slope / curvature))

    def hard_margin(self) -> Machine:
        """Return the machine without bounds, or refuse rows that no machine separates."""
        n = len(self.z)
        some = np.arange(min(n, 1000))
        size = float(np.mean(np.abs(np.diagonal(self.matrices.double.block(some, some))))) or 1.0
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
