"""Models stacked under a final estimator: what they give for unseen rows, as columns."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import ParameterError
from bottega.core.frames import is_frame
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray

METHODS = ("predict_proba", "decision_function", "predict")


def method_of(name: str, model: Any, wanted: str) -> str:
    """Return which method of a model is stacked."""
    for method in METHODS if wanted == "auto" else (wanted,):
        if hasattr(model, method):
            return method
    raise ParameterError(f"Underlying estimator {name} does not implement the method {wanted}.")


def columns_of(model: Any, method: str, X: Any, classes: Any) -> FloatArray:
    """Return what a fitted model gives as columns: (rows, columns).

    Probabilities of two classes are one column, as the other says the same; a class that the model
    has not seen has probability zero.
    """
    found = getattr(model, method)(X)
    if isinstance(found, list):  # several responses
        return np.hstack([shares[:, 1:] for shares in found])
    found = np.asarray(found)
    if found.ndim == 1:
        if method == "predict" and is_classifier(model) and found.dtype.kind not in "biuf":
            found = np.searchsorted(classes, found)
        return found[:, None].astype(np.float64)
    one_response = not isinstance(classes, list) and classes is not None
    if method == "predict_proba" and one_response and found.shape[1] <= len(classes):
        wide = np.zeros((len(found), len(classes)))
        wide[:, np.searchsorted(classes, model.classes_)] = found
        found = wide if len(classes) != 2 else wide[:, 1:]
    return found.astype(np.float64)


def beside(columns: list[FloatArray], X: Any, passthrough: bool) -> Any:
    """Return the columns side by side, with the inputs behind them where they pass through."""
    if not passthrough:
        return np.hstack(columns)
    if is_sparse(X):
        parts: Any = [*columns, X]
        return sparse.hstack(parts, format=getattr(X, "format", None))
    return np.hstack([*columns, np.asarray(X.to_numpy() if is_frame(X) else X)])


def check_prefit(models: list[Any]) -> list[Any]:
    """Return models that are fitted already."""
    for model in models:
        check_is_fitted(model)
    return models


def names_out(owner: str, names: list[str], widths: list[int], inputs: Array) -> Array:
    """Return the names of the stacked columns and of the inputs that pass through."""
    found = [
        f"{owner}_{name}{'' if width == 1 else k}"
        for name, width in zip(names, widths, strict=True)
        for k in range(width)
    ]
    return np.array([*found, *inputs], dtype=object)
