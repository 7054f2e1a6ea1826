r"""Exact leave-one-out errors of many ridge fits in one pass over the rows.

The residual of a linear smoother under the fit without the row is
:math:`(y_i - \hat y_i) / (1 - h_i)`. In singular coordinates both parts are sums of what no alpha
touches (the part of the row outside the column space) and of what alpha takes away,

.. math:: y_i - \hat y_i = e_i + \sum_j u_{ij} \frac{\alpha}{d_j^2+\alpha} (U^\top y)_j, \qquad
          1 - h_i = c_i + \sum_j u_{ij}^2 \frac{\alpha}{d_j^2+\alpha},

so nothing cancels when alpha is small, and all alphas at once are two matrix products per block.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.added_sums import AddedSums
from bottega.core.judge import LossSums
from bottega.core.losses import SQUARED_ERROR, Loss
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray
from bottega.linear._decomposition.spectrum import Spectrum

# Rows per block: a block by a hundred alphas (0.8 MB) stays in the cache.
BLOCK = 1024


@dataclass(frozen=True)
class RowBlock:
    """Some rows in singular coordinates."""

    U: FloatArray  # (b, r): their rows of the left singular vectors
    outside: FloatArray  # (b, q): residuals (times the root of the weight) without a penalty
    room: FloatArray  # (b,): one minus the leverages without a penalty
    y: FloatArray  # (b, q)
    weight: Any  # (b,) or None

    def split(self) -> Iterator["RowBlock"]:
        """Yield the block in parts that fit the cache."""
        for rows in split_rows(len(self.U), BLOCK):
            w = None if self.weight is None else self.weight[rows]
            yield RowBlock(self.U[rows], self.outside[rows], self.room[rows], self.y[rows], w)

    def residuals(self, rotated: FloatArray, lost: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the residuals (b, q) on the scale of y, and one minus the leverages (b,).

        `lost` (r, 1) is the share of each direction that the fit does not keep.
        """
        residuals = self.outside + self.U @ (lost * rotated)
        if self.weight is not None:
            residuals /= np.sqrt(self.weight)[:, None]
        return residuals, self.room + (self.U**2 @ lost)[:, 0]


@dataclass(frozen=True)
class LeaveOneOutErrors:
    """Errors of the fits at m alphas: the mean loss of the rows left out, its error, and rss."""

    error: FloatArray  # (m,)
    error_se: FloatArray
    rss: FloatArray  # (m, q)


def leave_one_out(
    reduce: Callable[[Callable[[RowBlock], Any]], Any],
    spectrum: Spectrum,
    alphas: FloatArray,
    loss: Loss = SQUARED_ERROR,
) -> LeaveOneOutErrors:
    """Return the exact leave-one-out error of the fit at each alpha.

    `reduce` gives what a function makes of the blocks of all rows, merged. Costs ``4 n r m``
    operations in matrix products and never holds more than a block by m.
    """
    lost = spectrum.lost(alphas)
    q = spectrum.rotated.shape[1]
    pull = [lost * spectrum.rotated[:, [k]] for k in range(q)]

    def of_block(whole: RowBlock) -> AddedSums:
        losses = LossSums()
        # A row that alone spans a direction has no fit without it at alpha = 0: its error is
        # infinite.
        with np.errstate(divide="ignore", invalid="ignore"):
            for block in whole.split():
                losses.update(_losses(block, lost, pull, loss), block.weight)
        return AddedSums((np.einsum("ij,ij->j", whole.outside, whole.outside), losses))

    outside, losses = reduce(of_block).values
    error, error_se = losses.mean_and_se()
    rss = outside + np.square(lost).T @ np.square(spectrum.rotated)
    return LeaveOneOutErrors(error, error_se, rss)


def _losses(block: RowBlock, lost: FloatArray, pull: list[FloatArray], loss: Any) -> FloatArray:
    """Return the loss of each row of a block left out, one column per alpha."""
    left = block.U**2 @ lost
    left += block.room[:, None]
    if block.weight is not None:
        left *= np.sqrt(block.weight)[:, None]
    total: Any = 0.0
    for k, each in enumerate(pull):
        residual = block.U @ each
        residual += block.outside[:, [k]]
        residual /= left
        if loss == SQUARED_ERROR:
            found = np.square(residual, out=residual)
        else:
            y = block.y[:, k]
            found = loss.of_rows(y, y[:, None] - residual)
        total = found if len(pull) == 1 else total + found / len(pull)
    return np.asarray(total)
