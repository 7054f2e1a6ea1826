"""A table without negative numbers, seen from its rows and from its columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bottega.core.parallel import in_threads, spare_threads
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray
from bottega.latent._kernels.entry_products import columns_times, products_at, rows_times

__all__ = ["NonnegativeTable", "Side"]

_THREADED = 2**20  # products of a sparse table from which several threads share them
_PLAIN = 1e50  # sizes from 1 over this to this are left as they are
_BLOCK = 2**21  # numbers of a part of the residuals


@dataclass(frozen=True)
class Side:
    """A table whose rows one factor describes; missing entries are zeros in `matrix`.

    Attributes
    ----------
    matrix : ndarray or csr_array
        The table, or its transpose; of a sparse table the table itself.
    starts, gaps : ndarray of int
        The columns that are missing in row i are ``gaps[starts[i]:starts[i + 1]]``.
    turned : bool
        Whether it is the transpose of `matrix` that is meant.
    """

    matrix: Any
    starts: Array
    gaps: Array
    turned: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return not len(self.gaps)

    def times(self, Z: FloatArray) -> FloatArray:
        """Return the table times a factor of its columns."""
        if not is_sparse(self.matrix):
            return np.asarray(self.matrix @ Z)
        parts = (self.matrix.indptr, self.matrix.indices, self.matrix.data)
        return _sparse_times(*parts, Z, self.matrix.shape[1] if self.turned else None)

    def at_gaps(self, F: FloatArray, Z: FloatArray) -> FloatArray:
        """Return what the factors give for the missing entries."""
        found = np.empty(len(self.gaps))
        products_at(self.starts, self.gaps, F, Z, found)
        return found

    def gaps_times(self, values: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the table with `values` at the missing entries and zeros elsewhere, times Z."""
        return _sparse_times(self.starts, self.gaps, values, Z)

    @cached_property
    def positive(self) -> tuple[Array, Array, Array]:
        """The positive entries by rows: starts, columns, values."""
        table = csr_array(self.matrix.T if self.turned else self.matrix)
        return table.indptr, table.indices, table.data


def _sparse_times(
    starts: Any, columns: Any, values: Any, Z: FloatArray, turned: int | None = None
) -> FloatArray:
    """Return a sparse table times Z, or (with its number of columns) its transpose times Z."""
    Z = np.ascontiguousarray(Z)
    m = len(starts) - 1
    threads = spare_threads() if len(columns) * Z.shape[1] >= _THREADED else 1
    # Each thread has as many entries as another.
    marks = np.searchsorted(starts, np.linspace(0, len(columns), threads + 1)[1:-1])
    limits = [0, *np.minimum(marks, m).tolist(), m]
    found = np.empty((m, Z.shape[1])) if turned is None else np.zeros((turned, Z.shape[1]))

    def part(k: int) -> FloatArray:
        if turned is None:
            rows_times(starts, columns, values, Z, found, limits[k], limits[k + 1])
            return found
        own = np.zeros_like(found) if k else found
        columns_times(starts, columns, values, Z, own, limits[k], limits[k + 1])
        return own

    parts = in_threads(part, range(threads)) if threads > 1 else [part(0)]
    if turned is not None:
        for own in parts[1:]:
            found += own
    return found


@dataclass(frozen=True)
class NonnegativeTable:
    """A table with its transpose, its missing entries and its scale.

    Attributes
    ----------
    rows, columns : Side
        The table and its transpose, divided by `scale`.
    scale : float
        One, unless squares of the numbers would overflow or vanish.
    square : float
        Sum of the squared entries.
    observed : int
        How many entries are not missing.
    """

    rows: Side
    columns: Side
    scale: float
    square: float
    observed: int

    @classmethod
    def of(cls, X: Any) -> "NonnegativeTable":
        """Read a dense or sparse table, in which NaN is missing."""
        n, p = X.shape
        if is_sparse(X):
            matrix, gaps = _without_gaps(csr_array(X))
            largest = float(matrix.data.max(initial=0.0))
        else:
            lost = np.isnan(X)
            some = bool(lost.any())
            gaps = csr_array(lost) if some else csr_array((n, p))
            matrix = np.where(lost, 0.0, X) if some else np.ascontiguousarray(X)
            largest = float(matrix.max(initial=0.0))
        scale = 1.0
        if largest and not 1 / _PLAIN < largest < _PLAIN:
            scale = float(2.0 ** np.round(np.log2(largest)))
            matrix = matrix / scale
        data = (matrix.data if is_sparse(matrix) else matrix).ravel()
        sparse = is_sparse(matrix)
        turned = csr_array(gaps.T)
        for each in (gaps, turned):
            each.sort_indices()
        return cls(
            Side(matrix, gaps.indptr, gaps.indices),
            Side(matrix if sparse else matrix.T, turned.indptr, turned.indices, sparse),
            scale,
            float(np.vdot(data, data)),
            n * p - gaps.nnz,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows.matrix.shape

    def squared_error(self, W: FloatArray, Z: FloatArray) -> float:
        """Return the sum of the squared residuals of W Z' over the observed entries."""
        if is_sparse(self.rows.matrix):
            starts, columns, values = self.rows.positive
            fitted = np.empty(len(values))
            products_at(starts, columns, W, Z, fitted)
            inside = float(np.sum(values * (values - 2 * fitted)))
            found = inside + float(np.vdot(W.T @ W, Z.T @ Z))
            if not self.rows.complete:
                found -= float(np.sum(self.rows.at_gaps(W, Z) ** 2))
            return max(found, 0.0)
        total, step = 0.0, max(1, _BLOCK // self.shape[1])
        for start in range(0, self.shape[0], step):
            residual = self.rows.matrix[start : start + step] - W[start : start + step] @ Z.T
            total += float(np.vdot(residual, residual))
        if not self.rows.complete:
            total -= float(np.sum(self.rows.at_gaps(W, Z) ** 2))
        return max(total, 0.0)


def _without_gaps(table: Any) -> tuple[Any, Any]:
    """Return a sparse table without its missing entries, and ones in their places."""
    table.sum_duplicates()
    lost = np.isnan(table.data)
    gaps = csr_array(table.shape)
    if lost.any():
        parts = []
        for kept in (~lost, lost):
            starts = np.concatenate([[0], np.cumsum(kept)])[table.indptr]
            here = (table.data[kept], table.indices[kept], starts.astype(table.indptr.dtype))
            parts.append(csr_array(here, shape=table.shape))
        table, gaps = parts
        gaps.data[:] = 1.0
    if not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    return table, gaps
