"""The lasso family from the Gram matrix: one pass over the rows for all alphas and folds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from bottega.core.chunks import Moments
from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._decomposition.centering import Centering
from bottega.optimize._kernels import coordinate as kernels
from bottega.optimize.coordinate import (
    FLOOR,
    Descent,
    PenalizedFits,
    Penalty,
    not_unique,
    strongest,
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
            q = q - self.G[:, free] @ self._least_squares(free)[free]
        return strongest(q, unit1)

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

    def path(self, alphas: FloatArray, penalty: Penalty, descent: Descent) -> PenalizedFits:
        """Return the fits at `alphas`, descending."""
        unit1, unit2 = penalty.units(self.centering.constant)
        free = np.flatnonzero(np.isfinite(unit1) if alphas[-1] == 0 else unit1 == 0)
        if len(free):
            self._least_squares(free)  # raises where they are dependent
        top = float(np.max(np.abs(self.c), initial=0.0))
        small = 1e-5 * descent.tol * np.sqrt(self.yy)
        coef, gap, sweeps, _ = kernels.gram_path(
            self.G, self.c, self.yy, unit1, unit2, alphas, FLOOR * top, small, descent.max_iter
        )
        if descent.relax:
            for b in coef:
                kernels.least_squares_on(self.G, len(b), self.c, b.copy(), b)
        mse = self.yy - 2 * coef @ self.c + np.einsum("ij,ij->i", coef @ self.G, coef)
        half = 0.5 * self.yy if self.yy > 0 else 1.0
        original = self.centering.original(coef)
        return PenalizedFits(alphas, *original, np.maximum(mse, 0.0), gap / half, sweeps)
