"""The density of rows whose covariance is a few loadings and a noise variance per column."""

from typing import Any

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["along_axes", "log_density"]


def log_density(X: FloatArray, mean: FloatArray, W: FloatArray, noise: Any) -> FloatArray:
    """Return the log-likelihood of each row under N(mean, W W' + diag(noise)).

    Decomposes the loadings. `noise` has one variance per column, or is one for all. Rows so far
    away that their squares overflow have minus infinity.

    Examples
    --------
    >>> X, W = np.array([[1.0, 2.0]]), np.zeros((2, 0))
    >>> bool(np.isclose(log_density(X, np.zeros(2), W, 1.0)[0], -np.log(2 * np.pi) - 2.5))
    True
    """
    p = len(W)
    root_noise = np.broadcast_to(np.sqrt(noise), (p,))
    with np.errstate(over="ignore"):
        centred = (X - mean) / root_noise
    U, d, _ = np.linalg.svd(W / root_noise[:, None], full_matrices=False)
    with np.errstate(over="ignore", invalid="ignore"):
        along = centred @ U
        # What is beyond the loadings comes from the rows: of their squares long loadings take all.
        centred -= along @ U.T
        size = np.einsum("ij,ij->i", centred, centred) + along**2 @ (1 / (1 + d**2))
    size = np.where(np.isfinite(size), size, np.inf)
    log_det = 2 * np.sum(np.log(root_noise)) + np.sum(np.log1p(d**2))
    return np.asarray(-0.5 * (p * np.log(2 * np.pi) + log_det + size))


def along_axes(squares: FloatArray, left: Any, variances: FloatArray, noise: float, p: int) -> Any:
    """Return the log-density of rows on p axes, some with variances of their own.

    `squares` are the squared coordinates along these, `left` the squared length in the p - k other
    directions, each of which has the variance `noise` (not looked at where there are none).

    Examples
    --------
    >>> found = along_axes(np.array([[4.0]]), np.array([1.0]), np.array([2.0]), 0.5, 2)
    >>> bool(np.isclose(found[0], -np.log(2 * np.pi) - 0.5 * (4 / 2 + 1 / 0.5)))
    True
    """
    k = len(variances)
    volume = p * np.log(2 * np.pi) + np.sum(np.log(variances))
    size = squares @ (1 / variances)
    if k < p:
        volume, size = volume + (p - k) * np.log(noise), size + left / noise
    return -0.5 * (volume + size)
