"""Decompositions of a kernel matrix, or of few features that stand in for it."""

import numpy as np
from scipy import linalg

from bottega.core.errors import InputError
from bottega.core.rows import Rows
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray
from bottega.kernel._ridge.spectrum import KernelSpectrum, floored
from bottega.kernel._ridge.tridiagonal import TridiagonalSpectrum, reduce

__all__ = ["decompose_features", "decompose_kernel"]

_NEGATIVE = 1e-8  # share of the largest eigenvalue that a negative one may have by rounding
_VANISHING = 1e-14  # share below which a direction of features is rounding
_SMALL = 200  # decompositions up to this size are quicker in one thread
_FEW = 300  # rows up to which eigenvectors cost nothing to speak of


def decompose_kernel(
    K: FloatArray, y: FloatArray, rows: Rows, *, intercept: bool, eigenvectors: bool = False
) -> KernelSpectrum:
    """Return the spectrum of a kernel matrix, which is overwritten.

    With an intercept the matrix is taken orthogonally to u, by a reflection that turns u into the
    first axis, which is then left out. Of many rows the matrix is made tridiagonal, which is half
    the work, unless its `eigenvectors` are asked for.
    """
    root, u = _roots(rows, intercept)
    if rows.weight is not None:
        K *= root[:, None]
        K *= root
    target = _centred(root[:, None] * y, u)
    if intercept:
        v = u.copy()
        v[0] += 1.0
        v /= np.linalg.norm(v)
        Kv = K @ v
        w = 2 * Kv - 2 * (v @ Kv) * v  # HKH = K - v w' - w v'
        K = K[1:, 1:]
        K -= np.outer(v[1:], w[1:])
        K -= np.outer(w[1:], v[1:])
    if eigenvectors or len(K) <= _FEW:
        lam, V = _eigh(K)
        diagonals = None
    else:
        V, d, e = reduce(K)
        diagonals = d, e
        lam = _checked(np.asarray(linalg.eigvalsh_tridiagonal(d, e, check_finite=False)))
    Q = V
    if intercept:
        Q = np.empty((len(y), len(lam)), order="F")
        Q[0] = 0.0
        Q[1:] = V
        Q -= np.outer(v[1:] @ V, 2 * v).T
    parts = (lam, Q, Q.T @ target, root, u, np.zeros_like(y), np.zeros(len(y)))
    return KernelSpectrum(*parts) if diagonals is None else TridiagonalSpectrum(*parts, *diagonals)


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
    return _checked(lam), Q


def _checked(lam: FloatArray) -> FloatArray:
    """Return eigenvalues, none of them negative, or refuse them with the least one."""
    if lam[0] < -_NEGATIVE * max(abs(lam[0]), abs(lam[-1])):
        raise InputError(
            f"The kernel is not positive semi-definite on these rows: its least eigenvalue is "
            f"{lam[0]:.4g}, its largest {lam[-1]:.4g}. Ridge regression then has no least point; "
            "take another kernel, or other numbers in it."
        )
    return floored(lam)
