"""The scores of a fitted classifier, a column per class."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray

__all__ = ["class_scores", "is_probability"]


def is_probability(model: Any, method: str) -> bool:
    """Return True if the map takes probabilities: where it needs them, or there is nothing else."""
    return method == "beta" or not hasattr(model, "decision_function")


def class_scores(model: Any, X: Any, classes: Array, method: str) -> FloatArray:
    """Return the scores of each of `classes`, which may be more than the model's own.

    Decision values where the model has them, else probabilities (which `beta` always takes). Of two
    classes the scores of the first are those of the second turned round.
    """
    if is_probability(model, method):
        if not hasattr(model, "predict_proba"):
            raise InputError(
                f"{type(model).__name__} has neither decision_function nor predict_proba (which "
                "method='beta' needs): there is nothing to calibrate."
            )
        found, empty = np.asarray(model.predict_proba(X), dtype=np.float64), 0.0
    else:
        found, empty = np.asarray(model.decision_function(X), dtype=np.float64), -np.inf
        if found.ndim == 1:
            found = np.column_stack([-found, found])
        if found.shape[1] != len(model.classes_):
            raise InputError(
                f"decision_function of {type(model).__name__} has {found.shape[1]} columns for "
                f"{len(model.classes_)} classes; one per class is needed."
            )
    if np.array_equal(model.classes_, classes):
        return found
    wide = np.full((len(found), len(classes)), empty)
    wide[:, np.searchsorted(classes, model.classes_)] = found
    return wide
