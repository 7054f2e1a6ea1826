"""Penalised logistic regressions at several penalties: all rows, and folds that follow them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bottega.core import progress
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.proximal_newton import LogisticProblem
from bottega.optimize.quadratic_model import QuadraticModel
from bottega.optimize.quasi_newton import minimise_smooth

__all__ = ["NEWTON", "FreedomKind", "LogisticSolution", "Stop", "walk"]

FreedomKind = Literal["exact", "near", "last"]

# What is left to gain, against the duality gap wanted, when that is first computed; without
# absolute values in the penalty a step or two more give most digits, in small problems all, but in
# large ones each is costly.
_FIRST, _SMOOTH, _SMALL, _LARGE = 1e-3, 1e-6, 1e-8, 1e-4
# Coefficients of a curvature that folds may share.
_SHARED = 256
# Coefficients of a smooth problem above which it has no matrix of second derivatives.
NEWTON = 2500
# The working set is made smaller when it is so many times what is needed.
_ROOM = 2
# Times that the objective may not fall, for rounding, before that is the end.
_STUCK = 4
# A path is over where so little of the deviance is left, or it gained so little at the last ones.
_EXPLAINED, _UNCHANGED, _LAST = 1e-3, 1e-5, 5
# Steps of a relaxed fit: of classes that can be separated it would not end.
_RELAXED = 30


@dataclass(frozen=True)
class Stop:
    """Where a walk was at one of its penalties: what the folds start from."""

    B: FloatArray
    b0: FloatArray
    model: QuadraticModel | None


@dataclass(frozen=True)
class LogisticSolution:
    """Fits at m alphas, on the columns of the problem; one score per class, or one for two."""

    alphas: FloatArray
    coef: FloatArray  # (m, T, p)
    intercept: FloatArray  # (m, T)
    deviance: FloatArray  # twice the (weighted) mean negative log-likelihood
    gap: FloatArray  # against the mean negative log-likelihood without inputs
    n_iter: IntArray  # Newton steps
    df: FloatArray  # of the coefficients; NaN where they are too many to tell, or not computed
    stops: Sequence[Stop] = ()


def walk(
    problem: LogisticProblem,
    alphas: FloatArray,
    tol: float,
    max_iter: int,
    *,
    start: Any = None,
    lead: Sequence[Stop] = (),
    keep: bool = False,
    df: FreedomKind | None = None,
    relax: bool = False,
    ends: bool = False,
    fine: bool = True,
    newton: int = NEWTON,
) -> LogisticSolution:
    """Return the fits at `alphas`, descending.

    Parameters
    ----------
    problem : LogisticProblem
        The problem.
    alphas : ndarray
        Penalties.
    tol : float
        Largest relative duality gap.
    max_iter : int
        Newton steps for each penalty.
    start : tuple, optional
        Coefficients (of the problem's columns), intercepts and a curvature to start from.
    lead : sequence of Stop
        Another problem on nearly the same rows, at the same penalties.
    keep : bool
        Whether to keep the stops, for folds that follow.
    df : {"exact", "near", "last"}, optional
        Whether to compute degrees of freedom: exactly at each penalty; in large tables by a
        curvature near, which may be some percent off and costs next to nothing; or exactly at the
        last penalty alone.
    relax : bool
        Whether to fit the coefficients that are not zero again, without a penalty.
    ends : bool
        Whether to end where weaker penalties change nothing: the deviance is explained, or is the
        same as with the penalties before.
    fine : bool
        Whether smooth problems are solved to more digits than the gap asks for. If not, a problem
        that follows another is done where its next step would be small: no gap is computed, and
        no deviance.
    newton : int
        The most coefficients for which second derivatives of a smooth problem are made.
    """
    count, (T, p) = len(alphas), (problem.scores, len(problem.mean))
    coef, intercept = np.zeros((count, T, p)), np.zeros((count, T))
    deviance, gap, freedom = np.zeros((3, count))
    n_iter = np.zeros(count, np.intp)
    stops: list[Stop] = []
    nll: list[float] = []
    if start is None:
        problem.start()
    else:
        coefficients, level, model = start
        problem.move(problem.own(coefficients), level.copy(), model)
    last = max(problem.alpha_max(), alphas[0])
    # Until the other's curvature is of no use; small problems of two classes need none.
    follows = bool(lead) and not (problem.scores == 1 and problem.is_small(p))
    smooth = problem.l1_ratio == 0 and alphas[-1] > 0 and not (fine or relax)
    if follows and smooth and problem.screens and problem.size <= newton:
        return _beside(problem, alphas, tol, max_iter, lead)
    for k, alpha in enumerate(alphas):
        ready = False
        if follows:
            where = _following(problem, lead, k)
            if problem.screens and not (fine or relax or lead[k].model is None):
                gap[k] = problem.glide(where[0], where[1], where[2], alpha) / problem.null
                if gap[k] <= _FIRST * tol:
                    coef[k], intercept[k] = problem.B * problem.inverse, problem.b0
                    last = alpha
                    nll.append(np.nan)
                    continue
            ready = problem.move_on(*where)
        n_iter[k], gap[k] = _fit(problem, alpha, last, tol, max_iter, ready, fine, newton)
        if not problem.B.any():  # to the last digit: classes may be equally frequent
            problem.b0 = problem.level_of_shares()
        shares = lead[k].model if ready else None
        if shares is not None and problem.refreshed:
            follows = problem.W is not shares.W
        deviance[k] = 2 * problem.point.nll
        if df is None or (df == "last" and k < count - 1) or problem.solver == "lbfgs":
            freedom[k] = np.nan
        else:  # what a relaxed fit returns has no penalty
            freedom[k] = problem.freedom(0.0 if relax else alpha, near=df == "near")
        if keep:
            there = problem.B * problem.inverse, problem.b0.copy()
            stops.append(Stop(*there, problem.shared_model(_SHARED)))
        if relax:
            coef[k], intercept[k], deviance[k] = _relaxed(problem, tol)
        else:
            coef[k], intercept[k] = problem.B * problem.inverse, problem.b0
        last = alpha
        if keep:
            progress.report("penalties", k + 1, count)
        nll.append(problem.point.nll)
        if ends and _is_over(problem.null, nll):
            break
    done = slice(0, len(nll))
    fits: Any = (alphas, coef, intercept, deviance, gap, n_iter, freedom)
    found: Any = [each[done] for each in fits]
    return LogisticSolution(*found, stops)  # type: ignore[call-arg]


def _beside(
    problem: LogisticProblem, alphas: FloatArray, tol: float, max_iter: int, lead: Sequence[Stop]
) -> LogisticSolution:
    """Return the fits of a smooth problem beside those of another on nearly the same rows.

    The two differ by what changes little from one penalty to the next: it is found at some of
    them, and taken to be linear between. At the quarters of each stretch the step that is left says
    whether that is good enough; where it is not, one more is found.
    """
    count, place = len(alphas), np.log(alphas)
    coef, intercept = np.zeros((count, *problem.B.shape)), np.zeros((count, problem.scores))
    gap, n_iter, known = np.zeros(count), np.zeros(count, np.intp), np.zeros(count, dtype=bool)

    def apart(k: int, i: int, j: int) -> tuple[FloatArray, FloatArray]:
        """Return coefficients and intercepts at k, from the differences at i and j."""
        share = (place[k] - place[i]) / (place[j] - place[i]) if i != j else 0.0
        ends = [(coef[e] - lead[e].B, intercept[e] - lead[e].b0) for e in (i, j)]
        (B, b0), (B1, b1) = ends if known[i] else [(0.0 * coef[0], 0.0 * intercept[0])] * 2
        return lead[k].B + B + share * (B1 - B), lead[k].b0 + b0 + share * (b1 - b0)

    def fit(k: int, i: int, j: int) -> None:
        B, b0 = apart(k, i, j)
        ready = problem.move_on(problem.own(B), b0, lead[k].model)
        n_iter[k], gap[k] = _fit(problem, alphas[k], alphas[k], tol, max_iter, ready, False, NEWTON)
        coef[k], intercept[k], known[k] = problem.B * problem.inverse, problem.b0, True

    fit(0, 0, 0)
    if count > 1:
        fit(count - 1, 0, 0)
    stretches = [(0, count - 1)]
    while stretches:
        i, j = stretches.pop()
        if j - i < 2:
            continue
        left, k = 0.0, i
        for e in sorted({(i + j) // 2, i + (j - i) // 4, j - (j - i) // 4} - {i, j}):
            B, b0 = apart(e, i, j)
            size = problem.glide(problem.own(B), b0, lead[e].model, alphas[e]) / problem.null
            left, k = max((left, k), (size, e))
            if left > _FIRST * tol:
                break
        if left <= _FIRST * tol:
            for e in range(i + 1, j):
                coef[e], intercept[e] = apart(e, i, j)
                gap[e] = left
        else:
            fit(k, i, j)
            stretches += [(i, k), (k, j)]
    unknown = np.full(count, np.nan)
    return LogisticSolution(alphas, coef, intercept, unknown, gap, n_iter, unknown)


def _is_over(null: float, nll: list[float]) -> bool:
    """Return whether a path has explained all, or no more than some penalties ago."""
    if len(nll) <= _LAST:
        return False
    gained = null - nll[-1]
    return nll[-1] <= _EXPLAINED * null or nll[-1 - _LAST] - nll[-1] < _UNCHANGED * gained


def _following(problem: LogisticProblem, lead: Sequence[Stop], k: int) -> Any:
    """Return where the other problem's last step leads, and its curvature there."""
    here = lead[k]
    step, shift = here.B, here.b0.copy()
    if k:
        step, shift = step - lead[k - 1].B, problem.b0 + here.b0 - lead[k - 1].b0
    return problem.B + problem.own(step), shift, here.model


def _fit(
    problem: LogisticProblem,
    alpha: float,
    last: float,
    tol: float,
    max_iter: int,
    ready: bool,
    fine: bool,
    newton: int,
) -> tuple[int, float]:
    """Go on to another penalty; return the Newton steps and the relative duality gap.

    `ready` says that the working set is chosen already.
    """
    problem.solver = "proximal newton" if alpha * problem.l1_ratio > 0 else "newton"
    if problem.solver == "newton" and problem.size > newton:
        problem.solver = "lbfgs"
        return _quasi_newton(problem, alpha, tol, 100 * max_iter)
    l1, steps, stuck = problem.l1_ratio, 0, 0
    finer = _LARGE if problem.is_large else _SMOOTH
    small = (finer if fine and alpha * l1 == 0 else _FIRST) * tol * problem.null
    if problem.is_small(len(problem.mean)) and (problem.scores == 1 or alpha * l1 == 0):
        small = _SMALL * tol * problem.null
    if problem.screens and not ready:
        # Columns whose product may pass the threshold if it moves as fast as alpha does.
        candidate = problem.reach() > l1 * (2 * alpha - last) if l1 > 0 else True
        needed = (candidate | np.any(problem.B != 0, axis=0)) & ~problem.constant
        inside = np.zeros(len(needed), dtype=bool)
        inside[problem.W] = ~problem.constant[problem.W]
        inside &= np.count_nonzero(inside) <= _ROOM * np.count_nonzero(needed) + 8
        problem.look_at(np.flatnonzero(needed | inside))
    while True:
        steps += problem.descend(alpha, small, max(1, max_iter - steps))
        problem.screen()
        outside = problem.reach() > alpha * l1 * (1 + 1e-9)
        outside[problem.W] = False
        outside &= ~problem.constant
        gap = problem.gap(alpha)
        if steps >= max_iter or stuck > _STUCK:
            return steps, gap
        if np.any(outside) and problem.screens:
            problem.look_at(np.union1d(problem.W, np.flatnonzero(outside)))
        elif gap <= tol:
            return steps, gap
        else:
            small = 0.5 * problem.left
            if problem.level or problem.left <= 0:  # no step is left: the gap is rounding
                small *= 1e-3
                stuck += 1
                problem.forget_curvature()


def _quasi_newton(
    problem: LogisticProblem, alpha: float, tol: float, max_iter: int
) -> tuple[int, float]:
    """Minimise a smooth problem without its second derivatives."""
    shape, inverse = problem.B.shape, problem.inverse
    l2 = alpha * (1 - problem.l1_ratio)

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        B, b0 = x[: -shape[0]].reshape(shape), x[-shape[0] :]
        point = problem.rows.at(problem.W, B * inverse, b0)
        pull = point.pull if problem.fit_intercept else np.zeros(shape[0])
        slope = np.append((l2 * B - point.slope * inverse).ravel(), -pull)
        return point.nll + 0.5 * l2 * float(np.sum(B**2)), slope

    steps = 0
    goal = tol
    while True:
        problem.look_at(np.arange(len(problem.mean)))  # a move leaves out columns of zeros
        x, taken = minimise_smooth(
            objective, np.append(problem.B.ravel(), problem.b0), goal, max_iter - steps
        )
        problem.move(x[: -shape[0]].reshape(shape).copy(), x[-shape[0] :].copy())
        steps += taken
        gap = problem.gap(alpha) if alpha > 0 else goal
        if gap <= tol or steps >= max_iter or taken == 0:
            return steps, gap
        goal *= 1e-2


def _relaxed(problem: LogisticProblem, tol: float) -> tuple[FloatArray, FloatArray, float]:
    """Return the fit without a penalty on the coefficients that are not zero; go back again."""
    B, b0, point, model = problem.B.copy(), problem.b0, problem.point, problem.model
    free = B[:, problem.W] != 0
    if np.any(free):
        problem.descend(0.0, _SMOOTH * tol * problem.null, _RELAXED, free)
    found = problem.B * problem.inverse, problem.b0, 2 * problem.point.nll
    problem.return_to(B, b0, point, model)
    return found
