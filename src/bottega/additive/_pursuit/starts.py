"""Directions from which the search for a new term starts."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from bottega.additive._pursuit.coordinates import WhiteCoordinates
from bottega.additive._pursuit.ridge import Projector
from bottega.core.typing import FloatArray

T = TypeVar("T")

_ROWS = 4096  # of a first look
_PENALTY = np.log(1e-2)  # of a first look: about six degrees of freedom
_KEPT = 3  # starts that are followed
# Of few rows more are, the most where spans are chosen at every point: criteria are rougher there.
_FEW_ROWS, _KEPT_OF_FEW, _KEPT_IF_ROUGH = 1000, 5, 8
_STEPS = 4  # Gauss-Newton steps of each
_CURVED = 3  # directions along which the target bends most
_MOST_INPUTS = 50


def fixed_starts(coordinates: WhiteCoordinates, count: int, rng: np.random.Generator) -> FloatArray:
    """Return directions that no target decides on: each input alone, and `count` random ones.

    The random ones are of standardised inputs, so they depend neither on units nor on the rows.
    """
    inverse = coordinates.inverse
    p = inverse.shape[1]
    alone = inverse.T[np.any(inverse != 0, axis=0)]
    random = rng.normal(size=(count, p)) @ inverse.T
    found = np.vstack([alone if p <= _MOST_INPUTS else alone[:0], random])
    length = np.sqrt(np.sum(found**2, axis=1))
    return np.asarray(found[length > 0] / length[length > 0, None])


def best_start(projector: Projector, t: FloatArray, v: FloatArray, fixed: FloatArray) -> FloatArray:
    """Return the best direction after a few steps from each of the most promising starts."""
    some = projector.first(_ROWS)
    t, v = np.ascontiguousarray(t[:_ROWS]), np.ascontiguousarray(v[:_ROWS])
    d = some.X.shape[1]
    if d == 1:
        return np.ones(1)
    looks = [some.smooth(a, t, v, _PENALTY) for a in (*_from_target(some, t, v), *fixed)]
    size = max(float(v @ t**2), 1e-300)
    # Of losses that are equal but for rounding the first wins: sorting is stable.
    looks.sort(key=lambda each: round(each.loss / size, 9))
    kept = _KEPT_OF_FEW if some.smoothing.spline else _KEPT_IF_ROUGH
    kept = kept if len(t) <= _FEW_ROWS else _KEPT
    found = [some.improve(each, t, v, _STEPS, 1e-4) for each in looks[:kept]]
    return first_least(found, [each.loss for each in found]).a


def first_least(found: Sequence[T], losses: Sequence[float]) -> T:
    """Return what loses least; of losses nearer than a millionth the first.

    Searches from several starts end near the same place: which of them is lowest by a hair would be
    rounding.
    """
    limit = min(losses) + 1e-6 * abs(min(losses))
    return next(each for each, loss in zip(found, losses, strict=True) if loss <= limit)


def _from_target(some: Projector, t: FloatArray, v: FloatArray) -> FloatArray:
    """Return the direction of the linear fit, and those along which the target bends most."""
    gap = v * (t - v @ t / v.sum())
    linear = some.X.T @ gap
    values, vectors = np.linalg.eigh((some.X * gap[:, None]).T @ some.X)
    order = np.argsort(-np.abs(values), kind="stable")[:_CURVED]
    curved = vectors[:, order].T
    length = float(np.sqrt(linear @ linear))
    return np.vstack([linear / length, curved]) if length > 0 else curved
