r"""Penalised least squares in the coordinates of the singular vectors.

With :math:`X = U D V^\top` (inputs centred, scaled and weighted) every ridge fit is a rescaling of
the same few numbers: :math:`\hat y = U \,\mathrm{diag}(d_j^2 / (d_j^2 + \alpha))\, U^\top y`. One
decomposition serves every :math:`\alpha`.

Symbols
-------
X, y      n by p and n by q, as `Centering.rows` gives them
lam       squared singular values :math:`d_j^2` above rounding, r of them, largest first
kept      d^2 / (d^2 + alpha), the share of each direction that a fit keeps
lost      alpha / (d^2 + alpha) = 1 - kept, computed without cancellation
"""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.lazy import cached_property
from bottega.core.stored import stored
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray

# A Gram matrix squares the condition number: with lam_min / lam_max at this ratio ten digits of
# the smallest eigenvalue are still right; below it the rows themselves must be decomposed.
_WELL_CONDITIONED = 1e-6
# Eigenvalues of a Gram matrix below this share of the largest have lost most of their digits.
_LOST = 1e-11
# Multiplications up to which a decomposition is quickest in one thread.
_SMALL = 5e7


@stored
@dataclass(frozen=True)
class Spectrum:
    """A least-squares problem reduced to its singular values and directions."""

    lam: FloatArray  # (r,): squared singular values, largest first
    rotated: FloatArray  # (r, q): U'y, the responses in the coordinates of U
    # Matrices whose product is V. With more columns than rows V costs more than all the
    # coefficients of a path, so it is multiplied out only when asked for.
    factors: tuple[Any, ...]

    @property
    def rank(self) -> int:
        """Number of directions in which the inputs vary."""
        return len(self.lam)

    @property
    def p(self) -> int:
        """Number of inputs."""
        return len(self.factors[0])

    @cached_property
    def V(self) -> FloatArray:  # noqa: N802
        """Right singular vectors, p by r."""
        return self.factors[0] if len(self.factors) == 1 else self.factors[0] @ self.factors[1]

    def project(self, points: FloatArray) -> FloatArray:
        """Return the coordinates of points (in rows) along the right singular vectors."""
        for factor in self.factors:
            points = points @ factor
        return points

    def lost(self, alpha: Any) -> FloatArray:
        """Return alpha / (lam + alpha): one row per direction, one column per alpha."""
        return np.asarray(alpha / (self.lam[:, None] + alpha))

    def kept(self, alpha: Any) -> FloatArray:
        """Return lam / (lam + alpha): one row per direction, one column per alpha."""
        return np.asarray(self.lam[:, None] / (self.lam[:, None] + alpha))

    def coef(self, alphas: FloatArray) -> FloatArray:
        """Return the coefficients of each alpha, shape (m, q, p)."""
        return self.coef_keeping(self.kept(alphas))

    def coef_keeping(self, kept: FloatArray) -> FloatArray:
        """Return the coefficients (m, q, p) of fits that keep these shares (r, m) of y."""
        m, q = kept.shape[1], self.rotated.shape[1]
        gain = kept / np.sqrt(self.lam)[:, None]
        each = (gain[:, :, None] * self.rotated[:, None, :]).reshape(self.rank, m * q)
        for factor in reversed(self.factors):
            each = factor @ each
        return np.ascontiguousarray(each.T).reshape(m, q, self.p)

    def coef_of_each(self, alphas: FloatArray) -> FloatArray:
        """Return the coefficients (q, p) of fits with a penalty of their own for each response."""
        each = self.kept(alphas) / np.sqrt(self.lam)[:, None] * self.rotated
        for factor in reversed(self.factors):
            each = factor @ each
        return np.ascontiguousarray(each.T)

    def first(self, count: int) -> "Spectrum":
        """Return the part that belongs to the first `count` directions."""
        *others, last = self.factors
        kept = np.ascontiguousarray(last[:, :count])
        return Spectrum(self.lam[:count], self.rotated[:count], (*others, kept))

    def quadratic(self, projected: FloatArray, norms: Any, alpha: float, kind: str) -> FloatArray:
        r"""Return :math:`x^\top M x` for points given by ``x V`` and their squared lengths.

        With :math:`P = (X^\top X + \alpha I)^{-1}`, M is :math:`P X^\top X P` for ``"sampling"``
        and P for ``"posterior"``.
        """
        square = projected**2
        if kind == "sampling":
            return square @ (self.lam / (self.lam + alpha) ** 2)
        found: FloatArray = square @ (1 / (self.lam + alpha))
        if self.rank < self.p:  # directions the data say nothing about keep the prior
            found = found + np.maximum(norms - square.sum(axis=1), 0) / alpha
        return found

    def matrix(self, alpha: float, kind: str) -> FloatArray:
        """Return the matrix M of `quadratic`, p by p."""
        V = self.V
        if kind == "sampling":
            return (V * (self.lam / (self.lam + alpha) ** 2)) @ V.T
        found: FloatArray = (V / (self.lam + alpha)) @ V.T
        if self.rank < self.p:
            found += (np.eye(self.p) - V @ V.T) / alpha
        return found


