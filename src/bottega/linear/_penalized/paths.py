"""Paths of the lasso family on all rows and on every fold's training rows, by what suits them.

With more rows than columns everything happens on the p by p Gram matrix: one pass over the rows
gives those of all folds. With many columns the rows are kept, and working sets are screened.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.chunks import Moments
from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._penalized.gram import GramProblem, fold_error, fold_moments, leave_out
from bottega.linear.ridge import Ridge
from bottega.optimize.coordinate import Descent, PenalizedFits, Penalty, alpha_grid, not_unique
from bottega.optimize.coordinate_columns import columns_of, is_sparse
from bottega.optimize.coordinate_working_sets import WorkingSetProblem, begin, walk_together

__all__ = ["GRAM_COLUMNS", "PenaltySettings", "paths_from_moments", "paths_from_rows", "uses_gram"]

# Up to this many columns the Gram matrices of all folds are small (80 MB for ten folds), and
# cheaper than going through the rows for every alpha.
GRAM_COLUMNS = 1000
# Numbers that the working sets of folds side by side may hold.
_TOGETHER = 2**27
# Numbers up to which a sparse table is made dense for the ridge pilot.
_DENSE_PILOT = 2**22


@dataclass(frozen=True)
class PenaltySettings:
    """What all problems of a path have in common.

    Attributes
    ----------
    penalty : Penalty
        Share of absolute values and weights, before adaptive ones.
    adaptive : bool
        Whether to divide the weights by a pilot's coefficients.
    standardize, fit_intercept : bool
        Whether columns are scaled, and whether there is a free intercept.
    descent : Descent
        Tolerance and limits.
    n_alphas, eps : int, float or "auto"
        The default grid.
    """

    penalty: Penalty
    adaptive: bool
    standardize: bool
    fit_intercept: bool
    descent: Descent
    n_alphas: int
    eps: Any

    @property
    def frame(self) -> dict[str, bool]:
        """Centring and scaling."""
        return {"standardize": self.standardize, "fit_intercept": self.fit_intercept}


@dataclass(frozen=True)
class FoldPaths:
    """The path on all rows, the errors of each fold (one row a fold), and the sum of weights."""

    solution: PenalizedFits
    fold_errors: FloatArray | None
    weight: float


def uses_gram(n: int, p: int) -> bool:
    """Tell whether the Gram matrix is the way."""
    return n >= p and p <= GRAM_COLUMNS


# ---- by the Gram matrix --------------------------------------------------------------------------


def paths_from_moments(parts: list[Moments], values: Any, settings: PenaltySettings) -> FoldPaths:
    """Return the paths from the moments of the folds (one part: no folds)."""
    total = Moments()
    for part in parts:
        total.merge(part)
    problem = GramProblem.from_moments(total, **settings.frame)
    penalty = _adapt_gram(problem, settings)
    alphas = values
    if alphas is None:
        top = problem.alpha_max(penalty)
        alphas = alpha_grid(top, settings.n_alphas, settings.eps, total.count, len(problem.c))
    solution = problem.path(alphas, penalty, settings.descent)
    if len(parts) == 1:
        return FoldPaths(solution, None, total.weight)
    errors = []
    for part, train in zip(parts, leave_out(parts), strict=True):
        if not part.count:
            continue
        problem = GramProblem.from_moments(train, **settings.frame)
        found = problem.path(alphas, _adapt_gram(problem, settings), settings.descent)
        errors.append(fold_error(part, found))
    return FoldPaths(solution, np.stack(errors), total.weight)


def _adapt_gram(problem: GramProblem, settings: PenaltySettings) -> Penalty:
    if not settings.adaptive:
        return settings.penalty
    return settings.penalty.times(_inverse(problem.pilot()))


def _inverse(pilot: FloatArray) -> FloatArray:
    """Return the weights 1 / |pilot|; a pilot of zero excludes the column."""
    with np.errstate(divide="ignore"):
        return 1 / np.abs(pilot)


# ---- by the rows ---------------------------------------------------------------------------------


def paths_from_rows(
    X: Any, y: FloatArray, w: Any, folds: IntArray | None, values: Any, settings: PenaltySettings
) -> FoldPaths:
    """Return the paths of rows in memory; without `folds`, that of all rows alone."""
    n, p = X.shape
    count = 1 if folds is None else int(folds.max()) + 1
    if uses_gram(n, p):
        marks = np.zeros(n, np.intp) if folds is None else folds
        parts = fold_moments(X, y, w, marks, count)
        return paths_from_moments(parts, values, settings)
    if values is not None and values[-1] == 0 and p >= n:
        raise not_unique(f"With {p} columns and {n} rows the columns")
    weight = np.ones(n) if w is None else w
    columns = columns_of(X, weight, **settings.frame)
    whole = WorkingSetProblem(columns, y, weight, **settings.frame)
    penalty = _adapt_rows(X, y, weight, whole, settings)
    top = begin([whole], [penalty])[0]
    alphas = values
    if alphas is None:
        alphas = alpha_grid(top, settings.n_alphas, settings.eps, n, p)
    if folds is None:
        return FoldPaths(_together([whole], alphas, settings)[0], None, whole.weight)
    used = [k for k in range(count) if np.any(folds == k)]
    each = max(1, _TOGETHER // min(n, p) ** 2)
    solutions: list[PenalizedFits] = []
    todo: list[int | None] = [None, *used]
    while todo:
        now, todo = todo[:each], todo[each:]
        problems, penalties, fresh = [], [], []
        for k in now:
            if k is None:
                problems.append(whole)
                continue
            v = np.where(folds == k, 0.0, weight)
            problem = WorkingSetProblem(columns, y, v, **settings.frame)
            penalties.append(_adapt_rows(X, y, v, problem, settings))
            problems.append(problem)
            fresh.append(problem)
        if fresh:
            begin(fresh, penalties)
        solutions += _together(problems, alphas, settings)
    errors = []
    for k, found in zip(used, solutions[1:], strict=True):
        rows = np.flatnonzero(folds == k)
        predicted = X[rows] @ found.coef.T + found.intercept
        loss = (y[rows, None] - predicted) ** 2
        errors.append(np.average(loss, axis=0, weights=None if w is None else w[rows]))
    return FoldPaths(solutions[0], np.stack(errors), whole.weight)


def _together(
    problems: list[WorkingSetProblem], alphas: FloatArray, settings: PenaltySettings
) -> list[PenalizedFits]:
    if alphas[-1] == 0:
        for problem in problems:
            problem.check_unique()
    return walk_together(problems, alphas, settings.descent, settings.fit_intercept)


def _adapt_rows(
    X: Any, y: FloatArray, v: FloatArray, problem: WorkingSetProblem, settings: PenaltySettings
) -> Penalty:
    if not settings.adaptive:
        return settings.penalty
    if is_sparse(X) and X.shape[0] * X.shape[1] <= _DENSE_PILOT:
        X = X.toarray()
    if is_sparse(X):
        raise InputError(
            "adaptive=True with a sparse X needs at least as many rows as columns, and at most "
            f"{GRAM_COLUMNS} columns, or a small table; got shape {X.shape}. Give weights= of your "
            "own instead."
        )
    rows = v > 0
    n, p = np.count_nonzero(rows), X.shape[1]
    pilot = Ridge(0.0 if n > p else "auto", select="min", **settings.frame)
    try:
        pilot.fit(X[rows], y[rows], sample_weight=v[rows])
    except InputError:  # dependent columns
        pilot.set_params(alpha="auto").fit(X[rows], y[rows], sample_weight=v[rows])
    # The penalty acts on scaled columns, so their coefficients are what it is weighed by.
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(problem.constant, 0.0, pilot.coef_ / problem.original_inverse)
    return settings.penalty.times(_inverse(scaled))
