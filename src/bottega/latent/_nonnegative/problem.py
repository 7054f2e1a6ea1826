"""What a factorisation without negative numbers minimises, and what its solvers give back."""

from dataclasses import dataclass, field

import numpy as np

from bottega.core.typing import FloatArray
from bottega.latent._nonnegative.table import NonnegativeTable, Side

__all__ = ["FactorPenalty", "Factors", "gram_of", "quadratic"]

_MOST_PENALTY = 1e200  # of codes of numbers that are nothing beside the penalty


@dataclass(frozen=True)
class FactorPenalty:
    """Lasso and ridge penalties of the two factors, in the scale of the table."""

    l1_codes: float = 0.0
    l1_parts: float = 0.0
    l2_codes: float = 0.0
    l2_parts: float = 0.0

    @classmethod
    def scaled(
        cls, table: NonnegativeTable, alpha_W: float, alpha_H: float, l1_ratio: float, power: int
    ) -> "FactorPenalty":
        """Return penalties as they are for the table in its scale.

        There the loss is divided by that `power` of the scale, and each factor by its root.
        """
        n, p = table.shape
        with np.errstate(over="ignore"):
            one, two = np.minimum(table.scale ** (np.array([0.5, 1.0]) - power), _MOST_PENALTY)
        codes, parts = p * alpha_W, n * alpha_H
        lasso, ridge = l1_ratio * float(one), (1 - l1_ratio) * float(two)
        return cls(codes * lasso, parts * lasso, codes * ridge, parts * ridge)

    def of(self, W: FloatArray, Z: FloatArray) -> float:
        """Return the penalty of two factors without negative entries."""
        found = 0.0
        for F, l1, l2 in ((W, self.l1_codes, self.l2_codes), (Z, self.l1_parts, self.l2_parts)):
            if l1:
                found += l1 * float(F.sum())
            if l2:
                found += 0.5 * l2 * float(np.vdot(F, F))
        return found


@dataclass
class Factors:
    """Two factors, both with a row per point, and how they were found.

    Attributes
    ----------
    W : ndarray of shape (n, k)
        Codes of the rows.
    Z : ndarray of shape (p, k)
        The components, transposed.
    objective : list of float
        What was minimised, at the start and after each iteration; it never rises.
    n_iter : int
        Iterations taken.
    converged : bool
        Whether the iterations came to rest.
    """

    W: FloatArray
    Z: FloatArray
    objective: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False


def gram_of(Z: FloatArray, ridge: float = 0.0) -> FloatArray:
    """Return the Gram matrix of a factor, with a ridge."""
    G = Z.T @ Z
    if ridge:
        G.flat[:: len(G) + 1] += ridge
    return np.asarray(G)


def quadratic(
    table: NonnegativeTable, side: Side, F: FloatArray, Z: FloatArray, P: FloatArray
) -> float:
    """Return half the squared error from the products P of the side's table with Z."""
    found = table.square - 2 * np.vdot(P, F) + np.vdot(Z.T @ Z, F.T @ F)
    if not side.complete:
        found -= np.sum(side.at_gaps(F, Z) ** 2)
    return max(0.5 * float(found), 0.0)
