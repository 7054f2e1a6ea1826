"""What EM and the gradient need of the rows: sums over the posteriors of the latent variables."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.typing import FloatArray
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.latent._ppca.packed import unpacked

__all__ = ["LatentSums"]


@dataclass
class LatentSums:
    """Sums over rows given the parameters, about a fixed centre.

    With the row weights v and z the latent variables of a row, packed matrices of T entries:

    Attributes
    ----------
    by_column : ndarray of shape (p, T + K + 1)
        Of the rows that observe each column: sum v E(zz'), sum v E(z), sum v.
    cross : ndarray of shape (p, K + 1)
        Of the same rows: sum v x E(z), sum v x.
    total : ndarray of shape (T + K + 1,)
        Of all rows: sum v E(zz'), sum v E(z), sum v.
    log_likelihood : float
    squares : ndarray of shape (p,)
        Sum v x^2 of each column.
    """

    by_column: FloatArray
    cross: FloatArray
    total: FloatArray
    log_likelihood: float
    squares: FloatArray

    @property
    def weight(self) -> float:
        """Sum of the weights of the rows."""
        return float(self.total[-1])

    def merge(self, other: Self) -> Self:
        """Take in the sums over other rows."""
        self.by_column += other.by_column
        self.cross += other.cross
        self.total += other.total
        self.log_likelihood += other.log_likelihood
        self.squares = self.squares + other.squares
        return self

    def _systems(self) -> FloatArray:
        """Return the normal equations of each column's regression on (z, 1): (p, K + 1, K + 1)."""
        p, K = len(self.cross), self.cross.shape[1] - 1
        T = K * (K + 1) // 2
        found = np.empty((p, K + 1, K + 1))
        found[:, :K, :K] = unpacked(self.by_column[:, :T], K)
        found[:, K, :] = found[:, :, K] = self.by_column[:, T:]
        return found

    def maximised(self, floor: float) -> LatentNormal:
        """Return the parameters that maximise the expected likelihood, the latent scale free.

        Each column is regressed on (z, 1). The mean and covariance of z, which the model fixes at
        0 and I, are estimated too and put into the loadings and the mean: that is EM with
        parameter expansion, whose likelihood rises as EM's and whose steps are longer.
        """
        K = self.cross.shape[1] - 1
        T = K * (K + 1) // 2
        coef: Any = np.linalg.solve(self._systems(), self.cross[:, :, None])[:, :, 0]
        left = float(np.sum(self.squares) - np.sum(coef * self.cross))
        noise = max(left / float(np.sum(self.by_column[:, -1])), floor)
        W: FloatArray = coef[:, :K]
        mean: FloatArray = coef[:, K]
        if K:
            center = self.total[T : T + K] / self.weight
            spread = unpacked(self.total[:T], K) / self.weight - np.outer(center, center)
            values, axes = np.linalg.eigh(spread)
            root = (axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T
            mean, W = np.asarray(mean + W @ center), np.asarray(W @ root)
        return LatentNormal(mean, W, noise)

    def gradient(self, model: LatentNormal) -> tuple[FloatArray, FloatArray, float]:
        """Return the gradient of the log-likelihood in W, the mean and the log noise variance.

        It is that of the expected likelihood of the complete data (Fisher's identity).
        """
        coef = np.column_stack([model.W, model.mean])
        fitted = np.einsum("jab,jb->ja", self._systems(), coef)
        slope = (self.cross - fitted) / model.noise
        left = float(np.sum(self.squares) + np.sum(coef * (fitted - 2 * self.cross)))
        entries = float(np.sum(self.by_column[:, -1]))
        return slope[:, :-1], slope[:, -1], 0.5 * (left / model.noise - entries)
