"""Removal: the term that is missed least goes, one after the other; others may take its place."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from bottega.additive._adaptive.basis import Term
from bottega.additive._adaptive.charges import Charges
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.additive._kernels.adaptive_knots import NEW
from bottega.core.typing import Array, FloatArray, IntArray

_EXCHANGED = 100  # terms up to which they are exchanged
_TIED = 1e-9  # losses that differ by less, relatively, are ties: the later term goes


@dataclass(frozen=True, eq=False)
class Pruning:
    """The best subsets of the terms that were met, one for each number of terms from 1 up.

    Attributes
    ----------
    subsets : tuple of ndarray
        ``subsets[m - 1]``: positions of the m terms kept, ascending; the intercept is always there.
    rss : ndarray of shape (M, q)
        Weighted sums of squared residuals of each response.
    df : ndarray of shape (M,)
        Terms, plus the penalty for half the terms beside the intercept (their knots), and more for
        sets of levels, see `Charges`.
    gcv : ndarray of shape (M,)
        Sum over responses of ``rss / n / (1 - df / n)^2``; infinite where df reaches n.
    best : int
        Number of terms of least GCV; of equal ones the fewest.
    """

    subsets: tuple[IntArray, ...]
    rss: FloatArray
    df: FloatArray
    gcv: FloatArray
    best: int


def prune(
    matrix: FloatArray,
    Y: FloatArray,
    weight: FloatArray | None,
    settings: GrowthSettings,
    *,
    n: float | None = None,
    charges: Charges | None = None,
) -> Pruning:
    """Return the sequence of subsets of terms, from the intercept to all of them.

    Parameters
    ----------
    matrix : ndarray of shape (n, M)
        The terms at the rows, the intercept first (``Growth.matrix``).
    Y : ndarray of shape (n, q) or (n,)
        Responses.
    weight : ndarray of shape (n,), optional
        Positive weights of the rows.
    settings : GrowthSettings
        Gives the penalty per knot.
    n : float, optional
        Rows that GCV counts; the number of rows by default.
    charges : Charges, optional
        Degrees of freedom of the terms; the same for all by default.

    Notes
    -----
    One decomposition of all rows, O(n M^2); each removal then works on M x M numbers. A term is
    missed by the square of its coefficient over the variance factor of that coefficient, for each
    degree of freedom that it is charged. After each removal terms are exchanged, one for one, while
    that lowers the squared residuals at no higher charge (with up to 100 terms).

    Examples
    --------
    >>> x = np.arange(8.0)
    >>> found = prune(np.column_stack([x**0, x, x**2]), 3 * x, None, GrowthSettings())
    >>> [kept.tolist() for kept in found.subsets]
    [[0], [0, 1], [0, 1, 2]]
    """
    rows, M = matrix.shape
    Y = Y.reshape(rows, -1)
    unit = power_of_two(float(np.abs(Y).max(initial=0.0)))
    root = np.ones(rows) if weight is None else np.sqrt(weight)
    scaled = matrix * root[:, None]
    length = np.linalg.norm(scaled, axis=0)
    scaled /= np.where(length > 0, length, 1.0)
    Q, T = linalg.qr(scaled, mode="economic", overwrite_a=True, check_finite=False)
    response = Y / unit * root[:, None]
    Z = Q.T @ response
    left = response - Q @ Z
    floor = np.einsum("ij,ij->j", left, left)
    if charges is None:
        charges = Charges.of([Term()] * M, None, settings)
    kept = np.arange(M)
    subsets, rss = [], []
    while True:
        fit = _Subset.of(T, Z, kept)
        while len(kept) < M <= _EXCHANGED:
            other = fit.exchanged(T, charges)
            if other is None:
                break
            fit = _Subset.of(T, Z, other)
        kept = fit.kept
        subsets.append(kept)
        rss.append(floor + np.sum(fit.left**2, axis=0))
        if len(kept) == 1:
            break
        kept = np.delete(kept, fit.least_missed(charges.each(kept)))
    totals = np.array(rss[::-1])
    df = np.array([charges.df(each) for each in subsets[::-1]])
    gcv = gcv_of(totals.sum(axis=1), df, rows if n is None else n)
    least = gcv.min()
    best = 1 if not np.isfinite(least) else 1 + int(np.argmax(gcv <= least * (1 + _TIED)))
    with np.errstate(over="ignore"):
        return Pruning(tuple(subsets[::-1]), totals * unit * unit, df, gcv * unit * unit, best)


def gcv_of(rss: FloatArray, df: FloatArray, n: float) -> FloatArray:
    """Return generalised cross-validation; infinite where no degrees of freedom are left."""
    free = np.maximum(1.0 - df / n, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(free > 0, rss / n / free**2, np.inf)


def power_of_two(value: float) -> float:
    """Return the power of two above a number; 1 for zero."""
    return 2.0 ** min(max(math.frexp(value)[1], -500), 1020) if value > 0 else 1.0


@dataclass(frozen=True, eq=False)
class _Subset:
    """The fit of some columns of a triangle, all of it in as many numbers as there are columns.

    `away` holds, for each column kept, the direction in their span that the others do not reach;
    `missed` the products of the responses with it.
    """

    kept: IntArray
    q: Array
    left: Array
    away: Array
    missed: Array

    @classmethod
    def of(cls, T: Array, Z: Array, kept: IntArray) -> "_Subset":
        q, R = linalg.qr(T[:, kept], mode="economic", check_finite=False)
        away = q @ linalg.solve_triangular(R, np.eye(len(kept)), check_finite=False).T
        away /= np.linalg.norm(away, axis=0)
        return cls(kept, q, Z - q @ (q.T @ Z), away, away.T @ Z)

    def least_missed(self, charge: FloatArray) -> int:
        """Return the place of the column whose removal adds least for its charge; of ties the last.

        Parameters
        ----------
        charge : ndarray
            Degrees of freedom of each column kept.
        """
        lost = np.sum(self.missed**2, axis=1) / charge
        lost[0] = np.inf  # the intercept stays
        return len(lost) - 1 - int(np.argmax(lost[::-1] <= lost.min() * (1 + _TIED)))

    def exchanged(self, T: Array, charges: Charges) -> IntArray | None:
        """Return the columns after the best exchange of one for another; None if none helps."""
        if len(self.kept) == 1:
            return None
        out = np.setdiff1d(np.arange(T.shape[1]), self.kept)
        new = T[:, out] - self.q @ (self.q.T @ T[:, out])
        along = self.away.T @ T[:, out]  # (kept, out)
        products = (new.T @ self.left)[None] + along[:, :, None] * self.missed[:, None, :]
        length = np.sum(new**2, axis=0)[None] + along**2
        saved = np.sum(products**2, axis=2) / np.maximum(length, np.finfo(np.float64).tiny)
        saved[length <= NEW * np.sum(T[:, out] ** 2, axis=0)] = 0.0
        change = np.sum(self.missed**2, axis=1)[:, None] - saved
        change[0] = np.inf
        if charges.levels.size:
            change[charges.dearer(self.kept, out)] = np.inf
        best = change.min()
        if best >= -_TIED * np.sum(self.left**2):
            return None
        k, into = np.unravel_index(np.argmax(change <= best * (1 - _TIED)), change.shape)
        return np.sort(np.append(np.delete(self.kept, k), out[into]))
