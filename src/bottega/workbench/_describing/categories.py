"""Clusters of tables that are mostly categories: k-means against tables of unrelated columns."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics import adjusted_rand_score, silhouette_score

from bottega.core.interruption import raise_if_pressed
from bottega.core.typing import FloatArray, IntArray

__all__ = ["ChosenMeans", "choose_means"]

_REFERENCES = 19  # tables with each column shuffled: the data beyond all of them is 1 in 20
_ROWS = 1_000
_HALVES = 10
_STABLE = 0.6  # adjusted Rand index of random halves, on average
_SILHOUETTE = 0.25  # below it there is no structure to speak of (Kaufman and Rousseeuw)


@dataclass(frozen=True)
class ChosenMeans:
    """K-means clusters of all rows, and the evidence for their number.

    Attributes
    ----------
    k : int
        Number of clusters.
    labels : ndarray of int
        Of each row, from 0 on.
    evidence : tuple of str
        In sentences.
    stability : float or None
        Mean adjusted Rand index with clusters found in random halves.
    """

    k: int
    labels: IntArray = field(repr=False)
    evidence: tuple[str, ...]
    stability: float | None


def choose_means(
    X: FloatArray, fitted: IntArray, owners: IntArray, most: int, rng: np.random.Generator
) -> ChosenMeans:
    """Choose the number of clusters by the gap to tables whose columns are unrelated.

    For each number of clusters the sum of squares within them is compared with that in 19 tables
    in which each column was shuffled by itself. Clusters are claimed if the gap is beyond that of
    all of these, the mean silhouette is at least 0.25, and random halves of the rows have the
    clusters too.
    """
    n = len(X)
    seed = int(rng.integers(2**31))
    some = fitted if len(fitted) <= _ROWS else rng.choice(fitted, _ROWS, replace=False)
    Y = X[some]
    sizes = range(1, max(2, min(most, len(np.unique(Y, axis=0)) - 1)) + 1)
    here = np.array([_within(Y, k, seed) for k in sizes])
    there = []
    for _ in range(_REFERENCES):
        raise_if_pressed()
        shuffled = np.empty_like(Y)
        for owner in np.unique(owners):
            its = owners == owner
            shuffled[:, its] = Y[:, its][rng.permutation(len(Y))]
        there.append([_within(shuffled, k, seed) for k in sizes])
    logs = np.log(np.maximum(np.array(there), 1e-300))
    gap = logs.mean(axis=0) - np.log(np.maximum(here, 1e-300))
    error = logs.std(axis=0) * np.sqrt(1 + 1 / _REFERENCES)
    better = [k for k in range(1, len(gap)) if gap[k - 1] >= gap[k] - error[k]]
    k = better[0] if better else len(gap)
    one = np.zeros(n, dtype=np.int64)
    if k == 1 or not np.all(np.log(max(here[k - 1], 1e-300)) < logs[:, k - 1]):
        return ChosenMeans(
            1,
            one,
            (
                "There is no evidence of more than one cluster: rows are no "
                "closer to cluster centres than in tables whose columns are unrelated.",
            ),
            None,
        )
    model = _means(k, seed).fit(X[fitted])
    labels = np.asarray(model.predict(X), dtype=np.int64)
    silhouette = float(silhouette_score(Y, labels[some])) if len(set(labels[some])) > 1 else 0.0
    stability = _stability(X[fitted], labels[fitted], k, seed, rng)
    told = (
        f"Rows are closer to the centres of {k} clusters than in any of {_REFERENCES} tables whose "
        "columns were shuffled"
    )
    if silhouette < _SILHOUETTE:
        why = f"the clusters run into one another (mean silhouette {silhouette:.2f})"
    elif stability < _STABLE:
        why = "random halves of the rows do not give the same clusters"
    else:
        agree = (
            f"Clusters found in random halves of the rows agree with them by {stability:.2f} "
            "(adjusted Rand index; 1 is perfect, 0 is chance)."
        )
        return ChosenMeans(k, labels, (f"{told}.", agree), stability)
    none = "There is no evidence of more than one cluster."
    return ChosenMeans(1, one, (none, f"{told}: the columns are related. But {why}."), stability)


def _means(k: int, seed: int):
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=5, random_state=seed)


def _within(X: FloatArray, k: int, seed: int) -> float:
    if k == 1:
        return float(np.sum((X - X.mean(axis=0)) ** 2))
    return float(_means(k, seed).fit(X).inertia_)


def _stability(
    X: FloatArray, labels: IntArray, k: int, seed: int, rng: np.random.Generator
) -> float:
    """Return how well clusters found in random halves agree with those of all rows."""
    found = []
    for _ in range(_HALVES):
        raise_if_pressed()
        half = rng.choice(len(X), max(len(X) // 2, k + 1), replace=False)
        found.append(adjusted_rand_score(labels, _means(k, seed).fit(X[half]).predict(X)))
    return float(np.mean(found))
