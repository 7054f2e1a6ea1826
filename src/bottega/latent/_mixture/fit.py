"""EM of a mixture of normals with few directions each."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bottega.cluster._kmeans.problem import ClusterProblem, KMeansHow, RowMap
from bottega.cluster._kmeans.source import ArraySource
from bottega.core.stored import stored
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray
from bottega.latent._ppca.axes import PrincipalAxes
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.optimize.em import Ascent, ascend

__all__ = ["DistinctRows", "PpcaMixture", "PpcaMixtureFit", "fit_mixture"]

LEAST_NOISE = 1e-6  # of the mean variance of a column of all rows: no cluster has less
_SMALL = 100_000  # numbers in a table whose products are not worth several threads
_FAR = 1e140  # deviations of the noise: beyond the means, and with squares that are numbers


@dataclass(frozen=True)
class DistinctRows:
    """The different rows in sorted order and the weight of each: nothing else decides a fit."""

    X: FloatArray
    weight: FloatArray
    floor: float
    starts: dict[Any, FloatArray] = field(default_factory=dict, repr=False)  # by their setting

    @classmethod
    def of(cls, X: FloatArray, weight: FloatArray | None) -> "DistinctRows":
        """Return the distinct rows of a table with their weights added up."""
        rows, place = np.unique(X, axis=0, return_inverse=True)
        v = np.bincount(place.ravel(), weight, len(rows)).astype(np.float64)
        mean = v @ rows / v.sum()
        spread = float(np.mean(v @ (rows - mean) ** 2) / v.sum())
        return cls(rows, v, LEAST_NOISE * spread)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())


@stored
@dataclass(frozen=True)
class PpcaMixture:
    """Shares of the clusters and their normal distributions."""

    shares: FloatArray
    models: tuple[LatentNormal, ...]

    def joint(self, X: FloatArray) -> FloatArray:
        """Return the log of share times density, one column per cluster."""
        columns = [model.log_density(X) for model in self.models]
        return np.stack(columns, axis=1) + np.log(np.maximum(self.shares, 1e-300))

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log-likelihood of each row."""
        return np.asarray(logsumexp(self.joint(X), axis=1))

    def responsibilities(self, X: FloatArray) -> FloatArray:
        """Return the probability of each cluster given each row."""
        joint = self.joint(X)
        far = np.flatnonzero(np.all(np.isneginf(joint), axis=1))
        if len(far):
            # The squares overflow; nearer in the same direction they compare as they do far away.
            unit = np.sqrt(min(model.noise for model in self.models))
            sizes = np.max(np.abs(X[far]), axis=1, keepdims=True)
            joint[far] = self.joint(X[far] / sizes * (_FAR * unit))
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


@dataclass(frozen=True)
class PpcaMixtureFit:
    """A fitted mixture, how EM got there, and how many clusters collapsed."""

    mixture: PpcaMixture
    ascent: Ascent
    converged: bool
    degenerate: int

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows."""
        return float(self.ascent.log_likelihood[-1])


@dataclass(frozen=True)
class _Memberships:
    """Probabilities of the clusters given each row, and their entropy, summed over the rows."""

    share: FloatArray
    entropy: float


class _MixtureSteps:
    """The two steps of EM and its bound, for one number of latent variables."""

    def __init__(self, rows: DistinctRows, components: int) -> None:
        self.rows, self.components = rows, components
        self._last: tuple[PpcaMixture, FloatArray] | None = None

    def _joint(self, mixture: PpcaMixture) -> FloatArray:
        """Return the log of share times density; the bound after M and the next E step share it."""
        if self._last is None or self._last[0] is not mixture:
            self._last = mixture, mixture.joint(self.rows.X)
        return self._last[1]

    def expected(self, mixture: PpcaMixture) -> _Memberships:
        joint = self._joint(mixture)
        log_share = joint - logsumexp(joint, axis=1, keepdims=True)
        share = np.exp(log_share)
        entropy = -self.rows.weight @ np.einsum("ik,ik->i", share, log_share)
        return _Memberships(share, float(entropy))

    def maximised(self, found: _Memberships) -> PpcaMixture:
        return _maximised(self.rows, found.share, self.components)

    def bound(self, found: _Memberships, mixture: PpcaMixture) -> float:
        expected = np.einsum("ik,ik->i", found.share, self._joint(mixture))
        return float(self.rows.weight @ expected) + found.entropy


def fit_mixture(
    rows: DistinctRows, clusters: int, components: int, *, seed: int, n_init: int, tol: float,
    max_iter: int,
) -> PpcaMixtureFit:  # fmt: skip
    """Return the mixture that EM finds from the clusters of k-means.

    Every maximisation is exact, by the eigendecomposition of the covariance of each cluster, so
    the likelihood never decreases. It stops when the gain per row is at most `tol`.
    """
    key = clusters, seed, n_init
    if key not in rows.starts:  # numbers of components share it
        rows.starts[key] = _start(rows, clusters, seed, n_init)
    steps = _MixtureSteps(rows, components)
    with one_thread() if rows.X.size < _SMALL else nullcontext():
        ascent = ascend(
            _maximised(rows, rows.starts[key], components),
            steps.expected,
            steps.maximised,
            steps.bound,
            max_iter=max_iter,
            tol=tol * rows.total,
            entropy=lambda found: found.entropy,
        )
    mixture = _in_order(ascent.parameters)
    bound = rows.floor * (1 + 1e-9)
    degenerate = sum(model.noise <= bound for model in mixture.models)
    converged = clusters == 1 or ascent.converged  # of one cluster the first step is the maximum
    return PpcaMixtureFit(mixture, replace(ascent, parameters=mixture), converged, degenerate)


def _start(rows: DistinctRows, clusters: int, seed: int, n_init: int) -> FloatArray:
    if clusters == 1:
        return np.ones((len(rows.X), 1))
    # k-means takes differences of large numbers: about the mean, and on one scale.
    centred = rows.X - rows.weight @ rows.X / rows.total
    centred = centred / np.sqrt(rows.floor / LEAST_NOISE)
    source = ArraySource(centred, rows.weight / rows.total * len(rows.X))
    how = KMeansHow(2, "k-means++", n_init, 300, 1e-4, "lloyd", 1024, None, seed)
    found = ClusterProblem(source, source, how, RowMap()).solve(clusters)
    return np.eye(clusters)[found.labels]


def _maximised(rows: DistinctRows, share: FloatArray, components: int) -> PpcaMixture:
    weights = share * rows.weight[:, None]
    totals = weights.sum(axis=0)
    models = []
    for w, total in zip(weights.T, totals, strict=True):
        mean = w @ rows.X / max(total, 1e-300)
        centred = rows.X - mean
        gap = w @ centred / max(total, 1e-300)
        centred -= gap
        covariance = (centred * w[:, None]).T @ centred / max(total, 1e-300)
        axes = PrincipalAxes.of_covariance(mean + gap, covariance, float(total))
        models.append(axes.model(components, floor=rows.floor))
    return PpcaMixture(totals / rows.total, tuple(models))


def _in_order(mixture: PpcaMixture) -> PpcaMixture:
    """Return the clusters from the largest to the smallest."""
    order = np.argsort(-mixture.shares, kind="stable")
    models = tuple(mixture.models[k].on_axes() for k in order)
    return PpcaMixture(mixture.shares[order], models)
