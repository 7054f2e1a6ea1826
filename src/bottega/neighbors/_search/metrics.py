"""The distances by name, and rows in the form in which they are compared."""

from typing import Any

import numpy as np

from bottega.core.chunks import Moments
from bottega.core.errors import InputError
from bottega.core.params import AnyOf, Choice, Function
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.neighbors._kernels.distances import CHEBYSHEV, EUCLIDEAN, HAMMING, MANHATTAN

METRICS = ("euclidean", "manhattan", "chebyshev", "cosine", "hamming", "mahalanobis", "edit")

# Cosine and Mahalanobis distances are Euclidean ones after a change of coordinates.
CODES = {
    "euclidean": EUCLIDEAN,
    "cosine": EUCLIDEAN,
    "mahalanobis": EUCLIDEAN,
    "manhattan": MANHATTAN,
    "chebyshev": CHEBYSHEV,
    "hamming": HAMMING,
}
BRUTE_NAMES = ("euclidean", "manhattan", "chebyshev", "hamming")
TREE_POWERS = (2.0, 1.0, np.inf)


METRIC = AnyOf(Choice(*METRICS), Function(), help="distance: its name, or a callable(a, b)")


def takes_objects(metric: Any) -> bool:
    """Return True if a distance compares strings or objects, not rows of numbers."""
    return callable(metric) or metric == "edit"


def as_objects(X: Any, metric: Any) -> Array:
    """Return rows for a callable: a numeric table as it is, anything else as a list of objects.

    A table (frame or array) with one column that is not numeric stands for its entries. The edit
    distance takes nothing but strings.
    """
    if hasattr(X, "columns") or (isinstance(X, np.ndarray) and X.ndim == 2):
        X = np.asarray(X)
        X = X[:, 0] if X.shape[1] == 1 and X.dtype.kind not in "biuf" else X
    elif isinstance(X, str) or not hasattr(X, "__len__"):
        raise InputError(f"X must be a table or a sequence of objects; got {type(X).__name__}.")
    table = isinstance(X, np.ndarray) and X.ndim == 2
    if metric == "edit":
        strange = next((repr(item) for item in X if not isinstance(item, str)), None)
        if strange is not None:
            raise InputError(
                "metric='edit' compares strings: X must be a sequence of strings or a table with "
                f"one column of them; got {'a table of several columns' if table else strange}."
            )
    if table:
        return X
    found = np.empty(len(X), dtype=object)
    for i, item in enumerate(X):
        found[i] = item
    return found


def letters(strings: Array) -> tuple[IntArray, IntArray]:
    """Return the code points of all strings in a row, and where each string starts."""
    starts = np.cumsum([0, *map(len, strings)])
    joined = "".join(strings).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype=np.int32).astype(np.intp), starts


def whitening(X: FloatArray) -> FloatArray:
    """Return W with ``W W'`` the (pseudo-)inverse of the covariance of X."""
    p = X.shape[1]
    if len(X) < 2:
        return np.zeros((p, 1))
    spread, directions = np.linalg.eigh(Moments().update(X).covariance())
    kept = spread > spread[-1] * p * np.finfo(np.float64).eps
    return directions[:, kept] / np.sqrt(spread[kept]) if kept.any() else np.zeros((p, 1))
