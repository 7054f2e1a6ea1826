r"""The correlations within classes, decomposed: every shrinkage from one set of directions.

Symbols
-------
p     columns in use
r     directions V of the decomposition
K     classes that were seen
S     shrinkages
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.classify._generative.gaussian import TOLERANCE
from bottega.classify._generative.moments import ClassMoments
from bottega.core.rows import Rows
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["WithinClasses", "decomposed"]


@dataclass(frozen=True)
class WithinClasses:
    """Directions and variances of the rows within classes, in standard coordinates.

    Attributes
    ----------
    center, scale : ndarray
        Of the standard coordinates.
    varies, used : ndarray of bool
        Columns that vary within classes, and those of them that are in use.
    V : ndarray of shape (columns, r)
        Directions; columns that are not in use have zeros.
    values : ndarray of shape (r,)
        Variances along them. Along the other p - r directions rows do not vary.
    mean : ndarray of shape (K, columns)
        Means of the classes.
    formula : float or None
        Shrinkage by a formula, where one is asked for.
    """

    center: FloatArray
    scale: FloatArray
    varies: BoolArray
    used: BoolArray
    V: FloatArray
    values: FloatArray
    mean: FloatArray
    formula: float | None = None

    @property
    def p(self) -> int:
        """Number of columns in use."""
        return int(np.count_nonzero(self.used))

    @property
    def rank(self) -> int:
        """Number of directions that vary without shrinkage."""
        return int(np.count_nonzero(self.values > TOLERANCE))

    def rank_at(self, shrinkage: float) -> int:
        """Return the number of directions that vary at a shrinkage."""
        return self.p if shrinkage > TOLERANCE else self.rank

    def variances(self, shrinkage: Any) -> FloatArray:
        """Return the variances along V at each of some shrinkages: (S, r)."""
        share = np.atleast_1d(np.asarray(shrinkage, dtype=np.float64))[:, None]
        return (1 - share) * self.values + share

    def coefficients(self, shrinkage: Any) -> FloatArray:
        """Return the precision matrix times the means of the classes: (S, K, columns)."""
        rest = _inverse(np.atleast_1d(np.asarray(shrinkage, dtype=np.float64)))
        if len(self.values) == self.p:  # there are no other directions
            rest = np.zeros_like(rest)
        precision = _inverse(self.variances(shrinkage)) - rest[:, None]
        along = precision[:, None, :] * (self.mean @ self.V)
        return along @ self.V.T + rest[:, None, None] * (self.mean * self.used)

    def covariance(self, shrinkage: float) -> FloatArray:
        """Return the covariance at a shrinkage, in standard coordinates."""
        rest = 0.0 if len(self.values) == self.p else shrinkage
        found = (self.V * (self.variances(shrinkage)[0] - rest)) @ self.V.T
        return found + rest * np.diag(self.used.astype(np.float64))

    def root(self, shrinkage: float) -> tuple[FloatArray, float]:
        """Return a root of the precision matrix, and the log-determinant of the covariance."""
        variances = self.variances(shrinkage)[0]
        kept = variances > TOLERANCE
        size = np.sqrt(_inverse(variances))
        log_det = float(np.sum(np.log(variances[kept])))
        others = self.p - len(self.values)
        if not others or shrinkage <= TOLERANCE:
            return self.V[:, kept] * size[kept], log_det
        rest = 1 / np.sqrt(shrinkage)
        root = (self.V * (size - rest)) @ self.V.T + rest * np.diag(self.used.astype(np.float64))
        return root[:, self.used], log_det + others * float(np.log(shrinkage))


def _inverse(variances: FloatArray) -> FloatArray:
    """Return inverses of variances; zero for those that are none."""
    kept = variances > TOLERANCE
    return np.where(kept, 1 / np.where(kept, variances, 1.0), 0.0)


def decomposed(
    moments: ClassMoments, scale: FloatArray, used: BoolArray, rows: Rows | None
) -> tuple[FloatArray, FloatArray]:
    """Return directions and variances of the correlations within classes.

    With fewer rows than columns these come from the products of the `rows`, which are fewer.
    """
    divisor = moments.divisor() if used.any() else 1.0
    unit = scale[used]
    if rows is not None and len(rows) < len(unit):
        E = (rows.X[:, used] - moments.mean[rows.y][:, used]) / unit
        if rows.weight is not None:
            E *= np.sqrt(rows.weight)[:, None]
        values, turns = np.linalg.eigh(E @ E.T / divisor)
        kept = values > TOLERANCE * max(values.max(initial=0.0), 1.0)
        values, vectors = values[kept], E.T @ turns[:, kept] / np.sqrt(divisor * values[kept])
    else:
        small = moments.within()[np.ix_(used, used)] / np.outer(unit, unit) / divisor
        values, vectors = np.linalg.eigh(small)
    V = np.zeros((len(scale), len(values)))
    V[used] = vectors
    return V, np.maximum(values, 0.0)
