"""Promax: an oblique rotation towards powers of varimax loadings."""

import numpy as np

from bottega.core.errors import DataWarning, warn_caller
from bottega.core.typing import FloatArray
from bottega.latent._rotation.orthomax import orthomax

__all__ = ["promax"]


def promax(loadings: FloatArray, power: int = 4) -> FloatArray:
    """Return the matrix T of the oblique rotation of Hendrickson and White.

    The varimax loadings are regressed on their own powers, in which small loadings nearly vanish.
    The factors of the rotated loadings have variance one and correlation
    ``inv(T) @ inv(T).T``. Where the powers span fewer directions than there are factors, no such
    factors exist: the varimax rotation is returned, with a `DataWarning`.

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
    sizes = np.sqrt(np.sum(U**2, axis=0))
    # Powers of small loadings make columns of very different sizes, which are no lack of rank.
    if np.linalg.matrix_rank(U / np.where(sizes > 0, sizes, 1.0)) < len(U):
        warn_caller(
            "promax: the powers of the loadings lie along fewer directions than there are factors, "
            "so the rotation has no inverse; varimax is used. Take fewer factors, or look for "
            "outliers.",
            DataWarning,
        )
        return T
    U = U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))
    return np.asarray(T @ U)
