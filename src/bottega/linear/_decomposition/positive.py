r"""Fits whose coefficients may not be negative, in the coordinates of the singular vectors.

With the columns that stay at zero left out, such a fit is the one without a bound: once they are
known, everything that is known about a ridge fit holds for the columns that are left.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bottega.core.typing import Array, FloatArray
from bottega.linear._decomposition.leave_one_out import RowBlock
from bottega.linear._decomposition.problem import DecomposedProblem
from bottega.linear._decomposition.spectrum import Spectrum, by_triangle
from bottega.optimize.nonnegative import nonnegative_least_squares


def _triangle(spectrum: Spectrum) -> FloatArray:
    """Return a matrix with the products of the columns of the inputs: r by p."""
    return np.asarray(np.sqrt(spectrum.lam)[:, None] * spectrum.V.T)


def nonnegative_coef(spectrum: Spectrum, alphas: FloatArray) -> FloatArray:
    """Return the coefficients (m, q, p), none negative, at each of m penalties."""
    R, p = _triangle(spectrum), spectrum.p
    found = np.zeros((len(alphas), spectrum.rotated.shape[1], p))
    for i, alpha in enumerate(alphas):
        A = np.vstack([R, np.sqrt(alpha) * np.eye(p)]) if alpha > 0 else R
        for k, z in enumerate(spectrum.rotated.T):
            b = np.concatenate([z, np.zeros(len(A) - len(z))])
            found[i, k] = nonnegative_least_squares(A, b)
    return found


def degrees_of_freedom(spectrum: Spectrum, coef: FloatArray, alphas: FloatArray) -> FloatArray:
    """Return, for each penalty, the trace of the fit on the columns it uses (of q: the mean)."""
    R, df = _triangle(spectrum), np.zeros(coef.shape[:2])
    for (i, k), _ in np.ndenumerate(df):
        used = R[:, coef[i, k] > 0]
        lam = np.linalg.svd(used, compute_uv=False) ** 2
        lam = lam[lam > 0]
        df[i, k] = np.sum(lam / (lam + alphas[i]))
    return np.asarray(df.mean(axis=1))


def residual_squares(problem: DecomposedProblem, coef: FloatArray) -> FloatArray:
    """Return the residual sums of squares (m, q) of coefficients (m, q, p)."""
    R, rotated = _triangle(problem.spectrum), problem.spectrum.rotated
    gap = rotated - np.swapaxes(coef @ R.T, 1, 2)
    return np.asarray(problem.squares_outside() + np.sum(gap**2, axis=1))


def on_columns(problem: DecomposedProblem, used: Array) -> DecomposedProblem:
    """Return the problem without the columns that are not used: they keep a zero coefficient."""
    whole = problem.spectrum
    R = _triangle(whole)
    part = by_triangle(R[:, used], whole.rotated, problem.centering.n)
    V = np.zeros((whole.p, part.rank))
    V[used] = part.V
    spectrum = Spectrum(part.lam, part.rotated, (V,))
    left = (R @ V) / np.sqrt(part.lam)  # the new left singular vectors in terms of the old

    def on_those(block: RowBlock) -> RowBlock:
        U = block.U @ left
        outside = block.outside + block.U @ (whole.rotated - left @ part.rotated)
        room = block.room + np.sum(block.U**2, axis=1) - np.sum(U**2, axis=1)
        return RowBlock(U, outside, np.maximum(room, 0), block.y, block.weight)

    def reduce(function: Callable[[RowBlock], Any]) -> Any:
        return problem.reduce(lambda block: function(on_those(block)))

    return replace(problem, spectrum=spectrum, reduce=reduce, outside=None)
