"""Promax: an oblique rotation towards powers of varimax loadings."""

import numpy as np

from bottega.core.typing import FloatArray
from bottega.latent._rotation.orthomax import orthomax

__all__ = ["promax"]


def promax(loadings: FloatArray, power: int = 4) -> FloatArray:
    """Return the matrix T of the oblique rotation of Hendrickson and White.

    The varimax loadings are regressed on their own powers, in which small loadings nearly vanish.
    The factors of the rotated loadings have variance one and correlation
    ``inv(T) @ inv(T).T``.

    Parameters
    ----------
    loadings : ndarray of shape (p, K)
        Loadings.
    power : int
        Larger powers allow more correlation between the factors.

    Examples
    --------
    >>> promax(np.array([[0.9], [0.5]])).tolist()
    [[1.0]]
    """
    T = orthomax(loadings, 1.0)
    if loadings.shape[1] < 2:
        return T
    B = loadings @ T
    target = B * np.abs(B) ** (power - 1)
    U = np.linalg.lstsq(B, target, rcond=None)[0]
    U = U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))
    return np.asarray(T @ U)
