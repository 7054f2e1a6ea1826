"""Extreme points of points that may lie in a flat, corners of half-spaces, membership."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, spatial

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray

__all__ = ["Frame", "affine_frame", "corners", "extreme_points", "inside"]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Frame:
    """Points in coordinates of the flat they span, each coordinate about one unit wide.

    Attributes
    ----------
    coordinates : ndarray of shape (n, dimension)
        The points.
    dimension : int
        Of the flat.
    unit : float
        Volume of the unit cube of these coordinates.
    """

    coordinates: FloatArray
    dimension: int
    unit: float


def affine_frame(points: FloatArray) -> Frame:
    """Return points in coordinates of their flat."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = high / 2 - low / 2  # halves: no overflow
    wide = width > 0
    if not wide.any():
        return Frame(np.zeros((len(points), 0)), 0, 0.0)
    moving, scale = points[:, wide], width[wide]
    scaled = (moving / 2 - low[wide] / 2) / scale
    # Rounding of the inputs, in units of the width.
    noise = 16 * _EPS * float(np.max(np.maximum(np.abs(low), np.abs(high))[wide] / scale))
    centred = scaled - scaled.mean(axis=0)
    _, size, axes = np.linalg.svd(centred, full_matrices=False)
    cut = max(noise, 16 * _EPS * float(size[0])) * np.sqrt(max(centred.shape))
    dimension = int(np.sum(size > cut))
    full = dimension == centred.shape[1]
    # A full set keeps its columns, so that nothing is turned, and corners stay exact.
    coordinates = scaled if full else centred @ axes[:dimension].T
    with np.errstate(over="ignore", under="ignore"):
        if full:
            unit = float(np.prod(2 * scale))
        else:  # how the basis, in units of the columns, spans volume in the original ones
            basis = axes[:dimension] * (2 * scale)
            unit = float(np.prod(np.linalg.svd(basis, compute_uv=False)))
    return Frame(coordinates, dimension, unit)


def extreme_points(coordinates: FloatArray) -> tuple[IntArray, float]:
    """Return which points are extreme, and the volume of their hull."""
    d = coordinates.shape[1]
    if d == 0:
        return np.zeros(1, dtype=np.intp), 0.0
    if d == 1:
        line = coordinates[:, 0]
        ends = np.array([int(np.argmin(line)), int(np.argmax(line))])
        return np.sort(ends), float(line.max() - line.min())
    found = spatial.ConvexHull(coordinates)
    kept = found.vertices.astype(np.intp)
    if d == 2:  # counter-clockwise; points on an edge are no vertices
        kept = _without_flat(coordinates, kept)
        return np.roll(kept, -int(np.argmin(kept))), float(found.volume)
    kept = np.sort(kept)
    true = [
        i for i in range(len(kept))
        if not inside(coordinates[np.delete(kept, i)], coordinates[kept[i]], 1e-12)
    ]  # fmt: skip
    return kept[true], float(found.volume)


def _without_flat(points: FloatArray, around: IntArray) -> IntArray:
    """Leave out the points of a polygon at which it does not turn."""
    kept = list(around)
    i = 0
    while len(kept) > 2 and i < len(kept):
        a, b, c = (points[kept[(i + k) % len(kept)]] for k in (-1, 0, 1))
        turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
        if abs(turn) <= 1e-13:
            kept.pop(i)
            i = max(i - 1, 0)
        else:
            i += 1
    return np.array(kept, dtype=np.intp)


def inside(vertices: FloatArray, x: FloatArray, tol: float) -> bool:
    """Return True if a point is a convex combination of others, within a share of their spread."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    width = high / 2 - low / 2
    size = np.where(width > 0, width, max(float(width.max()), 1e-300))
    V, at = (vertices / 2 - low / 2) / size, (x / 2 - low / 2) / size
    if np.any(at < -tol) or np.any(at > 1 + tol):
        return False
    # The least sum of deviations: always feasible, zero in the hull.
    m, d = V.shape
    cost = np.concatenate([np.zeros(m), np.ones(2 * d)])
    equal = np.block([[V.T, np.eye(d), -np.eye(d)], [np.ones((1, m)), np.zeros((1, 2 * d))]])
    found = optimize.linprog(cost, A_eq=equal, b_eq=np.append(at, 1.0), bounds=(0, None))
    return bool(found.status == 0 and found.fun <= max(tol, 1e-12) * d)


def corners(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return the corners of ``Ax <= b``, or say why there are none."""
    size = np.linalg.norm(A, axis=1)
    if np.any((size == 0) & (b < 0)):
        raise InputError("A row of A is zero and its limit negative: no x satisfies it.")
    A, b, size = A[size > 0], b[size > 0], size[size > 0]
    d = A.shape[1]
    A, b = A / size[:, None], b / size
    # The centre of the largest ball inside.
    ball: Any = optimize.linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([A, np.ones(len(A))]),
        b_ub=b,
        bounds=[(None, None)] * d + [(0, None)],
    )
    if ball.status == 2:
        raise InputError("No x satisfies all of Ax <= b; take out the limits that contradict.")
    if ball.status == 0 and ball.x[-1] <= 1e-10 * (1 + float(np.max(np.abs(b)))):
        raise InputError(
            "The set Ax <= b has no interior: some limits hold with equality; solve for those "
            "coordinates first."
        )
    # Bounded exactly if no direction can be followed for ever.
    for sign in (1.0, -1.0):
        for j in range(d):
            way: Any = optimize.linprog(
                -sign * np.eye(d)[j], A_ub=A, b_ub=np.zeros(len(A)), bounds=(-1, 1)
            )
            if way.status != 0 or way.fun < -1e-9:
                raise InputError(
                    f"The set Ax <= b is unbounded in coordinate {j}; add limits until it is "
                    "a polytope."
                )
    if d == 1:
        column = A[:, 0]
        return np.array([[np.max(b[column < 0] / column[column < 0])],
                         [np.min(b[column > 0] / column[column > 0])]])  # fmt: skip
    found = spatial.HalfspaceIntersection(np.column_stack([A, -b]), ball.x[:-1])
    points = np.asarray(found.intersections)
    points = points[np.all(np.isfinite(points), axis=1)]
    # Corners where many sides meet come several times, apart by rounding.
    spread = np.ptp(points, axis=0)
    cells = np.round(points / np.where(spread > 0, spread, 1.0), 9)
    return points[np.sort(np.unique(cells, axis=0, return_index=True)[1])] + 0.0
