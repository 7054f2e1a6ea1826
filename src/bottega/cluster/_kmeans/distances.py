"""Distances of all rows to all centres, in the units of the norm."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bottega.core.typing import FloatArray

__all__ = ["METRICS", "distances_to", "shared_unit"]

_HUGE = 1e100  # beyond this, squares and their sums may overflow

METRICS: dict[Any, Any] = {2: "euclidean", 1: "cityblock", "cosine": "cosine"}


def distances_to(X: FloatArray, centers: FloatArray, norm: Any) -> FloatArray:
    """Return the distance of each (scaled) row to each centre."""
    unit = shared_unit(X, centers)
    found = np.asarray(cdist(X / unit, centers / unit, METRICS[norm]))
    found = np.maximum(found, 0.0)  # one less the cosine may fall below by rounding
    return found if norm == "cosine" else found * unit


def shared_unit(X: FloatArray, centers: FloatArray) -> float:
    """Return what rows and centres are divided by so that squares of new rows can be held."""
    reach = max(float(np.max(np.abs(each), initial=0.0)) for each in (X, centers))
    return float(2.0 ** np.floor(np.log2(reach))) if reach > _HUGE else 1.0
