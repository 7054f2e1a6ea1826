r"""The nearest point of a convex set: ball, box, orthant, simplex, l1 ball, half-space, affine set.

Each returns :math:`\arg\min_{v \in C} \lVert v - w \rVert` for a vector w. The set is convex and
closed, so there is exactly one, and p is it if and only if p is in C and
:math:`(w - p) \cdot (v - p) \le 0` for all v in C. Every projection takes a few passes over w, but
the one onto an affine set, which decomposes a matrix, and onto a polyhedron, a quadratic program.
"""

import math
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._kernels import projections as _kernels
from bottega.optimize._program.inputs import bounds_of, rows_of, vector_of
from bottega.optimize._program.scaling import power_of_two

__all__ = [
    "onto_affine",
    "onto_ball",
    "onto_box",
    "onto_half_space",
    "onto_l1_ball",
    "onto_orthant",
    "onto_polyhedron",
    "onto_simplex",
]

_CONSISTENT = 1e-9  # of the size of A, x and b: by which Ax = b may be missed
_PLAIN = 1e100  # numbers from 1 over this to this have squares
_LARGEST = np.finfo(np.float64).max / 4


def onto_ball(w: Any, radius: float = 1.0, *, center: Any = None) -> FloatArray:
    """Return the nearest point at a distance of at most `radius` from the centre.

    It is ``center + (w - center) min(1, radius / ||w - center||)``.

    Parameters
    ----------
    w : array-like of shape (d,)
        The point.
    radius : float, default=1.0
        Radius, above 0.
    center : array-like of shape (d,), optional
        Centre; zero by default.

    Returns
    -------
    ndarray of shape (d,)
        The nearest point; w itself if it is in the ball.

    Examples
    --------
    >>> onto_ball([3.0, 4.0], radius=2.5)
    array([1.5, 2. ])
    >>> onto_ball([3.0, 4.0], center=[3.0, 2.0])
    array([3., 3.])
    """
    _check_radius(radius)
    point = vector_of(w, "w")
    middle = np.zeros_like(point) if center is None else vector_of(center, "center", len(point))
    away = point - middle
    top = float(np.max(np.abs(away)))
    if top == 0:
        return point
    share = away / top
    length = float(np.linalg.norm(share))  # in units of the largest entry: no square overflows
    if length <= radius / top:
        return point
    return np.asarray(middle + share * (radius / length))


def onto_box(w: Any, radius: float = 1.0, *, low: Any = None, high: Any = None) -> FloatArray:
    """Return the nearest point with entries in ``[-radius, radius]``, or in ``[low, high]``.

    Parameters
    ----------
    w : array-like of shape (d,)
        The point.
    radius : float, default=1.0
        Half the length of a side, where no bounds are given.
    low, high : float or array-like of shape (d,), optional
        Bounds, one for all entries or one for each. With one of them given the other is infinite.

    Returns
    -------
    ndarray of shape (d,)
        The nearest point: each entry is moved to the bound that it exceeds.

    Examples
    --------
    >>> onto_box([3.0, -0.5], radius=1.0)
    array([ 1. , -0.5])
    >>> onto_box([-5.0, 10.0], low=0)
    array([ 0., 10.])
    """
    if low is None and high is None:
        return _projected(w, _kernels.BOX, radius)
    point = vector_of(w, "w")
    least = bounds_of(low, -np.inf, len(point), "low")
    most = bounds_of(high, np.inf, len(point), "high")
    crossed = np.flatnonzero(least > most)
    if len(crossed):
        j = crossed[0]
        raise ParameterError(
            f"low is above high in entry {j} ({least[j]:g} > {most[j]:g}): the box is empty."
        )
    return np.asarray(np.minimum(np.maximum(point, least), most))


def onto_orthant(w: Any) -> FloatArray:
    """Return the nearest point with entries of at least 0.

    Examples
    --------
    >>> onto_orthant([-5.0, 10.0])
    array([ 0., 10.])
    """
    return np.asarray(np.maximum(vector_of(w, "w"), 0.0))


def onto_half_space(w: Any, a: Any, b: float = 0.0) -> FloatArray:
    """Return the nearest point v with ``a.v <= b``: ``w - a max(a.w - b, 0) / ||a||^2``.

    Parameters
    ----------
    w : array-like of shape (d,)
        The point.
    a : array-like of shape (d,)
        Normal vector, which points out of the half-space.
    b : float, default=0.0
        Offset.

    Returns
    -------
    ndarray of shape (d,)
        The nearest point.

    Examples
    --------
    >>> onto_half_space([2.0, 2.0], [1.0, 1.0], 2.0)
    array([1., 1.])
    """
    point = vector_of(w, "w")
    normal = vector_of(a, "a", len(point))
    top = float(np.max(np.abs(normal)))
    if top == 0:
        raise InputError("a is zero; the normal vector of a half-space has a direction.")
    if not math.isfinite(b):
        raise InputError(f"b={b!r} is not allowed; give a finite number.")
    unit = normal / top
    size = float(np.linalg.norm(unit))
    unit /= size
    over = float(unit @ point) - b / top / size
    return np.asarray(point - max(over, 0.0) * unit)


