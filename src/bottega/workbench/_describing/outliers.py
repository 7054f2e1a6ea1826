"""Rows that are unlikely under a density of the numbers, and the columns that make them so."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from bottega.cluster import GaussianMixture, NormalDensities
from bottega.core.errors import ConvergenceWarning, DataWarning
from bottega.core.interruption import raise_if_pressed
from bottega.core.typing import FloatArray, IntArray
from bottega.latent import ProbabilisticPCA
from bottega.workbench._describing.clusters import FoundClusters
from bottega.workbench._describing.filling import Filling
from bottega.workbench._describing.inputs import DescribedInputs
from bottega.workbench._describing.space import NumberSpace

__all__ = ["FoundOutliers", "UnusualRow", "find_outliers"]

_ROUNDS = 3  # fits, each without the rows that the one before found unlikely
_MOST_CUT = 0.1  # share of the rows that are left out of them
_MOST_ROWS = 50  # that are told one by one
_MOST_COLUMNS = 3  # that are named for each
_ENOUGH = 5  # rows per column that a covariance without restrictions takes
_LARGEST = 300.0  # score; shares below 1e-300 are soon 0 in floating point
_MOST_PATTERNS = 100  # number columns up to which gaps are left out of the distance exactly


@dataclass(frozen=True)
class UnusualRow:
    """A row that is unlikely, and the columns that make it so.

    Attributes
    ----------
    row : int
        Its position, from 0 on.
    score : float
        Minus the decimal logarithm of the share of rows as far out or farther; 300 at most.
    columns : tuple of (str, float, float)
        Column, its value, and the value that the columns not named lead to expect.
    """

    row: int
    score: float
    columns: tuple[tuple[str, float, float], ...]

    @property
    def score_in_words(self) -> str:
        """The score, or that it is larger than can be told."""
        return f"{self.score:.1f}" if self.score < _LARGEST else f"> {_LARGEST:.0f}"


@dataclass(frozen=True)
class FoundOutliers:
    """Outlier scores of all rows, and the rows beyond a stated share of false alarms.

    Attributes
    ----------
    scores : ndarray
        Minus the decimal logarithm of the share of rows, of the density that was fitted, that are
        as far out or farther, 300 at most; NaN for a row without a number.
    flagged : ndarray of bool
        Rows whose share is below `false_alarm`.
    false_alarm : float
        Share of rows that would be flagged if the density were right.
    rows : tuple of UnusualRow
        The most unusual ones of these.
    columns : tuple of str
        Number columns that were looked at.
    density : str
        What the scores are from, in words.
    """

    scores: FloatArray = field(repr=False)
    flagged: Any = field(repr=False)
    false_alarm: float
    rows: tuple[UnusualRow, ...]
    columns: tuple[str, ...]
    density: str

    @property
    def count(self) -> int:
        """Number of rows flagged."""
        return int(np.sum(self.flagged))

    @property
    def expected(self) -> float:
        """Number of rows that would be flagged if the density were right."""
        return float(self.false_alarm * np.sum(~np.isnan(self.scores)))

    @property
    def heavy(self) -> bool:
        """Whether so many are flagged that the density has too light tails, not the rows errors."""
        return self.count > max(10, 10 * self.expected, 0.02 * len(self.scores))


def find_outliers(
    inputs: DescribedInputs,
    space: NumberSpace,
    clusters: FoundClusters | None,
    rows: IntArray,
    false_alarm: float,
) -> FoundOutliers:
    """Score all rows by a density that was fitted without the most unlikely ones."""
    X = space.values
    if X.shape[1] > _MOST_PATTERNS:
        X = Filling.of(np.clip(X[rows], -6, 6)).fill(X)
    labels = None
    if clusters is not None and clusters.by == "mixture" and clusters.count > 1:
        labels = clusters.labels
    kept = rows[~np.all(np.isnan(X[rows]), axis=1)]
    normals, density = _fit(np.clip(X[kept], -6.0, 6.0), None if labels is None else labels[kept])
    for _ in range(_ROUNDS - 1):
        raise_if_pressed()
        scores = normals.outlier_scores(X[kept])
        usual = scores < -np.log10(false_alarm)
        if usual.all() or np.mean(~usual) > _MOST_CUT:
            break
        normals, density = _fit(X[kept][usual], None if labels is None else labels[kept][usual])
    every = normals.outlier_scores(X)
    flagged = np.nan_to_num(every, nan=0.0) > -np.log10(false_alarm)
    worst = np.argsort(-np.where(flagged, every, -1.0), kind="stable")
    worst = worst[: min(int(flagged.sum()), _MOST_ROWS)]
    every = np.minimum(every, _LARGEST)
    told = tuple(
        _told(int(row), float(every[row]), X[row], normals, inputs, space) for row in worst
    )
    return FoundOutliers(every, flagged, false_alarm, told, space.columns, density)


def _fit(X: FloatArray, labels: IntArray | None) -> tuple[NormalDensities, str]:
    """Fit a normal density, or one per cluster; by probabilistic PCA where columns are many."""
    n, p = X.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        if labels is not None:
            parts = [X[labels == label] for label in np.unique(labels)]
            if min(len(part) for part in parts) >= _ENOUGH * p:
                found = [_one(part) for part in parts]
                weights = np.array([len(part) for part in parts], dtype=np.float64) / n
                means, covariances = (np.stack(each) for each in zip(*found, strict=True))
                return NormalDensities(
                    weights, means, covariances
                ), "a normal density for each cluster"
            k = len(parts)
            model = GaussianMixture(k, covariance_type="tied", init_params=_codes(labels)).fit(X)
            words = "normal densities of one shape, one for each cluster"
            return NormalDensities(model.weights_, model.means_, model.full_covariances()), words
        mean, covariance = _one(X)
        words = "a normal density of all number columns"
        if n < _ENOUGH * p:
            words += ", by probabilistic principal components"
        return NormalDensities(np.ones(1), mean[None], covariance[None]), words


def _codes(labels: IntArray) -> IntArray:
    return np.unique(labels, return_inverse=True)[1]


def _one(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and covariance of the rows by maximum likelihood, gaps left out."""
    n, p = X.shape
    if p == 1:
        known = X[~np.isnan(X)]
        return np.array([known.mean()]), np.array([[max(known.var(), 1e-6)]])
    full = n >= _ENOUGH * p
    count: Any = p - 1 if full else "auto"
    model = ProbabilisticPCA(count, select="bic", tol=1e-4).fit(X)
    floor = 1e-4 * np.eye(p)  # of a column's variance: copies of columns leave none
    return np.asarray(model.mean_), np.asarray(model.get_covariance()) + floor


