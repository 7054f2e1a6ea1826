"""The curse of dimensionality in numbers: why near rows become rare as inputs are added."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.typing import FloatArray
from bottega.plot import curse_chart

__all__ = ["Curse", "ball_volume", "curse_numbers", "edge_of_share", "nearest_distance"]


def nearest_distance(p: Any, n: Any) -> Any:
    r"""Return the median distance from the centre of a ball to the nearest of n points.

    The points are uniform in the ball of radius one in p dimensions:
    :math:`r(p, n) = (1 - 2^{-1/n})^{1/p}`. It holds too for the largest coordinate of points
    uniform in a cube :math:`[0, 1]^p` seen from a corner; not for Euclidean distances in a cube.

    Parameters
    ----------
    p, n : int or array-like
        Dimensions and numbers of points.

    Examples
    --------
    >>> nearest_distance([10, 10, 11, 20, 100], [500, 1000, 1000, 1000, 1000]).round(3)
    array([0.518, 0.483, 0.516, 0.695, 0.93 ])
    """
    p, n = _at_least_one("p", p), _at_least_one("n", n)
    return (-np.expm1(-np.log(2) / n)) ** (1 / p)


def edge_of_share(share: Any, p: Any) -> Any:
    r"""Return the edge of the cube that holds a share of points uniform in a unit cube.

    It is :math:`d^{1/p}`: a neighbourhood of 1 % of the data takes 63 % of each of ten ranges.

    Parameters
    ----------
    share : float or array-like
        Share of the points, from 0 to 1.
    p : int or array-like
        Dimensions.

    Examples
    --------
    >>> round(float(edge_of_share(0.01, 10)), 3)
    0.631
    """
    share = np.asarray(share, dtype=np.float64)
    if not np.all((share >= 0) & (share <= 1)):
        raise InputError(f"share={share!r} is not allowed; a share lies between 0 and 1.")
    return share ** (1 / _at_least_one("p", p))


def ball_volume(d: Any, radius: float = 1.0) -> Any:
    r"""Return the volume of a ball in d dimensions, :math:`\pi^{d/2} R^d / \Gamma(d/2 + 1)`.

    It goes to zero as d grows: nearly all of a cube is in its corners.

    Parameters
    ----------
    d : int or array-like
        Dimensions.
    radius : float
        Radius.

    Examples
    --------
    >>> ball_volume([2, 3, 10, 20]).round(4)
    array([3.1416, 4.1888, 2.5502, 0.0258])
    """
    d = _at_least_one("d", d)
    if not radius > 0:
        raise InputError(f"radius={radius!r} is not allowed; it must be above zero.")
    return np.exp(d / 2 * np.log(np.pi) + d * np.log(radius) - gammaln(d / 2 + 1))


def _at_least_one(name: str, value: Any) -> FloatArray:
    found = np.asarray(value, dtype=np.float64)
    if not np.all(found >= 1):
        raise InputError(f"{name}={value!r} is not allowed; it must be at least one.")
    return found


@dataclass(frozen=True)
class Curse:
    """The three signs of the curse against the number of inputs.

    Attributes
    ----------
    p : ndarray
        Numbers of inputs.
    nearest : ndarray
        Median distance of the nearest of n points in the unit ball from its centre.
    edge : ndarray
        Edge of the cube that holds the share of the points.
    ball : ndarray
        Share of a cube that the ball inside it fills.
    n : int
        Number of points.
    share : float
        Share of the points.
    """

    p: FloatArray
    nearest: FloatArray
    edge: FloatArray
    ball: FloatArray
    n: int
    share: float

    def to_frame(self, like: Any = None) -> Any:
        """Return the numbers as a data frame."""
        return make_frame(
            {name: getattr(self, name) for name in ("p", "nearest", "edge", "ball")}, like
        )

    def plot(self) -> Any:
        """Draw the three against the number of inputs."""
        return curse_chart(self)


def curse_numbers(
    p: Sequence[int] = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20), *, n: int = 1000, share: float = 0.01
) -> Curse:
    """Return the signs of the curse for several numbers of inputs.

    Parameters
    ----------
    p : sequence of int
        Numbers of inputs.
    n : int
        Number of points, for the nearest one.
    share : float
        Share of the points in a neighbourhood.

    Examples
    --------
    >>> curse_numbers([2, 10]).edge.round(2)
    array([0.1 , 0.63])
    """
    inputs = np.asarray(p)
    return Curse(
        inputs,
        nearest_distance(inputs, n),
        edge_of_share(share, inputs),
        ball_volume(inputs, 0.5),
        n,
        share,
    )
