"""Centres as a pass over the rows takes them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from bottega.cluster._kernels.lloyd import EPS
from bottega.core.typing import FloatArray

__all__ = ["MovedCenters"]

_TINY = 1e-18  # more than underflow can do to a distance in single precision


@dataclass(frozen=True)
class MovedCenters:
    """Centres, and how far they have moved since the last pass.

    Attributes
    ----------
    C : ndarray of shape (K, p)
        The centres less the shift.
    M : ndarray of shape (L, q)
        The same times the scale in single precision, filled up as `two_nearest` takes them.
    steps : ndarray of shape (4, K)
        What the bounds of the rows need: see `bottega.cluster._kernels.lloyd`.
    """

    C: FloatArray
    M: Any
    steps: FloatArray

    @classmethod
    def of(cls, C: FloatArray, scale: float, moves: FloatArray | None = None) -> Self:
        """Return centres with the distances that they have moved; None: there are no bounds yet."""
        K, p = C.shape
        M = np.zeros((K + K % 2, p + -p % 4), dtype=np.float32)
        M[K:] = np.inf
        with np.errstate(over="ignore"):  # what single precision cannot hold is looked at in double
            M[:K, :p] = C * scale
            size = np.sqrt(np.sum((C * scale) ** 2, axis=1))
        steps = np.zeros((4, K))
        # Off by EPS (2 |c| + (p + 12) d) at most: a distance d, seen from the nearest centre c.
        steps[3] = 2 * EPS * size + _TINY
        if moves is not None:
            steps[0] = moves * scale
            steps[1] = _others(moves) * scale
            steps[2] = 0.5 * _gaps(C) * scale * (1 - 1e-12)
        return cls(C, M, steps)


def _others(moves: FloatArray) -> FloatArray:
    """Return how far the centres other than each have moved at most."""
    if len(moves) == 1:
        return np.zeros(1)
    last, most = np.argsort(moves)[-2:]
    others = np.full(len(moves), moves[most])
    others[most] = moves[last]
    return others


def _gaps(C: FloatArray) -> FloatArray:
    """Return the distance of each centre to the nearest other one."""
    far = cdist(C, C)
    np.fill_diagonal(far, np.inf)
    return np.asarray(far.min(axis=1))
