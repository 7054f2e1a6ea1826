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

from bottega.core.judge import mean_and_se
from bottega.core.losses import Loss
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray

__all__ = ["KernelSpectrum", "floored", "gains_of", "judged"]

_BLOCK = 2**22  # numbers in a block of rows


def floored(lam: FloatArray) -> FloatArray:
    """Return eigenvalues in rising order; those that are nothing but rounding are zero."""
    least = len(lam) * np.finfo(np.float64).eps * lam[-1]
    return np.where(lam > least, lam, 0.0)


def gains_of(lam: FloatArray, alphas: FloatArray) -> FloatArray:
    """Return 1 / (lam + alpha), one column per penalty; 0 where both are zero."""
    total = lam[:, None] + alphas
    return np.where(total > 0, 1 / np.where(total > 0, total, 1.0), 0.0)


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
        return gains_of(self.lam, alphas)

    def df(self, alphas: FloatArray) -> FloatArray:
        """Return the trace of the smoother, intercept included."""
        return np.sum(1 - self.shrunk(alphas), axis=0) + float(np.any(self.u != 0))

    def inner(self, alphas: FloatArray) -> FloatArray:
        """Return Q'(K + alpha)^-1 r y, (r, m q): coefficients in these directions."""
        return (self.gains(alphas)[:, :, None] * self.z[:, None, :]).reshape(len(self.lam), -1)

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
