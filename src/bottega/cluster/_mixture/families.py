"""Families of covariances: what components share of volume, shape and orientation.

A covariance is ``lambda D A D'`` with the volume lambda, the shape A (diagonal, determinant one)
and the orientation D. Three letters say for each of them in turn whether components share it
(E, equal), vary in it (V), or have none (I: spheres, or axes along the columns).

Each maximum is that of the expected log-likelihood given the scatter matrices of the components
(Celeux and Govaert 1995), under the constraint that no variance is below a floor.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.cluster._mixture.parameters import MixtureParameters
from bottega.core.typing import FloatArray

__all__ = ["FAMILIES", "WORDS", "covariances_of", "is_diagonal", "n_parameters", "own_scales"]

WORDS = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}
FAMILIES = (
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)
# Those that a change of the unit of one column does not lead out of.
_SCALE_FREE = ("EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVV", "VVV")
# Those whose maximum above a floor is the maximum with what is below it raised to the floor.
_EXACT = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")

_TINY = 1e-30  # of the unit: no variance of the scatter is taken as smaller
_ROUNDS = 200  # of the alternations inside an M step
_CLOSE = 1e-11  # relative change that ends them


def is_diagonal(family: str) -> bool:
    """Return True if all covariances of a family are diagonal."""
    return family.endswith("I")


def own_scales(family: str) -> bool:
    """Return True if the answer does not depend on the unit of each column."""
    return family in _SCALE_FREE


def n_parameters(family: str, k: int, p: int) -> int:
    """Return the free parameters of a mixture: weights, means and covariances.

    Examples
    --------
    >>> n_parameters("VVV", 2, 2), n_parameters("EII", 3, 4)
    (11, 15)
    """
    volume, shape, turn = family
    sizes = {"E": 1, "V": k, "I": 0}
    inside = sizes[volume] + sizes[shape] * (p - 1) + sizes[turn] * (p * (p - 1) // 2)
    return k - 1 + k * p + inside


def covariances_of(
    family: str,
    mass: FloatArray,
    scatter: FloatArray,
    floor: float,
    before: MixtureParameters | None = None,
    flat: int = 0,
) -> tuple[FloatArray, FloatArray | None, Any]:
    """Return eigenvalues and eigenvectors of the covariances, and which components were floored.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    mass : ndarray of shape (k,)
        Sums of the responsibilities.
    scatter : ndarray of shape (k, p, p), or (k, p) for diagonal families
        Expected sums of squares and products about the means.
    floor : float
        The least variance in any direction.
    before : MixtureParameters, optional
        The parameters that the M step starts from: they are kept where those found are no better.
    flat : int
        Directions in which no row varies: there every component is at the floor.
    """
    mass = np.maximum(mass, _TINY)
    vectors: FloatArray | None
    if family in ("EVE", "VVE"):
        values, vectors = _common_axes(mass, scatter, before, family == "EVE", floor)
    elif family in ("EVI", "EVV"):
        along, vectors = (scatter, None) if family == "EVI" else _eigen(scatter)
        values = _one_volume(mass, along, floor)
    else:
        values, vectors = _MAXIMA[family](mass, scatter)
    low = values < floor
    if family.startswith("EV"):  # a flat component is blown up to the volume that all share
        raw = scatter if vectors is None else _diagonal_along(scatter, vectors)
        low |= raw < floor * mass[:, None]
    floored = np.sum(low, axis=1) > flat
    values = np.maximum(values, floor)
    if before is not None and family not in _EXACT:
        new = _likelihood(mass, scatter, values, vectors)
        old = _likelihood(mass, scatter, before.values, before.vectors)
        if new < old:
            return before.values, before.vectors, before.floored
    return values, vectors, floored


def _likelihood(mass: Any, scatter: Any, values: Any, vectors: Any) -> float:
    """Return what covariances add to the expected log-likelihood, times minus two, less signs."""
    along = scatter if vectors is None else _diagonal_along(scatter, vectors)
    return -float(np.sum(mass[:, None] * np.log(values) + along / values))


def _diagonal_along(scatter: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the diagonals of V' W V."""
    found: FloatArray = np.sum(vectors * (scatter @ vectors), axis=1)
    return found


def _spread(one: FloatArray, k: int) -> FloatArray:
    return np.repeat(one[None], k, axis=0)


def _eigen(scatter: FloatArray) -> tuple[FloatArray, FloatArray]:
    values, vectors = np.linalg.eigh(scatter)
    return np.maximum(values, _TINY), vectors


# ---- diagonal families: the scatter is that of the columns, (k, p) -------------------------------


def _eii(mass: Any, scatter: Any) -> tuple[FloatArray, None]:
    return np.full(scatter.shape, scatter.sum() / (mass.sum() * scatter.shape[1])), None


def _vii(mass: Any, scatter: Any) -> tuple[FloatArray, None]:
    found = scatter.mean(axis=1) / mass
    return np.repeat(found[:, None], scatter.shape[1], axis=1), None


def _eei(mass: Any, scatter: Any) -> tuple[FloatArray, None]:
    return _spread(scatter.sum(axis=0) / mass.sum(), len(mass)), None


def _vei(mass: Any, scatter: Any) -> tuple[FloatArray, None]:
    return _volumes_and_one_shape(mass, np.maximum(scatter, _TINY)), None


