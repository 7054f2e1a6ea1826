"""Least squares on subsets of the terms, from one decomposition of all of them."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from bottega.core.lazy import cached_property
from bottega.core.typing import FloatArray, IntArray

# Directions of the terms, on a common scale, that are rounding beside the largest.
_SINGULAR = 1e-10


@dataclass(frozen=True, eq=False)
class TermColumns:
    """The terms at the rows (the intercept first), decomposed once for all subsets of them.

    The columns are brought to one length before they are decomposed, so that neither the units of
    the inputs nor the products of several of them are seen in the rounding.
    """

    B: FloatArray  # (n, M)
    weight: FloatArray  # (n,)

    @cached_property
    def root(self) -> FloatArray:
        """The roots of the weights, (n, 1)."""
        return np.sqrt(self.weight)[:, None]

    @cached_property
    def _decomposed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        scaled = self.B * self.root
        length = np.linalg.norm(scaled, axis=0)
        length[length == 0] = 1.0
        Q, R = linalg.qr(scaled / length, mode="economic", check_finite=False)
        return Q, R, length

    def projected(self, Y: FloatArray) -> FloatArray:
        """Return the responses (n, q) in the coordinates of the terms."""
        return np.asarray(self._decomposed[0].T @ (Y * self.root))

    def fit(self, kept: IntArray, projected: FloatArray) -> FloatArray:
        """Return the coefficients of some terms, (m, q); those that repeat others share theirs."""
        _, R, length = self._decomposed
        found = linalg.lstsq(R[:, kept], projected, cond=_SINGULAR, check_finite=False)[0]
        return np.asarray(found / length[kept, None])

    def lost(self, kept: IntArray, projected: FloatArray) -> float:
        """Return by how much the squared residuals grow when all other terms are left out."""
        _, R, length = self._decomposed
        left = projected - (R[:, kept] * length[kept]) @ self.fit(kept, projected)
        return float(np.sum(left**2))

    def orthonormal(self, kept: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return columns D that span some terms, the intercept first, and T with ``D = B T``.

        The first column of D is one; all of them have mean square one under the weights, and mean
        products zero. A term that repeats others has a row of zeros in T.
        """
        Q, R, length = self._decomposed
        U, S = linalg.qr(R[:, kept], mode="economic", check_finite=False)
        new = np.zeros(len(kept), dtype=bool)
        new[: len(S)] = np.abs(np.diagonal(S)) > _SINGULAR
        if not new.all():
            U, S = linalg.qr(R[:, kept[new]], mode="economic", check_finite=False)
        sign = np.where(np.diagonal(S) < 0, -1.0, 1.0) * np.sqrt(self.weight.sum())
        T = np.zeros((len(kept), len(S)))
        T[new] = linalg.solve_triangular(S, np.diag(sign)) / length[kept[new], None]
        return np.asarray(Q @ (U * sign) / self.root), T
