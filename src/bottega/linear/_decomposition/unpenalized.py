"""Least squares without a penalty: the problem decomposed by Cholesky or QR, at full rank."""

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.linalg import solve_triangular

from bottega.core.chunks import Moments
from bottega.core.errors import InputError
from bottega.core.threads import one_thread
from bottega.core.typing import BoolArray, FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.leave_one_out import RowBlock
from bottega.linear._decomposition.problem import (
    Chunk,
    DecomposedProblem,
    row_block,
    row_parts,
    sum_of_logs,
)
from bottega.linear._decomposition.rank import independent_columns
from bottega.linear._decomposition.spectrum import Spectrum, by_triangle

__all__ = ["decompose_unpenalized", "flops"]

# Up to this many multiplications (n p^2) QR takes under a tenth of a second: accuracy is free.
_SMALL = 2e7
# The Gram matrix holds squares: what is left of a column is known to the root of the rounding, so
# the line between collinear and not lies higher than for QR.
_GRAM_TOLERANCE = 1e-6
# Cholesky halves the digits: where the squared condition number is above this, "auto" takes QR.
_WELL_CONDITIONED = 1e-6


def flops(solver: str, n: int, p: int) -> float:
    """Return the multiplications that solving for p coefficients from n rows takes.

    Examples
    --------
    >>> flops("cholesky", 1000, 10), flops("qr", 1000, 10)
    (51000.0, 200000.0)
    """
    return p**3 + n * p**2 / 2 if solver == "cholesky" else 2.0 * n * p**2


def decompose_unpenalized(
    chunks: Iterable[Chunk], *, method: str, fit_intercept: bool
) -> tuple[DecomposedProblem, BoolArray]:
    """Decompose rows that come in chunks, ``(X, y, w)`` with positive weights or None.

    Returns the problem, and which columns are combinations of those before them: their rows of the
    right singular vectors are zero, so they get a zero coefficient.
    """
    moments, log_weights, p = Moments(), 0.0, 0
    for X, y, w in row_parts(chunks):
        moments.update(X, y, w)
        log_weights += sum_of_logs(w)
        p = X.shape[1]
    if moments.count < 2:
        raise InputError(
            f"Only {moments.count} samples have a positive weight, and a fit needs at least 2: "
            "give more rows."
        )
    centering, scatter = Centering.from_moments(
        moments, p, standardize=True, fit_intercept=fit_intercept
    )
    solver, found = method, None
    if method == "cholesky" or (method == "auto" and moments.count * p * p > _SMALL):
        solver = "cholesky"
        found = _by_cholesky(scatter[:p, :p], scatter[:p, p:])
        if method == "auto" and not _is_safe(*found):
            found = None
    if found is None:
        solver = "qr"
        R = _triangle(chunks, centering)
        kept = independent_columns(R[:p, :p])
        found = by_triangle(R[:p, :p][:, kept], R[:p, p:], p), kept
    reduced, kept = found
    V = np.zeros((p, reduced.rank))
    V[kept] = reduced.V
    spectrum = Spectrum(reduced.lam, reduced.rotated, (V,))
    to_left = V / np.sqrt(spectrum.lam)

    def blocks() -> Iterator[RowBlock]:
        for X, y, w in row_parts(chunks):
            A, Y = centering.rows(X, y, w)
            yield row_block(centering, spectrum, A @ to_left, Y, w)

    tss = np.diag(moments.scatter)[p:].copy()
    return DecomposedProblem(centering, spectrum, solver, blocks, tss, log_weights), ~kept


def _by_cholesky(gram: FloatArray, cross: FloatArray) -> tuple[Spectrum, BoolArray]:
    kept = _independent_of_gram(gram)
    if not kept.any():
        return by_triangle(gram[:, kept], cross, len(gram)), kept
    R = np.asarray(np.linalg.cholesky(gram[np.ix_(kept, kept)]).T, dtype=np.float64)
    rotated = solve_triangular(R, cross[kept], trans="T")
    return by_triangle(R, rotated, len(gram)), kept


def _independent_of_gram(gram: FloatArray) -> BoolArray:
    """Return which columns a Cholesky factorisation that skips collinear columns keeps."""
    left, floor = gram.copy(), _GRAM_TOLERANCE**2 * np.diag(gram)
    kept = np.zeros(len(gram), dtype=np.bool_)
    for j in range(len(gram)):
        if left[j, j] > floor[j]:
            kept[j] = True
            row = left[j, j + 1 :] / np.sqrt(left[j, j])
            left[j + 1 :, j + 1 :] -= np.outer(row, row)
    return kept


def _is_safe(spectrum: Spectrum, kept: BoolArray) -> bool:
    return bool(kept.all()) and bool(spectrum.lam[-1] > _WELL_CONDITIONED * spectrum.lam[0])


def _triangle(chunks: Iterable[Chunk], centering: Centering) -> FloatArray:
    """Return the QR factor of all rows of ``[X, y]``, merged part by part."""
    R = np.zeros((0, len(centering.mean) + len(centering.y_mean)))
    for X, y, w in row_parts(chunks):
        stacked = np.vstack([R, np.hstack(centering.rows(X, y, w))])
        with one_thread():
            R = np.asarray(np.linalg.qr(stacked, mode="r"))
    return R
