"""A least-squares problem decomposed once, from rows in memory or from chunks of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.chunks import Moments, split_rows
from bottega.core.errors import InputError
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.leave_one_out import RowBlock
from bottega.linear._decomposition.spectrum import (
    Spectrum,
    by_dual_gram,
    by_gram,
    by_svd,
    by_triangle,
)

__all__ = [
    "DecomposedProblem",
    "decompose_chunks",
    "decompose_rows",
    "row_block",
    "row_parts",
    "sum_of_logs",
]

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
    solver : {"svd", "dual", "gram", "qr"}
        How the spectrum was found: from the rows, from the Gram matrix of the rows (p > n) or of
        the columns, or from the QR factor of the rows.
    blocks : callable
        Each call goes through the rows with a positive weight once, as `RowBlock`.
    tss : ndarray of shape (q,)
        Weighted sums of squares of the responses about their means.
    log_weights : float
        Sum of the logarithms of the weights.
    """

    centering: Centering
    spectrum: Spectrum
    solver: str
    blocks: Callable[[], Iterator[RowBlock]]
    tss: FloatArray
    log_weights: float

    def df(self, alphas: FloatArray) -> FloatArray:
        """Return the trace of the smoother matrix at each alpha."""
        kept: FloatArray = self.spectrum.kept(alphas).sum(axis=0)
        return kept + self.centering.fit_intercept

    def trace_sst(self, alpha: float) -> float:
        """Return tr SS' (with weights: of the smoother of the rows times their root weights)."""
        kept = self.spectrum.kept(alpha)
        return float(self.centering.fit_intercept + np.sum(kept**2))


def decompose_rows(
    X: FloatArray, y: FloatArray, w: Any, *, standardize: bool, fit_intercept: bool
) -> DecomposedProblem:
    """Decompose rows in memory (`y` has two axes), by the method that suits their shape."""
    if w is not None:
        X, y, w = X[w > 0], y[w > 0], w[w > 0]
    n, p = X.shape
    if n < 2:
        raise InputError(
            "Only 1 sample has a positive weight, and a fit needs at least 2: give more rows."
        )
    how = {"standardize": standardize, "fit_intercept": fit_intercept}
    if n >= p and n * p * p > _SMALL:
        return decompose_chunks([(X, y, w)], **how)
    centering, A, Y = Centering.from_rows(X, y, w, **how)
    found, solver = None, "svd"
    if n < p and n * n * p > _SMALL:
        found, solver = by_dual_gram(A, Y, n - fit_intercept), "dual"
    if found is None:
        found, solver = by_svd(A, Y), "svd"
    spectrum, U = found

    def blocks() -> Iterator[RowBlock]:
        yield row_block(centering, spectrum, U, Y, w)

    center = np.average(y, axis=0, weights=w)
    tss = np.average((y - center) ** 2, axis=0, weights=w) * centering.weight
    return DecomposedProblem(centering, spectrum, solver, blocks, tss, sum_of_logs(w))


def decompose_chunks(
    chunks: Iterable[Chunk], *, standardize: bool, fit_intercept: bool
) -> DecomposedProblem:
    """Decompose rows that come in chunks, ``(X, y, w)`` with positive weights or None.

    One pass merges the moments, from which the p by p problem is solved; where that would lose
    too many digits, a second pass merges QR factors instead. `blocks` is a further pass.
    """
    moments, log_weights, p = Moments(), 0.0, 0
    for X, y, w in row_parts(chunks):
        moments.update(X, y, w)
        log_weights += sum_of_logs(w)
        p = X.shape[1]
    if moments.count < 2:
        raise InputError(
            f"The chunks hold {moments.count} rows with a positive weight, and a fit needs at "
            "least 2: give more rows."
        )
    centering, scatter = Centering.from_moments(
        moments, p, standardize=standardize, fit_intercept=fit_intercept
    )
    found, solver = by_gram(scatter[:p, :p], scatter[:p, p:]), "gram"
    if found is None:
        found, solver = _merge_triangles(chunks, centering), "qr"
    spectrum: Spectrum = found
    to_left = spectrum.V / np.sqrt(spectrum.lam)

    def blocks() -> Iterator[RowBlock]:
        for X, y, w in row_parts(chunks):
            A, Y = centering.rows(X, y, w)
            yield row_block(centering, spectrum, A @ to_left, Y, w)

    tss = np.diag(moments.scatter)[p:].copy()
    return DecomposedProblem(centering, spectrum, solver, blocks, tss, log_weights)


def _merge_triangles(chunks: Iterable[Chunk], centering: Centering) -> Spectrum:
    """Return the spectrum from the QR factor of all rows of ``[X, y]``, merged part by part."""
    p = len(centering.mean)
    R = np.zeros((0, p + len(centering.y_mean)))
    for X, y, w in row_parts(chunks):
        stacked = np.vstack([R, np.hstack(centering.rows(X, y, w))])
        with one_thread():
            R = np.asarray(np.linalg.qr(stacked, mode="r"))
    return by_triangle(R[:p, :p], R[:p, p:], centering.n)


def row_parts(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks in parts of a size that BLAS likes."""
    for X, y, w in chunks:
        for rows in split_rows(len(X), _STREAM):
            yield X[rows], y[rows], None if w is None else w[rows]


def row_block(
    centering: Centering, spectrum: Spectrum, U: FloatArray, Y: FloatArray, w: Any
) -> RowBlock:
    """Return rows in singular coordinates, with what is outside the column space."""
    if centering.n - centering.fit_intercept - spectrum.rank <= 0:
        # The inputs span all responses: exactly nothing is outside.
        return RowBlock(U, np.zeros_like(Y), np.zeros(len(U)), w)
    mean_leverage: Any = 0.0
    if centering.fit_intercept:
        mean_leverage = (1.0 if w is None else w) / centering.weight
    room = 1 - mean_leverage - np.einsum("ij,ij->i", U, U)
    return RowBlock(U, Y - U @ spectrum.rotated, np.maximum(room, 0), w)


def sum_of_logs(w: Any) -> float:
    """Return the sum of the logarithms of the weights; zero without weights."""
    return 0.0 if w is None else float(np.sum(np.log(w)))
