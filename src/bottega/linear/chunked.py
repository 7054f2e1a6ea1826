"""Chunks of rows given by a user, checked each time they are gone through."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_X_y

from bottega.core.chunks import iterate_chunks
from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.core.weights import check_weight

__all__ = ["CheckedChunks"]


class CheckedChunks:
    """A re-iterable of ``(X, y, w)``: finite numbers, `y` with two axes, weights positive or None.

    Rows of weight zero and chunks without rows are left out.
    """

    def __init__(self, chunks: Iterable[Any], n_features: int, y_ndim: int) -> None:
        self.chunks = chunks
        self.n_features = n_features
        self.y_ndim = y_ndim

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray, Any]]:
        for number, (X, y, w) in enumerate(iterate_chunks(self.chunks), start=1):
            if X.ndim == 2 and not len(X):
                continue
            try:
                X, y = check_X_y(X, y, dtype=np.float64, multi_output=True, y_numeric=True)
                if w is not None:
                    w = check_weight(w, len(X)) if np.any(w) or w.shape != (len(X),) else w
            except ValueError as error:
                raise InputError(f"Chunk {number} cannot be used: {error}") from error
            if X.shape[1] != self.n_features:
                raise InputError(
                    f"Chunk {number} has {X.shape[1]} columns and the first one "
                    f"{self.n_features}; give all chunks the same columns."
                )
            if y.ndim != self.y_ndim:
                raise InputError(
                    f"Chunk {number} has a response with {y.ndim} axes and the first one "
                    f"{self.y_ndim}; give all chunks the same responses."
                )
            y = y.reshape(len(y), -1).astype(np.float64, copy=False)
            if w is not None and np.any(w == 0):
                X, y, w = X[w > 0], y[w > 0], w[w > 0]
            if len(X):
                yield X, y, w