def by_svd(X: FloatArray, y: FloatArray) -> tuple[Spectrum, FloatArray]:
    """Decompose the rows themselves: the most accurate way. Returns the spectrum and U."""
    with one_thread() if X.size * min(X.shape) <= _SMALL else nullcontext():
        U, d, Vt = np.linalg.svd(X, full_matrices=False)
    r = _rank(d, max(X.shape))
    U = U[:, :r]
    return Spectrum(d[:r] ** 2, U.T @ y, (np.ascontiguousarray(Vt[:r].T),)), U


def by_dual_gram(
    gram: FloatArray, transposed: Any, y: FloatArray, rank: int, drop: bool = False
) -> tuple[Spectrum, FloatArray] | None:
    """Decompose XX' (n by n), given with X': the cheapest way with more columns than rows.

    `rank` is the rank of X when nothing is collinear. Where squaring the singular values costs too
    many digits, the directions that are lost in rounding are left out with `drop`; else None is
    returned.
    """
    lam, U = np.linalg.eigh(gram)
    lam, U = lam[::-1][:rank], np.ascontiguousarray(U[:, ::-1][:, :rank])
    if drop:
        lam = lam[lam > _LOST * lam[0]]
        U = np.ascontiguousarray(U[:, : len(lam)])
    elif not lam[-1] > _WELL_CONDITIONED * lam[0]:
        return None
    return Spectrum(lam, U.T @ y, (transposed, U / np.sqrt(lam))), U


def by_gram(gram: FloatArray, cross: FloatArray, drop: bool = False) -> Spectrum | None:
    """Decompose X'X (p by p), given with X'y: the cheapest way with many rows.

    Where squaring the singular values costs too many digits, the directions that are lost in
    rounding are left out with `drop`; else None is returned.
    """
    with one_thread() if gram.size * len(gram) <= _SMALL else nullcontext():
        lam, V = np.linalg.eigh(gram)
    lam, V = lam[::-1], np.ascontiguousarray(V[:, ::-1])
    if drop:
        lam = lam[lam > _LOST * lam[0]]
        V = V[:, : len(lam)]
    elif not lam[-1] > _WELL_CONDITIONED * lam[0]:
        return None
    return Spectrum(lam, (V.T @ cross) / np.sqrt(lam)[:, None], (V,))


def by_triangle(R: FloatArray, rotated: FloatArray, n: int) -> Spectrum:
    """Decompose X from its QR factor: `R` (k by p) and ``Q'y`` (k by q) of `n` rows."""
    left, d, Vt = np.linalg.svd(R, full_matrices=False)
    r = _rank(d, max(n, R.shape[1]))
    return Spectrum(d[:r] ** 2, left[:, :r].T @ rotated, (np.ascontiguousarray(Vt[:r].T),))


def _rank(d: FloatArray, size: int) -> int:
    if not len(d):
        return 0
    return int(np.count_nonzero(d > d[0] * size * np.finfo(np.float64).eps))
