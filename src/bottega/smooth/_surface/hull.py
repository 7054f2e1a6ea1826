"""Which points lie inside the convex hull of the data: elsewhere a smoother extrapolates."""

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from bottega.core.errors import InputError
from bottega.core.typing import BoolArray, FloatArray

_MOST_FACETS_FOR = 4  # inputs up to which the facets of the hull are found
_ROUNDING = 1e-9  # of the spread of the points
_BLOCK = 4096  # points tested at once


def inside_hull(points: Any, X: Any) -> BoolArray:
    r"""Return which rows of X lie in the convex hull of `points` (its border counts as inside).

    Parameters
    ----------
    points : array-like of shape (n, p)
        The data. They may lie on a line or a plane, or all at one place.
    X : array-like of shape (m, p)
        Points to test.

    Returns
    -------
    ndarray of bool, shape (m,)

    Notes
    -----
    One input: the range. Up to four: the facets of the hull, about n log n operations. Beyond, a
    linear program for each point that is inside the box of the data: is it
    :math:`\sum_i \lambda_i x_i` with :math:`\lambda_i \ge 0` of sum one? In many inputs nearly all
    new points are outside: that is the curse of dimensionality, not an error.

    Examples
    --------
    >>> inside_hull([[0, 0], [1, 0], [0, 1]], [[0.2, 0.2], [0.8, 0.8]])
    array([ True, False])
    """
    data, Z = (np.asarray(each, dtype=np.float64) for each in (points, X))
    if data.ndim != 2 or Z.ndim != 2 or data.shape[1] != Z.shape[1] or not len(data):
        raise InputError(
            f"points has shape {data.shape} and X {Z.shape}: both need the same columns, and "
            "points at least one row."
        )
    spread = np.ptp(data, axis=0)
    center, unit = data.min(axis=0), np.where(spread > 0, spread, 1.0)
    data, Z = (data - center) / unit, (Z - center) / unit
    inside = np.all((Z >= -_ROUNDING) & (spread / unit >= Z - _ROUNDING), axis=1)
    if data.shape[1] > 1 and np.any(inside):
        inside[inside] = _in_flat(data, Z[inside])
    return inside


def _in_flat(data: FloatArray, Z: FloatArray) -> BoolArray:
    """Test points against data that may lie in a flat of lower dimension."""
    middle = data.mean(axis=0)
    _, length, axes = np.linalg.svd(data - middle, full_matrices=False)
    axes = axes[length > _ROUNDING * max(length[0], 1.0) * np.sqrt(len(data))]
    data, moved = (data - middle) @ axes.T, Z - middle
    Z = moved @ axes.T
    inside: BoolArray = np.max(np.abs(moved - Z @ axes), axis=1) <= 10 * _ROUNDING
    if len(axes) == 1:
        inside &= (Z[:, 0] >= data.min() - _ROUNDING) & (Z[:, 0] <= data.max() + _ROUNDING)
    elif len(axes) > 1:
        test = _in_facets if len(axes) <= _MOST_FACETS_FOR else _by_program
        inside[inside] = test(data, Z[inside])
    return inside


def _in_facets(data: FloatArray, Z: FloatArray) -> BoolArray:
    facets = ConvexHull(data).equations
    blocks = [
        np.all(Z[i : i + _BLOCK] @ facets[:, :-1].T + facets[:, -1] <= _ROUNDING, axis=1)
        for i in range(0, len(Z), _BLOCK)
    ]
    return np.concatenate(blocks) if blocks else np.ones(0, dtype=bool)


def _by_program(data: FloatArray, Z: FloatArray) -> BoolArray:
    same = {row.tobytes() for row in data}
    equal = np.vstack([data.T, np.ones(len(data))])
    cost = np.zeros(len(data))

    def is_mixture(point: FloatArray) -> bool:
        if point.tobytes() in same:
            return True
        return bool(linprog(cost, A_eq=equal, b_eq=np.append(point, 1.0)).status == 0)

    return np.array([is_mixture(point) for point in Z], dtype=bool)
