"""Convex sets to search for a vector of least loss: ball, box, simplex, l1 ball, everything.

Each gives what an interior-point method asks of a set, written as ``g_k(u) >= 0`` with concave
g_k: a point inside, the slacks g_k, their slopes, the curvature of the barrier
``-sum_k log g_k``, how far a direction may be followed; and the largest value of
``s.u - ridge/2 ||u||^2`` on the set, from which certificates are made.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bottega.core.errors import ParameterError, did_you_mean
from bottega.core.typing import FloatArray
from bottega.optimize.projections import onto_simplex

__all__ = ["REGIONS", "Ball", "Box", "Everything", "L1Ball", "Region", "Simplex", "get_region"]


@dataclass(frozen=True)
class Region:
    """A convex set of coefficient vectors.

    The slacks of its flat sides are ``offset + turn u_j``, for each turn (-1 or 1) and coordinate.
    """

    radius: float = 1.0

    _words: ClassVar[str]
    _turns: ClassVar[FloatArray] = np.zeros(0)

    def __post_init__(self) -> None:
        if not self.radius > 0 or not math.isfinite(self.radius):
            raise ParameterError(
                f"radius={self.radius!r} is not allowed; give a number above 0 (a region of radius "
                "0 holds the zero vector only)."
            )

    @property
    def words(self) -> str:
        """The set in words."""
        return self._words.format(self.radius)

    @property
    def _offset(self) -> float:
        return self.radius

    def start(self, d: int) -> FloatArray:
        """Return a point well inside."""
        return np.zeros(d)

    def slacks(self, u: FloatArray) -> FloatArray:
        """Return the g_k(u), positive inside."""
        return np.ravel(self._offset + self._turns[:, None] * u)

    def slopes(self, u: FloatArray, step: FloatArray) -> FloatArray:
        """Return how fast the slacks change along a step."""
        return np.ravel(self._turns[:, None] * step)

    def barrier_gradient(self, u: FloatArray) -> FloatArray:
        """Return the gradient of the barrier."""
        sides = self.slacks(u).reshape(len(self._turns), len(u))
        return np.asarray(-(self._turns[:, None] / sides).sum(axis=0))

    def curvature(self, u: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return ``sum_k m_k (-g_k'') + (m_k / g_k) g_k' g_k'^T``; m_k = 1 / g_k: the barrier's."""
        sides = (multipliers / self.slacks(u)).reshape(len(self._turns), len(u))
        return np.diag(sides.sum(axis=0))

    def reach(self, u: FloatArray, step: FloatArray) -> float:
        """Return the largest t for which ``u + t * step`` stays in the set."""
        room, pace = self.slacks(u), -self.slopes(u, step)
        moving = pace > 0
        return float(np.min(room[moving] / pace[moving])) if moving.any() else math.inf

    def newton_step(self, solve: Any, gradient: FloatArray) -> FloatArray:
        """Return the step to the minimum of the quadratic model; `solve` applies its inverse."""
        return -np.asarray(solve(gradient))

    @abstractmethod
    def conjugate(self, s: FloatArray, ridge: float = 0.0) -> float:
        """Return the largest ``s.u - ridge/2 ||u||^2`` over the set."""


