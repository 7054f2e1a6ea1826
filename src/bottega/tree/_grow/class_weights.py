"""Classes: their codes, costs and priors, what their rows weigh, the least cost of a node."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.classes import decided
from bottega.core.errors import InputError
from bottega.core.losses import Cost
from bottega.core.typing import Array, FloatArray, IntArray


def code_of(label: Any, classes: Array, name: str) -> int:
    """Return the code of a class; `name` says what the label was given for."""
    where = np.flatnonzero(classes == label)
    if not len(where):
        raise InputError(
            f"{name}={label!r} is not a class of y; "
            f"the classes are {', '.join(map(repr, classes.tolist()))}."
        )
    return int(where[0])


def check_priors(given: Any, classes: Array) -> FloatArray:
    """Return the probability of each class."""
    priors, k = given, len(classes)
    if isinstance(given, Mapping):
        for label in given:
            code_of(label, classes, "priors: the class")
        priors = [given.get(label, 0.0) for label in classes.tolist()]
    priors = np.asarray(priors, dtype=np.float64)
    if priors.shape != (k,) or not np.all(np.isfinite(priors) & (priors > 0)):
        raise InputError(
            f"priors must be {k} positive numbers, one per class in sorted order, or a dict of "
            f"them; got {given!r}."
        )
    return np.asarray(priors / priors.sum())


def check_cost(cost: Any, classes: Array) -> FloatArray:
    """Return the costs of the classes, checked: predictions are rows, as in `Cost`."""
    found = np.array(Cost.of(cost).for_classes(classes).matrix)
    if np.any(np.diag(found) != 0):
        raise InputError(
            "cost must have zeros on the diagonal (a right prediction costs nothing); got "
            f"{found.tolist()}."
        )
    if len(classes) > 1 and np.any(found.sum(axis=0) == 0):
        raise InputError(
            "cost has a column of zeros: mistaking that class would cost nothing; give it a cost."
        )
    return found


def altered_weights(
    code: IntArray,
    w: FloatArray | None,
    n_classes: int,
    class_scale: FloatArray | None,
    cost: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weight of each row, the scale of the priors, and the factor of each class.

    Under altered priors a row of class c counts ``class_scale[c] * cost[:, c].sum()`` times in the
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
        altered = scale * np.asarray(cost, dtype=np.float64).sum(axis=0)
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


def class_values(
    sums: FloatArray, scale: FloatArray, altered: FloatArray, cost: FloatArray | None, value: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weight, class shares and risk of nodes from their altered class weights.

    `value` are shares of the altered weights that are to be used instead; None for none.
    """
    counts = sums / altered  # weights as given
    shares = counts * scale
    value = shares if value is None else value * scale / altered
    value = value / value.sum(axis=1, keepdims=True)
    return counts.sum(axis=1), value, least_cost(shares, value, cost) / shares[0].sum()


def least_cost(shares: FloatArray, value: FloatArray, cost: FloatArray | None) -> FloatArray:
    """Return what the rows of each node cost under the label of least cost at its value."""
    if cost is None:
        label = decided(value)
        found = shares.sum(axis=1) - shares[np.arange(len(label)), label]
    else:
        label = decided(-(value @ cost.T))
        found = (shares @ cost.T)[np.arange(len(label)), label]
    return np.maximum(found, 0.0)
