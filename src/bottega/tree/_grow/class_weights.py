"""What a row of each class weighs under priors and costs, and the least cost of a node."""

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray

__all__ = ["altered_weights", "least_cost"]


def altered_weights(
    code: IntArray,
    w: FloatArray | None,
    n_classes: int,
    class_scale: FloatArray | None,
    cost: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weight of each row, the scale of the priors, and the factor of each class.

    Under altered priors a row of class c counts ``class_scale[c] * cost[c].sum()`` times in the
    choice of splits; the weights are scaled so that they sum to what the rows weigh.
    """
    scale = np.ones(n_classes) if class_scale is None else np.asarray(class_scale, dtype=np.float64)
    altered = scale.copy()
    if cost is not None:
        if np.shape(cost) != (n_classes, n_classes):
            raise InputError(
                f"cost has shape {np.shape(cost)}; {n_classes} classes need "
                f"({n_classes}, {n_classes})."
            )
        altered = scale * np.asarray(cost, dtype=np.float64).sum(axis=1)
    if not np.all(altered > 0):
        raise InputError(
            "Every class needs a positive prior and a positive cost of being mistaken for another."
        )
    weight = altered[code] if w is None else w * altered[code]
    total = float(len(code)) if w is None else float(w.sum())
    ratio = total / weight.sum()
    altered = altered * ratio
    if w is None and np.all(altered == 1.0):
        return np.ones(len(code)), scale, altered
    return weight * ratio, scale, altered


def least_cost(shares: FloatArray, value: FloatArray, cost: FloatArray | None) -> FloatArray:
    """Return what the rows of each node cost under the label of least cost at its value."""
    if cost is None:
        label = np.argmax(value, axis=1)
        found = shares.sum(axis=1) - shares[np.arange(len(label)), label]
    else:
        label = np.argmin(value @ cost, axis=1)
        found = (shares @ cost)[np.arange(len(label)), label]
    return np.maximum(found, 0.0)
