"""Row weights: one check for all estimators."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["check_weight"]


def check_weight(sample_weight: Any, n: int) -> FloatArray | None:
    """Return the weights as an array, or None where there are none (or all are one)."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise InputError(
            f"sample_weight has shape {weight.shape}; it needs one number a row: ({n},)."
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise InputError("sample_weight must be finite and not negative; correct those rows.")
    if not np.any(weight > 0):
        raise InputError("All of sample_weight is zero; at least one row must count.")
    return None if np.all(weight == 1) else weight
