"""What a factorisation costs: at entries, in rows, in all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray
from bottega.latent._nonnegative.multiplicative import divergences
from bottega.latent._nonnegative.problem import Factors
from bottega.latent._nonnegative.table import NonnegativeTable

__all__ = ["PreparedTable", "entry_losses", "mean_losses"]


@dataclass
class PreparedTable:
    """The table of a fit, and the factors of each number of components."""

    X: Any
    table: NonnegativeTable
    seed: int
    by_divergence: bool
    factors: Callable[[int], Factors]
    fits: dict[int, Factors] = field(default_factory=dict)

    def fit(self, k: int) -> Factors:
        """Return the factors with k components, computed once."""
        if k not in self.fits:
            self.fits[k] = self.factors(k)
        return self.fits[k]

    def loss(self, found: Factors) -> float:
        """Return half the squared error, or the divergence, in the scale of the table."""
        if self.by_divergence:
            return max(float(divergences(self.table.rows, found.W, found.Z).sum()), 0.0)
        return 0.5 * self.table.squared_error(found.W, found.Z)


def entry_losses(true: FloatArray, fitted: FloatArray, by_divergence: bool) -> FloatArray:
    """Return the squared error, or the divergence, of each entry.

    Examples
    --------
    >>> entry_losses(np.array([1.0, 0.0]), np.array([1.0, 2.0]), True)
    array([0., 2.])
    """
    if not by_divergence:
        return (true - fitted) ** 2
    fitted = np.maximum(fitted, np.finfo(float).tiny)
    some = np.where(true > 0, true, 1.0)
    return np.where(true > 0, true * np.log(some / fitted), 0.0) - true + fitted


def mean_losses(
    table: NonnegativeTable, codes: FloatArray, Z: FloatArray, by_divergence: bool
) -> FloatArray:
    """Return the mean loss of the observed entries of each row, in the units of the data."""
    side = table.rows
    seen = table.shape[1] - np.diff(side.starts)
    if by_divergence:
        return divergences(side, codes, Z) * table.scale / seen
    X = side.matrix
    square = X.multiply(X) if is_sparse(X) else X**2
    total = np.asarray(square.sum(axis=1)).ravel()
    total = total + np.sum(codes * (codes @ (Z.T @ Z) - 2 * side.times(Z)), axis=1)
    if not side.complete:
        rows = np.repeat(np.arange(len(codes)), np.diff(side.starts))
        total -= np.bincount(rows, side.at_gaps(codes, Z) ** 2, len(codes))
    return np.maximum(total, 0.0) * table.scale**2 / seen
