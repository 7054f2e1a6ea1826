"""How mixed the classes of a node are: the measures that splits lower."""

import numpy as np

from bottega.core.typing import FloatArray

__all__: list[str] = []


def class_impurity(counts: FloatArray, criterion: str) -> FloatArray:
    """Return the impurity of each row of class counts; that of an empty row is 0.

    Examples
    --------
    >>> class_impurity(np.array([[4.0, 1.0]]), "gini").round(6)
    array([0.32])
    """
    total = counts.sum(axis=1, keepdims=True)
    p = counts / np.where(total > 0, total, 1.0)
    if criterion == "error":
        return np.asarray(np.where(total[:, 0] > 0, 1.0 - p.max(axis=1), 0.0))
    if criterion == "gini":
        return np.asarray((p * (1 - p)).sum(axis=1))
    if criterion == "sqrt":
        return np.asarray(np.sqrt(p * (1 - p)).sum(axis=1) / 2)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)  # in nats
    return np.asarray(2 * entropy if criterion == "deviance" else entropy / np.log(2))
