"""What a number of clusters is judged by: silhouettes, gaps, agreement of halves."""

from typing import Any

import numpy as np

from bottega.cluster._kmeans.distances import METRICS
from bottega.cluster._kmeans.problem import ClusterProblem, nearest
from bottega.cluster._weights import own_mass
from bottega.cluster.gap import GapStatistic, compared_with_references
from bottega.cluster.silhouette import silhouette
from bottega.core.deal import MOST_ORDERED
from bottega.core.row_counts import as_counts
from bottega.core.row_order import own_order
from bottega.core.typing import FloatArray, IntArray

__all__ = ["gaps", "instability", "judged_counts", "mean_silhouettes", "unstable"]

_MOST_ROWS = 3_000  # of a sample that stands for the others
_REFERENCES = 10
_SPLITS = 8
_STABLE = 0.2  # one less the prediction strength of clusters that can be relied on


def sampled(
    problem: ClusterProblem, most: int = _MOST_ROWS
) -> tuple[FloatArray, FloatArray | None]:
    """Return the rows to judge by, and their weights: all, or a sample that is its own order's."""
    X, w = problem.sample.X, as_counts(problem.sample.w)
    if len(X) > most:
        order = own_order(X, None) if len(X) <= MOST_ORDERED else np.arange(len(X))
        rows = order[(np.arange(most) * (len(X) / most)).astype(np.int64)]
        return X[rows], w[rows] if len(w) else None
    return X, w if len(w) else None


def judged_counts(
    work: ClusterProblem, counts: IntArray, *, agreement: bool
) -> tuple[dict[str, FloatArray], dict[str, FloatArray], dict[str, Any]]:
    """Return criteria to be minimised, what they are made from, and the honest error of a path."""
    criteria: dict[str, FloatArray] = {}
    measured: dict[str, FloatArray] = {}
    judged: dict[str, Any] = {}
    if "silhouette" in work.wanted:
        measured["silhouette"] = mean_silhouettes(work, counts)
        criteria["silhouette"] = 1 - measured["silhouette"]
    if "gap" in work.wanted and len(counts) > 1 and np.all(np.diff(counts) == 1):
        found = gaps(work, counts)
        measured["gap"], criteria["gap"] = found.gap, found.excess
    if "stability" in work.wanted and agreement:
        error, se = instability(work, counts)
        measured["stability"], criteria["stability"] = 1 - error, unstable(error, counts)
        judged = {"error": error, "error_se": se, "estimate": "stability"}
    return criteria, measured, judged


def mean_silhouettes(problem: ClusterProblem, counts: IntArray) -> FloatArray:
    """Return the mean silhouette of the clusters of each number; NaN for one cluster."""
    X, w = sampled(problem)
    norm = problem.how.norm
    found = np.full(len(counts), np.nan)
    for i, K in enumerate(counts):
        labels = nearest(X, problem.found[int(K)].centers, norm)[0]
        if len(np.unique(labels)) > 1:
            found[i] = silhouette(X, labels, metric=METRICS[norm], sample_weight=w).mean
    return found


def gaps(problem: ClusterProblem, counts: IntArray) -> GapStatistic:
    """Return the gap statistic of a sample of the rows."""
    X, w = sampled(problem)
    tiny = np.finfo(np.float64).tiny

    def log_within(rows: FloatArray) -> FloatArray:
        other = problem.like(problem.row_map.to(rows) if problem.how.sphere else rows, w, n_init=2)
        return np.log(np.maximum([run.inertia for run in other.walk(counts)], tiny))

    kind = "columns" if problem.how.sphere else "pca"
    return compared_with_references(X, counts, log_within, _REFERENCES, kind, problem.how.seed)


def instability(problem: ClusterProblem, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return one less the prediction strength of each number of clusters, and its standard error.

    The rows are split in halves, and each is clustered. Of the worst cluster of one half this is
    the share of pairs of rows that the centres of the other half put together, too. It is averaged
    over both halves and several splits.
    """
    X, w = sampled(problem)
    n, norm = len(X), problem.how.norm
    rank = np.empty(n, dtype=np.int64)
    rank[own_order(X, None, w, apart=True)] = np.arange(n)
    found = np.full((_SPLITS, len(counts)), np.nan)
    fits = counts[counts <= n // 2]
    for split in range(_SPLITS):
        half = np.random.default_rng([problem.how.seed, 5, split]).permutation(n)[rank] < n // 2
        parts = [np.flatnonzero(half), np.flatnonzero(~half)]
        weights = [np.ones(len(rows)) if w is None else w[rows] for rows in parts]
        sides = [problem.like(X[rows], None if w is None else w[rows], n_init=2) for rows in parts]
        for side in sides:
            side.walk(fits)
        for i, K in enumerate(fits):
            centers = [side.found[int(K)].centers for side in sides]
            strength = [
                _strength(
                    nearest(X[rows], centers[own], norm)[0],
                    nearest(X[rows], centers[1 - own], norm)[0],
                    weights[own],
                )
                for own, rows in enumerate(parts)
            ]
            found[split, i] = 1 - float(np.mean(strength))
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(_SPLITS)


def _strength(own: IntArray, other: IntArray, w: FloatArray) -> float:
    """Return the least share of pairs of a cluster of `own` that are together in `other`."""
    K = int(max(own.max(), other.max())) + 1
    table = np.bincount(own * K + other, weights=w, minlength=K * K).reshape(K, K)
    alike = np.bincount(own * K + other, weights=w * own_mass(w), minlength=K * K).reshape(K, K)
    pairs = table.sum(axis=1) ** 2 - alike.sum(axis=1)  # a row makes no pair with itself
    together = np.sum(np.maximum(table**2 - alike, 0.0), axis=1)
    return float(np.min(together[pairs > 0] / pairs[pairs > 0], initial=1.0))


def unstable(disagreement: FloatArray, counts: IntArray) -> FloatArray:
    """Return what the disagreement exceeds 0.2 by; among stable numbers the largest is least."""
    return np.maximum(disagreement - _STABLE, 0.0) + 1e-9 * (counts[-1] - counts)
