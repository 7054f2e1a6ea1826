"""Least squares without a penalty: the problem decomposed by Cholesky or QR, at full rank."""

from collections.abc import Iterable

import numpy as np
from scipy.linalg import solve_triangular

from bottega.core.typing import BoolArray, FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.problem import Chunk, merge_triangles
from bottega.linear._decomposition.rank import independent_columns
from bottega.linear._decomposition.spectrum import Spectrum, by_triangle

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


def solve_unpenalized(
    method: str, scatter: FloatArray, centering: Centering, chunks: Iterable[Chunk]
) -> tuple[Spectrum, str, BoolArray]:
    """Solve by Cholesky or QR: what `decompose_moments` asks for.

    Columns that are combinations of those before them have zero rows in the right singular
    vectors, so they get a zero coefficient.
    """
    p = len(centering.mean)
    solver, found = method, None
    if method == "cholesky" or (method == "auto" and centering.n * p * p > _SMALL):
        solver = "cholesky"
        found = _by_cholesky(scatter[:p, :p], scatter[:p, p:])
        if method == "auto" and not _is_safe(*found):
            found = None
    if found is None:
        solver = "qr"
        R = merge_triangles(chunks, centering)
        kept = independent_columns(R[:p, :p])
        found = by_triangle(R[:p, :p][:, kept], R[:p, p:], p), kept
    reduced, kept = found
    V = np.zeros((p, reduced.rank))
    V[kept] = reduced.V
    return Spectrum(reduced.lam, reduced.rotated, (V,)), solver, ~kept


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
