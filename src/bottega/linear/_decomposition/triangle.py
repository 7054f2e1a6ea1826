r"""What rows tell about linear coefficients, as the QR factor of the rows: updated and merged.

The information :math:`A^\top A` of the rows :math:`A = [1, X, y]` is kept by its square root, the
triangle R with :math:`R^\top R = A^\top A`. New rows are merged by an orthogonal transformation, so
nothing cancels and no digits are lost to squaring, however many rows go by.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular

from bottega.core.chunks import split_rows
from bottega.core.errors import InputError
from bottega.core.threads import one_thread
from bottega.core.typing import BoolArray, FloatArray
from bottega.linear._decomposition.rank import independent_columns
from bottega.linear._kernels.recursive import absorb_rows

__all__ = ["Triangle", "TriangleSolution"]

_BLOCK = 2048  # rows merged at a time: a block of a few dozen columns stays in the cache


@dataclass(frozen=True)
class TriangleSolution:
    r"""Coefficients that fit the rows of a triangle (and a prior), the intercept first.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        Coefficients; zero where aliased.
    root : ndarray of shape (d, r)
        Square root of :math:`V = (A^\top A)^{-1}`: ``root @ root.T``; zero rows where aliased.
    aliased : ndarray of bool, shape (d,)
        Columns that (so far) are combinations of those before them.
    rss : float
        Residual sum of squares of the rows.
    df : float
        Trace of the smoother matrix.
    """

    coef: FloatArray
    root: FloatArray
    aliased: BoolArray
    rss: float
    df: float


class Triangle:
    """The triangle of all rows ``[1, X, y]`` seen so far.

    Attributes
    ----------
    R : ndarray of shape (d + 1, d + 1)
        Upper triangle.
    count : int
        Rows with a positive weight.
    weight : float
        Sum of the weights, each times its share still remembered.
    rows : float
        Number of rows still remembered: `count`, but for forgetting.
    age : int
        Rows that went by, for what is forgotten.
    """

    def __init__(self, n_features: int, *, intercept: bool, forgetting: float = 1.0) -> None:
        size = n_features + intercept + 1
        self.R: FloatArray = np.zeros((size, size))
        self.intercept = intercept
        self.forgetting = forgetting
        self.count = 0
        self.weight = 0.0
        self.rows = 0.0
        self.age = 0

    def update(self, X: FloatArray, y: FloatArray, w: Any = None) -> Self:
        """Take in a block of rows at once."""
        R = self.R
        size = len(R)
        if len(X) < size:  # a few rotations are done before LAPACK is called
            self.update_by_row(X, y, w)
            return self
        for part in split_rows(len(X), _BLOCK):
            m = part.stop - part.start
            stacked = np.empty((size + m, size), order="F")
            stacked[:size] = R
            block = stacked[size:]
            if self.intercept:
                block[:, 0] = 1.0
            block[:, int(self.intercept) : -1] = X[part]
            block[:, -1] = y[part]
            if w is not None:
                block *= np.sqrt(w[part])[:, None]
            if self.forgetting < 1:
                stacked[:size] *= self.forgetting ** (m / 2)
                block *= self.forgetting ** (np.arange(m - 1, -1, -1)[:, None] / 2)
            R = _factor(stacked)
        return self._advance(R, len(X), w)

    def update_by_row(
        self, X: FloatArray, y: FloatArray, w: Any = None, prior: float = 0.0
    ) -> FloatArray:
        """Take in rows one after the other; return the error of predicting each from those before.

        `prior` is the precision that the rows before this block are joined by. It takes part in
        the predictions and is not kept.
        """
        R = self.with_prior(prior)
        X, y = np.ascontiguousarray(X), np.ascontiguousarray(y)
        root = np.zeros(0) if w is None else np.sqrt(w)
        errors = np.empty(len(X))
        absorb_rows(R, X, y, root, self.intercept, np.sqrt(self.forgetting), errors)
        if prior:
            self.update(X, y, w)
        else:
            self._advance(R, len(X), w)
        return errors

    def merge(self, other: Self) -> Self:
        """Take in the rows of another triangle."""
        self.R = _factor(np.vstack([self.R, other.R]))
        self.count += other.count
        self.weight += other.weight
        self.rows += other.rows
        self.age = max(self.age, other.age)
        return self

    def _advance(self, R: FloatArray, m: int, w: Any) -> Self:
        if not np.all(np.isfinite(R)):
            raise InputError(
                "The squares of these numbers overflow: bring inputs and response to a smaller "
                "scale."
            )
        self.R = R
        self.age += m
        if w is None and self.forgetting == 1:
            self.count, self.weight, self.rows = self.count + m, self.weight + m, self.rows + m
            return self
        memory = self.forgetting ** np.arange(m - 1, -1, -1.0)
        weights = np.ones(m) if w is None else w
        old = self.forgetting**m
        self.count += int(np.count_nonzero(weights))
        self.weight = old * self.weight + float(memory @ weights)
        self.rows = old * self.rows + float(memory @ (weights > 0))
        return self

    def with_prior(self, precision: float) -> FloatArray:
        """Return a copy of R with the rows of a prior N(0, I / precision) on all coefficients."""
        if not precision:
            return self.R.copy()
        rows = np.sqrt(precision) * np.eye(len(self.R) - 1, len(self.R))
        return _factor(np.vstack([self.R, rows]))

    def solve(self, prior: float = 0.0) -> TriangleSolution:
        """Return the coefficients that fit the rows, with a prior of that precision."""
        R = self.with_prior(prior)
        d = len(R) - 1
        kept = independent_columns(R[:d, :d])
        if not kept.all():
            R = _factor(R[:, np.append(kept, True)])
        r = len(R) - 1 if kept.all() else int(kept.sum())
        coef, root = np.zeros(d), np.zeros((d, r))
        if r:
            root[kept] = solve_triangular(R[:r, :r], np.eye(r))
            coef[kept] = solve_triangular(R[:r, :r], R[:r, r])
        # The triangle's corner is the penalised sum: residuals plus prior.
        rss = max(float(R[r, r] ** 2) - prior * float(coef @ coef), 0.0)
        return TriangleSolution(coef, root, ~kept, rss, r - prior * float(np.sum(root**2)))


def _factor(rows: FloatArray) -> FloatArray:
    """Return the triangle of the QR decomposition."""
    with one_thread():
        return np.asarray(np.linalg.qr(rows, mode="r"))
