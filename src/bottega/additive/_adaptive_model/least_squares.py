"""Least squares on subsets of the terms, from one decomposition of all of them."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from bottega.core.lazy import cached_property
from bottega.core.typing import FloatArray, IntArray

# Directions of the terms, on a common scale, that are rounding beside the largest.
_SINGULAR = 1e-10
_BLOCK = 2**17  # numbers that are decomposed at a time: they stay in the cache


@dataclass(frozen=True, eq=False)
class TermColumns:
    """The terms at the rows (the intercept first) and responses, decomposed once for all subsets.

    The triangular factor of both together says all about least squares. It is found block by
    block, by orthogonal transformations alone. Its columns are brought to one length, so that
    neither the units of the inputs nor products of several of them are seen in the rounding.
    """

    B: FloatArray  # (n, M)
    weight: FloatArray  # (n,)
    Y: FloatArray | None = None  # (n, q)

    @cached_property
    def _triangle(self) -> FloatArray:
        n, M = self.B.shape
        q = 0 if self.Y is None else self.Y.shape[1]
        root = np.sqrt(self.weight)[:, None]
        found: FloatArray = np.zeros((0, M + q))
        size = max(_BLOCK // (M + q), 4 * (M + q))
        for start in range(0, n, size):
            rows = slice(start, start + size)
            parts = [found, np.empty((min(size, n - start), M + q))]
            np.multiply(self.B[rows], root[rows], out=parts[1][:, :M])
            if self.Y is not None:
                np.multiply(self.Y[rows], root[rows], out=parts[1][:, M:])
            found = np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))
        return found

    @cached_property
    def _terms(self) -> tuple[FloatArray, FloatArray]:
        """The triangle of the terms with columns of length one, and their lengths."""
        M = self.B.shape[1]
        R = self._triangle[:, :M]
        length = np.linalg.norm(R, axis=0)
        length[length == 0] = 1.0
        return R / length, length

    @property
    def _projected(self) -> FloatArray:
        """The responses in the coordinates of the terms, and what is left of them below."""
        return self._triangle[:, self.B.shape[1] :]

    def fit(self, kept: IntArray) -> FloatArray:
        """Return the coefficients of some terms, (m, q); those that repeat others share theirs."""
        R, length = self._terms
        found = linalg.lstsq(R[:, kept], self._projected, cond=_SINGULAR, check_finite=False)[0]
        return np.asarray(found / length[kept, None])

    def rss(self, kept: IntArray) -> FloatArray:
        """Return the weighted residual sums of squares on some terms, one for each response."""
        R, length = self._terms
        left = self._projected - (R[:, kept] * length[kept]) @ self.fit(kept)
        return np.asarray(np.sum(left**2, axis=0))

    def orthonormal(self, kept: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return columns D that span some terms, the intercept first, and T with ``D = B T``.

        The first column of D is one; all of them have mean square one under the weights, and mean
        products zero. A term that repeats others has a row of zeros in T.
        """
        R, length = self._terms
        S = linalg.qr(R[:, kept], mode="r", check_finite=False)[0]
        new = np.zeros(len(kept), dtype=bool)
        new[: len(S)] = np.abs(np.diagonal(S)) > _SINGULAR
        if not new.all():
            S = linalg.qr(R[:, kept[new]], mode="r", check_finite=False)[0]
        S = S[: np.count_nonzero(new)]
        size = np.sqrt(self.weight.sum()) * np.where(np.diagonal(S) < 0, -1.0, 1.0)
        T = np.zeros((len(kept), len(S)))
        T[new] = linalg.solve_triangular(S, np.diag(size)) / length[kept[new], None]
        return np.asarray(self.B[:, kept] @ T), T
