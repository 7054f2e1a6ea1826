"""Products of B-splines, one factor per input, and the least squares problem in them.

Symbols
-------
B       products of B-splines at the distinct points, q of them, a sparse matrix
W       total weight of the rows at each point
G       B'WB
P       what the penalty makes of the coefficients: c'Pc is the sum over the inputs j of the
        integral of the squared derivative (of order 2) of the surface along j
Z       coordinates in which both are diagonal: Z'GZ = diag(seen), Z'PZ = diag(rough)
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from bottega.basis.spline_functions import design, penalty
from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray
from bottega.smooth._kernels.banded import sparse_quadratic
from bottega.smooth._path.penalized import PenalizedAxes, penalized_axes
from bottega.smooth._surface.points import DistinctPoints
from bottega.smooth._surface.surface import SurfaceFit

# Directions in which the data say this much less than in their best one are not seen at all.
_UNSEEN = 1e-10


@stored
@dataclass(frozen=True)
class TensorBasis:
    """Products of B-splines on the unit cube."""

    knots: tuple[FloatArray, ...]  # all knots of each input
    degree: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of B-splines of each input."""
        return tuple(len(knots) - self.degree - 1 for knots in self.knots)

    def __call__(self, u: FloatArray, orders: tuple[int, ...] = ()) -> Any:
        """Return the products at each point, a sparse matrix; along tangents beyond the cube.

        With `orders`, their partial derivative, by its order in each input.
        """
        orders = orders or (0,) * len(self.knots)
        n = len(u)
        values, columns = np.ones((n, 1)), np.zeros((n, 1), dtype=np.int64)
        for j, (knots, size) in enumerate(zip(self.knots, self.sizes, strict=True)):
            local = design(u[:, j], knots, self.degree, orders[j], linear_ends=True)
            places: IntArray = local.first[:, None] + np.arange(self.degree + 1)
            values = (values[:, :, None] * local.values[:, None, :]).reshape(n, -1)
            columns = (columns[:, :, None] * size + places[:, None, :]).reshape(n, -1)
        width = values.shape[1]
        return sparse.csr_array(
            (values.ravel(), columns.ravel(), np.arange(0, n * width + 1, width)),
            shape=(n, int(np.prod(self.sizes))),
        )

    def roughness(self) -> tuple[FloatArray, int]:
        """Return P and the number of functions that it leaves free."""
        order = min(2, self.degree)
        mass = [penalty(knots, self.degree, 0) for knots in self.knots]
        bend = [penalty(knots, self.degree, order) for knots in self.knots]
        total: Any = 0.0
        for j in range(len(mass)):
            factors: list[Any] = [bend[k] if k == j else mass[k] for k in range(len(mass))]
            total = total + reduce(np.kron, factors)
        return np.asarray(total), order ** len(mass)


@dataclass(frozen=True)
class TensorFit(SurfaceFit):
    """The decomposition for one set of points and knots."""

    points: DistinctPoints
    basis: TensorBasis
    axes: PenalizedAxes

    def shares(self, alpha: FloatArray) -> FloatArray:
        return self.axes.shares(alpha)

    def at_points(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        m, Z, gains = len(self.points.u), self.axes.Z, self.axes.gains(alpha)
        B = self.basis(self.points.u)
        values, columns = (each.reshape(m, -1) for each in (B.data, B.indices))
        leverage = np.empty((m, len(alpha)))
        for i in range(len(alpha)):
            M = np.ascontiguousarray((Z * gains[:, i]) @ Z.T)
            leverage[:, i] = self.points.root**2 * sparse_quadratic(values, columns, M)
        return B @ self.axes.coef(alpha), leverage


def decompose_tensor(points: DistinctPoints, basis: TensorBasis) -> TensorFit:
    """Find the coordinates in which data and penalty are both diagonal."""
    B = basis(points.u)
    total = points.root**2
    G = (B.T @ (B * total[:, None])).toarray()
    P, free = basis.roughness()
    if free > 1:
        _check_determined(points)
    right = B.T @ (total * points.mean)
    return TensorFit(points, basis, penalized_axes(G, P, right, free=free, unseen=_UNSEEN))


def _check_determined(points: DistinctPoints) -> None:
    """Refuse points that leave a product of straight lines open: no penalty would close it."""
    u = points.u
    products = reduce(
        lambda found, x: np.hstack([found, found * x[:, None]]), u.T, np.ones((len(u), 1))
    )
    sizes = np.linalg.svd(np.linalg.qr(products, mode="r"), compute_uv=False)
    if len(u) < products.shape[1] or sizes[-1] < 1e-10 * sizes[0]:
        raise InputError(
            f"The points lie on a line or curve on which the {products.shape[1]} products of "
            f"straight lines of {u.shape[1]} inputs are not distinct; leave out an input that "
            "follows from the others."
        )
