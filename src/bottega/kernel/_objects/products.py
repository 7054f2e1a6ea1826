"""Inner products and squared distances of the rows of two tables, dense or CSR."""

from typing import Any

import numpy as np

from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray

__all__ = ["dense", "products", "row_squares", "squared_distances"]


def dense(X: Any) -> FloatArray:
    """Return a table as an array."""
    return X.toarray() if is_sparse(X) else X


def products(X: Any, Z: Any) -> FloatArray:
    """Return the inner products of the rows of X with those of Z."""
    found = X @ Z.T
    return np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float64)


def row_squares(X: Any) -> FloatArray:
    """Return the squared length of each row."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)


def squared_distances(X: Any, Z: Any) -> FloatArray:
    """Return the squared distances of the rows of X from those of Z.

    By one product of matrices. Dense rows are taken from the mean of Z first, so that points far
    from the origin lose no digits. The distance of a row from itself is exactly zero; one whose
    square is beyond the largest number is infinite.
    """
    same = Z is X
    if not is_sparse(X) and not is_sparse(Z):
        center = Z.mean(axis=0)
        Z = Z - center
        X = Z if same else X - center
    with np.errstate(over="ignore", invalid="ignore"):
        right = row_squares(Z)
        left = right if same else row_squares(X)
        found = products(X, Z)
        found *= -2.0
        found += left[:, None]
        found += right
        np.maximum(found, 0.0, out=found)
    far = ~np.isfinite(left)
    if np.any(far):
        found[far] = np.inf
    if same:
        np.fill_diagonal(found, 0.0)
    return found
