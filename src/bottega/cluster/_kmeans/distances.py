"""Distances of all rows to all centres, in the units of the norm."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bottega.core.typing import FloatArray

__all__ = ["METRICS", "distances_to"]

METRICS: dict[Any, Any] = {2: "euclidean", 1: "cityblock", "cosine": "cosine"}


def distances_to(X: FloatArray, centers: FloatArray, norm: Any) -> FloatArray:
    """Return the distance of each (scaled) row to each centre."""
    found = np.asarray(cdist(X, centers, METRICS[norm]))
    return np.maximum(found, 0.0)  # one less the cosine may fall below by rounding
