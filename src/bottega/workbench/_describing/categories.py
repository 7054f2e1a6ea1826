"""Clusters of tables that are mostly categories: k-means against tables of unrelated columns."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bottega.cluster import KMeans, silhouette
from bottega.core.interruption import raise_if_pressed
from bottega.core.typing import FloatArray, IntArray

__all__ = ["ChosenMeans", "choose_means"]

_ROWS = 1_000  # that the number of clusters is chosen from
_LEAST_ROWS = 8  # of a cluster,
_LEAST_SHARE = 0.05  # and its share of all rows: rare levels make small clusters
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
    """Choose the number of clusters by the silhouette, against tables whose columns are unrelated.

    Of the numbers whose clusters all have 5 % of the rows the one with the largest mean silhouette
    is looked at. Its clusters are claimed if the silhouette is at least 0.25, rows are closer to
    the centres than in all of 19 tables in which each column was shuffled by itself, and random
    halves of the rows have the clusters too.
    """
    seed = int(rng.integers(2**31))
    some = fitted if len(fitted) <= _ROWS else np.sort(rng.choice(fitted, _ROWS, replace=False))
    Y = X[some]
    different = len(np.unique(Y, axis=0))
    best, k = -1.0, 1
    for size in range(2, min(most, different - 1, len(Y) // (2 * _LEAST_ROWS)) + 1):
        raise_if_pressed()
        labels = _means(size, seed).fit(Y).labels_
        if np.bincount(labels, minlength=size).min() < max(_LEAST_ROWS, _LEAST_SHARE * len(Y)):
            continue
        value = silhouette(Y, labels).mean
        if value > best:
            best, k = value, size
    one = np.zeros(len(X), dtype=np.int64)
    none = "There is no evidence of more than one cluster."
    if k == 1:
        return ChosenMeans(1, one, (none,), None)
    here = float(_means(k, seed).fit(Y).inertia_)
    there = [float(_means(k, seed).fit(_shuffled(Y, owners, rng)).inertia_) for _ in range(19)]
    if here >= min(there):
        why = "rows are no closer to cluster centres than in tables whose columns are unrelated"
        return ChosenMeans(1, one, (none, f"By k-means, {why}."), None)
    model = _means(k, seed).fit(X[fitted])
    labels = np.asarray(model.predict(X), dtype=np.int64)
    stability = _stability(X[fitted], labels[fitted], k, seed, rng)
    told = (
        f"Rows are closer to the centres of {k} clusters than in any of 19 tables whose columns "
        "were shuffled"
    )
    if best < _SILHOUETTE:
        why = f"the clusters run into one another (mean silhouette {best:.2f})"
    elif stability < _STABLE:
        why = "random halves of the rows do not give the same clusters"
    else:
        agree = (
            f"Clusters found in random halves of the rows agree with them by {stability:.2f} "
            "(adjusted Rand index; 1 is perfect, 0 is chance)."
        )
        return ChosenMeans(k, labels, (f"{told}.", agree), stability)
    return ChosenMeans(1, one, (none, f"{told}: the columns are related. But {why}."), stability)


def _shuffled(X: FloatArray, owners: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return the rows with each column of the table shuffled by itself."""
    raise_if_pressed()
    found = np.empty_like(X)
    for owner in np.unique(owners):
        its = owners == owner
        found[:, its] = X[:, its][rng.permutation(len(X))]
    return found


def _means(k: int, seed: int) -> KMeans:
    return KMeans(k, n_init=5, random_state=seed)


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
