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


def metric_parameter() -> AnyOf:
    """Declare a parameter that names a distance."""
    return AnyOf(Choice(*METRICS), Function(), help="distance: its name, or a callable(a, b)")


def as_objects(X: Any) -> Array:
    """Return rows for a callable: a numeric table as it is, anything else as a list of objects.

    A table (frame or array) with one column that is not numeric stands for its entries.
    """
    if hasattr(X, "columns") or (isinstance(X, np.ndarray) and X.ndim == 2):
        table = np.asarray(X)
        if table.shape[1] != 1 or table.dtype.kind in "biuf":
            return table
        X = table[:, 0]
    elif isinstance(X, str) or not hasattr(X, "__len__"):
        raise InputError(f"X must be a table or a sequence of objects; got {type(X).__name__}.")
    found = np.empty(len(X), dtype=object)
    for i, item in enumerate(X):
        found[i] = item
    return found


def as_strings(X: Any) -> Array:
    """Return strings as an array of objects."""
    found = as_objects(X)
    strange = "a table of several columns" if found.ndim != 1 else None
    if strange is None:
        strange = next((repr(item) for item in found if not isinstance(item, str)), None)
    if strange is not None:
        raise InputError(
            "metric='edit' compares strings: X must be a sequence of strings or a table with one "
            f"column of them; got {strange}."
        )
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
