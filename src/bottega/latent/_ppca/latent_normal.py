"""The normal density of rows that a few latent variables move: its axes and posteriors."""

from dataclasses import dataclass

import numpy as np

from bottega.core.rows import split_rows
from bottega.core.signs import signed
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray
from bottega.latent._kernels.ppca import posteriors
from bottega.latent._ppca.packed import outer_packed
from bottega.latent._reading.normal_density import log_density

__all__ = ["LatentNormal", "block_rows", "posterior_of_rows"]

_ENTRIES = 160_000  # of a block of rows that fits into the cache
_FEWEST, _MOST = 64, 4096  # rows of a block


@stored
@dataclass(frozen=True)
class LatentNormal:
    """Rows x = W z + mean + noise with z standard normal.

    Attributes
    ----------
    mean : ndarray of shape (p,)
    W : ndarray of shape (p, K)
        Loadings of the latent variables.
    noise : float
        Variance of the noise in each column, above zero.
    """

    mean: FloatArray
    W: FloatArray
    noise: float

    @property
    def df(self) -> float:
        """Free numbers: mean, loadings up to a rotation, noise."""
        p, K = self.W.shape
        return p + p * K - K * (K - 1) / 2 + 1.0

    def on_axes(self) -> "LatentNormal":
        """Return the same distribution with principal axes as the columns of W, largest first."""
        if not self.W.shape[1]:
            return self
        U, sizes, _ = np.linalg.svd(self.W, full_matrices=False)
        return LatentNormal(self.mean, signed(U) * sizes, self.noise)

    def covariance(self) -> FloatArray:
        """Return the covariance of the rows, W W' + noise I."""
        return self.W @ self.W.T + self.noise * np.eye(len(self.mean))

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log-likelihood of the observed entries of each row; NaN is missing."""
        observed = ~np.isnan(X)
        full = observed.all(axis=1)
        if full.all():
            return log_density(X, self.mean, self.W, self.noise)
        found = np.empty(len(X))
        if full.any():
            found[full] = log_density(X[full], self.mean, self.W, self.noise)
        rest = ~full
        with np.errstate(over="ignore", invalid="ignore"):
            far = self.posterior(X[rest], observed[rest])[1]
        found[rest] = np.where(np.isfinite(far), far, -np.inf)  # squares of far rows overflow
        return found

    def posterior(
        self, X: FloatArray, observed: BoolArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return E(z | x) of each row, its log-likelihood, and the packed covariance of z."""
        if observed is None:
            observed = ~np.isnan(X)
        K = self.W.shape[1]
        T = K * (K + 1) // 2
        mean, log_density = np.empty((len(X), K)), np.empty(len(X))
        covariance = np.empty((len(X), T))
        origin = LatentNormal(np.zeros(len(self.mean)), self.W, self.noise)
        for part in split_rows(len(X), block_rows(X.shape[1])):
            mask = observed[part].astype(np.float64)
            filled = np.where(observed[part], X[part] - self.mean, 0.0)
            size = np.einsum("ij,ij->i", filled, filled)
            facts = np.stack([size, mask.sum(axis=1), np.ones(len(mask))])
            found = posterior_of_rows(origin, mask, filled, facts, False).T
            covariance[part], mean[part] = found[:, :T], found[:, T:-1]
            log_density[part] = facts[0]
        return mean, log_density, covariance


def block_rows(p: int) -> int:
    """Return how many rows of p columns are taken at a time."""
    return min(max(_ENTRIES // max(p, 1), _FEWEST), _MOST)


def posterior_of_rows(
    model: LatentNormal,
    mask: FloatArray,
    filled: FloatArray,
    facts: FloatArray,
    moments: bool,
) -> FloatArray:
    """Return the posteriors of a block of rows; put their log-likelihoods into ``facts[0]``.

    See the kernel; `filled` has zero where `mask` has.
    """
    W, mu = model.W, model.mean[:, None]
    by_mask = np.hstack([outer_packed(W), mu * W, mu**2]).T @ mask.T
    by_value = np.hstack([W, mu]).T @ filled.T
    found = np.empty_like(by_mask)
    posteriors(by_mask, by_value, facts, float(model.noise), moments, found)
    return found
