"""Ridge regressions in coordinates where the data and the penalty are both diagonal."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray

_SMALL = 500  # matrices up to this size are decomposed in one thread


def few_threads(size: int) -> AbstractContextManager[Any]:
    """Return a context in which to decompose a matrix of a size."""
    return one_thread() if size <= _SMALL else nullcontext()


def penalty_grid(ratio: FloatArray, count: int) -> FloatArray:
    """Return penalties from one that bends almost nothing to one that bends almost all.

    `ratio` has, for each direction that is penalised, how well the data see it over its penalty.
    """
    if not len(ratio):
        return np.ones(1)
    top, bottom = 1e2 * ratio.max(), 1e-2 * ratio.min()
    # The directions that rows hardly see do not lengthen the grid.
    return np.geomspace(top, max(bottom, 1e-10 * top), count)


@dataclass(frozen=True)
class PenalizedAxes:
    """Coordinates of coefficients, ``coef = Z z``, and what data and penalty say about each."""

    Z: FloatArray
    seen: FloatArray  # Z'GZ is diag(seen)
    rough: FloatArray  # Z'PZ is diag(rough)
    right: FloatArray  # Z'B'Wy

    @property
    def ratio(self) -> FloatArray:
        """What the data say over the penalty, of the axes that both know."""
        felt = (self.rough > 0) & (self.seen > 0)
        return np.asarray(self.seen[felt] / self.rough[felt])

    def gains(self, alpha: FloatArray) -> FloatArray:
        """Return 1 / (seen + alpha rough), one column per penalty; 0 for what is not seen."""
        found = np.zeros((len(self.seen), len(alpha)))
        held = self.seen > 0
        found[held] = 1 / (self.seen[held, None] + alpha * self.rough[held, None])
        return found

    def shares(self, alpha: FloatArray) -> FloatArray:
        """Return the eigenvalues of the smoother, one column per penalty."""
        return np.asarray(self.seen[:, None] * self.gains(alpha))

    def coef(self, alpha: FloatArray) -> FloatArray:
        """Return the coefficients, one column per penalty."""
        return np.asarray(self.Z @ (self.gains(alpha) * self.right[:, None]))


def penalized_axes(
    G: FloatArray, P: FloatArray, right: FloatArray, *, free: int, unseen: float
) -> PenalizedAxes:
    """Decompose B'WB and a penalty matrix that leaves `free` directions alone.

    Directions in which the data say less than `unseen` are not seen at all.
    """
    mix = float(np.trace(G) / np.trace(P))
    with few_threads(len(G)):
        rough, Z = linalg.eigh(P, G + mix * P)
    rough[:free] = 0.0  # to the last digit
    seen = 1 - mix * rough
    seen[seen < unseen] = 0.0
    right = np.where(seen > 0, Z.T @ right, 0.0)
    return PenalizedAxes(Z, seen, np.maximum(rough, 0.0), right)