def _told(
    row: int,
    score: float,
    x: FloatArray,
    normals: NormalDensities,
    inputs: DescribedInputs,
    space: NumberSpace,
) -> UnusualRow:
    """Name the fewest columns without which a row would be ordinary.

    A wild value can bring a row near another cluster, so the cluster is chosen again without it,
    and what was to be expected is said from the columns that are not named.
    """
    left = np.flatnonzero(~np.isnan(x))
    named: list[int] = []
    k = _cluster(x, left, normals)
    while left.size and len(named) < _MOST_COLUMNS:
        square, worst = _most_unusual(x, left, normals, k)
        if named and stats.chi2.sf(square, left.size) > 0.01:
            break
        if left.size > 1:
            without = _cluster(x, left[left != worst], normals)
            if without != k:
                k = without
                worst = _most_unusual(x, left, normals, k)[1]
        named.append(worst)
        left = left[left != worst]
        if left.size:
            k = _cluster(x, left, normals)
    mean, covariance = normals.means[k], normals.covariances[k]
    found: list[tuple[str, float, float]] = []
    for j in named:
        expected = mean[j]
        if left.size:
            weights = np.linalg.solve(covariance[np.ix_(left, left)], covariance[left, j])
            expected = expected + weights @ (x[left] - mean[left])
        column = space.columns[j]
        scale = inputs.scale(column)
        value = float(inputs.raw[column][row])
        found.append((column, value, float(scale.backward(np.array(expected)))))
    return UnusualRow(row, score, tuple(found))


def _cluster(x: FloatArray, left: IntArray, normals: NormalDensities) -> int:
    """Return the most likely density of a row by some of its columns."""
    seen = np.full_like(x, np.nan)
    seen[left] = x[left]
    return int(normals.predict(seen[None])[0])


def _most_unusual(
    x: FloatArray, left: IntArray, normals: NormalDensities, k: int
) -> tuple[float, int]:
    """Return the squared distance of a row by some columns, and the one that adds most to it."""
    precision = np.linalg.inv(normals.covariances[k][np.ix_(left, left)])
    gap = x[left] - normals.means[k][left]
    pull = precision @ gap
    return float(gap @ pull), int(left[np.argmax(pull**2 / np.diag(precision))])
