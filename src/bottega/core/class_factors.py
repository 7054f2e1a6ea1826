"""What `class_weight` makes of the rows of each class, from how many there are."""

from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from bottega.core.chunks import CheckedChunks
from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray

__all__ = ["factors_of_classes"]


def factors_of_classes(estimator: Any, checked: CheckedChunks) -> FloatArray | None:
    """Return the factor on the weights of each class of rows in chunks; None where all are one.

    ``"balanced"`` takes a pass over the rows, which counts them.
    """
    given = getattr(estimator, "class_weight", None)
    if given is None or checked.classes is None or given == "balanced_subsample":
        return None
    K = len(checked.classes)
    if isinstance(given, str):
        counts = np.zeros(K)
        for _, codes, _ in checked:
            counts += np.bincount(codes, minlength=K)
        return np.asarray(counts.sum() / (K * np.maximum(counts, 1.0)))
    try:
        found = compute_class_weight(given, classes=checked.classes, y=checked.classes)
    except ValueError as error:
        raise ParameterError(f"{type(estimator).__name__}: class_weight: {error}") from error
    return np.asarray(found, dtype=np.float64)
