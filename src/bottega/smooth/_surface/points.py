"""The distinct points of a surface, their weights, and a few of them that fill the space."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray


@stored
@dataclass(frozen=True)
class Scaling:
    """How inputs become points: ``u = (x[columns] - center) / divisor / span``."""

    columns: IntArray  # inputs that vary
    center: FloatArray
    divisor: FloatArray
    span: float  # one number for all inputs, so that the shape of the cloud stays

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the points of the rows."""
        return np.asarray((X[:, self.columns] - self.center) / (self.divisor * self.span))

    @property
    def unit(self) -> float:
        """What a penalty on bending is divided by to hold for the scaled points.

        The integral of squared second derivatives has the unit of length^(d - 4).
        """
        return float(self.span ** (4 - len(self.columns)))


@stored
@dataclass(frozen=True)
class DistinctPoints:
    """Distinct points with the mean response and root total weight of their rows."""

    u: FloatArray  # in lexicographic order
    mean: FloatArray
    root: FloatArray
    of_row: IntArray  # the point of each row

    def at_rows(
        self, fitted: FloatArray, leverage: FloatArray, weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return fitted values and leverages of the rows from those of the points."""
        share = (1.0 if weight is None else weight) / self.root[self.of_row] ** 2
        return fitted[self.of_row], share * leverage[self.of_row]


def make_scaling(X: FloatArray, weight: FloatArray | None, *, standardize: bool) -> Scaling:
    """Return a scaling by one number, after division by standard deviations if asked."""
    columns, low, high = _varying(X)
    divisor = np.ones(len(columns))
    if standardize:
        inputs = X[:, columns]
        mean = np.average(inputs, axis=0, weights=weight)
        divisor = np.sqrt(np.average((inputs - mean) ** 2, axis=0, weights=weight))
    return Scaling(columns, (low + high) / 2, divisor, float(np.max((high - low) / divisor)))


def unit_scaling(X: FloatArray) -> Scaling:
    """Return the scaling of each input to [0, 1]."""
    columns, low, high = _varying(X)
    return Scaling(columns, low, high - low, 1.0)


def _varying(X: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the columns that vary and the ends of their ranges."""
    low, high = X.min(axis=0), X.max(axis=0)
    columns = np.flatnonzero(high > low)
    if not len(columns):
        raise InputError(f"All {len(X)} rows have the same inputs; a surface needs several points.")
    return columns, low[columns], high[columns]


def make_points(u: FloatArray, y: FloatArray, weight: FloatArray | None) -> DistinctPoints:
    """Gather rows at the same place."""
    places, of_row = np.unique(u, axis=0, return_inverse=True)
    w = np.ones(len(y)) if weight is None else weight
    total = np.bincount(of_row, w)
    return DistinctPoints(places, np.bincount(of_row, w * y) / total, np.sqrt(total), of_row)


def space_filling(u: FloatArray, count: int) -> FloatArray:
    """Return `count` of the points, each the farthest from those before it.

    The first is the one nearest to the middle. The first half of the list is itself the answer
    for half as many.
    """
    chosen = np.empty(count, dtype=np.int64)
    chosen[0] = np.argmin(cdist(u, u.mean(axis=0)[None], "sqeuclidean")[:, 0])
    nearest = np.full(len(u), np.inf)
    for i in range(1, count):
        last = cdist(u, u[chosen[i - 1]][None], "sqeuclidean")[:, 0]
        np.minimum(nearest, last, out=nearest)
        chosen[i] = np.argmax(nearest)
    return u[chosen]
