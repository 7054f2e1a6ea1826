r"""The dual problem of support vector machines, by sequential minimal optimization.

Minimised, over one coefficient per row, is

.. math:: \tfrac12 \beta^\top K \beta - z^\top \beta + \varepsilon \sum_i |\beta_i|
          \quad\text{with}\quad l \le \beta \le u, \quad \sum_i \beta_i = s.

Classes are :math:`z = \pm 1` with :math:`\varepsilon = 0` and :math:`\beta = y \alpha`; a
regression has its responses for z; one class has z = 0. A few hundred rows that violate the
conditions most are solved among themselves, by pairs of second order; then the residuals of all
rows follow from the rows of K that changed. So the work is products of matrices. Rows that stay at
a bound are left out for a while (shrinking), and the rows of K are kept while there is room.

Where few rows are free (between their bounds), the solution ends with the linear system of the
free ones, which is exact: two fits of the same rows agree to the last digits, whatever `tol`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from bottega.core.typing import FloatArray, IntArray
from bottega.optimize._kernels.smo import descend, slopes
from bottega.optimize.row_cache import Gram, RowCache

__all__ = ["ROWS_AT_ONCE", "BoxProblem", "DualSolution", "solve_dual"]

WORKING = 512  # rows that are solved among themselves
ROWS_AT_ONCE = 2 * WORKING  # up to so many rows, all of them
_FREE = 1000  # free rows up to which the linear system is solved
_STEPS = 500_000  # of two rows in one round
_ROUNDS = 12  # of descent and linear system
_HITS = 20  # bounds that the solution of the linear system may meet in one round
_REFINED = 3  # solutions of the linear system, each for what the others leave
_MORE = 10  # times the steps so far that these may take
_CANCELS = 1e-3  # digits of a sum that may be lost where it nearly vanishes
_EXACT = 1e-11  # gap, against the size of the residuals, that is rounding
_SHRINK = 0.7  # rows are left out when so few would stay


@dataclass(frozen=True)
class BoxProblem:
    """What is minimised, beside the matrix: responses, bounds and the width of the tube."""

    z: FloatArray
    low: FloatArray
    high: FloatArray
    eps: float = 0.0

    def take(self, rows: IntArray) -> "BoxProblem":
        """Return the problem of some of the rows."""
        return BoxProblem(self.z[rows], self.low[rows], self.high[rows], self.eps)

    def slopes(
        self, r: FloatArray, beta: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, float]:
        """Return what a step up gains and a step down costs, the largest and the least of them."""
        up, down = np.empty(len(r)), np.empty(len(r))
        top, least = slopes(r, beta, self.low, self.high, self.eps, up, down)
        return up, down, top, least

    def free(self, beta: FloatArray) -> IntArray:
        """Return the rows between their bounds: there the residual is known."""
        inside = (beta > self.low) & (beta < self.high)
        return np.flatnonzero(inside & (beta != 0) if self.eps > 0 else inside)

    def bias(self, beta: FloatArray, r: FloatArray) -> float:
        """Return the mean of what the free rows say of the bias, else the middle of its limits."""
        free = self.free(beta)
        if len(free):
            return float(np.mean(r[free] - self.eps * np.sign(beta[free])))
        *_, top, least = self.slopes(r, beta)
        if np.isfinite(top) and np.isfinite(least):
            return float(top + least) / 2
        return float(top if np.isfinite(top) else least)  # all rows are at one bound


@dataclass(frozen=True)
class DualSolution:
    """Coefficients, and how near they are to the minimum.

    Attributes
    ----------
    beta : ndarray of shape (n,)
        Coefficients.
    residual : ndarray of shape (n,)
        z - K beta, without the bias.
    bias : float
        The bias, from all free rows; where there is none, halfway between its limits.
    gap : float
        Largest violation of the optimality conditions of a pair of rows.
    n_iter : int
        Rounds: sets of rows that were solved among themselves.
    converged : bool
        Whether the gap is within the tolerance.
    """

    beta: FloatArray
    residual: FloatArray
    bias: float
    gap: float
    n_iter: int
    converged: bool


def solve_dual(
    gram: Gram,
    problem: BoxProblem,
    beta: FloatArray,
    residual: FloatArray,
    cache: RowCache,
    *,
    tol: float,
    max_iter: int,
    max_steps: int,
    shrinking: bool = True,
) -> DualSolution:
    """Return the minimum, from a start that keeps the bounds.

    Parameters
    ----------
    gram : Gram
        Matrix of the kernel.
    problem : BoxProblem
        Responses and bounds.
    beta, residual : ndarray of shape (n,)
        The start, and z - K beta there.
    cache : RowCache
        Rows of the matrix; what an earlier solution left there is used.
    tol : float
        Gap at which to stop.
    max_iter : int
        The most rounds, in each of which some rows are solved among themselves.
    max_steps : int
        The most steps of two rows.
    shrinking : bool
        Whether rows that stay at a bound may be left out for a while.

    Returns
    -------
    DualSolution
        The minimum.
    """
    if cache.gram is not gram:
        cache.renew(gram)
    work = _PairDescent(gram, problem, beta.copy(), residual.copy(), cache, max_iter, max_steps)
    with cache.working():
        work.run(tol, shrinking and not cache.whole)
        if gram.dtype == np.float64:
            work.finish(tol)
    return work.solution(tol)


class _PairDescent:
    """Coefficients on their way to the minimum."""

    def __init__(
        self,
        gram: Gram,
        problem: BoxProblem,
        beta: FloatArray,
        r: FloatArray,
        cache: RowCache,
        max_iter: int,
        max_steps: int,
    ) -> None:
        self.gram, self.problem, self.beta, self.r = gram, problem, beta, r
        self.cache = cache
        self.max_iter = max_iter
        self.max_steps = self.steps_left = max_steps
        self.n_iter = 0

    @property
    def spent(self) -> bool:
        """Whether no further round is allowed."""
        return self.steps_left <= 0 or self.n_iter >= self.max_iter

    def run(self, tol: float, shrinking: bool) -> None:
        """Descend until the gap is at most `tol`, or no further round is allowed."""
        active: IntArray | None = None  # all
        problem, beta, r = self.problem, self.beta, self.r
        previous = np.empty(0, dtype=np.intp)
        while True:
            up, down, top, least = problem.slopes(r, beta)
            gap = top - least
            if gap <= tol or self.spent:
                if active is None:
                    return
                self._widen(active, beta, r)
                active, problem, beta, r = None, self.problem, self.beta, self.r
                previous = np.empty(0, dtype=np.intp)
                if self.spent:
                    return
                continue
            if shrinking:
                stay = (up >= least) | (down <= top)
                if len(r) > ROWS_AT_ONCE and np.mean(stay) < _SHRINK:
                    kept = np.flatnonzero(stay)
                    self._store(active, beta, r)
                    active = kept if active is None else active[kept]
                    problem, beta, r = problem.take(kept), beta[kept], r[kept]
                    self.cache.shrink(kept)
                    previous = np.empty(0, dtype=np.intp)
                    continue
            rows = _working_set(up, down, top, least, previous)
            before = self.steps_left
            self._solve_among(rows, problem, beta, r, max(0.1 * gap, 0.5 * tol), tol)
            if self.steps_left == before:  # lost in rounding, or not a number
                self.steps_left = 0
            previous = rows

    def _solve_among(
        self,
        rows: IntArray,
        problem: BoxProblem,
        beta: FloatArray,
        r: FloatArray,
        loose: float,
        tol: float,
    ) -> None:
        """Solve the problem of some rows, and update the residuals of all."""
        slots = self.cache.fetch(rows)
        part = problem.take(rows)
        old, own = beta[rows], r[rows]
        new = old.copy()
        all_rows = len(rows) == len(r)
        steps = descend(
            np.asarray(self.cache.gram.block(rows, rows), dtype=np.float64),
            own,
            new,
            part.low,
            part.high,
            part.eps,
            tol if all_rows else loose,
            min(self.steps_left, _STEPS),
        )
        self.n_iter += 1
        self.steps_left -= steps
        if all_rows:
            r[rows] = own
        else:
            changed = new != old
            self.cache.subtract(slots[changed], (new - old)[changed], r)
        beta[rows] = new

    def _store(self, active: IntArray | None, beta: FloatArray, r: FloatArray) -> None:
        if active is not None:
            self.beta[active], self.r[active] = beta, r

    def _widen(self, active: IntArray, beta: FloatArray, r: FloatArray) -> None:
        """Bring back the rows that were left out, with their residuals."""
        self._store(active, beta, r)
        out = np.ones(len(self.r), dtype=bool)
        out[active] = False
        support, rest = np.flatnonzero(self.beta), np.flatnonzero(out)
        product = self.cache.product(self.gram, support, self.beta[support], rest)
        self.r[rest] = self.problem.z[rest] - product
        self.cache.renew(self.gram)

    def finish(self, tol: float) -> None:
        """Solve the linear system of the free rows, if they are few, until it holds everywhere."""
        used = self.max_steps - self.steps_left
        self.steps_left = min(self.steps_left, _MORE * used + 10 * len(self.r))
        for _ in range(_ROUNDS):
            free = self.problem.free(self.beta)
            if len(free) > _FREE or self.spent:
                return
            size = max(float(np.max(np.abs(self.problem.z))), float(np.max(np.abs(self.r))))
            if len(free):
                size = max(size, self._solve_free(free))
            limit = _EXACT * max(size, self.problem.eps)
            *_, top, least = self.problem.slopes(self.r, self.beta)
            if top - least <= limit:
                return
            self.run(max(0.1 * min(top - least, tol), 0.1 * limit), False)

    def _solve_free(self, free: IntArray) -> float:
        """Step to the minimum over the free rows; one that meets its bound stays there.

        Return the size of what cancels in the residuals, less the digits that may be lost.
        """
        K = np.asarray(self.gram.block(free, free), dtype=np.float64)
        problem, start = self.problem, self.beta[free]
        low, high = problem.low[free], problem.high[free]
        if problem.eps > 0:
            low, high = np.where(start > 0, 0.0, low), np.where(start < 0, 0.0, high)
        r = self.r[free] - problem.eps * np.sign(start)
        beta, inside = start.copy(), np.arange(len(free))
        for _ in range(_HITS):
            if not len(inside):
                break
            step = _newton_step(K[np.ix_(inside, inside)], r[inside])
            if not np.all(np.isfinite(step)):
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(step > 0, high[inside] - beta[inside], low[inside] - beta[inside])
                share = np.where(step == 0, np.inf, room / step)
            first = int(np.argmin(share))
            length = min(1.0, float(share[first]))
            beta[inside] += length * step
            r -= length * (K[:, inside] @ step)
            if length == 1.0:
                break
            end = inside[first]
            beta[end] = high[end] if step[first] > 0 else low[end]
            inside = np.delete(inside, first)
        self.beta[free] = beta
        changed = np.flatnonzero(beta != start)
        everything = np.arange(len(self.r))
        self.r -= self.cache.product(self.gram, free[changed], (beta - start)[changed], everything)
        return _CANCELS * float(np.max(np.diagonal(K)) * np.sum(np.abs(self.beta)))

    def solution(self, tol: float) -> DualSolution:
        """Return where the descent has come to."""
        *_, top, least = self.problem.slopes(self.r, self.beta)
        bias = self.problem.bias(self.beta, self.r)
        gap = max(float(top - least), 0.0)
        return DualSolution(self.beta, self.r, bias, gap, self.n_iter, gap <= tol)


def _working_set(
    up: FloatArray, down: FloatArray, top: float, least: float, previous: IntArray
) -> IntArray:
    """Return the rows to solve next: those that violate most, and half of the previous ones."""
    n = len(up)
    if n <= ROWS_AT_ONCE:
        return np.arange(n)
    half = WORKING // 2 if not len(previous) else WORKING // 4
    chosen = np.zeros(n, dtype=bool)
    for gain, worth in ((up, up > least), (-down, down < top)):
        able = np.flatnonzero(worth)
        if len(able) > half:
            able = able[np.argpartition(-gain[able], half)[:half]]
        chosen[able] = True
    room = WORKING - int(np.count_nonzero(chosen))
    again = previous[~chosen[previous]]
    if len(again) > room > 0:
        # Those nearest to violating a condition: free rows before rows at a bound.
        near = np.maximum(up[again] - least, top - down[again])
        again = again[np.argpartition(-near, room - 1)[:room]]
    chosen[again[: max(room, 0)]] = True
    return np.flatnonzero(chosen)


def _newton_step(K: FloatArray, r: FloatArray) -> FloatArray:
    """Return the step of least quadratic with sum zero: K step + c = r.

    A matrix without full rank gets a little on its diagonal, and the answer is refined: what can
    be reached is reached.
    """
    n = len(r)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K
    system[n, n] = 0.0
    right = np.zeros(n + 1)
    right[:n] = r
    held = system.copy(order="F")
    held.T.flat[: -1 : n + 2] += 1e-10 * max(float(K.diagonal().max()), 1e-300)
    factor, pivots, _ = dgetrf(held, overwrite_a=True)
    found = np.zeros(n + 1)
    for _ in range(_REFINED):
        more, _ = dgetrs(factor, pivots, right - system @ found)
        found += more
    return np.asarray(found[:n])
