"""Ridge regressions from a kernel matrix that was made tridiagonal, K = Q T Q'.

Everything that a path needs of (K + alpha)^-1 follows from the factors of T + alpha, which cost
next to nothing: eigenvectors would take as much work again as T and Q did.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bottega.core.parallel import in_threads
from bottega.core.typing import FloatArray
from bottega.kernel._kernels.tridiagonal import ROWS, lengths
from bottega.kernel._ridge.spectrum import KernelSpectrum, floored, gains_of

__all__ = ["TridiagonalSpectrum", "reduce"]

_LEAST = 1e-11  # penalties below this share of the largest eigenvalue are lost in T + alpha
_PANEL = 64  # columns that LAPACK takes together
_BLOCK = 2**22  # numbers in a block of rows
_PART = 512  # rows measured by one thread at a time


def reduce(K: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Q (in Fortran's order) and the two diagonals of T; the matrix may be overwritten."""
    n = len(K)
    found, d, e, tau, _ = linalg.lapack.dsytrd(
        np.asfortranarray(K.T), lower=1, overwrite_a=1, lwork=_PANEL * n
    )
    Q = np.zeros((n, n), order="F")
    Q[0, 0] = 1.0
    Q[1:, 1:] = linalg.lapack.dorgqr(
        np.asfortranarray(found[1:, :-1]), tau, lwork=_PANEL * n, overwrite_a=1
    )[0]
    return Q, d, e


@dataclass(frozen=True)
class TridiagonalSpectrum(KernelSpectrum):
    """Directions in which the kernel matrix is tridiagonal; `lam` are its eigenvalues."""

    d: FloatArray  # (r,)
    e: FloatArray  # (r - 1,)

    def _can(self, alphas: FloatArray) -> bool:
        """Return True if there are rows enough and no penalty is lost when it is added to T."""
        return len(self.root) >= ROWS and bool(np.min(alphas) > _LEAST * self.lam[-1])

    def _eigen(self) -> tuple[FloatArray, FloatArray]:
        """Return eigenvalues and eigenvectors of T."""
        found: Any = linalg.eigh_tridiagonal(self.d, self.e, check_finite=False)
        return floored(found[0]), found[1]

    def _factors(self, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return L and 1 / D of T + alpha = L D L', one column per penalty."""
        ratio, inverse = np.zeros((2, len(self.d), len(alphas)))
        inverse[0] = 1 / (self.d[0] + alphas)
        for k in range(1, len(self.d)):
            ratio[k] = self.e[k - 1] * inverse[k - 1]
            inverse[k] = 1 / (self.d[k] + alphas - ratio[k] * self.e[k - 1])
        return ratio, inverse

    def _solved(self, ratio: FloatArray, inverse: FloatArray) -> FloatArray:
        """Return (T + alpha)^-1 z, (r, m, q)."""
        t = np.empty((*ratio.shape, self.z.shape[1]))
        t[0] = self.z[0]
        for k in range(1, len(t)):
            t[k] = self.z[k] - ratio[k, :, None] * t[k - 1]
        t *= inverse[:, :, None]
        for k in range(len(t) - 2, -1, -1):
            t[k] -= ratio[k + 1, :, None] * t[k + 1]
        return t

    def inner(self, alphas: FloatArray) -> FloatArray:
        """Return Q'(K + alpha)^-1 r y, (r, m q): coefficients in these directions."""
        if self._can(alphas):
            return self._solved(*self._factors(alphas)).reshape(len(self.d), -1)
        lam, U = self._eigen()
        found = gains_of(lam, alphas)[:, :, None] * (U.T @ self.z)[:, None, :]
        return np.asarray(U @ found.reshape(len(lam), -1))

    def fits(self, alphas: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield blocks of rows: weighted residuals (b, m, q), and 1 minus the leverages (b, m)."""
        if not self._can(alphas):
            lam, U = self._eigen()
            rest = (self.root, self.u, self.outside, self.unreached)
            yield from KernelSpectrum(lam, self.Q @ U, U.T @ self.z, *rest).fits(alphas)
            return
        n, q = self.outside.shape
        ratio, inverse = self._factors(alphas)
        away = (self._solved(ratio, inverse) * alphas[:, None]).reshape(len(self.d), -1)
        left = np.empty((n, len(alphas)))
        Qt = self.Q.T

        def measure(part: int) -> None:
            lengths(Qt, ratio, inverse, part, min(part + _PART, n), left)

        in_threads(measure, range(0, n, _PART))
        left *= alphas
        step = max(1, _BLOCK // len(self.d))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            residual = (self.Q[rows] @ away).reshape(-1, len(alphas), q)
            yield rows, residual, left[rows]