def _vvi(mass: Any, scatter: Any) -> tuple[FloatArray, None]:
    return scatter / mass[:, None], None


def _volumes_and_one_shape(mass: FloatArray, along: FloatArray) -> FloatArray:
    """Return lambda_k A for scatters along axes, (k, p): both by turns, to the one maximum."""
    shape = _unit_product(along.sum(axis=0))
    volume = np.zeros(len(mass))
    for _ in range(_ROUNDS):
        last, volume = volume, np.mean(along / shape, axis=1) / mass
        shape = _unit_product((along / volume[:, None]).sum(axis=0))
        if np.all(np.abs(volume - last) <= _CLOSE * volume):
            break
    return volume[:, None] * shape


def _one_volume(mass: FloatArray, along: FloatArray, floor: float) -> FloatArray:
    """Return lambda A_k for scatters along axes, (k, p), none of them below a floor."""
    along = np.maximum(along, floor * mass[:, None])
    size = np.exp(np.mean(np.log(along), axis=1))
    found: FloatArray = along * (size.sum() / mass.sum() / size)[:, None]
    return found


def _unit_product(shape: FloatArray) -> FloatArray:
    found: FloatArray = shape / np.exp(np.mean(np.log(shape)))
    return found


# ---- families with an orientation: the scatter is (k, p, p) --------------------------------------


def _eee(mass: Any, scatter: Any) -> tuple[FloatArray, FloatArray]:
    values, vectors = _eigen(scatter.sum(axis=0) / mass.sum())
    return _spread(values, len(mass)), _spread(vectors, len(mass))


def _vee(mass: Any, scatter: Any) -> tuple[FloatArray, FloatArray]:
    """Volumes and one matrix of determinant one, by turns."""
    k, p = len(mass), scatter.shape[1]
    values, vectors = _eigen(scatter.sum(axis=0))
    values = _unit_product(values)
    volume = np.zeros(k)
    for _ in range(_ROUNDS):
        along = np.sum(vectors * (scatter @ vectors), axis=1)
        last, volume = volume, np.maximum(np.sum(along / values, axis=1), _TINY) / (mass * p)
        values, vectors = _eigen((scatter / volume[:, None, None]).sum(axis=0))
        values = _unit_product(values)
        if np.all(np.abs(volume - last) <= _CLOSE * volume):
            break
    return volume[:, None] * values, _spread(vectors, k)


def _eev(mass: Any, scatter: Any) -> tuple[FloatArray, FloatArray]:
    values, vectors = _eigen(scatter)
    return _spread(values.sum(axis=0) / mass.sum(), len(mass)), vectors


def _vev(mass: Any, scatter: Any) -> tuple[FloatArray, FloatArray]:
    values, vectors = _eigen(scatter)
    return _volumes_and_one_shape(mass, values), vectors


def _vvv(mass: Any, scatter: Any) -> tuple[FloatArray, FloatArray]:
    return _eigen(scatter / mass[:, None, None])


def _common_axes(
    mass: FloatArray,
    scatter: FloatArray,
    before: MixtureParameters | None,
    one_volume: bool,
    floor: float,
) -> tuple[FloatArray, FloatArray]:
    """Return shapes along axes that all components share; axes and shapes by turns.

    For given shapes the axes minimise the sum of tr(D' W_k D A_k^-1). Two of them at a time are
    turned in their plane, where the best angle is known.
    """
    p = scatter.shape[1]
    axes = None if before is None else before.vectors
    axes = _eigen(scatter.sum(axis=0))[1] if axes is None else axes[0].copy()
    turned = axes.T @ scatter @ axes
    last = np.inf
    values = np.empty((len(mass), p))
    for _ in range(_ROUNDS):
        along = np.maximum(np.diagonal(turned, axis1=1, axis2=2), _TINY)
        values = _one_volume(mass, along, floor) if one_volume else along / mass[:, None]
        height = float(np.sum(mass[:, None] * np.log(values) + along / values))
        if last - height <= _CLOSE * (1 + abs(height)):
            break
        last = height
        for i in range(p):
            for j in range(i):
                pull = 1 / values[:, i] - 1 / values[:, j]
                even = 0.5 * float(pull @ (turned[:, i, i] - turned[:, j, j]))
                odd = float(pull @ turned[:, i, j])
                if even == 0 and odd == 0:
                    continue
                angle = 0.5 * np.arctan2(-odd, -even)
                c, s = np.cos(angle), np.sin(angle)
                turn = np.array([[c, -s], [s, c]])
                pair = [i, j]
                turned[:, :, pair] = turned[:, :, pair] @ turn
                turned[:, pair, :] = turn.T @ turned[:, pair, :]
                axes[:, pair] = axes[:, pair] @ turn
    return values, _spread(axes, len(mass))


_MAXIMA: dict[str, Callable[..., tuple[FloatArray, FloatArray | None]]] = {
    "EII": _eii,
    "VII": _vii,
    "EEI": _eei,
    "VEI": _vei,
    "VVI": _vvi,
    "EEE": _eee,
    "VEE": _vee,
    "EEV": _eev,
    "VEV": _vev,
    "VVV": _vvv,
}
