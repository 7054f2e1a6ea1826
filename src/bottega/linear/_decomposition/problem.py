"""A least-squares problem decomposed once, from rows in memory or from chunks of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from bottega.core.added_sums import AddedSums
from bottega.core.chunks import CheckedChunks
from bottega.core.moments import Moments
from bottega.core.parts import merged
from bottega.core.row_factor import RowFactor
from bottega.core.rows import Rows, split_rows
from bottega.core.sparse import SMALL, is_large_sparse, is_sparse
from bottega.core.typing import BoolArray, FloatArray
from bottega.data.scatter import narrow_moments
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.fold_moments import FoldMoments
from bottega.linear._decomposition.leave_one_out import RowBlock
from bottega.linear._decomposition.sparse_inputs import decompose_wide
from bottega.linear._decomposition.spectrum import (
    Spectrum,
    by_dual_gram,
    by_gram,
    by_svd,
    by_triangle,
)

# Up to this many multiplications (n p min(n, p)) a singular value decomposition of the rows takes
# under a tenth of a second, and nothing is more accurate.
_SMALL = 2e7
# Rounding of products, against the share of a sum of squares that it may change.
_DOUBT = 8 * np.finfo(float).eps / 1e-10
# Rows handled at a time when the rows are streamed through: large enough for BLAS.
_STREAM = 8192

Chunk = tuple[Any, FloatArray, Any]


@dataclass(frozen=True)
class DecomposedProblem:
    """A decomposed problem: everything that any penalty needs."""

    centering: Centering  # the way between the user's columns and the problem's
    spectrum: Spectrum
    # How the spectrum was found: from the rows ("svd"), from the Gram matrix of the rows ("dual")
    # or of the columns ("gram"), from the QR factor of the rows, or by "cholesky".
    solver: str
    # What a function gives for each block of rows, merged: a pass over the rows, wherever they are.
    reduce: Callable[[Callable[[RowBlock], Any]], Any]
    tss: FloatArray  # (q,): weighted sums of squares of the responses about their means
    log_weights: float
    y_ndim: int  # number of axes of the responses as they were given
    rows: Rows | None = None  # where they are in memory
    aliased: BoolArray | None = None  # columns that are combinations of those before them
    folds: Any = None  # moments of folds of the rows, and the chunks they came in
    gram: FloatArray | None = None  # products of the mapped columns, where they are known
    # Products (q, q) of what is outside the column space, where rows are in chunks and their
    # moments tell it to as many digits as the rows would.
    outside: FloatArray | None = None

    def squares_outside(self) -> FloatArray:
        """Return the sums of squares (q,) outside the column space: by a pass where not known."""
        if self.outside is not None:
            return self.outside.diagonal().copy()
        (found,) = self.reduce(lambda each: AddedSums((np.sum(each.outside**2, axis=0),))).values
        return np.asarray(found)


def decompose_rows(rows: Rows, *, standardize: bool, fit_intercept: bool) -> DecomposedProblem:
    """Decompose rows in memory, by the method that suits their shape."""
    X, y, w = rows.X, rows.y.reshape(len(rows), -1), rows.weight
    n, p = X.shape
    how: Any = {"standardize": standardize, "fit_intercept": fit_intercept}
    if n >= p and (n * p * p > _SMALL or is_large_sparse(X)):
        chunk = [(X, y, w)]
        return decompose_moments(moments_of(chunk), chunk, rows.y.ndim, rows, **how)
    if is_large_sparse(X):
        centering, spectrum, U, Y = decompose_wide(rows, y, **how)
        solver = "dual"
    else:
        centering, A, Y = Centering.from_rows(X, y, w, **how)
        wide, dual = n < p and n * n * p > _SMALL, None
        if wide:
            dual = by_dual_gram(A @ A.T, A.T, Y, n - fit_intercept)
        solver = "svd" if dual is None else "dual"
        spectrum, U = dual or by_svd(A, Y)

    def over_blocks(function: Callable[[RowBlock], Any]) -> Any:
        return function(_row_block(centering, spectrum, U, Y, y, w))

    center = np.average(y, axis=0, weights=w)
    tss = np.average((y - center) ** 2, axis=0, weights=w) * centering.weight
    return DecomposedProblem(
        centering, spectrum, solver, over_blocks, tss, rows.log_weights, rows.y.ndim, rows
    )


def moments_of(chunks: Iterable[Chunk]) -> Moments:
    """Return the moments of ``[X, y]`` of rows that come in chunks."""
    moments = Moments()
    for chunk in chunks:
        if is_large_sparse(chunk[0]):
            moments.merge(FoldMoments(*chunk, 1).total())
            continue
        X, y, w = chunk
        found = narrow_moments(X, y.reshape(len(y), -1)) if w is None and not is_sparse(X) else None
        if found is None:
            moments.update(*chunk)
        else:
            moments.merge(found)
    return moments


def decompose_moments(
    moments: Moments,
    chunks: Iterable[Chunk],
    y_ndim: int,
    rows: Rows | None = None,
    *,
    standardize: bool,
    fit_intercept: bool,
    solve: Any = None,
) -> DecomposedProblem:
    """Decompose rows from their moments, or by a pass over the chunks ``(X, y, w)``.

    `reduce` is a further pass. `solve` takes the scatter of the mapped columns, the map and the
    chunks and returns the spectrum, how it was found, and which columns are aliased.
    """
    p = moments.p
    how = {"standardize": standardize, "fit_intercept": fit_intercept}
    centering, scatter = Centering.from_moments(moments, p, **how)
    spectrum, solver, aliased = (solve or _solve)(scatter, centering, chunks)
    to_left = spectrum.V / np.sqrt(spectrum.lam)

    def over_blocks(function: Callable[[RowBlock], Any]) -> Any:
        def of_part(X: FloatArray, y: FloatArray, w: Any) -> Any:
            A, Y = centering.rows(X, y, w)
            return function(_row_block(centering, spectrum, A @ to_left, Y, y, w))

        return _over_parts(chunks, of_part)

    tss = np.diag(moments.scatter)[p:].copy()
    outside = _outside(scatter, spectrum) if rows is None else None
    return DecomposedProblem(
        centering, spectrum, solver, over_blocks, tss, moments.log_weights, y_ndim, rows, aliased,
        gram=scatter[:p, :p], outside=outside,
    )  # fmt: skip


def _outside(scatter: FloatArray, spectrum: Spectrum) -> FloatArray | None:
    """Return the products of what the columns leave of the responses, None where digits are lost.

    An error of rounding in the products of the columns counts as often as the square of the
    coefficients; one in those of the responses once.
    """
    p = spectrum.p
    found = scatter[p:, p:] - spectrum.rotated.T @ spectrum.rotated
    coef = spectrum.coef_keeping(np.ones((spectrum.rank, 1)))[0]
    doubt = np.trace(scatter[:p, :p]) * np.sum(coef**2, axis=1) + np.diag(scatter)[p:]
    if np.any(_DOUBT * doubt > np.diag(found)):
        return None
    return np.asarray(found)


def _solve(scatter: FloatArray, centering: Centering, chunks: Iterable[Chunk]) -> Any:
    """Solve from the Gram matrix; where squares would lose digits, from merged QR factors."""
    p = len(centering.mean)
    found = by_gram(scatter[:p, :p], scatter[:p, p:])
    if found is not None:
        return found, "gram", None
    R = merge_triangles(chunks, centering)
    return by_triangle(R[:p, :p], R[:p, p:], centering.n), "qr", None


def merge_triangles(chunks: Iterable[Chunk], centering: Centering) -> FloatArray:
    """Return the QR factor of all rows of ``[X, y]``, merged part by part."""
    found: RowFactor | None = _over_parts(
        chunks, lambda *part: RowFactor.of(np.hstack(centering.rows(*part)))
    )
    assert found is not None
    return found.R


def _over_parts(chunks: Iterable[Chunk], function: Callable[..., Any]) -> Any:
    """Return what a function gives for each part of the rows, merged."""

    def of_chunk(X: Any, y: Any, w: Any, _: Any = None) -> Any:
        return reduce(merged, (function(*part) for part in _parts(X, y, w)))

    if isinstance(chunks, CheckedChunks):
        return chunks.reduce(of_chunk)
    return reduce(merged, (of_chunk(*chunk) for chunk in chunks))


def _parts(X: Any, y: FloatArray, w: Any) -> Iterator[Chunk]:
    """Yield a chunk in dense parts of a size that BLAS likes."""
    table, size = X, _STREAM
    if is_large_sparse(X):
        table, size = X.tocsr(), max(1, min(_STREAM, SMALL // X.shape[1]))
    for rows in split_rows(len(y), size):
        part = table[rows].toarray() if table is not X else X[rows]
        yield part, y[rows], None if w is None else w[rows]


def _row_block(
    centering: Centering, spectrum: Spectrum, U: FloatArray, Y: FloatArray, y: FloatArray, w: Any
) -> RowBlock:
    """Return rows in singular coordinates, with what is outside the column space."""
    if centering.n - centering.fit_intercept - spectrum.rank <= 0:
        # The inputs span all responses: exactly nothing is outside.
        return RowBlock(U, np.zeros_like(Y), np.zeros(len(U)), y, w)
    mean_leverage: Any = 0.0
    if centering.fit_intercept:
        mean_leverage = (1.0 if w is None else w) / centering.weight
    room = 1 - mean_leverage - np.einsum("ij,ij->i", U, U)
    # What rounding leaves of nothing is nothing: the row alone spans a direction.
    room[room < 8 * (1 + spectrum.rank) * np.finfo(float).eps] = 0.0
    return RowBlock(U, Y - U @ spectrum.rotated, room, y, w)
