"""The lasso family with many columns: working sets, screened by products with the residual.

Several problems on the same rows (all of them, and each fold's training rows) go down the path
side by side: one product of the columns with all their residuals screens all of them, which costs
little more than screening one.
"""

from typing import Any

import numpy as np

from bottega.core import progress
from bottega.core.typing import FloatArray, IntArray
from bottega.core.validate import check_columns
from bottega.optimize._kernels import coordinate as kernels
from bottega.optimize._kernels.coordinate_positive import solve_positive_on_gram
from bottega.optimize.coordinate import (
    EXACT,
    FLOOR,
    Descent,
    PenalizedFits,
    Penalty,
    not_unique,
    pull_of,
    strongest,
    thresholds,
)
from bottega.optimize.coordinate_columns import InputColumns

__all__ = ["WorkingSetProblem", "walk_together"]

# Columns that may enter at once when the working set is empty or small.
_FIRST = 32


class WorkingSetProblem:
    """One weighted least-squares problem on shared columns, with its working set.

    The row weights `v` are zero for rows that this problem does not see.
    """

    def __init__(
        self,
        columns: InputColumns,
        y: FloatArray,
        v: FloatArray,
        *,
        standardize: bool,
        fit_intercept: bool,
    ) -> None:
        self.columns, self.v, self.fit_intercept = columns, v, fit_intercept
        self.weight = float(v.sum())
        self.mean, self.inverse, self.constant = columns.scaling(
            v, standardize=standardize, fit_intercept=fit_intercept
        )
        self.y_mean = float(v @ y) / self.weight if fit_intercept else 0.0
        self.y = np.where(v > 0, y - self.y_mean, 0.0)
        self.yy = float(v @ self.y**2) / self.weight
        check_columns(self.mean, self.inverse, self.yy)
        self.residual = self.y.copy()
        self.c = self.q = np.zeros(0)  # products with y and with the residual, all columns
        self.positive = self.restarted = False
        self.inside = np.zeros(len(self.mean), dtype=bool)
        self.work = np.zeros(0, dtype=np.intp)
        # Gram matrix, its factor (see the kernels) and coefficients of the working set, with room.
        self.G, self.R = np.zeros((0, 0)), np.zeros((0, 0))
        self.b, self.order, self.count = np.zeros(0), np.zeros(0, np.intp), np.zeros(1, np.intp)

    def _allocate(self, capacity: int) -> None:
        m = len(self.G)
        G, R, order, b = self.G, self.R, self.order, self.b
        self.G, self.R = np.zeros((capacity, capacity)), np.empty((capacity, capacity))
        self.order, self.b = np.zeros(capacity, np.intp), np.zeros(capacity)
        self.G[:m, :m], self.R[:m, :m] = G, R
        self.order[:m], self.b[:m] = order, b

    def penalise(self, penalty: Penalty) -> None:
        """Set the penalty; the columns that are free of it enter at once."""
        self.unit1, self.unit2 = penalty.units(self.constant)
        self.positive = penalty.positive
        self.free = np.flatnonzero(self.unit1 == 0)
        self.extend(self.free)

    def restart(self, coef: FloatArray) -> None:
        """Begin at some coefficients of the user's columns instead of zero."""
        usable = (coef != 0) & ~self.constant & np.isfinite(self.unit1)
        self.extend(np.flatnonzero(usable))
        m, inverse = len(self.work), self.original_inverse[self.work]
        scaled = np.divide(coef[self.work], inverse, out=np.zeros(m), where=usable[self.work])
        self.b[:m] = np.maximum(scaled, 0.0) if self.positive else scaled
        self.residual = self.y - self._fitted(self.b[:m])
        self.restarted = True
        screen([self])

    def is_exact(self, alpha: float) -> bool:
        """Return True if the descent was restarted at the minimum for this alpha."""
        return self.restarted and self.gap(alpha) <= EXACT and not len(self.violators(alpha))

    @property
    def original_inverse(self) -> FloatArray:
        """What each of the user's centred columns is multiplied by."""
        return self.inverse * self.columns.factor

    def check_unique(self) -> None:
        """Raise unless least squares on the columns that may enter is unique."""
        usable = np.flatnonzero(np.isfinite(self.unit1))
        if len(usable) < np.count_nonzero(self.v):
            G, m = self._gram(usable, usable), len(usable)
            if kernels.least_squares_on(G, m, self.c[usable], np.ones(m), np.empty(m)):
                return
        raise not_unique(f"The {len(usable)} columns")

    def _gram(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the products of some scaled columns with some others, over the weight."""
        found = self.columns.gram(left, right, self.v) / self.weight
        found -= np.outer(self.mean[left], self.mean[right])
        found *= np.outer(self.inverse[left], self.inverse[right])
        return found

    def weighted_residual(self) -> FloatArray:
        """Return what the columns must be multiplied with."""
        return self.v * self.residual

    def receive(self, product: FloatArray) -> FloatArray:
        """Return the products of this problem's scaled columns from those of the shared ones."""
        # The residual sums to zero up to rounding, which a large mean would blow up.
        total = float(self.v @ self.residual)
        return (product - self.mean * total) * self.inverse / self.weight

    def extend(self, new: IntArray) -> None:
        """Take columns into the working set."""
        new = new[~self.inside[new]]
        if not len(new):
            return
        m = len(self.work)
        work = np.concatenate([self.work, new])
        if len(work) > len(self.G):
            self._allocate(min(2 * len(work) + 64, len(self.inside)))
        block = self._gram(new, work)
        self.work = work
        self.G[m : len(work), : len(work)] = block
        self.G[:m, m : len(work)] = block[:, :m].T
        self.inside[new] = True

    def shrink(self, keep: IntArray) -> None:
        """Leave out columns that are of no use, where the working set has grown too large."""
        m = len(self.work)
        useful = self.b[:m] != 0
        useful |= np.isin(self.work, keep) | np.isin(self.work, self.free)
        if m < 200 or m < 2 * np.count_nonzero(useful):
            return
        at = np.flatnonzero(useful)
        self.inside[self.work] = False
        self.work = self.work[at]
        self.inside[self.work] = True
        self.G[: len(at), : len(at)] = self.G[np.ix_(at, at)]
        self.b[: len(at)] = self.b[at]
        self.b[len(at) :] = 0.0
        self.count[0] = 0

    def minimise(self, alpha: float, descent: Descent) -> int:
        """Solve on the working set; return the sweeps taken."""
        m = len(self.work)
        l1, l2 = thresholds(alpha, self.unit1[self.work], self.unit2[self.work])
        c = self.c[self.work]
        floor = FLOOR * float(np.max(np.abs(self.c), initial=0.0))
        small = 1e-5 * descent.tol * np.sqrt(self.yy)
        solve = solve_positive_on_gram if self.positive else kernels.solve_on_gram
        _, sweeps = solve(
            self.G, m, c, np.empty(m), self.b, l1, l2, floor, small, descent.max_iter,
            self.R, self.order, self.count,
        )  # fmt: skip
        self.residual = self.y - self._fitted(self.b[:m])
        return sweeps

    def _fitted(self, b: FloatArray) -> FloatArray:
        """Return the centred fit at the rows of this problem."""
        at = np.flatnonzero(b)
        S = self.work[at]
        beta = b[at] * self.inverse[S]
        out = np.full(len(self.y), -float(self.mean[S] @ beta))
        self.columns.add(S, beta, out)
        return np.where(self.v > 0, out, 0.0)

    def candidates(self, alpha: float, before: float, ahead: FloatArray | None) -> IntArray:
        """Return the columns outside that the path is about to reach.

        Between its knots the path is linear in alpha, and so are the products with the residual:
        `ahead` extrapolates them from the last two alphas.
        """
        limit, _ = thresholds(alpha - 0.1 * (before - alpha), self.unit1, self.unit2)
        reach = pull_of(self.q, self.positive)
        if ahead is not None:
            reach = np.maximum(reach, pull_of(ahead, self.positive))
        return self._strongest_first(reach - limit)

    def violators(self, alpha: float) -> IntArray:
        """Return the columns outside that break the optimality conditions."""
        limit, _ = thresholds(alpha, self.unit1, self.unit2)
        floor = FLOOR * float(np.max(np.abs(self.c), initial=0.0))
        return self._strongest_first(pull_of(self.q, self.positive) - limit - floor)

    def _strongest_first(self, excess: FloatArray) -> IntArray:
        """Return the columns outside with a positive excess: at most as many as are inside."""
        found = np.flatnonzero((excess > 0) & ~self.inside)
        most = max(_FIRST, len(self.work))
        if len(found) > most:
            found = found[np.argpartition(-excess[found], most)[:most]]
        return found

    def gap(self, alpha: float) -> float:
        """Return the duality gap, against half the mean square of the response."""
        l1, l2 = thresholds(alpha, self.unit1, self.unit2)
        b = np.zeros(len(self.inside))
        b[self.work] = self.b[: len(self.work)]
        weighted = self.weighted_residual()
        rr, yr = (float(weighted @ each) / self.weight for each in (self.residual, self.y))
        pull = np.maximum(self.q, 0.0) if self.positive else self.q
        return float(kernels.dual_gap(pull, b, rr, yr, l1, l2)) / self.half

    @property
    def half(self) -> float:
        """What duality gaps are divided by: half the mean square of the response."""
        return 0.5 * self.yy if self.yy > 0 else 1.0

    def result(self, relax: bool) -> tuple[IntArray, FloatArray, float]:
        """Return support, coefficients on the shared columns, and the mean squared residual."""
        m = len(self.work)
        b, residual = self.b[:m], self.residual
        if relax:
            out = self._unpenalized(b)
            b, residual = out, self.y - self._fitted(out)
        at = np.flatnonzero(b)
        S = self.work[at]
        return S, b[at] * self.inverse[S], float(self.v @ residual**2) / self.weight

    def _unpenalized(self, b: FloatArray) -> FloatArray:
        """Return least squares on the support of b; b itself where its columns are dependent."""
        m, out = len(b), np.empty(len(b))
        kernels.least_squares_on(self.G, m, self.c[self.work], b, out)
        if not self.positive:
            return out
        out[:] = b
        only, nothing = np.where(b > 0, 0.0, np.inf), np.zeros(m)
        factor = np.empty((m, m)), np.empty(m, np.intp), np.zeros(1, np.intp)
        limits = FLOOR * float(np.max(np.abs(self.c), initial=0.0)), 1e-16 * np.sqrt(self.yy)
        c = self.c[self.work]
        solve_positive_on_gram(
            self.G, m, c, np.empty(m), out, only, nothing, *limits, 10_000, *factor
        )
        return out


def screen(problems: list[WorkingSetProblem]) -> None:
    """Bring the products with the residuals of the problems up to date, all at once."""
    R = np.column_stack([each.weighted_residual() for each in problems])
    product = problems[0].columns.correlate(R)
    for k, each in enumerate(problems):
        each.q = each.receive(product[:, k])


def begin(problems: list[WorkingSetProblem], penalties: list[Penalty]) -> list[float]:
    """Take the products with the response; return the smallest alpha without coefficients."""
    screen(problems)
    for each, penalty in zip(problems, penalties, strict=True):
        each.c = each.q
        each.penalise(penalty)
        m = len(each.work)
        if m:
            out = np.empty(m)
            if np.any(each.unit2[each.work] > 0):  # squares alone are penalised
                continue
            if not kernels.least_squares_on(each.G, m, each.c[each.work], np.ones(m), out):
                raise not_unique(f"The {m} columns that are not penalised")
            each.b[:m] = each._unpenalized(np.ones(m)) if each.positive else out
            each.residual = each.y - each._fitted(each.b[:m])
    if any(len(each.work) for each in problems):
        screen(problems)
    return [strongest(each.q, each.unit1, each.positive) for each in problems]


def walk_together(
    problems: list[WorkingSetProblem], alphas: FloatArray, descent: Descent
) -> list[PenalizedFits]:
    """Return the fits of each problem at `alphas`, descending; `begin` comes first."""
    p, count = len(problems[0].inside), len(alphas)
    # What has been found for each problem so far, its coefficients those of the shared columns.
    records = []
    for each in problems:
        intercept, mse, gap = np.zeros((3, count))
        n_iter, coef = np.zeros(count, np.intp), np.zeros((count, p))
        records.append(PenalizedFits(alphas, coef, intercept, mse, gap, n_iter, each.half))
    before: list[Any] = [None] * len(problems)
    for k, alpha in enumerate(alphas):
        last = alphas[k - 1] if k else alpha
        for i, each in enumerate(problems):
            ahead = None
            if before[i] is not None and alphas[k - 2] > last:
                slope = (alpha - last) / (last - alphas[k - 2])
                ahead = each.q + slope * (each.q - before[i])
            new = each.candidates(alpha, last, ahead)
            each.shrink(new)
            each.extend(new)
            before[i] = each.q if k else None
        waiting = [i for i, each in enumerate(problems) if k or not each.is_exact(alpha)]
        while waiting:
            for i in waiting:
                records[i].n_iter[k] += problems[i].minimise(alpha, descent)
            screen([problems[i] for i in waiting])
            again = []
            for i in waiting:
                new = problems[i].violators(alpha)
                if len(new):
                    problems[i].extend(new)
                    again.append(i)
            waiting = again
        for each, record in zip(problems, records, strict=True):
            record.gap[k] = each.gap(alpha)
            S, beta, record.mse[k] = each.result(descent.relax)
            record.coef[k, S] = beta
        progress.report("penalties", k + 1, count)
    for each, record in zip(problems, records, strict=True):
        level = each.y_mean - record.coef @ each.mean
        record.coef[:] *= each.columns.factor
        if each.fit_intercept:
            record.intercept[:] = level - record.coef @ each.columns.shift
    return records
