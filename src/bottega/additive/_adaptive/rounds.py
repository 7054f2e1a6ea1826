"""Growth and removal in turns."""

from bottega.additive._adaptive.backward import Pruning, prune
from bottega.additive._adaptive.basis import Basis
from bottega.additive._adaptive.charges import Charges
from bottega.additive._adaptive.forward import Growth, Residual, grow
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.core.typing import FloatArray, IntArray

_BETTER = 1e-6  # relative fall of GCV that a round must bring


def grow_and_prune(
    X: FloatArray,
    Y: FloatArray,
    weight: FloatArray | None,
    settings: GrowthSettings,
    *,
    n_levels: IntArray | None = None,
    residual: Residual | None = None,
    n: float | None = None,
) -> tuple[Growth, Pruning]:
    """Return the terms grown and the subsets of them, after `settings.rounds` rounds at most.

    The arguments are those of `grow` and `prune`. A round after the first starts from the terms of
    least GCV.
    """

    def go_on(start: Basis | None) -> tuple[Growth, Pruning]:
        grown = grow(X, Y, weight, settings, n_levels=n_levels, residual=residual, start=start)
        charges = Charges.of(grown.basis.terms, grown.searched, settings)
        return grown, prune(grown.matrix, Y, weight, settings, n=n, charges=charges)

    best = go_on(None)
    for _ in range(1, settings.rounds):
        grown, pruned = best
        following = go_on(grown.basis.take(pruned.subsets[pruned.best - 1]))
        if not _least(following[1]) < _least(pruned) * (1 - _BETTER):
            break
        best = following
    return best


def _least(pruned: Pruning) -> float:
    return float(pruned.gcv[pruned.best - 1])
