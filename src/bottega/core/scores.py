"""Scores of linear classifiers, for rows however far away."""

from typing import Any

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["linear_scores"]


def linear_scores(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Return ``X @ coef.T + intercept``, and numbers in the same proportion where that overflows.

    The scores of such a row are as large as numbers can be; their signs and their order are right.

    Examples
    --------
    >>> linear_scores(np.array([[1e308, 1e308]]), np.array([[8.0, 8.0], [2.0, -4.0]]), np.zeros(2))
    array([[ 1.79769313e+308, -2.24711642e+307]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.asarray(X @ coef.T) + intercept
    far = np.flatnonzero(~np.all(np.isfinite(scores), axis=1))
    if len(far):
        rows = X[far]
        rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
        size, steep = np.abs(rows).max(axis=1, keepdims=True), np.abs(coef).max()
        share = rows / size @ (coef / steep).T + intercept / size / steep
        limits = np.finfo(np.float64)
        largest = np.maximum(np.abs(share).max(axis=1, keepdims=True), limits.tiny)
        scores[far] = share / largest * limits.max
    return scores
