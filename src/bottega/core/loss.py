"""The two losses by which a path is judged, one value a row: ``loss(y_true, y_pred)``.

`y_true` has one entry a row; `y_pred` may carry further axes behind the rows (one column a value
of the knob), and so does the answer.
"""

from typing import Any

import numpy as np

from bottega.core.typing import Array, FloatArray

__all__ = ["LOSS_OF_TASK", "loss_of", "squared_error", "zero_one"]

LOSS_OF_TASK = {"regression": "squared error", "classification": "misclassification"}


def _aligned(y_true: Any, y_pred: Any) -> tuple[Array, Array]:
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    return true.reshape(true.shape + (1,) * (pred.ndim - true.ndim)), pred


def squared_error(y_true: Any, y_pred: Any) -> FloatArray:
    """Return (y - y_hat)^2."""
    true, pred = _aligned(y_true, y_pred)
    return np.asarray((true - pred) ** 2, dtype=np.float64)


def zero_one(y_true: Any, y_pred: Any) -> FloatArray:
    """Return 1 where the prediction is wrong and 0 where it is right."""
    true, pred = _aligned(y_true, y_pred)
    return np.asarray(true != pred, dtype=np.float64)


def loss_of(task: str, y_true: Any, y_pred: Any) -> FloatArray:
    """Return the loss of each row under the loss of the task."""
    return squared_error(y_true, y_pred) if task == "regression" else zero_one(y_true, y_pred)