def onto_affine(w: Any, A: Any, b: Any) -> FloatArray:
    r"""Return the nearest point v with ``A v = b``: :math:`w - A^+ (A w - b)`.

    Parameters
    ----------
    w : array-like of shape (d,)
        The point.
    A : array-like of shape (m, d)
        One row per equation; rows may depend on one another.
    b : array-like of shape (m,)
        Right sides.

    Returns
    -------
    ndarray of shape (d,)
        The nearest point.

    Raises
    ------
    InputError
        If no v fulfils the equations.

    Examples
    --------
    >>> onto_affine([1.0, 0.0, 0.0], [[1.0, 1.0, 1.0]], [3.0]).round(6)
    array([1.666667, 0.666667, 0.666667])
    """
    point = vector_of(w, "w")
    rows, right = rows_of(A, b, len(point))
    size = np.max(np.abs(rows), axis=1)
    size[size == 0] = 1.0
    rows, right = rows / size[:, None], right / size  # equations of one size
    step, *_ = np.linalg.lstsq(rows, rows @ point - right, rcond=None)
    found = np.asarray(point - step)
    missed = np.abs(rows @ found - right)
    allowed = _CONSISTENT * (np.abs(rows) @ np.abs(found) + np.abs(right))
    if np.any(missed > allowed):
        i = int(np.argmax(missed - allowed))
        raise InputError(
            f"No v fulfils A v = b: equation {i} is missed by {missed[i] * size[i]:.3g} at best. "
            "The equations contradict one another; correct A or b."
        )
    return found


def onto_polyhedron(w: Any, A: Any, b: Any) -> FloatArray:
    """Return the nearest point v with ``A v <= b``, by a quadratic program.

    Parameters
    ----------
    w : array-like of shape (d,)
        The point.
    A : array-like of shape (m, d)
        One row per inequality.
    b : array-like of shape (m,)
        Right sides.

    Returns
    -------
    ndarray of shape (d,)
        The nearest point.

    Raises
    ------
    InputError
        If no v fulfils the inequalities.

    Examples
    --------
    >>> onto_polyhedron([2.0, 2.0], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 1, 1.5]).round(6)
    array([0.75, 0.75])
    """
    from bottega.optimize.quadratic_program import quadratic_program

    point = vector_of(w, "w")
    rows, right = rows_of(A, b, len(point))
    size = power_of_two(np.max(np.abs(rows), axis=1))
    with np.errstate(over="ignore"):  # beyond all numbers: as far as these go
        right = np.clip(right / size, -_LARGEST, _LARGEST)
    rows = rows / size[:, None]
    largest = float(max(np.max(np.abs(point)), np.max(np.abs(right), initial=0.0)))
    # The objective has squares of the unknowns.
    unit = 1.0 if 1 / _PLAIN < largest < _PLAIN else float(power_of_two(np.array(largest)))
    inner, right = point / unit, right / unit
    if np.all(rows @ inner <= right):
        return point
    found = quadratic_program(np.eye(len(inner)), -inner, A_ub=rows, b_ub=right)
    if found.certificate is not None:  # of a contradiction: the objective is bounded
        involved = np.flatnonzero(found.certificate)
        if len(involved) == 1:
            raise InputError(f"No v fulfils A v <= b: row {involved[0]} of A alone allows none.")
        raise InputError(
            f"No v fulfils A v <= b: rows {', '.join(map(str, involved))} of A contradict one "
            "another. Relax one of them."
        )
    if found.x is None:
        raise InputError(f"The nearest point with A v <= b was not found: {found.message}")
    return np.asarray(found.x * unit)


def onto_simplex(w: Any, radius: float = 1.0) -> FloatArray:
    """Return the nearest point with entries at least 0 that sum to `radius`.

    All entries that stay positive are lowered by the same amount. It is found without sorting, in
    linear time for all but contrived inputs [1]_.

    References
    ----------
    .. [1] Condat, L. (2016). Fast projection onto the simplex and the l1 ball. Mathematical
       Programming 158, 575-585.

    Examples
    --------
    >>> onto_simplex([0.5, 1.0, -2.0])
    array([0.25, 0.75, 0.  ])
    """
    return _projected(w, _kernels.SIMPLEX, radius)


def onto_l1_ball(w: Any, radius: float = 1.0) -> FloatArray:
    """Return the nearest point whose absolute values sum to at most `radius`.

    Examples
    --------
    >>> onto_l1_ball([-0.5, 1.0, 0.1], radius=1.0)
    array([-0.25,  0.75,  0.  ])
    """
    return _projected(w, _kernels.L1_BALL, radius)


def _check_radius(radius: float) -> None:
    if not (radius > 0 and math.isfinite(radius)):
        raise ParameterError(
            f"radius={radius!r} is not allowed; give a number above 0 (a set of radius 0 is one "
            "point, and there is nothing to project)."
        )


def _projected(w: Any, code: int, radius: float) -> FloatArray:
    _check_radius(radius)
    point = vector_of(w, "w")
    _kernels.project(point, code, float(radius))
    return point
