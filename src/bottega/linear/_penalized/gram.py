"""The lasso family from the Gram matrix: one pass over the rows for all alphas and folds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from bottega.core.errors import InputError
from bottega.core.lazy import cached_property
from bottega.core.moments import Moments
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._decomposition.centering import Centering
from bottega.optimize._kernels import coordinate as kernels
from bottega.optimize._kernels.coordinate_positive import solve_positive_on_gram
from bottega.optimize.coordinate import (
    EXACT,
    FLOOR,
    Descent,
    PenalizedFits,
    Penalty,
    not_unique,
    strongest,
    thresholds,
)


@dataclass(frozen=True)
class GramProblem:
    """A least-squares problem reduced to the products of its centred and scaled columns.

    The products are divided by the sum of the weights.
    """

    centering: Centering  # the way back to the user's columns
    G: FloatArray  # (p, p): products of the columns with one another
    c: FloatArray  # (p,): with the response
    yy: float  # of the response with itself

    @classmethod
    def from_moments(cls, moments: Moments, *, standardize: bool, fit_intercept: bool) -> Self:
        """Reduce the moments of ``[X, y]``."""
        p = len(moments.mean) - 1
        centering, scatter = Centering.from_moments(
            moments, p, standardize=standardize, fit_intercept=fit_intercept
        )
        scatter = scatter / moments.weight
        G, c = np.ascontiguousarray(scatter[:p, :p]), scatter[:p, p].copy()
        return cls(centering, G, c, float(scatter[p, p]))

    def alpha_max(self, penalty: Penalty) -> float:
        """Return the smallest alpha at which every penalised coefficient is zero."""
        unit1, _ = penalty.units(self.centering.constant)
        free = np.flatnonzero(unit1 == 0)
        q = self.c
        if len(free):
            q = q - self.G[:, free] @ self._free_fit(free, penalty.positive)[free]
        return strongest(q, unit1, penalty.positive)

    def _free_fit(self, columns: IntArray, positive: bool) -> FloatArray:
        """Return the coefficients of the columns that are not penalised, without the others."""
        b = self._least_squares(columns)
        if positive:
            nothing, only = np.zeros(len(b)), np.full(len(b), np.inf)
            only[columns] = 0.0
            steps = self._steps(np.ones(1), only, nothing, Descent(1e-12, 10_000), True)
            b = next(steps)[0]
        return b

    def _steps(
        self,
        alphas: FloatArray,
        unit1: FloatArray,
        unit2: FloatArray,
        descent: Descent,
        positive: bool,
        start: FloatArray | None = None,
    ) -> Iterator[tuple[FloatArray, float, int]]:
        """Yield coefficients, duality gap and sweeps at each alpha, from a start or from zero."""
        p = len(self.c)
        b, q = np.zeros(p), self.c.copy()
        factor = np.empty((p, p)), np.empty(p, np.intp), np.zeros(1, np.intp)
        floor = FLOOR * float(np.max(np.abs(self.c), initial=0.0))
        small = 1e-5 * descent.tol * np.sqrt(self.yy)
        solve = solve_positive_on_gram if positive else kernels.solve_on_gram

        def gap() -> float:
            fit, left = float(b @ self.c), float(b @ q)
            pull = np.maximum(q, 0.0) if positive else q
            rr, yr = max(self.yy - fit - left, 0.0), self.yy - fit
            return float(kernels.dual_gap(pull, b, rr, yr, l1, l2))

        for alpha in alphas:
            l1, l2 = thresholds(alpha, unit1, unit2)
            if start is not None:
                scaled = start * self.centering.scale
                b[:] = np.where(self.centering.constant | np.isinf(unit1), 0.0, scaled)
                q[:], start = self.c - self.G @ b, None
                if gap() <= EXACT * self.yy:
                    yield b.copy(), gap(), 0
                    continue
            sweeps = solve(
                self.G, p, self.c, q, b, l1, l2, floor, small, descent.max_iter, *factor
            )[1]
            yield b.copy(), gap(), sweeps

    def _least_squares(self, columns: IntArray) -> FloatArray:
        b, out = np.zeros(len(self.c)), np.empty(len(self.c))
        b[columns] = 1.0
        if not kernels.least_squares_on(self.G, len(b), self.c, b, out):
            raise not_unique(f"The {len(columns)} columns that are not penalised")
        return out

    @cached_property
    def pilot(self) -> FloatArray:
        """Coefficients of scaled columns by least squares, or by ridge where not unique.

        The ridge penalty is that of the least generalised cross-validation.
        """
        if len(self.c) < self.centering.n:
            try:
                return self._least_squares(np.flatnonzero(~self.centering.constant))
            except InputError:  # dependent columns
                pass
        d, V = np.linalg.eigh(self.G)
        real = d > 1e-12 * d[-1]  # the others are rounding
        d, rotated = np.where(real, d, 0.0), np.where(real, V.T @ self.c, 0.0)
        grid = d[-1] * np.logspace(3, -8, 100)[:, None] if d[-1] > 0 else np.ones((1, 1))
        coef = rotated / (d + grid)
        rss = self.yy - 2 * coef @ rotated + coef**2 @ d
        left = 1 - (np.sum(d / (d + grid), axis=1) + 1) / self.centering.n
        gcv = np.where(left > 0, np.maximum(rss, 0) / np.maximum(left, 1e-300) ** 2, np.inf)
        return np.asarray(V @ coef[int(np.argmin(gcv))])

    def path(
        self,
        alphas: FloatArray,
        penalty: Penalty,
        descent: Descent,
        start: FloatArray | None = None,
    ) -> PenalizedFits:
        """Return the fits at `alphas`, descending; the descent may start at some coefficients."""
        unit1, unit2 = penalty.units(self.centering.constant)
        free = np.flatnonzero(
            np.isfinite(unit1) if alphas[-1] == 0 else (unit1 == 0) & (unit2 == 0)
        )
        if len(free):
            self._least_squares(free)  # raises where they are dependent
        if penalty.positive or start is not None:
            steps = self._steps(alphas, unit1, unit2, descent, penalty.positive, start)
            coef, gap, sweeps = (np.array(each) for each in zip(*steps, strict=True))
        else:
            top = float(np.max(np.abs(self.c), initial=0.0))
            small = 1e-5 * descent.tol * np.sqrt(self.yy)
            together = np.ascontiguousarray(alphas)  # the kernel is compiled for one layout
            coef, gap, sweeps, _ = kernels.gram_path(
                *(self.G, self.c, self.yy, unit1, unit2, together),
                *(FLOOR * top, small, descent.max_iter),
            )
        if descent.relax:
            for b in coef:
                used = np.flatnonzero(b)
                if penalty.positive and len(used):
                    b[:] = self._free_fit(used, True)
                elif not penalty.positive:
                    kernels.least_squares_on(self.G, len(b), self.c, b.copy(), b)
        mse = self.yy - 2 * coef @ self.c + np.einsum("ij,ij->i", coef @ self.G, coef)
        half = 0.5 * self.yy if self.yy > 0 else 1.0
        original = self.centering.original(coef)
        return PenalizedFits(alphas, *original, np.maximum(mse, 0.0), gap / half, sweeps, half)