@dataclass(frozen=True)
class Ball(Region):
    """All u with ``||u|| <= radius``."""

    _words: ClassVar[str] = "the ball of radius {0:g}"

    def slacks(self, u: FloatArray) -> FloatArray:
        """Return ``(radius^2 - ||u||^2) / 2``."""
        norm = np.linalg.norm(u)
        return np.array([(self.radius - norm) * (self.radius + norm) / 2])

    def slopes(self, u: FloatArray, step: FloatArray) -> FloatArray:
        """Return how fast the slacks change along a step."""
        return np.array([-(u @ step)])

    def barrier_gradient(self, u: FloatArray) -> FloatArray:
        """Return the gradient of the barrier."""
        return np.asarray(u / self.slacks(u))

    def curvature(self, u: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return the curvature of the barrier with multipliers."""
        return np.asarray(
            np.eye(len(u)) * multipliers + np.outer(u, u) * (multipliers / self.slacks(u))
        )

    def reach(self, u: FloatArray, step: FloatArray) -> float:
        """Return the largest t for which ``u + t * step`` stays in the set."""
        a, b, c = float(step @ step), float(u @ step), 2 * float(self.slacks(u)[0])
        if a == 0:
            return math.inf
        root = math.sqrt(b * b + a * c)
        return c / (b + root) if b > 0 else (root - b) / a

    def conjugate(self, s: FloatArray, ridge: float = 0.0) -> float:
        """Return the largest ``s.u - ridge/2 ||u||^2`` over the set."""
        norm = float(np.linalg.norm(s))
        length = self.radius if ridge * self.radius <= norm else norm / ridge
        return length * (norm - ridge * length / 2)


@dataclass(frozen=True)
class Box(Region):
    """All u with ``-radius <= u_j <= radius``."""

    _words: ClassVar[str] = "the box [-{0:g}, {0:g}] in each coordinate"
    _turns: ClassVar[FloatArray] = np.array([-1.0, 1.0])

    def conjugate(self, s: FloatArray, ridge: float = 0.0) -> float:
        """Return the largest ``s.u - ridge/2 ||u||^2`` over the set."""
        size = np.abs(s)
        lengths = np.full_like(size, self.radius)
        if ridge > 0:
            lengths = np.minimum(lengths, size / ridge)
        return float(np.sum(lengths * (size - ridge * lengths / 2)))


@dataclass(frozen=True)
class Simplex(Region):
    """All u with ``u_j >= 0`` that sum to the radius."""

    _turns: ClassVar[FloatArray] = np.ones(1)
    _offset: ClassVar[float] = 0.0

    @property
    def words(self) -> str:
        """The set in words."""
        total = "" if self.radius == 1 else f" of sum {self.radius:g}"
        return f"the simplex{total}"

    def start(self, d: int) -> FloatArray:
        """Return the point with equal shares."""
        return np.full(d, self.radius / d)

    def newton_step(self, solve: Any, gradient: FloatArray) -> FloatArray:
        """Return the step of the quadratic model that does not change the sum."""
        along, ones = solve(gradient), solve(np.ones(len(gradient)))
        step = np.asarray(ones * (along.sum() / ones.sum()) - along)
        return step - step.mean()

    def conjugate(self, s: FloatArray, ridge: float = 0.0) -> float:
        """Return the largest ``s.u - ridge/2 ||u||^2`` over the set."""
        if ridge == 0:
            return self.radius * float(np.max(s))
        best = onto_simplex(s / ridge, self.radius)
        return float(s @ best - ridge / 2 * (best @ best))


@dataclass(frozen=True)
class L1Ball(Region):
    """All u whose absolute values sum to at most the radius; searched as a simplex."""

    _words: ClassVar[str] = "the l1 ball of radius {0:g}"

    def conjugate(self, s: FloatArray, ridge: float = 0.0) -> float:
        """Return the largest ``s.u`` over the set."""
        assert ridge == 0
        return self.radius * float(np.max(np.abs(s)))


@dataclass(frozen=True)
class Everything(Region):
    """All u; the radius has no meaning."""

    _words: ClassVar[str] = "all vectors"

    def conjugate(self, s: FloatArray, ridge: float = 0.0) -> float:
        """Return the largest ``s.u - ridge/2 ||u||^2`` over the set: infinite without ridge."""
        if ridge == 0:
            return math.inf if np.any(s) else 0.0
        return float(s @ s) / (2 * ridge)


REGIONS: dict[str, type[Region]] = {
    "ball": Ball,
    "box": Box,
    "simplex": Simplex,
    "l1_ball": L1Ball,
    "all": Everything,
}


def get_region(name: str | Region, radius: float | None = None) -> Region:
    """Return a region by its name, or the region itself.

    Examples
    --------
    >>> get_region("box", 2.0).words
    'the box [-2, 2] in each coordinate'
    """
    if isinstance(name, Region):
        return name
    if not isinstance(name, str) or name not in REGIONS:
        raise ParameterError(
            f"{name!r} is not a known region; choose one of {', '.join(REGIONS)}."
            + did_you_mean(str(name), REGIONS)
        )
    return REGIONS[name](1.0 if radius is None else float(radius))
