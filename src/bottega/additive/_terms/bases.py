"""Functions of one margin: B-splines, the same closed to a ring, thin plates, levels, lines.

Each is known by few numbers, takes points in the units of its inputs, and has a row of zeros where
a value is missing. Splines work on [0, 1], so that no unit is too large or too small for them.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from bottega.basis.spline_functions import design, even_knots, place_knots
from bottega.core.loaded import insist
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._surface.thin_plate import radial

__all__ = [
    "CurveBasis",
    "IndicatorBasis",
    "LevelsBasis",
    "MissingBasis",
    "PlateBasis",
    "RingBasis",
    "ValueBasis",
    "plate_basis",
    "ring_penalty",
    "slope_changes",
    "to_unit",
    "uneven_knots",
    "uneven_penalty",
]

_UNSEEN = 1e-10
_NEAR = 1e-7  # of the range of a column


def to_unit(x: FloatArray, low: float, high: float) -> FloatArray:
    """Return x as a share of the way from low to high, whatever their size."""
    size = max(abs(low), abs(high)) or 1.0
    with np.errstate(over="ignore"):
        return np.asarray((x / size - low / size) / (high / size - low / size))


def _with_gaps(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return x with zeros for missing values, and where those are."""
    gone = np.isnan(x)
    return (np.where(gone, 0.0, x) if np.any(gone) else x), gone


class _Combining(ABC):
    """A basis whose combinations are found through its whole matrix."""

    @abstractmethod
    def at(self, values: FloatArray) -> FloatArray:
        """Return the functions at points."""

    def combine(self, values: FloatArray, coef: FloatArray) -> FloatArray:
        """Return the functions at points times coefficients (size, D)."""
        return self.at(values) @ coef


@stored
@dataclass(frozen=True, eq=False)
class CurveBasis:
    """B-splines; beyond the data they go on along their tangents.

    Attributes
    ----------
    low, high : float
        Ends of the data.
    knots : ndarray of shape (size + degree + 1,)
        All knots, as shares of the way from low to high.
    degree : int
        Degree of the B-splines.
    """

    low: float
    high: float
    knots: FloatArray
    degree: int

    @property
    def size(self) -> int:
        """Number of B-splines."""
        return len(self.knots) - self.degree - 1

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        insist(self.size > self.degree >= 0, "a curve without B-splines")
        insist(np.diff(self.knots) >= 0, "knots that are not in order")

    def at(self, values: FloatArray) -> FloatArray:
        """Return the B-splines at points (m, 1)."""
        u, gone = _with_gaps(to_unit(values[:, 0], self.low, self.high))
        found = design(u, self.knots, self.degree, linear_ends=True).toarray()
        found[gone] = 0.0
        return found

    def combine(self, values: FloatArray, coef: FloatArray) -> FloatArray:
        """Return the B-splines at points times coefficients (size, D)."""
        u, gone = _with_gaps(to_unit(values[:, 0], self.low, self.high))
        found = design(u, self.knots, self.degree, linear_ends=True) @ coef
        found[gone] = 0.0
        return found


def uneven_knots(points: FloatArray, weight: FloatArray, size: int, degree: int) -> FloatArray:
    """Return knots at quantiles of points in [0, 1], with even steps beyond both ends.

    Ties may leave fewer knots than asked for; knots nearer than `_NEAR` are one.
    """
    inner = np.sort(place_knots(points, size - degree - 1, "quantile", weight))
    apart = [0.0]
    for knot in inner.tolist():
        if apart[-1] + _NEAR < knot < 1 - _NEAR:
            apart.append(knot)
    ends = np.array([*apart, 1.0])
    first, last = ends[1] - ends[0], ends[-1] - ends[-2]
    steps = np.arange(1.0, degree + 1)
    return np.concatenate([-first * steps[::-1], ends, 1 + last * steps])


def slope_changes(knots: FloatArray, degree: int) -> FloatArray:
    r"""Return the matrix of changes of slope between neighbouring B-splines on any knots.

    With xi the averages of the inner knots of each B-spline, where its coefficient counts most, its
    rows are

        h_j {(c_{j+1} - c_j) / (xi_{j+1} - xi_j) - (c_j - c_{j-1}) / (xi_j - xi_{j-1})}

    with h_j the mean of both gaps: zero for every straight line, none negative for a convex curve,
    free of units, and the second differences where knots are even.
    """
    size = len(knots) - degree - 1
    xi = np.array([knots[j + 1 : j + degree + 1].mean() for j in range(size)])
    gap = np.diff(xi)
    slopes = np.diff(np.eye(size), axis=0) / gap[:, None]
    return np.asarray(np.diff(slopes, axis=0) * ((gap[1:] + gap[:-1]) / 2)[:, None])


def uneven_penalty(knots: FloatArray, degree: int) -> FloatArray:
    """Return the penalty on changes of slope between neighbouring B-splines on uneven knots."""
    D = slope_changes(knots, degree)
    return np.asarray(D.T @ D)


@stored
@dataclass(frozen=True)
class RingBasis(_Combining):
    """B-splines on even knots around a ring: the end of the period meets its start."""

    low: float
    high: float
    size: int
    degree: int

    def at(self, values: FloatArray) -> FloatArray:
        """Return the B-splines at points (m, 1), wherever they lie on the ring."""
        u, gone = _with_gaps(to_unit(values[:, 0], self.low, self.high))
        inside = np.clip(u - np.floor(u), 0.0, 1.0)
        total = self.size + self.degree
        open_ = design(inside, even_knots(0.0, 1.0, total, self.degree), self.degree).toarray()
        found = open_[:, : self.size]
        found[:, : self.degree] += open_[:, self.size :]
        found[gone] = 0.0
        return np.ascontiguousarray(found)


