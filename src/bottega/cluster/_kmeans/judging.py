"""What a number of clusters is judged by: silhouettes, gaps, agreement of halves."""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bottega.cluster._kmeans.distances import METRICS
from bottega.cluster._kmeans.problem import Problem, nearest
from bottega.cluster.gap import GapStatistic, compared_with_references
from bottega.cluster.silhouette import silhouette
from bottega.core.deal import MOST_ORDERED
from bottega.core.row_order import own_order
from bottega.core.typing import FloatArray, IntArray

__all__ = ["gaps", "instability", "mean_silhouettes"]

_MOST_ROWS = 3_000  # of a sample that stands for the others
_REFERENCES = 10
_SPLITS = 8


def sampled(problem: Problem, most: int = _MOST_ROWS) -> tuple[FloatArray, FloatArray | None]:
    """Return the rows to judge by, and their weights: all, or a sample that is its own order's."""
    X, w = problem.sample.X, problem.sample.w
    if len(X) > most:
        order = own_order(X, None) if len(X) <= MOST_ORDERED else np.arange(len(X))
        rows = order[(np.arange(most) * (len(X) / most)).astype(np.int64)]
        return X[rows], w[rows] if len(w) else None
    return X, w if len(w) else None


def mean_silhouettes(problem: Problem, counts: IntArray) -> FloatArray:
    """Return the mean silhouette of the clusters of each number; NaN for one cluster."""
    X, w = sampled(problem)
    norm = problem.how.norm
    found = np.full(len(counts), np.nan)
    for i, K in enumerate(counts):
        labels = nearest(X, problem.found[int(K)].centers, norm)[0]
        if len(np.unique(labels)) > 1:
            found[i] = silhouette(X, labels, metric=METRICS[norm], sample_weight=w).mean
    return found


def gaps(problem: Problem, counts: IntArray) -> GapStatistic:
    """Return the gap statistic of a sample of the rows."""
    X, w = sampled(problem)
    tiny = np.finfo(np.float64).tiny

    def log_within(rows: FloatArray) -> FloatArray:
        other = problem.like(problem.row_map.to(rows) if problem.how.sphere else rows, w, n_init=2)
        return np.log(np.maximum([run.inertia for run in other.walk(counts)], tiny))

    kind = "columns" if problem.how.sphere else "pca"
    return compared_with_references(X, counts, log_within, _REFERENCES, kind, problem.how.seed)


def instability(problem: Problem, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return how far two halves of the rows disagree on the clusters, and its standard error.

    Both halves are clustered, all rows are labelled by both, and one less the adjusted Rand index
    of the labels is averaged over splits. For one cluster there is nothing to agree on: NaN.
    """
    X, w = sampled(problem)
    n, norm = len(X), problem.how.norm
    rank = np.empty(n, dtype=np.int64)
    rank[own_order(X, None, w, apart=True)] = np.arange(n)
    found = np.full((_SPLITS, len(counts)), np.nan)
    for split in range(_SPLITS):
        half = np.random.default_rng([problem.how.seed, 5, split]).permutation(n)[rank] < n // 2
        sides = [
            problem.like(X[rows], None if w is None else w[rows], n_init=2)
            for rows in (half, ~half)
        ]
        fits = np.minimum(counts, min(half.sum(), n - half.sum()))
        runs = [side.walk(np.unique(fits)) and side.found for side in sides]
        for i, K in enumerate(fits):
            if K > 1 and counts[i] == K:
                one, two = (nearest(X, side[int(K)].centers, norm)[0] for side in runs)
                found[split, i] = 1 - adjusted_rand_score(one, two)
    with np.errstate(invalid="ignore"):
        return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(_SPLITS)
