"""What every distance is: a form in which rows are compared, and numbers between them."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from bottega.core.errors import InputError
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray
from bottega.core.validate import refuse_masked

# Directions closer than this are the same: it is the rounding of their normalisation.
SAME_DIRECTION = 1e-28


class Distance(ABC):
    """A distance, fitted to the rows that will be searched."""

    # Whether the encoded rows are the rows themselves.
    plain: bool = True

    @abstractmethod
    def encode(self, X: Any) -> Any:
        """Return rows in the form in which they are compared."""

    @abstractmethod
    def table(self, points: Any, stored: Any) -> FloatArray:
        """Return the distance from each encoded point to each encoded stored row."""


class NumericDistance(Distance):
    """A distance between rows of numbers, all of the same number of columns."""

    n_columns: int | None = None

    def check(self, X: Any, **options: Any) -> Any:
        """Return a table of numbers, refused where its columns are not those of the rows."""
        refuse_masked(X=X)
        found = check_array(X, dtype=np.float64, **options)
        if self.n_columns is None:
            self.n_columns = found.shape[1]
        elif found.shape[1] != self.n_columns:
            raise InputError(
                f"X has {found.shape[1]} columns, but the stored rows have {self.n_columns}."
            )
        return found

    def check_dense(self, X: Any) -> FloatArray:
        """Return a table of numbers as an array."""
        table: FloatArray = self.check(X.toarray() if is_sparse(X) else X, order="C")
        return table


def scaled(distances: FloatArray, metric: Any) -> FloatArray:
    """Return Euclidean distances between encoded points as those of the metric."""
    if metric == "sqeuclidean":
        with np.errstate(over="ignore", under="ignore"):
            squares: FloatArray = np.asarray(distances**2)
        if not np.all(np.isfinite(squares)) or np.any((squares == 0) & (distances > 0)):
            raise InputError(
                "Squares of the distances between these rows cannot be represented: use "
                "metric='euclidean', which has the same neighbours, or rescale the columns of X."
            )
        return squares
    if metric not in ("cosine", "correlation"):
        return distances
    found: FloatArray = distances**2 / 2  # of unit vectors: 1 minus the cosine
    found[found < SAME_DIRECTION] = 0.0
    return found
