"""Classical scaling: the eigenvectors of doubly centred squared distances."""

from dataclasses import dataclass

import numpy as np

from bottega.core.signs import signed
from bottega.core.typing import FloatArray
from bottega.latent._decomposition.leading import leading_eigenvectors

__all__ = ["Classical", "classical_scaling"]


@dataclass(frozen=True)
class Classical:
    """Points, the eigenvalues of all dimensions, and how much of them the points have.

    Attributes
    ----------
    points : ndarray of shape (n, k)
        Coordinates; the largest of each dimension is positive.
    eigenvalues : ndarray of shape (n,)
        From the largest; negative ones show that no points have these distances.
    """

    points: FloatArray
    eigenvalues: FloatArray


def classical_scaling(D: FloatArray, k: int) -> Classical:
    """Return the k coordinates whose inner products are nearest to those of the distances."""
    size = float(np.max(D, initial=0.0)) or 1.0
    square = (D / size) ** 2
    means = square.mean(axis=0)
    B = -0.5 * (square - means - means[:, None] + means.mean())
    values, vectors = leading_eigenvectors(0.5 * (B + B.T))
    points = np.zeros((len(D), k))
    kept = min(k, len(D))
    points[:, :kept] = vectors[:, :kept] * np.sqrt(np.maximum(values[:kept], 0.0))
    return Classical(signed(points) * size, values * size**2)
