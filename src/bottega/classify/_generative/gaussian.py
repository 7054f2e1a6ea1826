r"""Normal densities of the classes, in coordinates in which every column has unit spread.

Symbols
-------
K     classes
p     columns
r     directions in which the rows vary
z     a row in standard coordinates, ``(x - center) / scale``
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.classify._generative.moments import row_blocks
from bottega.core.loaded import insist, is_array
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray

__all__ = ["FAR", "TOLERANCE", "Gaussians", "standardized", "whitened"]

# A direction whose variance is below this share of a column's does not vary.
TOLERANCE = 1e-10
# Standard coordinates beyond this are taken as this: their squares are still numbers.
FAR = 1e140
_LOG_2PI = float(np.log(2 * np.pi))


def standardized(X: FloatArray, center: FloatArray, scale: FloatArray) -> FloatArray:
    """Return rows in standard coordinates; what is beyond `FAR` is there."""
    with np.errstate(over="ignore"):
        found = (X - center) / scale
    return np.clip(found, -FAR, FAR, out=found)


def whitened(covariance: FloatArray) -> tuple[FloatArray, float]:
    """Return a root of the (pseudo-)inverse of a covariance, and the log of its determinant.

    Directions in which nothing varies are left out of both.

    Examples
    --------
    >>> root, log_det = whitened(np.diag([4.0, 0.0]))
    >>> np.abs(root).tolist(), round(log_det, 6)
    ([[0.5], [0.0]], 1.386294)
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > TOLERANCE * max(values.max(initial=0.0), np.finfo(float).tiny)
    values = values[kept]
    return vectors[:, kept] / np.sqrt(values), float(np.sum(np.log(values)))


@stored
@dataclass(frozen=True, eq=False)
class Gaussians:
    """One normal distribution per class, with a covariance each or one for all.

    Attributes
    ----------
    center, scale : ndarray of shape (p,)
        Of the standard coordinates.
    mean : ndarray of shape (K, p)
        Means of the classes in standard coordinates.
    covariance : ndarray of shape (1, p, p) or (K, p, p)
        Covariances in standard coordinates.
    root : list of ndarray of shape (p, r)
        Matrix A with precision A A', of each covariance.
    log_det : ndarray of shape (1,) or (K,)
        Logarithm of the determinant of each covariance, along the directions that vary.
    """

    center: FloatArray
    scale: FloatArray
    mean: FloatArray
    covariance: FloatArray
    root: list[FloatArray]
    log_det: FloatArray

    @classmethod
    def of(
        cls, center: FloatArray, scale: FloatArray, mean: FloatArray, covariance: FloatArray
    ) -> "Gaussians":
        """Return the densities with these covariances, in standard coordinates."""
        pairs = [whitened(each) for each in covariance]
        roots, log_det = [pair[0] for pair in pairs], np.array([pair[1] for pair in pairs])
        return cls(center, scale, mean, covariance, roots, log_det)

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        p, m = len(self.center), len(self.root)
        insist(is_array(self.scale, np.float64, (p,)), "scales of another width")
        insist(is_array(self.mean, np.float64, (None, p)), "means of another width")
        insist(m in (1, len(self.mean)), "covariances of other classes")
        insist(is_array(self.covariance, np.float64, (m, p, p)), "covariances of another width")
        insist(is_array(self.log_det, np.float64, (m,)), "determinants of other classes")
        for root in self.root:
            insist(is_array(root, np.float64, (p, None)), "roots of another width")

    def of_columns(self, columns: BoolArray) -> "Gaussians":
        """Return the densities of some of the columns alone."""
        square = self.covariance[:, columns][:, :, columns]
        return Gaussians.of(
            self.center[columns], self.scale[columns], self.mean[:, columns], square
        )

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the logarithm of each class's density at complete rows: (m, K)."""
        found = np.empty((len(X), len(self.mean)))
        jacobian = float(np.sum(np.log(self.scale)))
        for part in row_blocks(*X.shape):
            Z = standardized(X[part], self.center, self.scale)
            common = Z @ self.root[0] if len(self.root) == 1 else None
            for k, mean in enumerate(self.mean):
                at = 0 if common is not None else k
                root = self.root[at]
                U = (Z - mean) @ root if common is None else common - mean @ root
                square = np.einsum("ij,ij->i", U, U)
                constant = root.shape[1] * _LOG_2PI + self.log_det[at]
                found[part, k] = -0.5 * (square + constant) - jacobian
        return found

    def log_marginal(self, X: FloatArray) -> FloatArray:
        """Return the logarithm of each class's density at what is observed of the rows: (m, K)."""
        found = np.zeros((len(X), len(self.mean)))
        for rows, observed in _patterns(X):
            if observed.any():
                known = self if observed.all() else self.of_columns(observed)
                found[rows] = known.log_density(X[np.ix_(rows, observed)])
        return found

    def filled(self, X: FloatArray, shares: FloatArray) -> FloatArray:
        """Return rows with what is missing at its mean given the rest, over the classes' shares."""
        out = X.copy()
        for rows, observed in _patterns(X):
            gone = ~observed
            if not gone.any():
                continue
            Z = standardized(X[np.ix_(rows, observed)], self.center[observed], self.scale[observed])
            Z = Z.clip(-1e100, 1e100)
            total = np.zeros((len(rows), int(gone.sum())))
            for k, mean in enumerate(self.mean):
                covariance = self.covariance[k % len(self.covariance)]
                root = whitened(covariance[np.ix_(observed, observed)])[0]
                slope = covariance[np.ix_(gone, observed)] @ root @ root.T
                expected = mean[gone] + (Z - mean[observed]) @ slope.T
                total += shares[rows, k, None] * expected
            out[np.ix_(rows, gone)] = self.center[gone] + self.scale[gone] * total
        return out

    def drawn(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return a row drawn from the class of each code."""
        noise = rng.standard_normal((len(codes), len(self.center)))
        out = np.empty_like(noise)
        for k, mean in enumerate(self.mean):
            rows = codes == k
            values, vectors = np.linalg.eigh(self.covariance[k % len(self.covariance)])
            half = vectors * np.sqrt(np.maximum(values, 0.0))
            out[rows] = mean + noise[rows] @ half.T
        return self.center + self.scale * out


def _patterns(X: FloatArray) -> Any:
    """Yield the rows that miss the same columns, and which columns they have."""
    gone = np.isnan(X)
    if not gone.any():
        yield np.arange(len(X)), np.ones(X.shape[1], dtype=bool)
        return
    patterns, place = np.unique(gone, axis=0, return_inverse=True)
    place = place.ravel()
    for i, pattern in enumerate(patterns):
        yield np.flatnonzero(place == i), ~pattern
