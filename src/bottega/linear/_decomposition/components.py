r"""Least squares on the first J principal components, for every J at once.

In the coordinates of the singular vectors (`Spectrum`) the fit with J components is
:math:`U_J U_J^\top y`: the first J entries of :math:`U^\top y` are kept, the others are residuals.

Symbols
-------
J         number of components kept; `counts` holds several
gamma     coefficients of the components, :math:`(U^\top y)_j / d_j`
"""

from collections.abc import Iterator

import numpy as np

from bottega.core.typing import Array, FloatArray
from bottega.linear._decomposition.problem import DecomposedProblem
from bottega.linear._decomposition.spectrum import Spectrum

__all__ = ["component_coef", "component_residuals", "component_rss", "truncate"]


def truncate(spectrum: Spectrum, count: int) -> Spectrum:
    """Return the part of a spectrum that belongs to the first `count` components."""
    *first, last = spectrum.factors
    kept = np.ascontiguousarray(last[:, :count])
    return Spectrum(spectrum.lam[:count], spectrum.rotated[:count], (*first, kept))


def component_coef(spectrum: Spectrum, counts: Array) -> FloatArray:
    """Return the coefficients of the fits with `counts` components, shape (m, q, p).

    A count above the rank stands for all the components there are.
    """
    gamma = spectrum.rotated / np.sqrt(spectrum.lam)[:, None]
    most = min(int(np.max(counts, initial=0)), spectrum.rank)
    directions = truncate(spectrum, most).V
    p, q = len(directions), gamma.shape[1]
    running = np.zeros((most + 1, q, p))
    for j in range(most):
        running[j + 1] = running[j] + np.outer(gamma[j], directions[:, j])
    return running[np.minimum(counts, most)]


def component_rss(problem: DecomposedProblem) -> FloatArray:
    """Return the weighted residual sums of squares for 0 to r components, shape (r + 1, q)."""
    outside = sum(np.einsum("ij,ij->j", block.outside, block.outside) for block in problem.blocks())
    dropped = np.square(problem.spectrum.rotated)
    # Summed from the last component on, so that a small remainder is not a difference.
    tail = np.cumsum(dropped[::-1], axis=0)[::-1]
    return outside + np.vstack([tail, np.zeros((1, tail.shape[1]))])


def component_residuals(
    problem: DecomposedProblem, count: int
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray | None]]:
    """Yield residuals (b, q) on the scale of y, one minus the leverages (b,) and weights by block.

    Both are sums of what the dropped components hold: nothing cancels where the fit is close.
    """
    dropped = problem.spectrum.rotated[count:]
    for block in problem.blocks():
        beyond = block.U[:, count:]
        residuals = block.outside + beyond @ dropped
        if block.weight is not None:
            residuals /= np.sqrt(block.weight)[:, None]
        yield residuals, block.room + np.einsum("ij,ij->i", beyond, beyond), block.weight
