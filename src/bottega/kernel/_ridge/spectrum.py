r"""Ridge regressions from one decomposition of a kernel matrix.

Symbols
-------
r       root weights of the rows; all products are of rows times these
u       r / ||r||, the direction of the intercept (zero without one)
Q, lam  eigenvectors, orthogonal to u, and eigenvalues of the weighted, centred kernel matrix
z       Q'(r y), the responses in these directions
shrunk  alpha / (lam + alpha), what a penalty leaves in the residuals of each direction
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from bottega.core.errors import InputError
from bottega.core.judge import mean_and_se
from bottega.core.losses import Loss
from bottega.core.rows import Rows
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray

__all__ = ["KernelSpectrum", "decompose_features", "decompose_kernel"]

_NEGATIVE = 1e-8  # share of the largest eigenvalue that a negative one may have by rounding
_VANISHING = 1e-14  # share below which a direction of features is rounding
_BLOCK = 2**22  # numbers in a block of rows
_SMALL = 200  # decompositions up to this size are quicker in one thread


@dataclass(frozen=True)
class KernelSpectrum:
    """The directions of a kernel matrix of n rows, r of them."""

    lam: FloatArray  # (r,)
    Q: FloatArray  # (n, r)
    z: FloatArray  # (r, q)
    root: FloatArray  # (n,)
    u: FloatArray  # (n,)
    outside: FloatArray  # (n, q): what no direction reaches of the weighted, centred responses
    unreached: FloatArray  # (n,): the share of each row that no direction reaches

    def shrunk(self, alphas: FloatArray) -> FloatArray:
        """Return alpha / (lam + alpha), one column per penalty; 0 / 0 is 1."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found = alphas / (self.lam[:, None] + alphas)
        return np.where(np.isnan(found), 1.0, found)

    def gains(self, alphas: FloatArray) -> FloatArray:
        """Return 1 / (lam + alpha), one column per penalty; 0 where both are zero."""
        total = self.lam[:, None] + alphas
        return np.where(total > 0, 1 / np.where(total > 0, total, 1.0), 0.0)

    def df(self, alphas: FloatArray) -> FloatArray:
        """Return the trace of the smoother, intercept included."""
        return np.sum(1 - self.shrunk(alphas), axis=0) + float(np.any(self.u != 0))

    def fits(self, alphas: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield blocks of rows: weighted residuals (b, m, q), and 1 minus the leverages (b, m)."""
        n, q = self.outside.shape
        shrunk = self.shrunk(alphas)
        left = (shrunk[:, :, None] * self.z[:, None, :]).reshape(len(self.lam), -1)
        step = max(1, _BLOCK // max(1, len(self.lam)))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            Q = self.Q[rows]
            residual = (Q @ left).reshape(len(Q), len(alphas), q) + self.outside[rows, None, :]
            yield rows, residual, Q**2 @ shrunk + self.unreached[rows, None]


def decompose_kernel(
    K: FloatArray, y: FloatArray, rows: Rows, *, intercept: bool
) -> KernelSpectrum:
    """Return the spectrum of a kernel matrix, which is overwritten.

    With an intercept the matrix is taken orthogonally to u, by a reflection that turns u into the
    first axis, which is then left out.
    """
    root, u = _roots(rows, intercept)
    if rows.weight is not None:
        K *= root[:, None]
        K *= root
    target = _centred(root[:, None] * y, u)
    if not intercept:
        lam, Q = _eigh(K)
        return KernelSpectrum(lam, Q, Q.T @ target, root, u, np.zeros_like(y), np.zeros(len(y)))
    v = u.copy()
    v[0] += 1.0
    v /= np.linalg.norm(v)
    Kv = K @ v
    w = 2 * Kv - 2 * (v @ Kv) * v  # HKH = K - v w' - w v'
    inner = K[1:, 1:]
    inner -= np.outer(v[1:], w[1:])
    inner -= np.outer(w[1:], v[1:])
    lam, V = _eigh(inner)
    Q = np.empty((len(y), len(lam)))
    Q[0] = 0.0
    Q[1:] = V
    Q -= np.outer(2 * v, v[1:] @ V)
    return KernelSpectrum(lam, Q, Q.T @ target, root, u, np.zeros_like(y), np.zeros(len(y)))


def decompose_features(
    Z: FloatArray, y: FloatArray, rows: Rows, *, intercept: bool
) -> tuple[KernelSpectrum, FloatArray, FloatArray]:
    """Return the spectrum of Z Z', the axes V of the features, and the mean that is taken off."""
    root, u = _roots(rows, intercept)
    center = np.average(Z, axis=0, weights=rows.weight) if intercept else np.zeros(Z.shape[1])
    Zw = (Z - center) * root[:, None]
    target = _centred(root[:, None] * y, u)
    lam, V = _eigh(Zw.T @ Zw)
    held = lam > _VANISHING * max(lam[-1], 0.0) if len(lam) else np.zeros(0, dtype=bool)
    lam, V = lam[held], V[:, held]
    Q = Zw @ (V / np.sqrt(lam))
    z = Q.T @ target
    unreached = np.maximum(1 - u**2 - np.einsum("ij,ij->i", Q, Q), 0.0)
    return KernelSpectrum(lam, Q, z, root, u, target - Q @ z, unreached), V, center


def _roots(rows: Rows, intercept: bool) -> tuple[FloatArray, FloatArray]:
    root = np.sqrt(rows.weights)
    return root, root / np.linalg.norm(root) if intercept else np.zeros(len(root))


def _centred(target: FloatArray, u: FloatArray) -> FloatArray:
    return target - np.outer(u, u @ target)


def _eigh(K: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and eigenvectors, refused where the matrix is no kernel's."""
    if not len(K):
        return np.zeros(0), np.zeros((0, 0))
    if len(K) <= _SMALL:
        with one_thread():
            lam, Q = linalg.eigh(K, overwrite_a=True, check_finite=False, driver="evd")
    else:
        lam, Q = linalg.eigh(K, overwrite_a=True, check_finite=False, driver="evd")
    largest = max(abs(lam[0]), abs(lam[-1]))
    if lam[0] < -_NEGATIVE * largest:
        raise InputError(
            f"The kernel is not positive semi-definite on these rows: its least eigenvalue is "
            f"{lam[0]:.4g}, its largest {lam[-1]:.4g}. Ridge regression then has no least point; "
            "take another kernel, or other numbers in it."
        )
    return np.maximum(lam, 0.0), Q


def judged(
    spectrum: KernelSpectrum, y: FloatArray, rows: Rows, alphas: FloatArray, loss: Loss | None
) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """Return residual sums of squares (m, q), leave-one-out errors and their standard errors."""
    rss = np.zeros((len(alphas), y.shape[1]))
    losses = None if loss is None else np.empty((len(y), len(alphas)))
    for part, residual, left in spectrum.fits(alphas):
        rss += np.einsum("ijk,ijk->jk", residual, residual)
        if losses is None or loss is None:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            away = residual / left[:, :, None] / spectrum.root[part, None, None]
        each = [
            loss.of_rows(y[part, k], y[part, k, None] - away[:, :, k]) for k in range(y.shape[1])
        ]
        losses[part] = np.mean(each, axis=0)
    if losses is None:
        return rss, None, None
    error, error_se = mean_and_se(losses, rows.weight)
    return rss, error, error_se
