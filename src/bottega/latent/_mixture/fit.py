"""EM of a mixture of normals with few directions each."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.latent._ppca.axes import PrincipalAxes
from bottega.latent._ppca.latent_normal import LatentNormal

__all__ = ["DistinctRows", "MixtureFit", "PpcaMixture", "fit_mixture"]

LEAST_NOISE = 1e-6  # of the mean variance of a column of all rows: no cluster has less


@dataclass(frozen=True)
class DistinctRows:
    """The different rows in sorted order and the weight of each: nothing else decides a fit."""

    X: FloatArray
    weight: FloatArray
    floor: float

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

    def responsibilities(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probability of each cluster given each row, and the rows' log-likelihoods."""
        joint = self.joint(X)
        log_density = logsumexp(joint, axis=1)
        return np.exp(joint - log_density[:, None]), np.asarray(log_density)


@dataclass(frozen=True)
class MixtureFit:
    """A fitted mixture, its log-likelihoods by iteration, and whether a cluster collapsed."""

    mixture: PpcaMixture
    trace: FloatArray
    converged: bool
    degenerate: int

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows."""
        return float(self.trace[-1])


def fit_mixture(
    rows: DistinctRows, clusters: int, components: int, *, seed: int, n_init: int, tol: float,
    max_iter: int,
) -> MixtureFit:  # fmt: skip
    """Return the mixture that EM finds from the clusters of k-means.

    Every maximisation is exact, by the eigendecomposition of the covariance of each cluster, so
    the likelihood never decreases. It stops when the gain per row is at most `tol`.
    """
    share = _start(rows, clusters, seed, n_init)
    mixture = _maximised(rows, share, components)
    trace: list[float] = []
    converged = clusters == 1
    for _ in range(max_iter):
        share, log_density = mixture.responsibilities(rows.X)
        trace.append(float(rows.weight @ log_density))
        if len(trace) > 1 and trace[-1] - trace[-2] <= tol * rows.total:
            converged = True
        if converged:
            break
        mixture = _maximised(rows, share, components)
    else:
        trace.append(float(rows.weight @ mixture.log_density(rows.X)))
    mixture = _in_order(mixture)
    bound = rows.floor * (1 + 1e-9)
    degenerate = sum(model.noise <= bound for model in mixture.models)
    return MixtureFit(mixture, np.array(trace), converged, degenerate)


def _start(rows: DistinctRows, clusters: int, seed: int, n_init: int) -> FloatArray:
    if clusters == 1:
        return np.ones((len(rows.X), 1))
    # k-means takes differences of large numbers: about the mean, and on one scale.
    centred = rows.X - rows.weight @ rows.X / rows.total
    centred = centred / np.sqrt(rows.floor / LEAST_NOISE)
    found = KMeans(clusters, n_init=n_init, random_state=seed).fit(
        centred, sample_weight=rows.weight / rows.total * len(rows.X)
    )
    return np.eye(clusters)[found.labels_]


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
