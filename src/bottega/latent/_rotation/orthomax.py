"""Orthogonal rotations of loadings: varimax and quartimax."""

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["orthomax"]


def orthomax(
    loadings: FloatArray, gamma: float, *, normalize: bool = True, tol: float = 1e-10,
    max_iter: int = 1_000,
) -> FloatArray:  # fmt: skip
    r"""Return the orthogonal matrix T that makes the columns of loadings times T simple.

    It maximises :math:`\sum_k \bigl[\sum_j b_{jk}^4 - \frac{\gamma}{p} (\sum_j b_{jk}^2)^2\bigr]`
    over the entries b of the rotated loadings, plane by plane, in each of which the best angle is
    known.

    Parameters
    ----------
    loadings : ndarray of shape (p, K)
        Loadings.
    gamma : float
        1 for varimax, 0 for quartimax.
    normalize : bool
        Whether rows are brought to length one first (Kaiser), so that every column of the table
        counts the same, whatever its communality or units.
    tol : float
        Largest angle of a plane, in radians, at which it stops.
    max_iter : int
        The most sweeps over all planes of two factors.

    Examples
    --------
    >>> mixed = np.array([[0.6, 0.6], [0.5, 0.5], [0.6, -0.6], [0.4, -0.4]])
    >>> np.abs(mixed @ orthomax(mixed, 1.0)).round(3).tolist()
    [[0.849, 0.0], [0.707, 0.0], [0.0, 0.849], [0.0, 0.566]]
    """
    K = loadings.shape[1]
    T = np.eye(K)
    if K < 2:
        return T
    L = loadings
    if normalize:
        length = np.sqrt(np.sum(L**2, axis=1, keepdims=True))
        L = L / np.where(length > 0, length, 1.0)
    B = L.copy()
    for _ in range(max_iter):
        largest = 0.0
        for a in range(K - 1):
            for b in range(a + 1, K):
                angle = _angle(B[:, a], B[:, b], gamma)
                if abs(angle) <= tol:
                    continue
                largest = max(largest, abs(angle))
                c, s = np.cos(angle), np.sin(angle)
                turn = np.array([[c, -s], [s, c]])
                B[:, [a, b]] = B[:, [a, b]] @ turn
                T[:, [a, b]] = T[:, [a, b]] @ turn
        if largest <= tol:
            break
    return T


def _angle(x: FloatArray, y: FloatArray, gamma: float) -> float:
    """Return the angle by which a plane is turned to the maximum of the criterion in it."""
    u, v = x**2 - y**2, 2 * x * y
    A, B = float(u.sum()), float(v.sum())
    across = 2 * float(u @ v) - 2 * gamma * A * B / len(x)
    along = float(u @ u - v @ v) - gamma * (A**2 - B**2) / len(x)
    scale = float(u @ u + v @ v)
    if np.hypot(across, along) <= 1e-14 * scale:  # every angle is as good
        return 0.0
    return float(np.arctan2(across, along)) / 4
