"""Sparse inputs that are centred, scaled and weighted in products alone, and never made dense."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.rows import Rows
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.linear._decomposition.centering import Centering
from bottega.linear._decomposition.spectrum import Spectrum, by_dual_gram
from bottega.optimize.coordinate_columns import columns_of


@stored
@dataclass(frozen=True)
class SparseInputs:
    """Transposed inputs, p by n, as the fit sees them: a factor of a `Spectrum`."""

    columns: Any  # (p, n) sparse: scaled and weighted, not centred
    mean: FloatArray  # (p,): scaled
    root: FloatArray  # (n,): root weights

    __array_ufunc__ = None  # a product from the left is ours

    def __len__(self) -> int:
        return len(self.mean)

    def __matmul__(self, right: FloatArray) -> FloatArray:
        return np.asarray(self.columns @ right) - np.multiply.outer(self.mean, self.root @ right)

    def __rmatmul__(self, left: FloatArray) -> FloatArray:
        return np.asarray(left @ self.columns) - np.multiply.outer(left @ self.mean, self.root)

    def gram(self) -> FloatArray:
        """Return the products of the rows with one another, n by n."""
        found = np.asarray((self.columns.T @ self.columns).toarray())
        cross = np.multiply.outer(self.columns.T @ self.mean, self.root)
        length = float(self.mean @ self.mean)
        found -= cross + cross.T
        found += length * np.multiply.outer(self.root, self.root)
        return found


def decompose_wide(
    rows: Rows, y: FloatArray, *, standardize: bool, fit_intercept: bool
) -> tuple[Centering, Spectrum, FloatArray, FloatArray]:
    """Decompose a sparse table with more columns than rows by the products of its rows.

    Returns the map, the spectrum, its left singular vectors and the responses as the fit sees them.
    """
    v, how = rows.weights, {"standardize": standardize, "fit_intercept": fit_intercept}
    mean, inverse, constant = columns_of(rows.X, v, **how).scaling(v, **how)
    y_mean = v @ y / v.sum() if fit_intercept else np.zeros(y.shape[1])
    scale = 1 / np.where(constant, 1.0, inverse)
    centering = Centering(
        len(rows), float(v.sum()), mean, scale, constant, y_mean, bool(fit_intercept)
    )
    root = np.sqrt(v)
    columns = rows.X.T.multiply(inverse[:, None]).multiply(root[None, :]).tocsr()
    inputs = SparseInputs(columns, mean * inverse, root)
    Y = (y - y_mean) * root[:, None]
    found = by_dual_gram(inputs.gram(), inputs, Y, len(rows) - fit_intercept, drop=True)
    assert found is not None
    return centering, *found, Y
