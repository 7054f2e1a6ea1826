"""The density of rows whose covariance is a few loadings and a noise variance per column."""

from typing import Any

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["log_density"]


def log_density(X: FloatArray, mean: FloatArray, W: FloatArray, noise: Any) -> FloatArray:
    """Return the log-likelihood of each row under N(mean, W W' + diag(noise)).

    Solves a K x K system. `noise` has one variance per column, or is one for all. Rows so far away
    that their squares overflow have minus infinity.

    Examples
    --------
    >>> X, W = np.array([[1.0, 2.0]]), np.zeros((2, 0))
    >>> bool(np.isclose(log_density(X, np.zeros(2), W, 1.0)[0], -np.log(2 * np.pi) - 2.5))
    True
    """
    p, K = W.shape
    root_noise = np.broadcast_to(np.sqrt(noise), (p,))
    with np.errstate(over="ignore"):
        centred = (X - mean) / root_noise
    scaled = W / root_noise[:, None]
    root = np.linalg.cholesky(np.eye(K) + scaled.T @ scaled)
    with np.errstate(over="ignore", invalid="ignore"):
        half = np.linalg.solve(root, (centred @ scaled).T)
        size = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->j", half, half)
    size = np.where(np.isfinite(size), size, np.inf)
    log_det = 2 * np.sum(np.log(root_noise)) + 2 * np.sum(np.log(np.diag(root)))
    return np.asarray(-0.5 * (p * np.log(2 * np.pi) + log_det + size))
