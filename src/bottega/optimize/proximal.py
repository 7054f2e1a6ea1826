r"""Penalties with their proximal maps: the trade of nearness against a penalty, in closed form.

.. math:: \operatorname{prox}_{t h}(v) = \arg\min_x\; \tfrac{1}{2}\lVert x - v \rVert^2 + t\,h(x)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize.projections import onto_box

__all__ = [
    "Proximal",
    "box_penalty",
    "l1_penalty",
    "l2_penalty",
    "nuclear_penalty",
    "shrink_norm",
    "shrink_singular_values",
    "soft_threshold",
    "squared_penalty",
]


@dataclass(frozen=True)
class Proximal:
    """A penalty h and its proximal map.

    Attributes
    ----------
    name : str
        What it is called.
    value : callable
        ``value(x)`` returns h(x), which may be infinite.
    prox : callable
        ``prox(v, t)`` returns the x of the least ``||x - v||^2 / 2 + t h(x)``.
    """

    name: str
    value: Callable[[FloatArray], float]
    prox: Callable[[FloatArray, float], FloatArray]


def soft_threshold(v: Any, threshold: float) -> FloatArray:
    """Return each entry moved towards zero by the threshold: the proximal map of ``sum |x_j|``.

    Examples
    --------
    >>> soft_threshold([3.0, -0.5, -2.0], 1.0)
    array([ 2.,  0., -1.])
    """
    values = np.asarray(v, dtype=np.float64)
    return np.asarray(np.copysign(np.maximum(np.abs(values) - threshold, 0.0), values)) + 0.0


def shrink_norm(v: Any, threshold: float) -> FloatArray:
    """Return the vector made shorter by the threshold: the proximal map of its length.

    Examples
    --------
    >>> shrink_norm([3.0, 4.0], 2.5)
    array([1.5, 2. ])
    """
    values = np.asarray(v, dtype=np.float64)
    top = float(np.max(np.abs(values), initial=0.0))
    norm = top * float(np.linalg.norm(values / top)) if top > 0 else 0.0
    if norm <= threshold:
        return np.zeros_like(values)
    return np.asarray(values * (1 - threshold / norm))


def shrink_singular_values(V: Any, threshold: float) -> FloatArray:
    """Return a matrix with its singular values lowered: the proximal map of their sum.

    Examples
    --------
    >>> shrink_singular_values([[3.0, 0.0], [0.0, 1.0]], 2.0).round(6)
    array([[1., 0.],
           [0., 0.]])
    """
    left, sizes, right = np.linalg.svd(np.asarray(V, dtype=np.float64), full_matrices=False)
    return np.asarray((left * np.maximum(sizes - threshold, 0.0)) @ right) + 0.0


def l1_penalty(alpha: float = 1.0) -> Proximal:
    """Return ``alpha sum_j |x_j|``, which sets entries to zero.

    Examples
    --------
    >>> l1_penalty(0.5).prox(np.array([3.0, 0.2]), 2.0)
    array([2., 0.])
    """
    a = _strength(alpha)
    return Proximal(
        "l1 penalty",
        lambda x: a * float(np.sum(np.abs(x))),
        lambda v, t: soft_threshold(v, a * t),
    )


def l2_penalty(alpha: float = 1.0) -> Proximal:
    """Return ``alpha ||x||``, which sets all entries to zero together or none.

    Examples
    --------
    >>> l2_penalty(1.0).value(np.array([3.0, 4.0]))
    5.0
    """
    a = _strength(alpha)
    return Proximal(
        "l2 penalty",
        lambda x: a * float(np.linalg.norm(x)),
        lambda v, t: shrink_norm(v, a * t),
    )


def squared_penalty(alpha: float = 1.0) -> Proximal:
    """Return ``alpha/2 ||x||^2``, which shrinks all entries by one factor.

    Examples
    --------
    >>> squared_penalty(1.0).prox(np.array([2.0, 4.0]), 1.0)
    array([1., 2.])
    """
    a = _strength(alpha)
    return Proximal(
        "squared penalty",
        lambda x: a / 2 * float(x @ x),
        lambda v, t: np.asarray(v / (1 + a * t)),
    )


def nuclear_penalty(shape: tuple[int, int], alpha: float = 1.0) -> Proximal:
    """Return alpha times the sum of the singular values of x, read as a matrix row by row.

    It lowers the rank; one map costs a singular value decomposition.

    Examples
    --------
    >>> nuclear_penalty((2, 2)).value(np.array([3.0, 0.0, 0.0, 4.0]))
    7.0
    """
    a = _strength(alpha)

    def matrix(x: FloatArray) -> FloatArray:
        if x.size != shape[0] * shape[1]:
            raise InputError(f"x has {x.size} entries; a matrix of shape {shape} was named.")
        return x.reshape(shape)

    return Proximal(
        "nuclear penalty",
        lambda x: a * float(np.sum(np.linalg.svd(matrix(x), compute_uv=False))),
        lambda v, t: shrink_singular_values(matrix(v), a * t).ravel(),
    )


def box_penalty(low: Any = None, high: Any = None) -> Proximal:
    """Return the penalty that is 0 in a box and infinite outside; its map is the projection.

    Examples
    --------
    >>> box_penalty(low=0).prox(np.array([-5.0, 10.0]), 1.0)
    array([ 0., 10.])
    """
    if low is None and high is None:
        raise ParameterError("box_penalty: give low, high or both.")

    def value(x: FloatArray) -> float:
        return 0.0 if np.array_equal(onto_box(x, low=low, high=high), x) else math.inf

    return Proximal("box", value, lambda v, _: onto_box(v, low=low, high=high))


def _strength(alpha: float) -> float:
    if not 0 <= alpha < math.inf:
        raise ParameterError(f"alpha={alpha!r} is not allowed; give a finite number of at least 0.")
    return float(alpha)
