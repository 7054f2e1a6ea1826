"""Centres as running means of small batches of rows: for streams and very large tables."""

import numpy as np

from bottega.cluster._kernels.rows import sums_by_label
from bottega.cluster._kmeans.lloyd import Clustering, assign
from bottega.cluster._kmeans.source import ArraySource
from bottega.core.typing import FloatArray, IntArray

__all__ = ["batch_step", "minibatch"]

_PATIENCE = 10  # batches without a smaller smoothed loss, after which it ends


def batch_step(
    batch: ArraySource, centers: FloatArray, mass: FloatArray, sphere: bool = False
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Return centres moved by one batch, their mass, and the batch's labels and distances.

    Each centre stays the mean of all rows that it was ever given: it moves to a row by the row's
    share of the mass.
    """
    label, far = assign(batch, centers)
    K, p = centers.shape
    S, N = np.zeros((K, p + 1)), np.zeros(K, dtype=np.int64)
    shift = batch.scaling.shift
    sums_by_label(batch.X, batch.w, shift, label, S, N)
    total = mass + S[:, -1]
    gap = S[:, :-1] - S[:, -1:] * (centers - shift)
    moved = centers + gap / np.where(total > 0, total, 1.0)[:, None]
    if sphere:
        size = np.sqrt(np.sum(moved**2, axis=1, keepdims=True))
        moved = moved / np.where(size > 0, size, 1.0)
    return moved, total, label, far


def minibatch(
    source: ArraySource,
    start: FloatArray,
    *,
    batch_size: int,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    sphere: bool = False,
) -> Clustering:
    """Move centres batch by batch, at most `max_iter` times over the rows, and label all rows.

    It ends when the loss of the batches, smoothed, did not fall for ten of them, or the squared
    moves of the centres sum to at most `tol`.
    """
    n, K = source.n, len(start)
    size = min(batch_size, n)
    per_round = -(-n // size)
    centers, mass = start.copy(), np.zeros(K)
    share = min(1.0, 2.0 * size / (n + 1))
    smooth, least, waited, steps, reseeded = np.nan, np.inf, 0, 0, 0
    converged = False
    for step in range(max_iter * per_round):
        if step % per_round == 0:
            order = rng.permutation(n)
        rows = np.sort(order[(step % per_round) * size : (step % per_round + 1) * size])
        batch = ArraySource(source.X[rows], source.w[rows] if len(source.w) else None)
        moved, mass, label, far = batch_step(batch, centers, mass, sphere)
        steps += 1
        loss = float(np.average(far, weights=batch.w if len(batch.w) else None))
        smooth = loss if np.isnan(smooth) else smooth * (1 - share) + loss * share
        shift = float(np.sum((moved - centers) ** 2))
        centers = moved
        if step == per_round - 1 and np.any(mass == 0):  # after a first look at all rows
            for k, row in zip(np.flatnonzero(mass == 0), np.argsort(-far), strict=False):
                centers[k] = batch.X[row]
                reseeded += 1
        waited = 0 if smooth < least else waited + 1
        least = min(least, smooth)
        if step >= per_round - 1 and (shift <= tol or waited >= _PATIENCE):
            converged = True
            break
    label, far = assign(source, centers)
    inertia = float(source.w @ far) if len(source.w) else float(far.sum())
    empty = K - len(np.unique(label))
    n_iter = -(-steps // per_round)
    return Clustering(centers, label, inertia, n_iter, converged, reseeded, empty)
