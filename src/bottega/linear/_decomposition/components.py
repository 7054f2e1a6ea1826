r"""Least squares on the first J principal components, for every J at once.

In the coordinates of the singular vectors (`Spectrum`) the fit with J components is
:math:`U_J U_J^\top y`: the first J entries of :math:`U^\top y` are kept, the others are residuals.

Symbols
-------
J         number of components kept; `counts` holds several
gamma     coefficients of the components, :math:`(U^\top y)_j / d_j`
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.losses import Loss
from bottega.core.typing import Array, FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.fold_moments import FoldMoments, dealt_blocks, judge_held_out
from bottega.linear._decomposition.problem import Chunk, DecomposedProblem
from bottega.linear._decomposition.spectrum import Spectrum

# Eigenvalues of a Gram matrix below this share of the largest have lost most of their digits.
_LOST = 1e-11


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


# ---- cross-validation in chunks ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ChunkedComponents(DecomposedProblem):
    """A problem from chunks of rows, with the moments of their folds."""

    folds: FoldMoments
    chunks: Iterable[Chunk]
    standardize: bool

    def judge(self, counts: Array, loss: Loss) -> dict[str, Any]:
        """Return the cross-validated error of each number of components, by one more pass."""
        fits: list[Any] = []
        for train in self.folds.training():
            if train is None:
                fits.append(None)
                continue
            centering, scatter = Centering.from_moments(
                train, self.folds.p, standardize=self.standardize, fit_intercept=True
            )
            spectrum = _spectrum(scatter, self.folds.p)
            fits.append(centering.original(component_coef(spectrum, counts)))
        blocks = dealt_blocks(self.chunks, len(fits))
        return {"estimate": "cv", **judge_held_out(blocks, fits, loss)}


def _spectrum(scatter: FloatArray, p: int) -> Spectrum:
    """Decompose the scatter of ``[X, y]``; directions lost in its rounding are left out."""
    lam, V = np.linalg.eigh(scatter[:p, :p])
    kept = np.flatnonzero(lam > _LOST * lam[-1])[::-1]
    lam, V = lam[kept], V[:, kept]
    return Spectrum(lam, (V.T @ scatter[:p, p:]) / np.sqrt(lam)[:, None], (V,))
