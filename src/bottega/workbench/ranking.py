"""How well scores order the rows of two classes, whatever threshold cuts them."""

import numpy as np

from bottega import metrics
from bottega.core.typing import Array, FloatArray

__all__ = ["TOP", "auc", "lift"]

TOP = 0.1  # share of the rows with the highest scores that the lift looks at


def auc(positive: Array, score: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the probability that a positive row has a higher score than a negative one.

    Examples
    --------
    >>> auc(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.6, 0.9]))
    0.75
    """
    if not _both(positive, weight):
        return float("nan")
    return metrics.roc(positive, score, sample_weight=weight).auc


def lift(
    positive: Array, score: FloatArray, weight: FloatArray | None = None, *, top: float = TOP
) -> float:
    """Return how many times more frequent the class is among the rows of highest score.

    Rows whose score ties with the last one count in proportion: their order does not matter.

    Examples
    --------
    >>> lift(np.array([False, True, False, True]), np.array([0.1, 0.4, 0.6, 0.9]), top=0.25)
    2.0
    """
    if not _both(positive, weight):
        return 1.0 if np.any(positive) else float("nan")
    return metrics.lift(positive, score, sample_weight=weight).at(top)


def _both(positive: Array, weight: FloatArray | None) -> bool:
    """Return True if rows of both classes count."""
    counted = positive if weight is None else positive[weight > 0]
    return bool(counted.any() and not counted.all())
