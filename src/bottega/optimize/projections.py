r"""The nearest point of a convex set: ball, box, simplex, l1 ball.

Each returns :math:`\arg\min_{v \in C} \lVert v - w \rVert` for a vector w. The set is convex and
closed, so there is exactly one. Simplex and l1 ball sort the entries, the others take one pass.
"""

import math
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._kernels import projections as _kernels

__all__ = ["onto_ball", "onto_box", "onto_l1_ball", "onto_simplex"]


def onto_ball(w: Any, radius: float = 1.0) -> FloatArray:
    """Return the nearest point with norm at most `radius`: ``w min(1, radius / ||w||)``.

    Examples
    --------
    >>> onto_ball([3.0, 4.0], radius=2.5)
    array([1.5, 2. ])
    """
    return _projected(w, _kernels.BALL, radius)


def onto_box(w: Any, radius: float = 1.0) -> FloatArray:
    """Return the nearest point with entries in ``[-radius, radius]``.

    Examples
    --------
    >>> onto_box([3.0, -0.5], radius=1.0)
    array([ 1. , -0.5])
    """
    return _projected(w, _kernels.BOX, radius)


def onto_simplex(w: Any, radius: float = 1.0) -> FloatArray:
    """Return the nearest point with entries at least 0 that sum to `radius`.

    All entries that stay positive are lowered by the same amount, which sorting finds.

    References
    ----------
    .. [1] Held, M., Wolfe, P. and Crowder, H. P. (1974). Validation of subgradient optimization.
       Mathematical Programming 6, 62-88.

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


def _projected(w: Any, code: int, radius: float) -> FloatArray:
    if not (radius > 0 and math.isfinite(radius)):
        raise ParameterError(
            f"radius={radius!r} is not allowed; give a number above 0 (a set of radius 0 is one "
            "point, and there is nothing to project)."
        )
    point = np.array(w, dtype=np.float64)
    if point.ndim != 1 or not point.size:
        raise InputError(f"w has shape {point.shape}; give one vector with at least one entry.")
    if not np.all(np.isfinite(point)):
        raise InputError("w has entries that are missing or infinite; correct them first.")
    _kernels.project(point, code, float(radius))
    return point
