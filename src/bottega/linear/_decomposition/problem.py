"""A least-squares problem decomposed once, from rows in memory or from chunks of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.chunks import Moments, split_rows
from bottega.core.rows import Rows
from bottega.core.threads import one_thread
from bottega.core.typing import BoolArray, FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.leave_one_out import RowBlock
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
# Rows handled at a time when the rows are streamed through: large enough for BLAS.
_STREAM = 8192

Chunk = tuple[FloatArray, FloatArray, Any]


@dataclass(frozen=True)
class DecomposedProblem:
    """A decomposed problem: everything that any penalty needs.

    Attributes
    ----------
    centering : Centering
        The way between the user's columns and the problem's.
    spectrum : Spectrum
        Singular values and directions.
    solver : {"svd", "dual", "gram", "qr", "cholesky"}
        How the spectrum was found: from the rows, from the Gram matrix of the rows (p > n) or of
        the columns, from the QR factor of the rows, or from the Cholesky factor of the Gram matrix.
    blocks : callable
        Each call goes through the rows once, as `RowBlock`.
    tss : ndarray of shape (q,)
        Weighted sums of squares of the responses about their means.
    log_weights : float
        Sum of the logarithms of the weights.
    y_ndim : int
        Number of axes of the responses as they were given.
    rows : Rows or None
        The rows, where they are in memory.
    aliased : ndarray of bool, shape (p,), or None
        Columns that are combinations of those before them, where that was asked for.
    """

    centering: Centering
    spectrum: Spectrum
    solver: str
    blocks: Callable[[], Iterator[RowBlock]]
    tss: FloatArray
    log_weights: float
    y_ndim: int
    rows: Rows | None = None
    aliased: BoolArray | None = None

    def df(self, alphas: Any) -> FloatArray:
        """Return the trace of the smoother matrix at each alpha."""
        kept: FloatArray = self.spectrum.kept(alphas).sum(axis=0)
        return kept + self.centering.fit_intercept

    def trace_sst(self, alpha: float) -> float:
        """Return tr SS' (with weights: of the smoother of the rows times their root weights)."""
        kept = self.spectrum.kept(alpha)
        return float(self.centering.fit_intercept + np.sum(kept**2))

    def residuals(self, alpha: float) -> Iterator[tuple[FloatArray, FloatArray, Any]]:
        """Yield residuals on the scale of y, one minus the leverages, and weights, by block."""
        for block in self.blocks():
            yield *block.residuals(self.spectrum, alpha), block.weight

    def original(self, scaled: FloatArray) -> FloatArray:
        """Return coefficients ``(m, q, p)`` on the user's scale, without the axis of one y."""
        coef, _ = self.centering.original(scaled)
        return coef if self.y_ndim == 2 else coef[:, 0]

    def predictions(self, scaled: FloatArray, X_new: FloatArray) -> FloatArray:
        """Return what coefficients ``(m, q, p)`` predict: (rows, m), or (rows, m, q)."""
        coef, intercept = self.centering.original(scaled)
        found: FloatArray = np.moveaxis(X_new @ np.swapaxes(coef, 1, 2), 0, 1) + intercept
        return found if self.y_ndim == 2 else found[:, :, 0]


# ---- rows in memory ------------------------------------------------------------------------------


def decompose_rows(rows: Rows, *, standardize: bool, fit_intercept: bool) -> DecomposedProblem:
    """Decompose rows in memory, by the method that suits their shape."""
    X, y, w = rows.X, rows.y.reshape(len(rows), -1), rows.weight
    n, p = X.shape
    how = {"standardize": standardize, "fit_intercept": fit_intercept}
    if n >= p and n * p * p > _SMALL:
        chunk = [(X, y, w)]
        return decompose_moments(moments_of(chunk), chunk, rows.y.ndim, rows, **how)
    centering, A, Y = Centering.from_rows(X, y, w, **how)
    found, solver = None, "svd"
    if n < p and n * n * p > _SMALL:
        found, solver = by_dual_gram(A, Y, n - fit_intercept), "dual"
    if found is None:
        found, solver = by_svd(A, Y), "svd"
    spectrum, U = found

    def blocks() -> Iterator[RowBlock]:
        yield _row_block(centering, spectrum, U, Y, y, w)

    center = np.average(y, axis=0, weights=w)
    tss = np.average((y - center) ** 2, axis=0, weights=w) * centering.weight
    return DecomposedProblem(
        centering, spectrum, solver, blocks, tss, rows.log_weights, rows.y.ndim, rows
    )


# ---- chunks of rows ------------------------------------------------------------------------------


class LoggedMoments(Moments):
    """Moments of ``[X, y]`` that also count the columns of X and sum the logs of the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.p, self.log_weights = 0, 0.0

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows of positive weight."""
        self.p = X.shape[1]
        self.log_weights += 0.0 if w is None else float(np.sum(np.log(w)))
        return super().update(X, y, w)

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        self.p = other.p
        self.log_weights += other.log_weights
        return super().merge(other)


def moments_of(chunks: Iterable[Chunk]) -> LoggedMoments:
    """Return the moments of ``[X, y]`` of rows that come in chunks."""
    moments = LoggedMoments()
    for X, y, w in _parts(chunks):
        moments.update(X, y, w)
    return moments


def decompose_moments(
    moments: LoggedMoments,
    chunks: Iterable[Chunk],
    y_ndim: int,
    rows: Rows | None = None,
    *,
    standardize: bool,
    fit_intercept: bool,
) -> DecomposedProblem:
    """Decompose rows from their moments.

    Where squares would lose too many digits, a pass over the chunks ``(X, y, w)`` merges QR factors
    instead. `blocks` is a further pass.
    """
    p = moments.p
    centering, scatter = Centering.from_moments(
        moments, p, standardize=standardize, fit_intercept=fit_intercept
    )
    found, solver = by_gram(scatter[:p, :p], scatter[:p, p:]), "gram"
    if found is None:
        R = merge_triangles(chunks, centering)
        found, solver = by_triangle(R[:p, :p], R[:p, p:], centering.n), "qr"
    blocks = chunk_blocks(chunks, centering, found)
    tss = np.diag(moments.scatter)[p:].copy()
    return DecomposedProblem(
        centering, found, solver, blocks, tss, moments.log_weights, y_ndim, rows
    )


def chunk_blocks(
    chunks: Iterable[Chunk], centering: Centering, spectrum: Spectrum
) -> Callable[[], Iterator[RowBlock]]:
    """Return the passes over chunks of rows in singular coordinates."""
    to_left = spectrum.V / np.sqrt(spectrum.lam)

    def blocks() -> Iterator[RowBlock]:
        for X, y, w in _parts(chunks):
            A, Y = centering.rows(X, y, w)
            yield _row_block(centering, spectrum, A @ to_left, Y, y, w)

    return blocks


def merge_triangles(chunks: Iterable[Chunk], centering: Centering) -> FloatArray:
    """Return the QR factor of all rows of ``[X, y]``, merged part by part."""
    R = np.zeros((0, len(centering.mean) + len(centering.y_mean)))
    for X, y, w in _parts(chunks):
        stacked = np.vstack([R, np.hstack(centering.rows(X, y, w))])
        with one_thread():
            R = np.asarray(np.linalg.qr(stacked, mode="r"))
    return R


def _parts(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks in parts of a size that BLAS likes."""
    for X, y, w in chunks:
        for rows in split_rows(len(X), _STREAM):
            yield X[rows], y[rows], None if w is None else w[rows]


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
    return RowBlock(U, Y - U @ spectrum.rotated, np.maximum(room, 0), y, w)
