"""What `class_weight` makes of the rows of each class, from how many there are."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from bottega.core.chunks import CheckedChunks
from bottega.core.errors import ParameterError
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["class_factors", "factors_of_classes"]


def factors_of_classes(estimator: Any, checked: CheckedChunks) -> FloatArray | None:
    """Return the factor on the weights of each class of rows in chunks; None where all are one.

    ``"balanced"`` takes a pass over the rows, which counts them.
    """
    given = getattr(estimator, "class_weight", None)
    if given is None or checked.classes is None or given == "balanced_subsample":
        return None
    counts = np.zeros(len(checked.classes))
    if isinstance(given, str):
        for found in checked.map(partial(_counted, len(counts))):
            counts += found
    try:
        return class_factors(given, checked.classes, counts)
    except ValueError as error:
        raise ParameterError(f"{type(estimator).__name__}: class_weight: {error}") from error


def _counted(K: int, _X: Any, codes: IntArray, _w: Any) -> IntArray:
    return np.bincount(codes, minlength=K)


def class_factors(class_weight: Any, classes: Array, counts: Array) -> FloatArray:
    """Return the factor on the weights of each class, of which there are `counts` rows.

    Examples
    --------
    >>> class_factors("balanced", np.array(["a", "b"]), np.array([1, 3]))
    array([2.        , 0.66666667])
    """
    if isinstance(class_weight, str):
        return np.asarray(np.sum(counts) / (len(counts) * np.maximum(counts, 1.0)))
    found = compute_class_weight(class_weight, classes=classes, y=classes)
    return np.asarray(found, dtype=np.float64)
