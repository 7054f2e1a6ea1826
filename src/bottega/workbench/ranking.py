"""How well scores order the rows of two classes, whatever threshold cuts them."""

import numpy as np
from sklearn.metrics import roc_auc_score

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
    if positive.all() or not positive.any():
        return float("nan")
    return float(roc_auc_score(positive, score, sample_weight=weight))


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
    weight = np.ones(len(score)) if weight is None else weight
    total = float(weight.sum())
    base = float(weight[positive].sum()) / total
    if base == 0:
        return float("nan")
    levels, of_row = np.unique(-score, return_inverse=True)
    rows = np.bincount(of_row, weight, len(levels))
    hits = np.bincount(of_row, weight * positive, len(levels))
    counted = rows > 0
    rows, hits = rows[counted], hits[counted]
    before = np.cumsum(rows) - rows
    taken = np.clip((top * total - before) / rows, 0, 1)
    return float((hits * taken).sum() / (top * total) / base)
