"""Rows that are centred, scaled and weighted block by block: no second copy of the table."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from scipy.linalg.blas import dsyrk

from bottega.core.moments import Moments
from bottega.core.row_factor import RowFactor
from bottega.core.rows import split_rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import BoolArray, FloatArray
from bottega.core.validate import check_columns

__all__ = ["CentredRows", "column_squares", "constant_columns", "moments_of", "scale_of"]

_BLOCK = 2**20  # numbers in a block: it stays in the cache between two passes
# A column whose spread is a few units in the last place of its mean holds nothing but rounding.
_ROUNDING = 10 * np.finfo(np.float64).eps


def constant_columns(mean: FloatArray, variance: FloatArray) -> BoolArray:
    """Return which columns do not vary, up to the rounding of their mean."""
    return np.asarray(np.sqrt(variance) <= _ROUNDING * np.abs(mean))


def scale_of(mean: FloatArray, variance: FloatArray, standardize: bool) -> FloatArray:
    """Return what each column is divided by: its standard deviation, or one."""
    check_columns(variance, mean=mean)
    if not standardize:
        return np.ones_like(mean)
    return np.where(constant_columns(mean, variance), 1.0, np.sqrt(variance))


def moments_of(X: Any, w: FloatArray | None) -> Moments:
    """Return the moments of rows in memory: those of `Moments.update`, without a copy of X."""
    n, p = X.shape
    found = Moments()
    found.count, found.p = n, p
    found.weight = float(n) if w is None else float(w.sum())
    if is_sparse(X):
        weighted = X if w is None else X.multiply(w[:, None]).tocsc()
        found.mean = np.asarray(weighted.sum(axis=0)).ravel() / found.weight
        with np.errstate(over="ignore", invalid="ignore"):  # told where columns are checked
            level = found.weight * np.outer(found.mean, found.mean)
            found.scatter = (X.T @ weighted).toarray() - level
        return found
    rows = CentredRows.about_mean(X, w)
    scatter, left = np.zeros((p, p), order="F"), np.zeros(p)
    for _, block, root in rows.blocks():
        # What rounding left in the mean: the scatter is corrected for it at the end.
        left += block.sum(axis=0) if root is None else root @ block
        scatter = dsyrk(1.0, block.T, beta=1.0, c=scatter, lower=1, overwrite_c=1)
    upper = np.triu_indices(p, 1)
    scatter[upper] = scatter.T[upper]
    left /= found.weight
    found.mean = rows.mean + left
    found.scatter = np.ascontiguousarray(scatter) - found.weight * np.outer(left, left)
    return found


@dataclass(frozen=True)
class CentredRows:
    """The matrix A = diag(sqrt(w)) (X - mean) / scale, as what its products are."""

    X: Any
    w: FloatArray | None
    mean: FloatArray
    scale: FloatArray

    @classmethod
    def about_mean(cls, X: Any, w: FloatArray | None, standardize: bool = False) -> Self:
        """Return rows about their mean, on one scale if they are to be standardised."""
        n, p = X.shape
        weight = np.ones(n) if w is None else w
        if is_sparse(X):
            mean = np.asarray(X.T @ weight).ravel() / weight.sum()
            square = np.asarray(X.multiply(X).T @ weight).ravel() / weight.sum() - mean**2
            return cls(X, w, mean, scale_of(mean, np.maximum(square, 0.0), standardize))
        mean = (weight / weight.sum()) @ X
        rows = cls(X, w, mean, np.ones(p))
        if not standardize:
            return rows
        left, square = np.zeros(p), np.zeros(p)
        for _, block, root in rows.blocks():
            left += block.sum(axis=0) if root is None else root @ block
            square += np.einsum("ij,ij->j", block, block)
        left, square = left / weight.sum(), square / weight.sum()
        return cls(X, w, mean + left, scale_of(mean, np.maximum(square - left**2, 0.0), True))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]

    def blocks(self) -> Iterator[tuple[slice, FloatArray, FloatArray | None]]:
        """Yield the place of some rows, the rows of A there, and the roots of their weights."""
        n, p = self.shape
        plain = bool(np.all(self.scale == 1))
        size = max(64, _BLOCK // max(p, 1))
        room = np.empty((min(size, n), p))
        for part in split_rows(n, size):
            block = room[: part.stop - part.start]
            np.subtract(self.X[part], self.mean, out=block)
            if not plain:
                block /= self.scale
            root = None
            if self.w is not None:
                root = np.sqrt(self.w[part])
                block *= root[:, None]
            yield part, block, root

    def dense(self) -> FloatArray:
        """Return A."""
        X = self.X.toarray() if is_sparse(self.X) else self.X
        A = (X - self.mean) / self.scale
        return A if self.w is None else A * np.sqrt(self.w)[:, None]

    def factor(self) -> RowFactor:
        """Return the QR factor of A below a column for the level, which rounding left in A."""
        parts = (
            RowFactor.of(np.column_stack([np.ones(len(block)) if root is None else root, block]))
            for _, block, root in self.blocks()
        )
        return reduce(RowFactor.merge, parts)

    def times(self, V: FloatArray) -> FloatArray:
        """Return A V."""
        if not is_sparse(self.X):
            found = np.empty((self.shape[0], V.shape[1]))
            for part, block, _ in self.blocks():
                np.matmul(block, V, out=found[part])
            return found
        U = V / self.scale[:, None]
        found = np.asarray(self.X @ U) - self.mean @ U
        return found if self.w is None else found * np.sqrt(self.w)[:, None]

    def transposed_times(self, U: FloatArray) -> FloatArray:
        """Return A' U."""
        if not is_sparse(self.X):
            found = np.zeros((self.shape[1], U.shape[1]))
            for part, block, _ in self.blocks():
                found += block.T @ U[part]
            return found
        if self.w is not None:
            U = U * np.sqrt(self.w)[:, None]
        found = np.asarray(self.X.T @ U) - np.outer(self.mean, U.sum(axis=0))
        return found / self.scale[:, None]

    def scatter_times(self, V: FloatArray) -> FloatArray:
        """Return A'A V, with one pass over the rows."""
        if is_sparse(self.X):
            return self.transposed_times(self.times(V))
        found = np.zeros((self.shape[1], V.shape[1]))
        for _, block, _ in self.blocks():
            found += block.T @ (block @ V)
        return found

    def dual(self) -> FloatArray:
        """Return AA', one row and column per row."""
        if not is_sparse(self.X):
            A = self.dense()
            return A @ A.T
        B = self.X.multiply(1 / self.scale).tocsr()
        cross = (B @ B.T).toarray()
        level = np.asarray(B @ (self.mean / self.scale)).ravel()
        square = float(np.sum((self.mean / self.scale) ** 2))
        found = cross - level[:, None] - level + square
        if self.w is None:
            return found
        root = np.sqrt(self.w)
        return np.asarray(found * root * root[:, None])


def column_squares(centred: CentredRows) -> FloatArray:
    """Return the sum of squares of each column of A; a column that does not vary has none."""
    if is_sparse(centred.X):
        X, w = centred.X, centred.w
        weight = np.ones(X.shape[0]) if w is None else w
        square = np.asarray(X.multiply(X).T @ weight).ravel() - weight.sum() * centred.mean**2
        return np.asarray(np.maximum(square, 0.0) / centred.scale**2)
    found = np.zeros(centred.shape[1])
    for _, block, _ in centred.blocks():
        found += np.einsum("ij,ij->j", block, block)
    return found
