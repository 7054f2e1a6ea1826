"""The thin-plate spline as a ridge regression in coordinates where everything is diagonal.

Symbols
-------
u       distinct points, m of them, scaled by one number for all inputs
W, D    total weight of the rows at each point, and its square root
z       D times the mean response at each point
T       (1, u): what is free of penalty
E       radial functions phi(|u - k|) of the knots k (the points themselves, or some of them)
Q, R    D T = Q R
V, e    orthonormal shapes at the points, free of planes, and how well the data see each:
        the fit is ``Q Q'z + V {e / (e + alpha)} V'z``
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._path.penalized import few_threads
from bottega.smooth._surface.points import DistinctPoints
from bottega.smooth._surface.surface import SurfaceFit

_CHUNK = 4_000_000  # numbers in a block of radial functions
_KEPT = 40_000_000  # shapes at the points are kept up to so many numbers, else made again
# Shapes that the knots or the data see this much less than the best one are rounding.
_UNSEEN = 1e-13


def radial(u: FloatArray, knots: FloatArray) -> FloatArray:
    r"""Return the radial functions of the knots at each point.

    They are the fundamental solutions of the squared Laplacian, r^3/12, r^2 log(r)/(8 pi) and
    -r/(8 pi) in one, two and three inputs: then the bending energy of ``sum_k c_k phi_k`` is
    exactly ``c'Ec``.
    """
    d = knots.shape[1]
    if d == 1:
        return np.asarray(np.abs(u - knots.T) ** 3 / 12)
    if d == 3:
        return np.asarray(cdist(u, knots) / (-8 * np.pi))
    squared = cdist(u, knots, "sqeuclidean")
    return np.asarray(squared * np.log(np.where(squared > 0, squared, 1.0)) / (16 * np.pi))


def radial_derivative(u: FloatArray, knots: FloatArray, orders: tuple[int, ...]) -> FloatArray:
    """Return a partial derivative of the radial functions at each point.

    Up to the third in one input, else a first one. Where a derivative jumps (the third in one
    input, the first at a knot in three) it is half way between both sides.
    """
    d = knots.shape[1]
    j = int(np.argmax(orders))
    gap = u[:, j, None] - knots[:, j]
    if d == 1:
        size = np.abs(gap)
        return np.asarray((gap * size / 4, size / 2, np.sign(gap) / 2)[orders[0] - 1])
    if d == 3:
        r = cdist(u, knots)
        return np.asarray(gap / (-8 * np.pi * np.where(r > 0, r, 1.0)))
    squared = cdist(u, knots, "sqeuclidean")
    return np.asarray(gap * (np.log(np.where(squared > 0, squared, 1.0)) + 1) / (8 * np.pi))


def with_ones(u: FloatArray) -> FloatArray:
    """Return (1, u)."""
    return np.column_stack([np.ones(len(u)), u])


def _plane_derivative(u: FloatArray, orders: tuple[int, ...]) -> FloatArray:
    """Return a partial derivative of (1, u)."""
    found = np.zeros((len(u), 1 + u.shape[1]))
    if sum(orders) == 1:
        found[:, 1 + int(np.argmax(orders))] = 1.0
    return found


@stored
@dataclass(frozen=True)
class ThinPlateBasis:
    """What turns a point into the coordinates of the fit."""

    knots: FloatArray  # centres of the radial functions
    mix: FloatArray  # the shapes as sums of radial functions
    plane: FloatArray  # the part of them that is a plane at the points, which is taken off
    free: FloatArray  # inverse of R
    seen: FloatArray  # e

    def rows(
        self, u: FloatArray, orders: tuple[int, ...] = ()
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Give, chunk by chunk, the rows of the plane part and of the shapes (times e).

        With `orders`, those of a partial derivative (`radial_derivative`).
        """
        step = max(1, _CHUNK // len(self.knots))
        for start in range(0, len(u), step):
            part = slice(start, start + step)
            if sum(orders):
                plane = _plane_derivative(u[part], orders)
                functions = radial_derivative(u[part], self.knots, orders)
            else:
                plane, functions = with_ones(u[part]), radial(u[part], self.knots)
            b = plane @ self.free
            yield part, b, functions @ self.mix - b @ self.plane


@dataclass(frozen=True)
class ThinPlateFit(SurfaceFit):
    """The decomposition for one set of points."""

    points: DistinctPoints
    basis: ThinPlateBasis
    Q: FloatArray
    V: FloatArray | None  # None: too large to keep, made chunk by chunk
    on_plane: FloatArray
    on_shapes: FloatArray

    @property
    def seen(self) -> FloatArray:
        """How well the data see each shape."""
        return self.basis.seen

    def blocks(self) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Give the rows of Q and V, chunk by chunk."""
        if self.V is not None:
            yield slice(None), self.Q, self.V
            return
        for part, _, shapes in self.basis.rows(self.points.u):
            yield part, self.Q[part], shapes * (self.points.root[part, None] / self.seen)

    def shares(self, alpha: FloatArray) -> FloatArray:
        return np.vstack([np.ones((len(self.on_plane), len(alpha))), self._bent_shares(alpha)])

    def _bent_shares(self, alpha: FloatArray) -> FloatArray:
        """Return e / (e + alpha): planes have eigenvalue one."""
        return np.asarray(self.seen[:, None] / (self.seen[:, None] + alpha))

    def at_points(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        m, share = len(self.points.u), self._bent_shares(alpha)
        fitted, left = np.empty((2, m, len(alpha)))
        for part, Q, V in self.blocks():
            fitted[part] = (Q @ self.on_plane)[:, None] + V @ (share * self.on_shapes[:, None])
            # 1 - h as a sum of positive terms: near interpolation nothing cancels.
            squares = V**2
            left[part] = squares @ (1 - share)
            if len(self.on_plane) + len(self.seen) < m:
                left[part] += (1 - (Q**2).sum(axis=1) - squares.sum(axis=1))[:, None]
        return fitted / self.points.root[:, None], 1 - left

    def coordinates(self, alpha: FloatArray) -> FloatArray:
        """Return V'z / (e + alpha), one column per penalty: what multiplies `basis.rows`."""
        return np.asarray(self.on_shapes[:, None] / (self.seen[:, None] + alpha))


def decompose(points: DistinctPoints, knots: FloatArray | None = None) -> ThinPlateFit:
    """Decompose the problem: exactly, or with radial functions at fewer knots than points."""
    T = points.root[:, None] * with_ones(points.u)
    Q, R = np.linalg.qr(T)
    _check_spread(R)
    free = linalg.solve_triangular(R, np.eye(len(R)))
    z = points.root * points.mean
    return _full(points, Q, free, z) if knots is None else _few(points, Q, free, z, knots)


def _check_spread(R: FloatArray) -> None:
    sizes = np.linalg.svd(R, compute_uv=False)
    if sizes[-1] < 1e-10 * sizes[0]:
        where = "a line" if len(R) == 3 else "a plane"
        raise InputError(
            f"All points lie on {where}, so a surface over {len(R) - 1} inputs is not determined; "
            "leave out an input that follows from the others."
        )


def _full(points: DistinctPoints, Q: FloatArray, free: FloatArray, z: FloatArray) -> ThinPlateFit:
    q, root = Q.shape[1], points.root
    A = root[:, None] * radial(points.u, points.u) * root
    cross = Q.T @ A
    inside = A - Q @ cross
    inside -= (inside @ Q) @ Q.T
    # The planes get an eigenvalue of their own, far below all others: so they come first.
    below = -2 * (np.abs(inside).sum(axis=0).max() or 1.0)
    values, vectors = _eigh(inside + below * (Q @ Q.T))
    e, V = np.maximum(values[q:], 0.0), vectors[:, q:]
    basis = ThinPlateBasis(points.u, root[:, None] * V, cross @ V, free, e)
    return ThinPlateFit(points, basis, Q, V, Q.T @ z, V.T @ z)


def _few(
    points: DistinctPoints, Q: FloatArray, free: FloatArray, z: FloatArray, knots: FloatArray
) -> ThinPlateFit:
    q, k = Q.shape[1], len(knots)
    Z = np.linalg.qr(with_ones(knots), mode="complete")[0][:, q:]
    bending, turn = _eigh(Z.T @ radial(knots, knots) @ Z)
    kept = bending > _UNSEEN * bending[-1]
    start = Z @ (turn[:, kept] / np.sqrt(bending[kept]))  # radial parts of unit bending energy
    r = start.shape[1]
    gram, on_plane, right = np.zeros((r, r)), np.zeros((q, r)), np.zeros(r)
    step = max(1, _CHUNK // k)
    for first in range(0, len(z), step):
        part = slice(first, first + step)
        H = points.root[part, None] * (radial(points.u[part], knots) @ start)
        gram += H.T @ H
        on_plane += Q[part].T @ H
        right += H.T @ z[part]
    values, U = _eigh(gram - on_plane.T @ on_plane)
    kept = values > _UNSEEN * values[-1]
    e, U = values[kept], U[:, kept]
    size = np.sqrt(e)
    c = Q.T @ z
    basis = ThinPlateBasis(knots, start @ (U * size), (on_plane @ U) * size, free, e)
    fit = ThinPlateFit(points, basis, Q, None, c, (right - on_plane.T @ c) @ U / size)
    if len(z) * len(e) > _KEPT:
        return fit
    return replace(fit, V=np.concatenate([V for _, _, V in fit.blocks()]))


def _eigh(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    with few_threads(len(A)):
        values, vectors = np.linalg.eigh((A + A.T) / 2)
    return values, vectors
