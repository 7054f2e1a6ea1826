"""Singular values of columns that differ in size: the small ones as exact as the large ones.

An ordinary solver errs by a share of the largest value, which may be more than all of the smallest.
Jacobi rotations err by a share of each value, where the columns on one scale are well conditioned.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr

from bottega.core.row_factor import triangle_of
from bottega.core.typing import FloatArray
from bottega.latent._decomposition.leading import leading_eigenvectors, small_threads

__all__ = ["ScatterAxes", "are_graded", "axes_of_factor", "axes_of_scatter"]

# A value above this share of the largest has ten digits right, whatever the solver.
_SURE = 1e-6
_FEW = 100.0  # sizes of columns that differ by less gain nothing by another solver
_EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class ScatterAxes:
    """Eigenvalues of A'A, largest first, with their vectors V in columns.

    `sure` says of which values nine digits or so are right; zeros are among them, since what
    rounding leaves of nothing is nothing.
    """

    values: FloatArray
    V: FloatArray
    sure: np.ndarray

    @classmethod
    def of(cls, values: FloatArray, V: FloatArray, *, sure: bool = False) -> "ScatterAxes":
        """Return axes whose values are sure, or only those of them that are large."""
        large = values > _SURE * values[0]
        return cls(values, V, large | (values == 0) | sure)


def are_graded(squares: FloatArray) -> bool:
    """Return True where columns with these sums of squares differ enough in their sizes.

    Examples
    --------
    >>> are_graded(np.array([1.0, 4.0, 0.0])), are_graded(np.array([1.0, 1e9]))
    (False, True)
    """
    told = squares[squares > 0]
    return bool(len(told)) and bool(told.max() > _FEW**2 * told.min())


def axes_of_scatter(S: FloatArray, k: int | None = None) -> ScatterAxes:
    """Return the first k (None: all) axes of a matrix of sums of squares and products.

    Where columns differ in size, they come from the Cholesky factor of the columns on one scale:
    the sums have as many digits for small columns as for large ones.

    Examples
    --------
    >>> unit = np.array([1e7, 1.0])
    >>> found = axes_of_scatter(np.array([[1.0, 0.5], [0.5, 1.0]]) * np.outer(unit, unit))
    >>> float(found.values[1].round(9))
    0.75
    """
    values, V = leading_eigenvectors(S, k)
    values = np.where(values > values[0] * len(S) * _EPS, values, 0.0)
    squares = np.diag(S)
    if values[-1] > _SURE * values[0] or not are_graded(squares):
        return ScatterAxes.of(values, V)
    told = np.flatnonzero(squares > 0)
    size = np.sqrt(squares[told])
    p, m = len(S), len(told)
    least = 4 * m * _EPS  # of a pivot that is more than rounding
    with small_threads(m):
        factor, pivots, rank, _ = lapack.dpstrf(
            S[np.ix_(told, told)] / size / size[:, None], tol=least, lower=1
        )
        L = np.zeros((m, m))
        L[:, :rank] = np.tril(factor)[:, :rank]
        order = pivots - 1
        found, axes = _jacobi(L.T * size[order])
    values, V = np.zeros(p), np.zeros((p, p))
    values[:m] = found**2
    values[rank:] = 0.0
    V[np.ix_(told[order], np.arange(m))] = axes
    V[np.setdiff1d(np.arange(p), told), np.arange(m, p)] = 1.0
    sure = rank == m and bool(np.min(np.diag(factor)) ** 2 > _SURE)
    return ScatterAxes.of(values[:k], np.ascontiguousarray(V[:, :k]), sure=sure)


def axes_of_factor(R: FloatArray, n: int) -> ScatterAxes:
    """Return the axes from the QR factor of n rows, or from these themselves, fewer columns.

    Examples
    --------
    >>> float(axes_of_factor(np.diag([3.0, 2.0**-40]), 2).values[1]) == 2.0**-80
    True
    """
    if len(R) > R.shape[1]:
        R = triangle_of(R)
    elif len(R) < R.shape[1]:
        R = np.vstack([R, np.zeros((R.shape[1] - len(R), R.shape[1]))])
    size = np.linalg.norm(R, axis=0)
    with small_threads(len(R)):
        found, V = _jacobi(R)
        # Rounding, of rows that vary in fewer directions, is a share of each column.
        pivots = qr(R / np.where(size > 0, size, 1.0), mode="r", pivoting=True)[0].diagonal()
    found[np.count_nonzero(np.abs(pivots) > max(n, len(R)) * _EPS) :] = 0.0
    return ScatterAxes.of(found**2, V, sure=True)


def _jacobi(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return singular values and right singular vectors of a square matrix, by LAPACK's Jacobi."""
    d, _, V, scaling, _, failed = lapack.dgejsv(A, joba=0, jobu=3, jobv=0)
    if failed:  # more sweeps than it allows: an ordinary solver has no such limit
        _, d, Vt = np.linalg.svd(A)
        return d, Vt.T
    return d * (scaling[0] / scaling[1]), V
