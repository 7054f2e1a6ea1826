"""Principal axes of complete rows, and the maximum of the likelihood that they give at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.moments import Moments
from bottega.core.signs import signed
from bottega.core.typing import FloatArray, IntArray
from bottega.latent._decomposition.graded import axes_of_scatter
from bottega.latent._decomposition.leading import from_dual, leading_eigenvectors
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.latent._reading.normal_density import along_axes

__all__ = ["PrincipalAxes"]

_ROUNDING = 1e-13  # of the largest variance: directions with less do not vary
LEAST_NOISE = 1e-10  # of the mean variance of a column: the noise is never taken to be less


@dataclass(frozen=True)
class PrincipalAxes:
    """Mean, variances along the principal axes (divisor n, largest first), and the axes.

    `variances` and `axes` are of the directions in which the rows vary; `total` is the sum of the
    variances of all p columns, and `rest` what is known of it in other directions: the variance of
    tiny columns.
    """

    mean: FloatArray
    variances: FloatArray
    axes: FloatArray
    total: float
    weight: float
    rest: float = 0.0

    @classmethod
    def of_moments(cls, moments: Moments) -> "PrincipalAxes":
        """Return the axes from the covariance matrix."""
        covariance = moments.scatter / moments.weight
        found = axes_of_scatter(covariance)
        total = np.trace(covariance)
        return cls._kept(moments.mean, found.values, found.V, total, moments.weight)

    @classmethod
    def of_covariance(
        cls, mean: FloatArray, covariance: FloatArray, weight: float
    ) -> "PrincipalAxes":
        """Return the axes of a covariance matrix, which may have negative eigenvalues."""
        variances, axes = leading_eigenvectors(covariance)
        return cls._kept(mean, variances, axes, np.trace(covariance), weight)

    @classmethod
    def of_wide(cls, X: FloatArray, weight: FloatArray | None) -> "PrincipalAxes":
        """Return the axes from the inner products of rows, which are fewer than columns."""
        w = np.ones(len(X)) if weight is None else weight
        total = float(w.sum())
        mean = w @ X / total
        centred = X - mean
        gap = w @ centred / total
        centred = (centred - gap) * np.sqrt(w / total)[:, None]
        products = centred @ centred.T
        variances, axes = from_dual(products, centred)
        return cls._kept(mean + gap, variances, axes, np.trace(products), total)

    @classmethod
    def _kept(
        cls, mean: FloatArray, variances: FloatArray, axes: FloatArray, total: Any, weight: float
    ) -> "PrincipalAxes":
        kept = variances > _ROUNDING * len(mean) * float(np.max(variances, initial=0.0))
        rest = np.sum(variances[~kept & (variances > 0)])
        found = variances[kept], signed(axes[:, kept]), float(total), float(weight), float(rest)
        return cls(mean, *found)

    @property
    def rank(self) -> int:
        """Directions in which the rows vary."""
        return len(self.variances)

    @property
    def floor(self) -> float:
        """Least variance that the noise is given."""
        return LEAST_NOISE * self.total / len(self.mean)

    def noises(self, counts: IntArray) -> FloatArray:
        """Return the noise variance for each number of components: the mean of what they leave."""
        p = len(self.mean)
        counts = np.minimum(counts, p - 1)
        left = self._left(counts)
        return np.asarray(np.maximum(left / (p - counts), self.floor))

    def _left(self, counts: Any) -> FloatArray:
        """Return the variance beyond the first axes: summed from the least, nothing cancels."""
        beyond = np.concatenate([np.cumsum(self.variances[::-1])[::-1], [0.0]])
        return np.asarray(beyond[np.minimum(counts, self.rank)])

    def model(self, count: int, floor: float = 0.0) -> LatentNormal:
        """Return the distribution of largest likelihood with `count` latent variables.

        The noise variance is at least `floor`.
        """
        noise = max(float(self.noises(np.array([count]))[0]), floor)
        W = np.zeros((len(self.mean), count))
        used = min(count, self.rank)
        W[:, :used] = self.axes[:, :used] * np.sqrt(np.maximum(self.variances[:used] - noise, 0.0))
        return LatentNormal(self.mean, W, noise)

    def log_likelihoods(self, counts: IntArray) -> FloatArray:
        """Return the greatest log-likelihood of the rows for each number of components."""
        p, noises = len(self.mean), self.noises(counts)
        found = []
        for count, noise in zip(np.minimum(counts, self.rank), noises, strict=True):
            inside = self.variances[:count]
            top = np.maximum(inside, noise)
            # The mean over the rows: the variances are means of squares.
            found.append(along_axes(inside, float(self._left(count)) + self.rest, top, noise, p))
        return np.asarray(self.weight * np.array(found))

    def log_densities(self, X: FloatArray, counts: IntArray) -> FloatArray:
        """Return the log-likelihood of complete rows for each number of components."""
        p, noises = len(self.mean), self.noises(counts)
        most = int(np.max(np.minimum(counts, self.rank), initial=0))
        centred = X - self.mean
        along = centred @ self.axes[:, :most]
        squares = along**2
        # What the axes leave is taken from the rows: of their squared lengths digits would go.
        rest = centred - along @ self.axes[:, :most].T
        size = np.einsum("ij,ij->i", rest, rest)
        beyond = np.cumsum(squares[:, ::-1], axis=1)[:, ::-1]
        beyond = np.hstack([beyond, np.zeros((len(X), 1))]) + size[:, None]
        found = np.empty((len(X), len(counts)))
        for k, (count, noise) in enumerate(zip(np.minimum(counts, self.rank), noises, strict=True)):
            top = np.maximum(self.variances[:count], noise)
            found[:, k] = along_axes(squares[:, :count], beyond[:, count], top, noise, p)
        return found
