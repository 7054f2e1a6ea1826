"""The lasso family from the Gram matrix: one pass over the rows for all alphas and folds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from bottega.core.chunks import Moments, split_rows
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
from bottega.optimize.coordinate_columns import is_sparse

__all__ = ["GramProblem", "fold_error", "fold_moments", "leave_out"]

# Numbers in a block of rows: it and its centred copy stay in the cache.
_BLOCK = 2**16
# Rows that a provisional centre is taken from, and the squared distance of the mean from it,
# against the variance, that costs two digits.
_SAMPLE = 256
_FAR = 100.0


@dataclass(frozen=True)
class GramProblem:
    """A least-squares problem reduced to the products of its centred and scaled columns.

    Attributes
    ----------
    centering : Centering
        The way back to the user's columns.
    G, c, yy : ndarray of shape (p, p), (p,) and float
        Products of the columns with one another, with the response, and of the response with
        itself, divided by the sum of the weights.
    """

    centering: Centering
    G: FloatArray
    c: FloatArray
    yy: float

    @classmethod
    def from_moments(cls, moments: Moments, *, standardize: bool, fit_intercept: bool) -> Self:
        """Reduce the moments of ``[X, y]``."""
        p = len(moments.mean) - 1
        centering, scatter = Centering.from_moments(
            moments, p, standardize=standardize, fit_intercept=fit_intercept
        )
        scatter = scatter / moments.weight
        return cls(
            centering,
            np.ascontiguousarray(scatter[:p, :p]),
            scatter[:p, p].copy(),
            float(scatter[p, p]),
        )

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

    def pilot(self) -> FloatArray:
        """Return coefficients of scaled columns by least squares, or by ridge where not unique.

        The ridge penalty is that of the least generalised cross-validation.
        """
        usable = np.flatnonzero(~self.centering.constant)
        if len(self.c) < self.centering.n:
            b, out = np.zeros(len(self.c)), np.empty(len(self.c))
            b[usable] = 1.0
            if kernels.least_squares_on(self.G, len(b), self.c, b, out):
                return out
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
        original, intercept = self.centering.original(coef[:, None, :])
        half = 0.5 * self.yy if self.yy > 0 else 1.0
        return PenalizedFits(
            alphas, original[:, 0], intercept[:, 0], np.maximum(mse, 0.0), gap / half, sweeps
        )


def fold_moments(X: Any, y: FloatArray, w: Any, folds: IntArray, count: int) -> list[Moments]:
    """Return the moments of ``[X, y]`` of each fold."""
    if is_sparse(X):
        X = sparse.csr_array(X)
        which = [np.flatnonzero(folds == k) for k in range(count)]
        return [_sparse_moments(X[on], y[on], None if w is None else w[on]) for on in which]
    first = X[:_SAMPLE]
    # A provisional centre near the mean: sums of squares about it do not cancel.
    shift = np.where(np.ptp(first, axis=0) == 0, first[0], first.mean(axis=0))
    shift = np.append(shift, y[:_SAMPLE].mean())
    if count == 1 and w is None and np.all(shift[:-1] ** 2 <= first.var(axis=0)):
        moments = _moments_in_place(X, y)
        if not _is_far(moments, np.append(np.zeros(len(shift) - 1), moments.mean[-1])):
            return [moments]
    found = []
    for k in range(count):
        rows = np.flatnonzero(folds == k) if count > 1 else None
        moments = _dense_moments(X, y, w, rows, shift)
        if moments.count and _is_far(moments, shift):
            moments = _dense_moments(X, y, w, rows, moments.mean)  # the first rows misled
        found.append(moments)
    return found


def _is_far(moments: Moments, shift: FloatArray) -> bool:
    """Return whether sums of squares about `shift` lost digits that those about the mean keep."""
    variance = np.diag(moments.scatter) / max(moments.weight, 1e-300)
    return bool(np.any((moments.mean - shift) ** 2 > _FAR * variance))


def _moments_in_place(X: FloatArray, y: FloatArray) -> Moments:
    """Return the moments of ``[X, y]`` whose columns lie about zero: no block is copied."""
    n, p = X.shape
    found = Moments()
    found.count, found.weight = n, float(n)
    found.mean = np.append(np.ones(n) @ X, y.sum()) / n
    products = np.empty((p + 1, p + 1))
    products[:p, :p] = X.T @ X
    y = y - found.mean[p]
    products[:p, p] = products[p, :p] = y @ X
    products[p, p] = y @ y
    offset = np.append(found.mean[:p], 0.0)
    found.scatter = products - n * np.outer(offset, offset)
    np.fill_diagonal(found.scatter, np.maximum(np.diag(found.scatter), 0.0))
    return found


def _dense_moments(X: FloatArray, y: FloatArray, w: Any, rows: Any, shift: FloatArray) -> Moments:
    """Return the moments of ``[X, y]`` on some rows (None: all) in one pass, block by block."""
    p = X.shape[1]
    n = len(y) if rows is None else len(rows)
    size = max(256, _BLOCK // (p + 1))
    # Blocks are copied the way the rows are stored: along columns, or along rows.
    order: Any = "F" if X.flags.f_contiguous else "C"
    buffer = np.empty((min(size, max(n, 1)), p + 1), order=order)
    sums, scatter, weight = np.zeros(p + 1), np.zeros((p + 1, p + 1)), 0.0
    for part in split_rows(n, size):
        at = part if rows is None else rows[part]
        block = buffer[: part.stop - part.start]
        np.subtract(X[at], shift[:p], out=block[:, :p])
        np.subtract(y[at], shift[p], out=block[:, p])
        if w is None:
            sums += np.ones(len(block)) @ block
            weight += len(block)
        else:
            root = np.sqrt(w[at])
            block *= root[:, None]
            sums += root @ block
            weight += float(w[at].sum())
        scatter += block.T @ block
    found = Moments()
    if n:
        offset = sums / weight
        found.count, found.weight, found.mean = n, weight, shift + offset
        found.scatter = scatter - weight * np.outer(offset, offset)
        np.fill_diagonal(found.scatter, np.maximum(np.diag(found.scatter), 0.0))
    return found


def _sparse_moments(X: Any, y: FloatArray, w: Any) -> Moments:
    """Return the moments of ``[X, y]`` from products that touch what is stored alone."""
    found = Moments()
    if not len(y):
        return found
    v = np.ones(len(y)) if w is None else w
    weighted = X.multiply(v[:, None]).tocsr()
    found.count, found.weight = len(y), float(v.sum())
    found.mean = np.append(X.T @ v, v @ y) / found.weight
    yc = y - found.mean[-1]
    p = X.shape[1]
    scatter = np.empty((p + 1, p + 1))
    scatter[:p, :p] = (weighted.T @ X).toarray()
    scatter[:p, :p] -= found.weight * np.outer(found.mean[:p], found.mean[:p])
    scatter[:p, p] = scatter[p, :p] = weighted.T @ yc - found.mean[:p] * (v @ yc)
    scatter[p, p] = v @ yc**2
    found.scatter = scatter
    return found


def leave_out(parts: list[Moments]) -> Iterator[Moments]:
    """Yield, for each part, the moments of all the others: merged, so that nothing cancels."""
    behind = [Moments()]
    for part in reversed(parts[1:]):
        behind.append(Moments().merge(behind[-1]).merge(part))
    ahead = Moments()
    for part in parts:
        yield Moments().merge(ahead).merge(behind.pop())
        ahead = ahead.merge(part)


def fold_error(moments: Moments, solution: PenalizedFits) -> FloatArray:
    """Return the mean squared error of each fit on the rows whose moments these are."""
    m = len(solution.coef)
    contrast = np.hstack([-solution.coef, np.ones((m, 1))])
    spread = np.einsum("ij,ij->i", contrast @ moments.scatter, contrast) / moments.weight
    offset = contrast @ moments.mean - solution.intercept
    return np.maximum(spread, 0.0) + offset**2
