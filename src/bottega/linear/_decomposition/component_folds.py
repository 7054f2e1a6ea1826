"""Cross-validation of principal components from the moments of folds, in one pass over chunks."""

from collections.abc import Iterable

import numpy as np

from bottega.core.chunks import Moments
from bottega.core.folds import FoldDealer
from bottega.core.typing import Array, FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.components import component_coef
from bottega.linear._decomposition.problem import Chunk
from bottega.linear._decomposition.spectrum import Spectrum

__all__ = ["chunk_fold_errors"]

# Eigenvalues of a Gram matrix below this share of the largest have lost most of their digits.
_LOST = 1e-11


def chunk_fold_errors(
    chunks: Iterable[Chunk], k: int, counts: Array, *, standardize: bool
) -> FloatArray:
    """Return the mean squared error of each fold with each number of components, in one pass.

    The moments of the training part are merged from those of the other
    folds, and the error on a fold follows from its own moments, so no row is looked at twice.
    """
    folds = [Moments() for _ in range(k)]
    dealer, p = FoldDealer(k), 0
    for X, y, w in chunks:
        place = dealer.deal(len(X))
        for i in range(k):
            rows = place == i
            folds[i].update(X[rows], y[rows], None if w is None else w[rows])
        p = X.shape[1]
    folds = [fold for fold in folds if fold.count]
    found = []
    for i, held in enumerate(folds):
        train = Moments()
        for j, fold in enumerate(folds):
            if j != i:
                train.merge(fold)
        centering, scatter = Centering.from_moments(
            train, p, standardize=standardize, fit_intercept=True
        )
        scaled = component_coef(_spectrum(scatter, p), counts)
        coef, intercept = centering.original(scaled)
        gap = held.mean[p:] - intercept - coef @ held.mean[:p]
        # Residuals are [X, y] times (-b, 1): their scatter is a quadratic form in that of [X, y].
        m, q = gap.shape
        contrast = np.concatenate([-coef, np.broadcast_to(np.eye(q), (m, q, q))], axis=2)
        spread = np.einsum("mqi,mqi->mq", contrast @ held.scatter, contrast)
        found.append((spread / held.weight + gap**2).mean(axis=1))
    return np.stack(found)


def _spectrum(scatter: FloatArray, p: int) -> Spectrum:
    """Decompose the scatter of ``[X, y]``; directions lost in its rounding are left out."""
    lam, V = np.linalg.eigh(scatter[:p, :p])
    kept = np.flatnonzero(lam > _LOST * lam[-1])[::-1]
    lam, V = lam[kept], V[:, kept]
    return Spectrum(lam, (V.T @ scatter[:p, p:]) / np.sqrt(lam)[:, None], (V,))