def ring_penalty(size: int, order: int) -> FloatArray:
    """Return D'D of the differences of an order between neighbours around a ring."""
    D = np.eye(size)
    for _ in range(order):
        D = np.roll(D, -1, axis=0) - D
    return np.asarray(D.T @ D)


@stored
@dataclass(frozen=True, eq=False)
class PlateBasis(_Combining):
    """The thin-plate spline in few functions: its smoothest shapes, and the plane.

    Attributes
    ----------
    centre, scale : ndarray of shape (d,), float
        What is taken off each input, and the one unit of all.
    knots : ndarray of shape (k, d)
        Centres of the radial functions, in these units.
    mix : ndarray of shape (k, s)
        The shapes as sums of radial functions.
    """

    centre: FloatArray
    scale: float
    knots: FloatArray
    mix: FloatArray

    @property
    def size(self) -> int:
        """Number of shapes, with those of the plane."""
        return int(self.mix.shape[1] + self.knots.shape[1] + 1)

    def at(self, values: FloatArray) -> FloatArray:
        """Return shapes and plane at points (m, d)."""
        u = (values / self.scale) - self.centre
        gone = np.any(np.isnan(u), axis=1)
        u = np.where(gone[:, None], 0.0, u)
        found = np.column_stack([radial(u, self.knots) @ self.mix, np.ones(len(u)), u])
        found[gone] = 0.0
        return found

    def penalty(self) -> FloatArray:
        """Return the bending energy as a matrix: one for each shape, none for the plane."""
        free = self.knots.shape[1] + 1
        return np.diag(np.concatenate([np.ones(self.mix.shape[1]), np.zeros(free)]))


def plate_basis(points: FloatArray, weight: FloatArray, size: int, most: int = 400) -> PlateBasis:
    """Return the thin-plate basis of `size` functions for points (m, d) with their weights.

    The shapes are the leading eigenvectors of the radial functions at the points, or at `most` of
    them that are spread evenly over their order along a space-filling walk.
    """
    d = points.shape[1]
    largest = float(np.max(np.abs(points), initial=0.0)) or 1.0
    at = points / largest
    centre = np.average(at, axis=0, weights=weight)
    spread = float(np.sqrt(np.average(((at - centre) ** 2).sum(axis=1), weights=weight))) or 1.0
    knots = (at - centre) / spread
    if len(knots) > most:
        order = np.lexsort((knots % 0.25).T[::-1])
        order = order[np.lexsort(np.floor(knots[order] / 0.25).T[::-1])]
        knots = knots[order[np.linspace(0, len(order) - 1, most).round().astype(int)]]
    E = radial(knots, knots)
    values, vectors = np.linalg.eigh((E + E.T) / 2)
    lead = np.argsort(-np.abs(values), kind="stable")[:size]
    U, size_of = vectors[:, lead], values[lead]
    T = np.column_stack([np.ones(len(knots)), knots])
    # The shapes must leave planes alone: T'U c = 0.
    Z = np.linalg.qr(U.T @ T, mode="complete")[0][:, d + 1 :]
    bend, turn = np.linalg.eigh(Z.T @ (size_of[:, None] * Z))
    kept = bend > _UNSEEN * max(bend[-1], 0.0)
    # In units in which each shape has unit bending energy, smoothest last.
    mix = U @ (Z @ (turn[:, kept] / np.sqrt(bend[kept])))
    return PlateBasis(centre * largest / (spread * largest), spread * largest, knots, mix)


@stored
@dataclass(frozen=True)
class LevelsBasis:
    """One for the level of a row, zero for the others; a level of its own for missing values."""

    n_levels: int
    gaps: bool = False

    @property
    def size(self) -> int:
        """Number of levels, with that of missing values."""
        return self.n_levels + self.gaps

    def at(self, values: FloatArray) -> FloatArray:
        """Return the indicators at codes (m, 1)."""
        codes = values[:, 0]
        found = np.zeros((len(codes), self.size))
        gone = np.isnan(codes)
        here = np.flatnonzero(~gone & (codes < self.n_levels))
        found[here, codes[here].astype(np.intp)] = 1.0
        if self.gaps:
            found[gone, -1] = 1.0
        return found

    def combine(self, values: FloatArray, coef: FloatArray) -> FloatArray:
        """Return the coefficient of the level of each row: coefficients (size, D)."""
        codes = values[:, 0]
        padded = np.vstack([coef[: self.n_levels], coef[-1:] if self.gaps else 0 * coef[:1]])
        known = ~np.isnan(codes) & (codes < self.n_levels)
        return np.asarray(padded[np.where(known, codes, self.n_levels).astype(np.intp)])


@stored
@dataclass(frozen=True)
class IndicatorBasis(_Combining):
    """One where a column is a level, else zero."""

    code: int
    size: int = 1

    def at(self, values: FloatArray) -> FloatArray:
        """Return the indicator at codes (m, 1)."""
        return np.asarray(values[:, :1] == self.code, dtype=np.float64)


@stored
@dataclass(frozen=True)
class MissingBasis(_Combining):
    """One where a value is missing, else zero."""

    size: int = 1

    def at(self, values: FloatArray) -> FloatArray:
        """Return the indicator at points (m, 1)."""
        return np.asarray(np.isnan(values[:, :1]), dtype=np.float64)


@stored
@dataclass(frozen=True)
class ValueBasis(_Combining):
    """The value itself, less a centre, in a unit; zero where it is missing."""

    centre: float = 0.0
    scale: float = 1.0
    size: int = 1

    def at(self, values: FloatArray) -> FloatArray:
        """Return the values (m, 1)."""
        found = values[:, :1] / self.scale - self.centre / self.scale
        return np.where(np.isnan(found), 0.0, found)
