"""Least squares over the entries that are known, in units in which ratings have size one."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bottega.core.lazy import cached_property
from bottega.core.parallel import in_threads, spare_threads
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray, IntArray
from bottega.latent._kernels.ratings_descent import fitted_entries
from bottega.latent._kernels.ratings_exact import solve_rows
from bottega.latent._kernels.ratings_gradient import step_rows
from bottega.latent._ratings.observed import Ratings

__all__ = ["FactorPair", "FactorProblem", "RatingsPenalty", "RatingsSide"]

_THREADED = 10**6  # products of one half sweep from which on threads are worth their start


@dataclass(frozen=True)
class RatingsPenalty:
    """What the squares of factors and biases cost, in the units of a `FactorProblem`."""

    users: float
    items: float
    biases: float

    def columns(self, side: str, size: int, biased: bool) -> FloatArray:
        """Return the penalty of each column of the factors of a side."""
        factor = self.users if side == "users" else self.items
        return np.append(np.full(size - biased, factor), np.full(int(biased), self.biases))

    def of(self, side: str, factors: FloatArray, biased: bool) -> float:
        """Return what the factors of a side cost."""
        squares = np.einsum("ij,ij->j", factors, factors)
        return float(squares @ self.columns(side, factors.shape[1], biased))


@dataclass
class FactorPair:
    """Factors of users and items, one row each; the last column is a bias where there are any."""

    users: FloatArray
    items: FloatArray

    def copy(self) -> "FactorPair":
        """Return factors that can be changed without changing these."""
        return FactorPair(self.users.copy(), self.items.copy())


@dataclass(frozen=True)
class RatingsSide:
    """The entries, sorted by the rows of one side: those of row x from ``start[x]`` on."""

    name: str
    start: IntArray
    column: IntArray
    order: Any  # positions of the entries among those sorted by user
    weight: FloatArray

    @classmethod
    def of(
        cls, name: str, rows: IntArray, column: IntArray, count: int, weight: Any
    ) -> "RatingsSide":
        """Sort entries by their rows."""
        start = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=count), out=start[1:])
        order: Any = slice(None)
        if name != "users":  # a stable sort of row numbers, each counted once
            entries = np.arange(len(rows))
            order = csr_array((entries, rows, [0, len(rows)]), shape=(1, count)).tocsc().data
        return cls(name, start, column[order].astype(np.int64), order, weight[order])

    @cached_property
    def confidence(self) -> tuple[FloatArray, float]:
        """The weights plus one, those of implicit feedback, and their sum."""
        found = 1.0 + self.weight
        return found, float(found.sum())

    @property
    def counts(self) -> IntArray:
        """Number of entries per row."""
        return np.diff(self.start)

    def spans(self, size: int) -> list[tuple[int, int]]:
        """Return stretches of rows with about as many entries each, for threads."""
        rows, threads = len(self.start) - 1, spare_threads()
        if threads == 1 or len(self.column) * size < _THREADED:
            return [(0, rows)]
        cuts = np.linspace(0, len(self.column), 4 * threads + 1)[1:-1]
        edges = [0, *np.unique(np.searchsorted(self.start, cuts)).tolist(), rows]
        return [(a, b) for a, b in pairwise(edges) if a < b]


@dataclass(frozen=True)
class FactorProblem:
    """Weighted least squares over known entries, or over all with `implicit` feedback.

    Attributes
    ----------
    users, items : RatingsSide
        The entries sorted by user and by item.
    user, item : ndarray of int
        Row and column of each entry, sorted by user.
    weight : ndarray
        Weight of each entry; with implicit feedback what its confidence exceeds 1 by.
    target : ndarray
        Ratings less `mean`, in `unit`; with implicit feedback ones.
    mean, unit : float
        Centre and size of the ratings.
    biased : bool
        Whether users and items have biases.
    implicit : bool
        Whether entries that are not known are zeros of weight one.
    """

    users: RatingsSide
    items: RatingsSide
    user: IntArray
    item: IntArray
    weight: FloatArray
    target: FloatArray
    mean: float
    unit: float
    biased: bool
    implicit: bool

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        *,
        biased: bool,
        confidence: float | None = None,
        center: tuple[float, float] | None = None,
    ) -> "FactorProblem":
        """Return the problem of ratings, or of counts with a `confidence`; `center`: mean, unit."""
        n, m = ratings.shape
        implicit = confidence is not None
        weight, target = ratings.weight, ratings.value
        mean, unit = 0.0, 1.0
        if confidence is not None:
            weight, target = confidence * ratings.value, np.ones(ratings.size)
        else:
            mean, unit = _center(ratings, biased) if center is None else center
            target = (ratings.value - mean) / unit
        user, item = ratings.user.astype(np.int64), ratings.item.astype(np.int64)
        by_user = RatingsSide.of("users", user, item, n, weight)
        by_item = RatingsSide.of("items", item, user, m, weight)
        biased = biased and not implicit
        return cls(by_user, by_item, user, item, weight, target, mean, unit, biased, implicit)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of users and items."""
        return len(self.users.start) - 1, len(self.items.start) - 1

    def solve(
        self,
        side: RatingsSide,
        rows: FloatArray,
        other: FloatArray,
        penalty: FloatArray,
        steps: int = 0,
    ) -> tuple[float, int]:
        """Set the factors `rows` of a side to the best ones, given those of the other side.

        With `steps` they are improved by so many conjugate gradient steps instead. Returned are
        the objective without the penalty of the other side, and the number of singular rows.
        """
        size = other.shape[1]
        features = np.array(other, order="C")
        if self.biased:
            offset = other[:, -1][side.column]
            features[:, -1] = 1.0
            gap = self.target[side.order] - offset
            right = side.weight * gap
            constant = float(right @ gap)
        elif self.implicit:
            right, constant = side.confidence
        else:
            gap = self.target[side.order]
            right = side.weight * gap
            constant = float(right @ gap)
        gram = features.T @ features if self.implicit else np.zeros((size, size))
        gain = np.empty(len(rows))
        shared = (side.start, side.column, side.weight, right, features, gram, penalty)

        def work(span: tuple[int, int]) -> int:
            if steps:
                step_rows(*shared, span, steps, rows, gain)
                return 0
            return int(solve_rows(*shared, span, rows, gain))

        spans = side.spans(size * (4 * steps or size))
        singular = [work(spans[0])] if len(spans) == 1 else in_threads(work, spans)
        return constant - float(gain.sum()), sum(singular)

    def fitted(self, factors: FactorPair) -> FloatArray:
        """Return what factors say of each known entry, in the units of the problem."""
        return fitted_entries(self.user, self.item, factors.users, factors.items, self.biased)

    def objective(self, factors: FactorPair, penalty: RatingsPenalty) -> float:
        """Return the penalised sum of squares, in the units of the problem."""
        gap = self.target - self.fitted(factors)
        total = penalty.of("users", factors.users, self.biased)
        total += penalty.of("items", factors.items, self.biased)
        if not self.implicit:
            return total + float((self.weight * gap) @ gap)
        grams = (factors.users.T @ factors.users) * (factors.items.T @ factors.items)
        told = self.target - gap  # of which the sum over all pairs has too much
        return total + float(grams.sum() - told @ told + (1 + self.weight) * gap @ gap)


def _center(ratings: Ratings, biased: bool) -> tuple[float, float]:
    total = ratings.weight.sum()
    mean = float(ratings.weight @ ratings.value / total) if biased else 0.0
    gap = ratings.value - mean
    most = float(np.max(np.abs(gap), initial=0.0))
    size = float(np.max(np.abs(ratings.value), initial=0.0))
    if most <= 1e-13 * size or most == 0:  # all ratings are equal
        return mean, size or 1.0
    return mean, most * float(np.sqrt(ratings.weight @ (gap / most) ** 2 / total))


def fitted_pairs(users: FloatArray, items: FloatArray, x: IntArray, i: IntArray) -> FloatArray:
    """Return the inner products of pairs of rows, in blocks that fit into memory."""
    found = np.empty(len(x))
    for rows in split_rows(len(x), max(1, 2**22 // max(users.shape[1], 1))):
        found[rows] = np.einsum("ij,ij->i", users[x[rows]], items[i[rows]])
    return found
